/** Documents of more words than one script may write: seen in one step although a process dies half-way, and gone without a trace. */
import { expect, test } from "vitest";
import { beforeScript } from "../../../tests/kit/before-script.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import type { RoundTrip, Store } from "../../connection/store.ts";
import { SearchIndex } from "./index.ts";
import { indexKeys } from "./keys.ts";

const OPTIONS = { fields: { text: { type: "text" }, n: { type: "number" } }, wordsAtOnce: 10 } as const;
const GHOSTS = indexKeys("search", "books").ghosts;

const indexOn = (store: Store) => new SearchIndex(store, "books", OPTIONS);
type Index = ReturnType<typeof indexOn>;

/** `count` words that end in a letter, and "common". */
const words = (letter: string, count = 35): string =>
  `common ${Array.from({ length: count }, (_, nth) => `word${nth}${letter}`).join(" ")}`;

const found = async (index: Index, query: string): Promise<string[]> =>
  (await index.search(query)).hits.map(({ id }) => id).sort();

/** As if the process that removes the ghosts had done nothing for long. */
async function abandoned(store: Store): Promise<number> {
  const flat = (await store.call("HGETALL", GHOSTS)) as string[];
  for (let at = 0; at < flat.length; at += 2) {
    const [phase, done, total, , call] = flat[at + 1]!.split(" ");
    await store.call("HSET", GHOSTS, flat[at]!, [phase, done, total, 1, call].join(" "));
  }
  return flat.length / 2;
}

/** A store whose process dies before it runs one of the scripts: it runs nothing any more. */
function dyingBefore(store: Store, name: string): Store {
  let isDead = false;
  const die = () => {
    isDead = true;
    throw new Error("died");
  };
  const names = ["search.stage", "search.commit", "search.sweep", "search.claim-ghosts"];
  return names.reduce(
    (dying, each) =>
      beforeScript(dying, each, async () => {
        if (isDead || each === name) die();
      }),
    store,
  );
}

