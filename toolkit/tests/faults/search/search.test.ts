/**
 * Writers that are killed in the middle of it, and answers that are lost: what the index finds is what a naive search over its
 * own documents finds, and when they are removed nothing is left. SEARCH_ROUNDS for more of it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { NaiveSearch } from "../../../src/components/search/testing/naive.ts";
import { Chance, randomDocument, randomQuery } from "../../../src/components/search/testing/random.ts";
import { open, type Store } from "../../../src/index.ts";
import { keysIn } from "../../kit/keys.ts";
import { FaultyProxy } from "../../kit/proxy.ts";
import { installed, startRedis } from "../../kit/servers.ts";
import { endAll, start } from "../web/children.ts";
import { busyIndex } from "./busy-index.ts";
import type { WriterOrder } from "./writer.ts";

const ROUNDS = Number(process.env.SEARCH_ROUNDS ?? 1);

type Index = ReturnType<typeof busyIndex>;

/** Searches of a fresh reader against a naive search over the documents as they are stored. */
async function expectSound(store: Store, seed: number): Promise<void> {
  const index: Index = busyIndex(store);
  const documents = new Map<string, Record<string, unknown>>();
  for (const id of await index.ids()) documents.set(id, { ...(await index.get(id))!.document });
  expect(await index.count()).toBe(documents.size);
  const naive = new NaiveSearch(index.schema, documents);
  const chance = new Chance(seed);
  for (let nth = 0; nth < 40; nth++) {
    const query = randomQuery(chance);
    const expected = new Map(naive.search(query).hits.map(({ id, score }) => [id, score]));
    const found = await index.search(query, { limit: 10_000 });
    expect(found.count, JSON.stringify(query)).toBe(expected.size);
    for (const { id, score } of found.hits) expect(score, JSON.stringify(query)).toBeCloseTo(expected.get(id)!, 9);
  }
}

describe.skipIf(!installed("redis-server"))("an index under faults", () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  let store: Store;
  let url: string;

  beforeAll(async () => {
    server = await startRedis();
    url = `redis://127.0.0.1:${server.port}`;
    store = await open(url);
  });
  afterEach(async () => {
    await endAll();
    await store.call("FLUSHALL");
  });
  afterAll(async () => {
    await store?.close();
    await server?.stop();
  });

  test("writers that are killed leave whole documents, and an index that can be emptied", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const seed of [1, 2].map((nth) => nth + round * 10)) {
        const order = (own: number): WriterOrder => ({ url, seed: own });
        const writers = [
          start("../search/writer.ts", order(seed), () => {}),
          start("../search/writer.ts", order(seed + 100), () => {}),
        ];
        await Promise.all(writers.map(({ ready }) => ready));
        for (const writer of writers) writer.kill("SIGKILL");
        await Promise.all(writers.map(({ ended }) => ended));
        await expectSound(store, seed);
      }
      await busyIndex(store).clear();
      expect(await keysIn(store)).toEqual([]);
    }
  });

  test("a write whose answer is lost is made once", async () => {
    const proxy = await FaultyProxy.open(server.port);
    const shaky = await open(proxy.url);
    try {
      const index = busyIndex(shaky);
      const chance = new Chance(7);
      await index.set("warm", randomDocument(chance));
      const lost = async (text: string, write: () => Promise<unknown>): Promise<unknown> => {
        const cut = proxy.loseAnswerOf(text);
        const [answer] = await Promise.all([write(), cut]);
        return answer;
      };
      expect(await lost("d:one", () => index.set("one", { title: "only one" }))).toEqual({
        status: "same",
        version: 1,
      });
      expect(await lost("d:two", () => index.set("two", { title: "two" }, { ifVersion: 0 }))).toEqual({
        status: "added",
        version: 1,
      });
      expect(
        await lost("d:three", () =>
          index.setMany([
            ["three", { title: "three" }],
            ["four", { title: "four" }],
          ]),
        ),
      ).toMatchObject({ changed: 0 });
      await lost("d:four", () => index.delete("four"));
      expect((await index.search("one OR two OR three OR four")).hits.map(({ id }) => id).sort()).toEqual([
        "one",
        "three",
        "two",
      ]);
      await expectSound(store, 3);
      await index.clear();
      expect(await keysIn(store)).toEqual([]);
    } finally {
      await shaky.close();
      await proxy.close();
    }
  });
});
