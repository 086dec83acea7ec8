/**
 * ARCHITECTURE.md's invariants of keys and handlers, held against random commands, well formed and not: each is looked at after every
 * single command.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeEpoch, RECIPES } from "../../tests/conformance/random.ts";
import { TestClient } from "../../tests/kit/test-client.ts";
import { digestOfValue } from "../observe/debug-digest.ts";
import { isCollection, isStream, keyBytes, sizeOf, typeOf } from "../types/kind.ts";
import { ManualClock } from "./clock.ts";
import type { Db } from "./db.ts";
import { Engine } from "./engine.ts";
import { ReplyError } from "./errors.ts";
import { parseNotifyFlags } from "./notify.ts";

let engine: Engine;
let client: TestClient;
/** Errors that no handler meant to answer. */
const faults: string[] = [];

beforeEach(() => {
  engine = new Engine({ clock: new ManualClock() });
  client = new TestClient(engine);
  faults.length = 0;
  engine.onError = (error, command) => void faults.push(`${command}: ${error}`);
});
afterEach(() => {
  engine.stop();
  expect(faults).toEqual([]);
});

/** One client that does not wait; time stands still, so that every change is a command's. */
const recipes = RECIPES.filter(({ mode }) => mode !== "block" && mode !== "scan" && mode !== "expire");
const SEEDS = [1, 2];
const COMMANDS = 1_000;

/** Runs commands, and tells of each whether it was refused. */
function play(seed: number, look: (line: string, isRefused: boolean) => void): void {
  for (const { commands } of makeEpoch({ seed, epoch: 0, commands: COMMANDS, recipes, transactions: false })) {
    for (const { words } of commands) {
      engine.renewClock();
      const reply = engine.execute(client.client, [...words]);
      client.taken();
      look(words.join(" "), reply instanceof ReplyError);
    }
  }
}

/** What every key of a database is: its type, its value and its deadline. */
function stateOf(db: Db): Map<string, string> {
  const state = new Map<string, string>();
  db.keyspace.forEach((key, value) => {
    state.set(key, `${typeOf(value)} ${digestOfValue(db, key)} ${db.expires.get(key)}`);
  });
  return state;
}

/** The keys whose state differs. */
const changedIn = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key));

describe.each(SEEDS)("after every random command of seed %i", (seed) => {
  test("no collection in the keyspace is empty, streams excepted", () => {
    let seen = 0;
    play(seed, (line) => {
      for (const { keyspace } of engine.databases) {
        keyspace.forEach((key, value) => {
          if (!isCollection(value) || isStream(value)) return;
          seen++;
          if (value.size === 0) expect.fail(`${line} leaves ${key} empty`);
        });
      }
    });
    expect(seen).toBeGreaterThan(COMMANDS);
  });

  test("every key with a deadline is in the keyspace", () => {
    let seen = 0;
    play(seed, (line) => {
      for (const { keyspace, expires } of engine.databases) {
        expires.forEach((key) => {
          seen++;
          if (!keyspace.has(key)) expect.fail(`${line} leaves a deadline without ${key}`);
        });
      }
    });
    expect(seen).toBeGreaterThan(COMMANDS);
  });

  test("every change of a key reaches watchers, events, effects and the count of bytes", () => {
    engine.notifications.flags = parseNotifyFlags("KEA")!;
    const [db] = engine.databases;
    const listener = new TestClient(engine);
    listener.run("PSUBSCRIBE __keyspace@0__:*");
    let effects = 0;
    engine.effects.listen((some) => {
      effects += some.length;
    });
    let before = stateOf(db!);
    let changes = 0;
    const watchers = new Map<string, { watchBroken: boolean; readonly seesAll: true }>();
    play(seed, (line) => {
      const after = stateOf(db!);
      for (const key of changedIn(before, after)) {
        changes++;
        const watcher = watchers.get(key);
        if (watcher?.watchBroken === false) expect.fail(`${line} changes ${key} without its watcher`);
        if (effects === 0) expect.fail(`${line} changes ${key} without an effect`);
      }
      const events = listener.taken();
      // As in Redis: whole databases are no event, nor is the count that PFCOUNT keeps in its value.
      const isSilent = /^(?:FLUSH|SWAPDB|DEBUG|PFCOUNT)/i.test(line);
      if (changedIn(before, after).length > 0 && events.length === 0 && !isSilent)
        expect.fail(`${line} changes keys without an event`);
      let sizeBytes = db!.expires.size * 24;
      db!.keyspace.forEach((key, value) => {
        sizeBytes += keyBytes(key) + sizeOf(value);
      });
      if (db!.sizeBytes !== sizeBytes) expect.fail(`${line}: ${db!.sizeBytes} bytes are counted, ${sizeBytes} there`);
      before = after;
      effects = 0;
      for (const [key, watcher] of watchers) db!.watchers.remove(key, watcher);
      watchers.clear();
      for (const key of after.keys()) {
        const watcher = { watchBroken: false, seesAll: true as const };
        watchers.set(key, watcher);
        db!.watchers.add(key, watcher);
      }
    });
    expect(changes).toBeGreaterThan(COMMANDS / 10);
  });

  test("a command that is refused has changed nothing", () => {
    let before = engine.databases.map(stateOf);
    let refused = 0;
    play(seed, (line, isRefused) => {
      const after = engine.databases.map(stateOf);
      if (isRefused) {
        refused++;
        const changed = after.flatMap((state, i) => changedIn(before[i]!, state));
        if (changed.length > 0) expect.fail(`${line} is refused, and ${changed} changed`);
      }
      before = after;
    });
    expect(refused).toBeGreaterThan(COMMANDS / 20);
  });
});

describe("a value that is kept", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const MEGABYTE = 1 << 20;
  const ROUNDS = 48;

  const large = (round: number): string => Buffer.alloc(MEGABYTE, 65 + round).latin1Slice();
  const cut = `local word = string.sub(ARGV[1], 5, 44) .. KEYS[1]`;
  const script = (call: string): string => `${cut} redis.call(${call})`;

  test.each([
    "'SET', KEYS[1], word",
    "'APPEND', KEYS[1], word",
    "'RPUSH', KEYS[1], word",
    "'SADD', KEYS[1], word",
    "'HSET', KEYS[1], word, word",
    "'ZADD', KEYS[1], 1, word",
    "'XADD', KEYS[1], '*', word, word",
    "'SET', word, 1",
  ])("holds on to nothing of the request that brought it: %s", (call) => {
    const eval1 = (round: number): void => {
      engine.execute(client.client, ["EVAL", script(call), "1", `key:${round}`, large(round)]);
      client.taken();
    };
    eval1(0);
    engine.execute(client.client, ["SET", "another", "so that nothing of the last request is at hand"]);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let round = 1; round < ROUNDS; round++) eval1(round);
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(8 * MEGABYTE);
    expect(engine.databases[0]!.size).toBe(ROUNDS + 1);
  });
});