describeBackends("large documents", { audit: "tags" }, (backend) => {
  const keys = async (): Promise<number> => (await keysIn(backend.store)).length;

  /** Everything goes with the last document; only the name of the index stays. */
  const leavesNothing = async (index: Index): Promise<void> => {
    await index.clear();
    expect(await keys()).toBe(0);
  };

  test("are put, changed and removed, and no script writes more words than it may", async () => {
    let most = 0;
    const roundTrip = ({ items }: RoundTrip) => {
      for (const item of items) {
        if (!("script" in item) || !item.script.name.startsWith("search.")) continue;
        if (["search.put", "search.load", "search.stage", "search.sweep"].includes(item.script.name)) {
          most = Math.max(most, item.args.length);
        }
      }
      return undefined;
    };
    const index = indexOn(await backend.open({ hooks: { roundTrip } }));
    expect(await index.set("a", { text: words("a"), n: 1 })).toEqual({ status: "added", version: 1 });
    expect(await index.set("a", { text: words("a"), n: 1 })).toEqual({ status: "same", version: 1 });
    expect(await index.set("a", { text: words("b"), n: 2 }, { ifVersion: 0 })).toMatchObject({ status: "conflict" });
    expect(await index.set("a", { text: words("b"), n: 2 }, { ifVersion: 1 })).toEqual({
      status: "changed",
      version: 2,
    });
    expect([await found(index, "word7a"), await found(index, "word7b"), await found(index, "n:2")]).toEqual([
      [],
      ["a"],
      ["a"],
    ]);
    expect(await index.set("a", { text: "common small" })).toEqual({ status: "changed", version: 3 });
    expect([await found(index, "word7b"), await found(index, "small"), await found(index, "n:2")]).toEqual([
      [],
      ["a"],
      [],
    ]);
    const many = ["c", "d", "e"].map((letter) => [letter, { text: words(letter, letter === "d" ? 35 : 8) }] as const);
    expect(await index.setMany([...many, ["a", { text: words("a") }]])).toEqual({ added: 3, changed: 1, same: 0 });
    expect(await found(index, "common")).toEqual(["a", "c", "d", "e"]);
    expect(await index.deleteMany(["a", "c", "x"])).toBe(2);
    expect([await found(index, "common"), await index.count()]).toEqual([["d", "e"], 2]);
    // Ten words with their payloads, and what every script is told.
    expect(most).toBeGreaterThan(20);
    expect(most).toBeLessThan(20 + 40);
    await leavesNothing(index);
  });

  test.each(["search.stage", "search.commit"])("one whose writer dies before %s was never there", async (name) => {
    const index = indexOn(await backend.open());
    await index.set("a", { text: words("old"), n: 1 });
    const dying = indexOn(dyingBefore(backend.store, name));
    await expect(dying.set("a", { text: words("new"), n: 2 })).rejects.toThrow("died");
    await expect(dying.set("b", { text: words("new"), n: 2 })).rejects.toThrow("died");
    expect([await found(index, "common"), await found(index, "word1new"), await found(index, "n:2")]).toEqual([
      ["a"],
      [],
      [],
    ]);
    // Nobody touches what somebody may still be at.
    await index.set("c", { text: "common" });
    expect(await abandoned(backend.store)).toBe(2);
    await index.set("c", { text: "common more" });
    expect(await abandoned(backend.store)).toBe(0);
    expect((await index.terms({ prefix: "word1" })).items.every(({ term }) => term.endsWith("old"))).toBe(true);
    await leavesNothing(index);
  });

  test.each(["search.claim-ghosts", "search.sweep"])("one whose writer dies before %s is there", async (name) => {
    const index = indexOn(await backend.open());
    await index.set("a", { text: words("old"), n: 1 });
    const dying = indexOn(dyingBefore(backend.store, name));
    expect(await dying.set("a", { text: words("new"), n: 2 })).toEqual({ status: "changed", version: 2 });
    expect([await found(index, "common"), await found(index, "word1old"), await found(index, "word1new")]).toEqual([
      ["a"],
      [],
      ["a"],
    ]);
    expect(await abandoned(backend.store)).toBe(1);
    await index.set("c", { text: "common" });
    expect(await abandoned(backend.store)).toBe(0);
    expect((await index.terms({ prefix: "word1" })).items.every(({ term }) => term.endsWith("new"))).toBe(true);
    await leavesNothing(index);
  });

  test("the last document goes while another is being written, and the other is there in the end", async () => {
    const index = indexOn(await backend.open());
    await index.set("small", { text: "common" });
    let isFirst = true;
    const slow = beforeScript(backend.store, "search.commit", async () => {
      if (!isFirst) return;
      isFirst = false;
      expect(await index.delete("small")).toBe(true);
      expect(await found(index, "common")).toEqual([]);
    });
    expect(await indexOn(slow).set("large", { text: words("a") })).toEqual({ status: "added", version: 1 });
    expect([await found(index, "common"), await index.count()]).toEqual([["large"], 1]);
    await leavesNothing(index);
  });

  test("one that is taken for dead is written once more; one that was overtaken is a conflict", async () => {
    const index = indexOn(await backend.open());
    let before = async (): Promise<void> => {
      await abandoned(backend.store);
      await index.set("other", { text: "common" });
    };
    const slow = beforeScript(backend.store, "search.commit", async () => {
      const once = before;
      before = async () => {};
      await once();
    });
    expect(await indexOn(slow).set("a", { text: words("a") })).toEqual({ status: "added", version: 1 });
    expect(await found(index, "common")).toEqual(["a", "other"]);
    before = async () => void (await index.set("a", { text: words("b") }));
    expect(await indexOn(slow).set("a", { text: words("c") }, { ifVersion: 1 })).toEqual({
      status: "conflict",
      version: 2,
    });
    expect([await found(index, "word1b"), await found(index, "word1c")]).toEqual([["a"], []]);
    await leavesNothing(index);
  });
});
