/** A frozen collection stays what it was, whatever is done to the one that it was taken from; one suite for every type. */
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../core/clock.ts";
import { type Collection, DEFAULT_LIMITS } from "./collection.ts";
import { HashValue } from "./hash/index.ts";
import { ListValue } from "./list/index.ts";
import { SetValue } from "./set/index.ts";
import { formatId, MIN_ID, makeId, StreamValue } from "./stream/index.ts";
import { ZsetValue } from "./zset/index.ts";

type Dice = (below: number) => number;

interface Kind<V> {
  readonly name: string;
  /** How many changes make a collection of some size. */
  readonly first: number;
  make(): V;
  change(value: V, dice: Dice): void;
  /** All that a file would say, read from the value as the files read it. */
  state(value: V): unknown;
  /** Whether it can still be changed as before, in ways that `state` does not show. */
  check?(value: V): void;
}

const hash: Kind<HashValue> = {
  name: "hash",
  first: 60_000,
  make: () => new HashValue(),
  change(value, dice) {
    const field = `f${dice(90_000)}`;
    if (dice(3) === 0) value.delete(field);
    else value.set(field, `v${dice(1e6)}`, DEFAULT_LIMITS);
  },
  state(value) {
    const pairs: string[] = [];
    for (let cursor = 0, more = true; more; more = cursor !== 0)
      cursor = value.scan(cursor, 100, (field, word) => pairs.push(`${field}=${word}`));
    return [value.size, pairs.sort()];
  },
};

const chance = new ManualClock(0, 3);

const set: Kind<SetValue> = {
  name: "set",
  first: 60_000,
  make: () => new SetValue(),
  change(value, dice) {
    const word = `w${dice(90_000)}`;
    const what = dice(8);
    if (what < 2) value.delete(word);
    // Which word is popped depends on where the tables have it, so it is put back.
    else if (what === 2 && value.size > 0)
      value.add(
        value.pop(() => chance.random()),
        DEFAULT_LIMITS,
      );
    else value.add(word, DEFAULT_LIMITS);
  },
  state(value) {
    const words: string[] = [];
    for (let cursor = 0, more = true; more; more = cursor !== 0)
      cursor = value.scan(cursor, 100, (word) => void words.push(word));
    return [value.size, words.sort()];
  },
};

const zset: Kind<ZsetValue> = {
  name: "zset",
  first: 20_000,
  make: () => new ZsetValue(),
  change(value, dice) {
    const member = `m${dice(30_000)}`;
    const what = dice(12);
    if (what < 3) value.delete(member);
    else if (what === 3 && value.size > 200 && dice(40) === 0) {
      const from = dice(value.size - 150);
      value.deleteRanks(from, from + dice(150));
    } else if (what === 4) value.set(member, (value.score(member) ?? 0) + 0.001, DEFAULT_LIMITS);
    else value.set(member, dice(5000), DEFAULT_LIMITS);
  },
  state(value) {
    const entries: string[] = [];
    value.visit(0, value.size, true, (member, score) => void entries.push(`${member}:${score}`));
    return entries;
  },
  check(value) {
    let rank = 0;
    value.visit(0, value.size, false, (member, score) => {
      if (rank % 97 === 0) expect([value.rank(member), value.score(member)]).toEqual([rank, score]);
      rank++;
    });
    expect(rank).toBe(value.size);
  },
};

const list: Kind<ListValue> = {
  name: "list",
  first: 5000,
  make: () => new ListValue(),
  change(value, dice) {
    const word = "x".repeat(dice(300) === 0 ? 1500 : dice(20)) + dice(100);
    const what = dice(40);
    if (what < 13) value.pushHead(word);
    else if (what < 26) value.pushTail(word);
    else if (what < 32) value.popHead();
    else if (what < 38) value.popTail();
    else if (value.size > 0) value.set(dice(value.size), word);
  },
  state: (value) => [...value],
};

