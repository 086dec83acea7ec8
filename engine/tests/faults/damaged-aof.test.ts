/**
 * Append-only files with bytes changed, dropped and doubled: a clear error or a load, never a fault, a hang or a flood.
 *
 * AOF_MUTATIONS=100000 AOF_SEED=7 npx vitest run engine/tests/faults/damaged-aof.test.ts
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Engine } from "../../src/core/engine.ts";
import { checkAof } from "../../src/persist/aof/check.ts";
import { AofError } from "../../src/persist/aof/error.ts";
import { loadPart } from "../../src/persist/aof/load.ts";
import { writeRdb } from "../../src/persist/rdb/file.ts";
import { Prng } from "../conformance/prng.ts";
import { encodeWords } from "../conformance/wire.ts";

const ROUNDS = Number(process.env.AOF_MUTATIONS ?? 3000);
const SEED = Number(process.env.AOF_SEED ?? 1);

const COMMANDS = [
  "SELECT 0",
  "SET a 1",
  "MULTI",
  "RPUSH list a b c d",
  "LPOP list",
  "EXEC",
  "HSET hash f v g w",
  "SADD set 1 2 3",
  "ZADD zset 1 a 2.5 b",
  "XADD stream 1-1 f v",
  "XGROUP CREATE stream g 0",
  "PEXPIREAT a 99999999999999",
  "SELECT 3",
  "SET b 2",
  "DEL b",
].map((line) => line.split(" "));

function mutate(bytes: Buffer, prng: Prng): Buffer {
  let result = Buffer.from(bytes);
  for (let times = prng.between(1, 3); times > 0; times--) {
    const at = prng.below(result.length);
    const length = prng.between(1, 8);
    const kind = prng.below(4);
    if (kind === 0) result[at] = prng.below(256);
    else if (kind === 1) result = Buffer.concat([result.subarray(0, at), result.subarray(at + length)]);
    else if (kind === 2) result = Buffer.concat([result.subarray(0, at + length), result.subarray(at)]);
    else result = result.subarray(0, Math.max(at, 1));
  }
  return result;
}

test(
  `${ROUNDS} damaged files are refused with a place, or loaded`,
  () => {
    const dir = mkdtempSync(join(tmpdir(), "cinnabar-damaged-"));
    const engine = new Engine({ config: { dir, "proto-max-bulk-len": "1mb" } });
    const prng = new Prng(SEED);
    const path = join(dir, "file.aof");
    const commands = Buffer.from(COMMANDS.map(encodeWords).join(""), "latin1");
    const chunks: Buffer[] = [];
    writeRdb(engine, (chunk) => chunks.push(chunk), { aofBase: true });
    const withPreamble = Buffer.concat([...chunks, commands]);
    const outcomes = { refused: 0, cut: 0, loaded: 0 };
    try {
      engine.loading = true;
      for (let round = 0; round < ROUNDS; round++) {
        const bytes = mutate(prng.chance(0.3) ? withPreamble : commands, prng);
        writeFileSync(path, bytes);
        const sound = checkAof(path, { fix: false, print() {}, confirm: () => false });
        for (const db of engine.databases) db.clear();
        try {
          const load = loadPart(engine, path, { last: true });
          let step = load.next();
          while (!step.done) step = load.next();
          if (step.value.cutAt === undefined) outcomes.loaded++;
          else {
            outcomes.cut++;
            expect(step.value.cutAt).toBeLessThan(bytes.length);
            expect(sound).toBe(false);
          }
        } catch (error) {
          if (!(error instanceof AofError)) throw new Error(`seed ${SEED}, round ${round}`, { cause: error });
          expect(error.offset).toBeLessThanOrEqual(bytes.length);
          outcomes.refused++;
        }
      }
      const { refused, cut, loaded } = outcomes;
      console.log(
        `${ROUNDS} damaged append-only files: ${loaded} loaded, ${cut} loaded up to where they end, ${refused} refused`,
      );
      expect(outcomes.refused).toBeGreaterThan(ROUNDS / 10);
      expect(outcomes.cut).toBeGreaterThan(ROUNDS / 20);
    } finally {
      engine.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  },
  Math.max(120_000, ROUNDS * 100),
);
