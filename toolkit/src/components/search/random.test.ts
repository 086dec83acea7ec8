/**
 * What an index finds, compared with a naive search (testing/naive.ts): random documents and queries, at rest, while documents
 * change, and over shards. SEARCH_ROUNDS for more of it, SEARCH_SEED for the same again.
 */
import { expect, test } from "vitest";
import { type Backend, describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import type { Store } from "../../connection/store.ts";
import { compareBytes, type Query, SearchIndex, ShardedSearch } from "./index.ts";
import { rendezvous } from "./sharded.ts";
import { type NaiveAnswer, type NaiveDocument, NaiveSearch } from "./testing/naive.ts";
import { Chance, randomDocument, randomQuery } from "./testing/random.ts";

const ROUNDS = Number(process.env.SEARCH_ROUNDS ?? 1);
const SEED = Number(process.env.SEARCH_SEED ?? 20_261_115);
const EVERYTHING = { limit: 1_000 };

const OPTIONS = {
  fields: {
    title: { type: "text", weight: 2.5, b: 0.6, store: true },
    body: { type: "text", store: true },
    tags: { type: "tags" },
    price: { type: "number" },
    name: { type: "string" },
  },
  k1: 1.4,
  maxExpansions: 10_000,
} as const;

type Found = { readonly count: number; readonly hits: readonly { readonly id: string; readonly score: number }[] };

/** Null if they are the same, up to 1e-9 in the scores; otherwise what is not. */
function difference(found: Found, naive: NaiveAnswer): string | null {
  if (found.count !== naive.count || found.hits.length !== naive.count)
    return `${found.count} found, not ${naive.count}`;
  const expected = new Map(naive.hits.map(({ id, score }) => [id, score]));
  for (const [at, { id, score }] of found.hits.entries()) {
    const wanted = expected.get(id);
    if (wanted === undefined) return `${id} found`;
    if (Math.abs(wanted - score) > 1e-9 * Math.max(1, Math.abs(wanted))) return `${id} has ${score}, not ${wanted}`;
    const before = found.hits[at - 1];
    const isInOrder =
      before === undefined || before.score > score || (before.score === score && compareBytes(before.id, id) < 0);
    if (!isInOrder) return `${id} does not come after ${before?.id}`;
  }
  return null;
}

type Writing = Pick<SearchIndex<(typeof OPTIONS)["fields"]>, "set" | "setMany" | "update" | "delete">;

/** One random change, applied to the model, which is shown after each step, and then to the index. */
async function change(
  chance: Chance,
  model: Map<string, NaiveDocument>,
  index: Writing,
  onModel: () => void = () => {},
): Promise<void> {
  const id = `doc ${chance.below(40)}`;
  const kind = chance.below(10);
  if (kind < 5) {
    const document = randomDocument(chance);
    model.set(id, document);
    onModel();
    await index.set(id, document);
  } else if (kind < 7) {
    model.delete(id);
    onModel();
    await index.delete(id);
  } else if (kind < 9) {
    const price = chance.below(2) === 0 ? null : chance.below(20);
    const before = model.get(id);
    if (before !== undefined) model.set(id, { ...before, price: price ?? undefined, tags: ["red"] });
    onModel();
    await index.update(id, { price, tags: ["red"] });
  } else {
    const next = Math.max(0, ...[...model.keys()].map((each) => Number(/^batch (\d+)/.exec(each)?.[1] ?? 0))) + 1;
    const batch = Array.from({ length: 3 }, (_, nth) => [`batch ${next} ${nth}`, randomDocument(chance)] as const);
    for (const [each, document] of batch) {
      model.set(each, document);
      onModel();
    }
    await index.setMany(batch);
  }
}

/** Documents of more words are written in several steps: with so few, nearly all. */
const WORDS_AT_ONCE = [1_000, 3];

for (const wordsAtOnce of WORDS_AT_ONCE) {
  describeBackends(`random search, ${wordsAtOnce} words at once`, { audit: false }, (backend) => {
    randomSearch(backend, { ...OPTIONS, wordsAtOnce });
  });
}

function randomSearch(backend: Backend, options: typeof OPTIONS & { readonly wordsAtOnce: number }): void {
  test("everything is as in a naive search", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const chance = new Chance(SEED + round);
      await backend.flush();
      const mine = new SearchIndex(backend.store, "random", options);
      const theirs = new SearchIndex(await backend.open(), "random", { ...options, cacheBytes: 2_000 });
      const model = new Map<string, NaiveDocument>();
      for (let step = 0; step < 40; step++) {
        for (let nth = chance.below(4); nth >= 0; nth--) await change(chance, model, mine);
        const naive = new NaiveSearch(mine.schema, model);
        const queries = Array.from({ length: 4 }, () => randomQuery(chance));
        const reader = step % 2 === 0 ? theirs : mine;
        const answers = await Promise.all(queries.map((query) => reader.search(query, EVERYTHING)));
        for (const [at, query] of queries.entries()) {
          const wrong = difference(answers[at]!, naive.search(query));
          expect(wrong, `seed ${SEED + round}, step ${step}: ${JSON.stringify(query)}`).toBeNull();
        }
      }
      await mine.clear();
      expect(await keysIn(backend.store)).toEqual([]);
    }
  });

  test("while documents change, an answer is that of a moment between question and answer", async () => {
    for (let round = 0; round < ROUNDS; round++)
      await readersBesideWriter(backend, new Chance(SEED + 77 + round), options);
  });

  test("shards together are as one index, while documents change and move too", async () => {
    const stores: Store[] = [backend.store, await backend.open(), await backend.open()];
    const chance = new Chance(SEED + 5);
    const places = stores.map((store, at) => ({ store, name: `shard ${at}` }));
    const one = new SearchIndex(backend.store, "whole", options);
    const model = new Map<string, NaiveDocument>();
    const sharded = new ShardedSearch(places.slice(0, 2), options);
    const both = twice(one, sharded);
    const compare = async (index: ShardedSearch<(typeof OPTIONS)["fields"]>): Promise<void> => {
      const naive = new NaiveSearch(one.schema, model);
      for (let nth = 0; nth < 6; nth++) {
        const query = randomQuery(chance);
        const asked = { facets: { tags: true, price: { buckets: [0, 5] } }, limit: 1_000 } as const;
        const [whole, parts] = [await one.search(query, asked), await index.search(query, asked)];
        expect(difference(parts, naive.search(query)), JSON.stringify(query)).toBeNull();
        expect(parts.facets).toEqual(whole.facets);
        const paged = await index.search(query, { sort: ["-price", "name"], offset: 3, limit: 4 });
        expect(paged.hits).toEqual(
          (await one.search(query, { sort: ["-price", "name"], offset: 3, limit: 4 })).hits.map((hit) => ({
            ...hit,
            score: expect.closeTo(hit.score, 9),
          })),
        );
      }
    };
    for (let step = 0; step < 12; step++) {
      for (let nth = 0; nth < 5; nth++) await change(chance, model, both);
      await compare(sharded);
    }
    expect(await sharded.count()).toBe(model.size);
    const first = await sharded.search("*", { cacheTtlMs: 60_000, limit: 5 });
    expect((await sharded.page(first.id!, { offset: 5, limit: 5 }))!.hits).toEqual(
      (await sharded.search("*", { offset: 5, limit: 5 })).hits,
    );

    // A third shard: documents move while others are written and removed.
    const wider = new ShardedSearch(places, { ...options, previous: ["shard 0", "shard 1"] });
    const moving = wider.move();
    for (let nth = 0; nth < 40; nth++) await change(chance, model, wider);
    await moving;
    await wider.move();
    const after = new ShardedSearch(places, options);
    expect(await after.count()).toBe(model.size);
    expect(Object.keys(await after.inspect()).length).toBe(3);
    const naive = new NaiveSearch(one.schema, model);
    for (let nth = 0; nth < 20; nth++) {
      const query = randomQuery(chance);
      expect(difference(await after.search(query, EVERYTHING), naive.search(query)), JSON.stringify(query)).toBeNull();
    }
  });
}

