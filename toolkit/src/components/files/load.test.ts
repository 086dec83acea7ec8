/**
 * Senders and readers at random, all at once, which are broken off at random moments and come back. One that is broken off keeps
 * running for a while in half of the cases, as a process does that was only thought to be dead. After every step of a writer what
 * is stored must be within the budget; in the end each reader must have read every byte of every file once, by its commits.
 * FILES_ROUNDS sets how many rounds; one on each backend in the test run.
 */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { defineScript } from "../../base/script.ts";
import type { Store } from "../../connection/store.ts";
import { Files, FilesError, type IncomingFile, type Reader } from "./index.ts";
import { channelKeys } from "./keys.ts";

const ROUNDS = Number(process.env.FILES_ROUNDS ?? 1);
const BUDGET = 6_000;
const READERS = ["by line", "by block", "by batch"];
const FILES = 6;

/** What is stored, counted block by block in the store itself, and what the channel believes. */
const stored = defineScript({
  name: "test.stored",
  keys: ["files", "channel"],
  args: ["base"],
  lua: `
    local all = redis.call("ZRANGE", files, 0, -1, "WITHSCORES")
    local bytes = 0
    for i = 2, #all, 2 do
      for _, block in ipairs(redis.call("HVALS", base .. ":blocks:" .. all[i])) do bytes = bytes + #block + 64 end
    end
    return {bytes, tonumber(redis.call("HGET", channel, "bytes") or 0)}
  `,
});