const stream: Kind<StreamValue> = {
  name: "stream",
  first: 20_000,
  make: () => new StreamValue(),
  change(value, dice) {
    const group = value.groups.get(`g${dice(3)}`);
    const what = dice(24);
    const some = () => makeId(dice(Number(value.entriesAdded) + 1), 0);
    if (what < 8) value.add(makeId(Number(value.entriesAdded) + 1, 0), ["f", String(dice(1e6))], 0, DEFAULT_LIMITS);
    else if (what < 10) value.delete(some());
    else if (what === 10 && dice(50) === 0) value.trimToLength(Math.max(0, value.size - dice(50)), dice(2) === 0, 0);
    else if (what === 11 && dice(100) === 0) value.removeGroup(`g${dice(3)}`);
    else if (group === undefined) value.addGroup(`g${dice(3)}x`.slice(0, 2), MIN_ID, 0);
    else {
      const name = `c${dice(4)}`;
      const consumer = group.seen(name, dice(1e6)) ?? group.addConsumer(name, dice(1e6));
      const cursor = value.cursor(some());
      if (what < 18 && cursor.next()) {
        value.advance(group, cursor.id);
        group.deliver(cursor.id, consumer, dice(1e6));
      } else if (what < 22) group.acknowledge(some());
      else if (what === 22 && dice(200) === 0) group.removeConsumer(name);
      else {
        const pending = group.pending.atOrAfter(some());
        if (pending !== undefined) group.redeliver(pending, consumer, dice(1e6), 7);
      }
    }
  },
  state(value) {
    const blocks = Array.from({ length: value.blockCount }, (_, i) => {
      const block = value.block(i)!;
      return [
        block.first,
        block.live,
        block.deleted,
        [...block.all()].map((e) => [formatId(e.id), e.words, e.deleted]),
      ];
    });
    const groups = value
      .sortedGroups()
      .map((group) => [
        group.name,
        group.lastId,
        group.entriesRead,
        [...group.pending.from(MIN_ID)].map(({ id, timeMs, count }) => [id, timeMs, count]),
        group
          .sortedConsumers()
          .map(({ name, seenMs, pending }) => [name, seenMs, [...pending.from(MIN_ID)].map(({ id }) => id)]),
      ]);
    return [value.size, value.lastId, value.firstId, value.maxDeletedId, value.entriesAdded, blocks, groups];
  },
  check(value) {
    for (const group of value.groups.values()) {
      let held = 0;
      for (const consumer of group.consumers.values()) {
        held += consumer.pending.size;
        for (const delivery of consumer.pending.from(MIN_ID)) {
          expect(delivery.consumer).toBe(consumer);
          expect(group.pending.get(delivery.id)).toBe(delivery);
        }
      }
      expect(group.pending.size).toBe(held);
    }
  },
};

/** `toEqual` takes most of the time where so much is compared: it is asked only where something differs, to show what. */
function expectSame(found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) expect(found).toEqual(expected);
}

describe.each([hash, set, zset, list, stream] as Kind<never>[])("$name", (kind) => {
  const { make, change, state, check } = kind as unknown as Kind<Collection>;

  test.each([1, 2])("a frozen one does not change, and the other goes on as if there were none (seed %i)", (seed) => {
    const roll = (clock: ManualClock) => (below: number) => Math.floor(clock.random() * below);
    const value = make();
    const twin = make();
    const dice = roll(new ManualClock(0, seed));
    const twinDice = roll(new ManualClock(0, seed));
    for (let i = 0; i < kind.first; i++) {
      change(value, dice);
      change(twin, twinDice);
    }
    for (let round = 0; round < 3; round++) {
      const frozen = value.freeze();
      const before = state(value);
      expectSame(state(frozen), before);
      for (let i = 0; i < kind.first / 4; i++) {
        change(value, dice);
        change(twin, twinDice);
      }
      expectSame(state(value), state(twin));
      expectSame(state(frozen), before);
      check?.(value);
      value.thaw();
    }
    for (let i = 0; i < 1000; i++) {
      change(value, dice);
      change(twin, twinDice);
    }
    expectSame(state(value), state(twin));
  });
});