/** A writer goes through states one after the other; readers ask meanwhile, and note between which states they did. */
async function readersBesideWriter(
  backend: Backend,
  chance: Chance,
  options: typeof OPTIONS & { readonly wordsAtOnce: number },
): Promise<void> {
  await backend.flush();
  const writer = new SearchIndex(backend.store, "busy", options);
  const model = new Map<string, NaiveDocument>();
  const states: NaiveSearch[] = [];
  let done = 0;
  const note = (): void => {
    states.push(new NaiveSearch(writer.schema, model));
  };
  note();
  const changes = chance.below(10) + 50;
  let isWriting = true;
  const write = async (): Promise<void> => {
    for (let step = 0; step < changes; step++) {
      // The state after a change is possible from before it is sent, and certain once it is answered.
      await change(chance, model, writer, note);
      done = states.length - 1;
    }
    isWriting = false;
  };
  const wrongs: string[] = [];
  let asked = 0;
  const read = async (reader: SearchIndex<(typeof OPTIONS)["fields"]>, own: Chance): Promise<void> => {
    while (isWriting) {
      const query: Query = randomQuery(own);
      const from = done;
      const found = await reader.search(query, EVERYTHING);
      asked++;
      const possible = states.slice(from);
      const differences = possible.map((naive) => difference(found, naive.search(query)));
      if (differences.some((each) => each === null)) continue;
      wrongs.push(`${JSON.stringify(query)}: ${differences.join("; ")}`);
    }
  };
  const readers = [backend.store, await backend.open(), await backend.open()].map((store, at) => ({
    index: new SearchIndex(store, "busy", { ...options, cacheBytes: at === 1 ? 1_000 : 1_000_000 }),
    chance: new Chance(chance.below(1_000_000) + at + 1),
  }));
  await Promise.all([write(), ...readers.flatMap(({ index, chance: own }) => [read(index, own), read(index, own)])]);
  expect(wrongs).toEqual([]);
  expect(asked).toBeGreaterThan(5);
}

/** Every write to both. */
function twice(a: Writing, b: Writing): Writing {
  return {
    set: async (...args) => {
      await a.set(...args);
      return b.set(...args);
    },
    setMany: async (documents) => {
      const list = [...(documents as Iterable<readonly [string, object]>)];
      await a.setMany(list);
      return b.setMany(list);
    },
    update: async (...args) => {
      await a.update(...args);
      return b.update(...args);
    },
    delete: async (id) => {
      await a.delete(id);
      return b.delete(id);
    },
  };
}

test("a shard more takes from the others, and nothing else moves", () => {
  const ids = Array.from({ length: 4_000 }, (_, nth) => `document ${nth}`);
  const four = ["a", "b", "c", "d"];
  const before = ids.map((id) => rendezvous(four, id));
  const after = ids.map((id) => rendezvous([...four, "e"], id));
  for (const name of four) expect(before.filter((each) => each === name).length).toBeGreaterThan(800);
  expect(after.filter((each, at) => each !== before[at] && each !== "e")).toEqual([]);
  expect(after.filter((each) => each === "e").length).toBeGreaterThan(600);
});