function randomFrom(seed: number): (below: number) => number {
  let state = (seed % 2_147_483_646) + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/** Of a byte at its place: sums tell whether all were there, once each. */
const weight = (byte: number, at: number): number => (byte + 1) * ((at * 7_919) % 10_007);

class Crash extends Error {}

/** A store that fails at a random moment, before or after a script has run, and from then on. */
function frail(store: Store, steps: number, random: (below: number) => number, sample: () => Promise<void>): Store {
  let left = steps;
  const isZombie = random(2) === 0;
  return new Proxy(store, {
    get: (target, property) => {
      if (property === "run") {
        return async (...args: Parameters<Store["run"]>) => {
          if (--left < 0 && !isZombie) throw new Crash();
          const answering = target.run(...args);
          if (args[0].name === "files.append") await sample();
          const answer = await answering;
          if (left <= 0 && !isZombie) throw new Crash();
          return answer;
        };
      }
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Anything that a process may meet when it was killed or replaced. */
const isExpected = (error: unknown): boolean =>
  error instanceof Crash || (error instanceof FilesError && (error.code === "TAKEN" || error.code === "DROPPED"));

describeBackends("files under load", { audit: false, backends: ["embedded", "redis"] }, (backend) => {
  test.each(Array.from({ length: ROUNDS }, (_, round) => round))("round %i", { timeout: 120_000 }, async (round) => {
    const seed = Number(process.env.SEED ?? 7_000) + round * 101;
    const random = randomFrom(seed);
    const keys = channelKeys("files", "load");
    const options = { blockBytes: 512, budgetBytes: BUDGET, commitBytes: 700, pollMs: 20 };
    let samples = 0;
    /** After every step of a writer, and before others can free anything again. */
    const sample = async (): Promise<void> => {
      const [bytes, believed] = (await backend.store.run(stored, { ...keys })) as [number, number];
      expect(bytes, `seed ${seed}`).toBeLessThanOrEqual(BUDGET);
      expect(believed, `seed ${seed}`).toBe(bytes);
      samples++;
    };
    const channel = (steps = Number.POSITIVE_INFINITY) =>
      new Files(frail(backend.store, steps, random, sample), "load", options);
    const sources = new Map<string, Buffer>();
    for (let nth = 0; nth < FILES; nth++) {
      const lines = Array.from({ length: random(400) }, (_, at) => `${nth} ${at} ${"ü".repeat(random(40))}`);
      const text = Buffer.from(lines.join("\n") + (random(2) ? "\n" : ""));
      const isPacked = nth % 2 === 1;
      sources.set(isPacked ? `${nth}.gz` : `${nth}`, text);
    }
    for (const name of READERS) await channel().invite(name, { leaseMs: 60_000 });

    const send = async (name: string, text: Buffer): Promise<void> => {
      const bytes = name.endsWith(".gz") ? gzipSync(text) : text;
      for (let attempt = 0; ; attempt++) {
        const chunks: Buffer[] = [];
        for (let at = 0; at < bytes.length; ) {
          const size = 1 + random(3_000);
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        try {
          await channel(attempt < 4 ? 1 + random(12) : undefined).send(name, chunks);
          return;
        } catch (error) {
          if (!isExpected(error)) throw error;
        }
      }
    };

    /** What each reader has committed of each file: a sum of hashes over lines or over bytes, with how much it was. */
    const read = async (file: IncomingFile, by: string, stopAfter: number): Promise<void> => {
      let left = stopAfter;
      const note = (text: string, offset: number): void => {
        const hash = createHash("md5").update(`${file.name} ${offset} ${text}`).digest().readUInt32BE(0);
        file.count(by, `${file.name} sum`, hash);
        file.count(by, `${file.name} count`);
      };
      if (by === "by line") {
        for await (const { text, offset, number } of file.lines({ autoCommit: random(2) === 0 })) {
          note(text, offset);
          if (number % 20 === 0) await file.checkpoint();
          if (--left === 0) throw new Crash();
        }
      } else if (by === "by batch") {
        for await (const lines of file.lineBatches()) {
          for (const { text, offset } of lines) note(text, offset);
          if (--left === 0) throw new Crash();
        }
      } else {
        let at = file.position;
        for await (const piece of file.blocks()) {
          for (const byte of piece) file.count(by, `${file.name} sum`, weight(byte, at++));
          file.count(by, `${file.name} count`, piece.length);
          if (--left === 0) throw new Crash();
        }
      }
    };

    const work = async (name: string): Promise<void> => {
      for (let attempt = 0; (await channel().totals(`${name} done`)).size < FILES; attempt++) {
        let reader: Reader | undefined;
        try {
          const isCalm = attempt > 30;
          reader = await channel(isCalm ? undefined : 3 + random(40)).join(name, { leaseMs: 60_000 });
          for await (const file of reader.files()) {
            await read(file, name, isCalm ? 1e9 : 1 + random(name === "by line" ? 2_000 : 40));
            await backend.store.call("HSET", keys.total(`${name} done`), file.name, 1);
          }
        } catch (error) {
          if (!isExpected(error)) throw error;
        } finally {
          reader?.close();
        }
        const done = (await backend.store.call("ZRANGE", keys.ended, 0, -1)) as string[];
        // One that crashed after its last commit has not said so.
        for (const file of done) await backend.store.call("HSET", keys.total(`${name} done`), file, 1);
      }
    };
    await Promise.all([...[...sources].map(([name, text]) => send(name, text)), ...READERS.map(work)]);

    const expected = (by: string): Map<string, number> => {
      const sums = new Map<string, number>();
      const note = (name: string, text: string, offset: number): void => {
        const hash = createHash("md5").update(`${name} ${offset} ${text}`).digest().readUInt32BE(0);
        sums.set(`${name} sum`, (sums.get(`${name} sum`) ?? 0) + hash);
        sums.set(`${name} count`, (sums.get(`${name} count`) ?? 0) + 1);
      };
      for (const [name, bytes] of sources) {
        if (by === "by block") {
          const sum = bytes.reduce((before, byte, at) => before + weight(byte, at), 0);
          if (bytes.length > 0) sums.set(`${name} sum`, sum).set(`${name} count`, bytes.length);
        } else {
          const lines = bytes.toString().split("\n");
          if (lines.at(-1) === "") lines.pop();
          let offset = 0;
          for (const line of lines) {
            note(name, line, offset);
            offset += Buffer.byteLength(line) + 1;
          }
        }
      }
      return sums;
    };
    for (const name of READERS) {
      expect(new Map([...(await channel().totals(name))].sort()), `seed ${seed}, ${name}`).toEqual(
        new Map([...expected(name)].sort()),
      );
    }
    expect(samples).toBeGreaterThan(10);
    expect(await channel().inspect()).toMatchObject({ bytes: 0, files: 0 });
  });
});
