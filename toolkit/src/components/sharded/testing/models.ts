/** What sharded structures are compared with: the plain ones of JavaScript, under the same random operations. */
import { type Filled, isFilled, mapFilled } from "../../../base/lists.ts";
import type { Store } from "../../../connection/store.ts";
import { ShardedBitmap, ShardedHash, ShardedSet, ShardedSortedSet, type Shards } from "../index.ts";

export function randomFrom(seed: number): (below: number) => number {
  let state = (seed * 7_919 + 12_345) % 2_147_483_647;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** A structure and its model; `act` does one random thing to both and answers both answers. */
export interface Pair {
  readonly shards: Shards;
  act(random: (below: number) => number): Promise<readonly [what: string, found: unknown, expected: unknown]>;
  /** Everything that is in the structure, and in the model. */
  state(): Promise<readonly [found: unknown, expected: unknown]>;
}

const SMALL = { tags: 3, expected: 60, shardSize: 16 } as const;

/** Numbers next to each other, and texts. */
const named = (nth: number): string => (nth % 2 === 0 ? String(nth >> 1) : `é${nth}`);
const sorted = <T>(items: Iterable<T>): T[] =>
  [...items].sort((a, b) => Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b))));

export type PairKind = "hash" | "set" | "zset" | "bitmap";

/** Structures of one name on several stores, as several processes have it: each act goes through one of them. */
export function pairOf(kind: PairKind, stores: readonly Store[], elements = 400): Pair {
  if (!isFilled(stores)) throw new Error("a pair needs a store");
  return { hash: hashPair, set: setPair, zset: zsetPair, bitmap: bitmapPair }[kind](stores, elements);
}

function hashPair(stores: Filled<Store>, elements: number): Pair {
  const hashes = mapFilled(stores, (store) => new ShardedHash<number>(store, "subject", SMALL));
  const model = new Map<string, number>();
  return {
    shards: hashes[0].shards,
    async act(random) {
      const hash = hashes[random(hashes.length)]!;
      const [field, value, action] = [named(random(elements)), random(1_000), random(10)];
      if (action < 3) {
        const isNew = !model.has(field);
        model.set(field, value);
        return ["set", await hash.set(field, value), isNew];
      }
      if (action < 4) {
        const isNew = !model.has(field);
        if (isNew) model.set(field, value);
        return ["setIfAbsent", await hash.setIfAbsent(field, value), isNew];
      }
      if (action < 6) return ["delete", await hash.delete(field), model.delete(field)];
      if (action < 7) {
        const sum = (model.get(field) ?? 0) + value;
        model.set(field, sum);
        return ["increment", await hash.increment(field, value), sum];
      }
      if (action < 8) {
        const fields = Array.from({ length: 20 }, () => named(random(elements)));
        return ["getMany", await hash.getMany(fields), fields.map((each) => model.get(each) ?? null)];
      }
      if (action < 9) return ["get", await hash.get(field), model.get(field) ?? null];
      return ["size", await hash.count(), model.size];
    },
    async state() {
      return [sorted(new Map(await all(hashes[0].entries()))), sorted(model)];
    },
  };
}

function setPair(stores: Filled<Store>, elements: number): Pair {
  const sets = mapFilled(stores, (store) => new ShardedSet(store, "subject", SMALL));
  const model = new Set<string>();
  return {
    shards: sets[0].shards,
    async act(random) {
      const set = sets[random(sets.length)]!;
      const [member, action] = [named(random(elements)), random(10)];
      if (action < 3) {
        const isNew = !model.has(member);
        model.add(member);
        return ["add", await set.add(member), isNew];
      }
      if (action < 5) return ["remove", await set.delete(member), model.delete(member)];
      const members = Array.from({ length: 20 }, () => named(random(elements)));
      if (action < 6) {
        const fresh = new Set(members.filter((each) => !model.has(each)));
        for (const each of members) model.add(each);
        return ["addMany", await set.addMany(members), fresh.size];
      }
      if (action < 7) {
        const removed = new Set(members.filter((each) => model.delete(each)));
        return ["removeMany", await set.deleteMany(members), removed.size];
      }
      if (action < 9) return ["hasMany", await set.hasMany(members), members.map((each) => model.has(each))];
      return ["size", await set.count(), model.size];
    },
    async state() {
      return [sorted(new Set(await all(sets[0].members()))), sorted(model)];
    },
  };
}

function zsetPair(stores: Filled<Store>, elements: number): Pair {
  const sets = mapFilled(stores, (store) => new ShardedSortedSet(store, "subject", SMALL));
  const model = new Map<string, number>();
  const inOrder = (): { member: string; score: number }[] =>
    [...model]
      .map(([member, score]) => ({ member, score }))
      .sort((a, b) => a.score - b.score || Buffer.compare(Buffer.from(a.member), Buffer.from(b.member)));
  return {
    shards: sets[0].shards,
    async act(random) {
      const set = sets[random(sets.length)]!;
      const [member, score, action] = [named(random(elements)), random(50) / 4, random(12)];
      if (action < 4) {
        const isNew = !model.has(member);
        model.set(member, score);
        return ["add", await set.add(member, score), isNew];
      }
      if (action < 5) {
        const sum = (model.get(member) ?? 0) + score;
        model.set(member, sum);
        return ["increment", await set.increment(member, score), sum];
      }
      if (action < 7) return ["remove", await set.delete(member), model.delete(member)];
      if (action < 8) return ["score", await set.score(member), model.get(member) ?? null];
      const [min, max] = [score, score + random(8)];
      const within = inOrder().filter((each) => each.score >= min && each.score <= max);
      if (action < 9) return ["count", await set.count({ min, max }), within.length];
      if (action < 10) return ["range", (await set.range({ min, max, limit: 10 })).items, within.slice(0, 10)];
      if (action < 11) return ["top", await set.top({ limit: 15 }), inOrder().reverse().slice(0, 15)];
      if (random(10) > 0) return ["size", await set.count(), model.size];
      for (const each of within) model.delete(each.member);
      return ["removeRange", await set.deleteRange({ min, max }), within.length];
    },
    async state() {
      return [await sets[0].bottom({ limit: elements }), inOrder()];
    },
  };
}

function bitmapPair(stores: Filled<Store>, elements: number): Pair {
  const bitmaps = mapFilled(stores, (store) => new ShardedBitmap(store, "subject", { tags: 3, shardSize: 1_024 }));
  const model = new Set<number>();
  // Some next to each other, over several strides.
  const bitOf = (nth: number): number => (nth % 4) * 2 ** 20 + (nth % 10) * 1_000 + Math.floor(nth / 10);
  return {
    shards: bitmaps[0].shards,
    async act(random) {
      const bitmap = bitmaps[random(bitmaps.length)]!;
      const [bit, action] = [bitOf(random(elements)), random(10)];
      if (action < 4) {
        const was = model.has(bit);
        model.add(bit);
        return ["set", await bitmap.set(bit), was];
      }
      if (action < 6) return ["clear", await bitmap.set(bit, false), model.delete(bit)];
      if (action < 8) {
        const bits = Array.from({ length: 20 }, () => bitOf(random(elements)));
        return ["getMany", await bitmap.getMany(bits), bits.map((each) => model.has(each))];
      }
      const [from, to] = [bit, bit + random(3_000_000)];
      if (action < 9) {
        const within = [...model].filter((each) => each >= from && each < to);
        return ["count", await bitmap.count({ from, to }), within.length];
      }
      return ["size", await bitmap.count(), model.size];
    },
    async state() {
      return [await all(bitmaps[0].positions()), [...model].sort((a, b) => a - b)];
    },
  };
}
