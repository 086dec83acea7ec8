/** The contract of an index, on every backend. What it finds is compared with a naive search in random.test.ts. */
import { describe, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { InputError } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";
import { analyser, compareBytes, SearchIndex, stringScore } from "./index.ts";
import { Vocabulary } from "./vocabulary.ts";

const FIELDS = {
  title: { type: "text", weight: 3, store: true },
  body: { type: "text", store: true },
  tags: { type: "tags" },
  price: { type: "number" },
  name: { type: "string" },
} as const;

const shop = (store: Store) => new SearchIndex(store, "shop", { fields: FIELDS });

const idsOf = (result: { readonly hits: readonly { readonly id: string }[] }) => result.hits.map(({ id }) => id);

/** How many keys there are, on all nodes. */
async function keys(store: Store): Promise<number> {
  return (await keysIn(store)).length;
}

async function filled(store: Store) {
  const index = shop(store);
  await index.setMany([
    [
      "tea",
      { title: "Green tea", body: "Leaves from the hills, dried slowly", tags: ["drink", "leaf"], price: 4, name: "b" },
    ],
    ["pot", { title: "Tea pot", body: "Holds a litre of tea; made of iron", tags: ["iron"], price: 30, name: "a" }],
    ["pan", { title: "Iron pan", body: "For running kitchens", tags: ["iron", "kitchen"], price: 25 }],
    [
      "cup",
      {
        title: "Cup",
        body: "One cup holds a quarter litre. Libraries of cups",
        tags: ["kitchen"],
        price: 4,
        name: "ä",
      },
    ],
  ]);
  return index;
}

describeBackends("search", { audit: "tags" }, (backend) => {
  test("500 long documents of different words go in together", async () => {
    const index = shop(backend.store);
    const body = (nth: number) => Array.from({ length: 150 }, (_, at) => `w${nth}x${at}`).join(" ");
    const many = Array.from({ length: 500 }, (_, nth) => [`${nth}`, { body: body(nth) }] as const);
    expect(await index.setMany(many)).toEqual({ added: 500, changed: 0, same: 0 });
    expect(idsOf(await index.search("w499x149"))).toEqual(["499"]);
  });

  test("every piece of up to four characters of a Chinese text is found, and whole phrases first", async () => {
    const index = new SearchIndex(backend.store, "zh", { fields: { body: { type: "text", store: true } } });
    const text = "南京市长江大桥位于江苏省南京市，红茶与绿茶都产自清华大学附近的研究生命科学的茶园。";
    await index.setMany([
      ["text", { body: text }],
      ["apart", { body: "研究红茶，红茶的研究" }],
      ["together", { body: `${text}${text}红茶研究在春天开始。` }],
      ["other", { body: "full text 全文検索エンジン 한국어 검색" }],
    ]);
    const runs = text.match(/\p{Script=Han}+/gu)!;
    const pieces = new Set(
      runs.flatMap((run) =>
        [1, 2, 3, 4].flatMap((length) =>
          Array.from({ length: Math.max(0, run.length - length + 1) }, (_, at) => run.slice(at, at + length)),
        ),
      ),
    );
    expect(pieces.size).toBeGreaterThan(120);
    for (const piece of pieces)
      expect([piece, idsOf(await index.search(piece))]).toEqual([piece, expect.arrayContaining(["text"])]);
    // A long text with the whole of it comes before short ones that have its words often, and apart.
    expect(idsOf(await index.search("红茶研究"))).toEqual(["together", "apart", "text"]);
    expect(idsOf(await index.search('"红茶研究"'))).toEqual(["together"]);
    expect(idsOf(await index.search("索エン"))).toEqual(["other"]);
    expect(idsOf(await index.search("국어"))).toEqual(["other"]);
    const [hit] = (await index.search("长江", { highlight: true })).hits;
    expect(hit!.snippets!.body).toContain("<mark>长江</mark>大桥");
  });

  test("pictures, sharp s and forms of a word are found; unrelated words are not", async () => {
    const index = shop(backend.store);
    await index.setMany([
      ["launch", { title: "Launch 🚀 today", body: "Große Straße, used cars" }],
      ["us", { title: "US plane", body: "wine and care" }],
    ]);
    for (const query of ["🚀", "strasse", "GROSSE", "use", "car"]) {
      expect([query, idsOf(await index.search(query))]).toEqual([query, ["launch"]]);
    }
    for (const query of ["win", "plan"]) expect([query, idsOf(await index.search(query))]).toEqual([query, []]);
  });

  test("what is not understood of a query is said", async () => {
    const index = await filled(backend.store);
    const notes = async (query: string) => (await index.search(query)).explanation.notes.join(" ");
    expect(await notes('"green tea"~2')).toMatch(/"~2" behind a phrase is not understood/);
    expect(await notes("car~9")).toMatch(/"~9" is not understood/);
    expect(idsOf(await index.search('"green tea"~2'))).toEqual(["tea"]);
    expect(await notes("tea~1 tea~")).toBe("");
  });

  test("a document is found by its words until it is changed or removed", async () => {
    const index = shop(backend.store);
    expect(await index.set("a", { title: "Brown bears" })).toEqual({ status: "added", version: 1 });
    expect(idsOf(await index.search("bear"))).toEqual(["a"]);
    expect(await index.set("a", { title: "Brown bears" })).toEqual({ status: "same", version: 1 });
    expect(await index.set("a", { title: "Grey wolves" })).toEqual({ status: "changed", version: 2 });
    expect(idsOf(await index.search("bear OR brown"))).toEqual([]);
    expect(idsOf(await index.search("wolves"))).toEqual(["a"]);
    expect(await index.count()).toBe(1);
    expect(await index.delete("a")).toBe(true);
    expect(await index.delete("a")).toBe(false);
    expect((await index.search("wolves")).count).toBe(0);
    expect(await index.count()).toBe(0);
  });

  test("what one process writes, another finds", async () => {
    const mine = await filled(backend.store);
    const theirs = shop(await backend.open());
    expect(idsOf(await theirs.search("pot"))).toEqual(["pot"]);
    await mine.set("new", { title: "Another pot" });
    expect([...idsOf(await theirs.search("pot"))].sort()).toEqual(["new", "pot"]);
    await mine.delete("pot");
    expect(idsOf(await theirs.search("pot"))).toEqual(["new"]);
    await theirs.clear();
    expect((await mine.search("*")).count).toBe(0);
    await theirs.set("again", { title: "A pot again" });
    expect(idsOf(await mine.search("pot"))).toEqual(["again"]);
  });

  test("a reader notices that what it knows is of the past, however alike the present is", async () => {
    const [writer, reader] = [shop(backend.store), shop(await backend.open())];
    // The list of a word goes and comes again, as long as before and in the same number of bytes.
    await writer.set("keep", { title: "other" });
    await writer.set("a", { title: "word" });
    expect(idsOf(await reader.search("word"))).toEqual(["a"]);
    await writer.delete("a");
    await writer.set("c", { title: "different" });
    await writer.set("b", { title: "word" });
    expect(idsOf(await reader.search("word"))).toEqual(["b"]);
    // So does the whole index.
    for (const id of ["keep", "b", "c"]) await writer.delete(id);
    await writer.set("x", { title: "word" });
    expect(idsOf(await reader.search("word"))).toEqual(["x"]);
    await writer.delete("x");
    await writer.set("y", { title: "word" });
    expect(idsOf(await reader.search("word"))).toEqual(["y"]);
  });

  test("a reader notices that a server has forgotten the last writes", async () => {
    const [writer, reader] = [shop(backend.store), shop(await backend.open())];
    const key = (part: string) => `search:{shop}:${part}`;
    await writer.set("a", { title: "one" });
    const before = ["meta", "docs", "words", "d:a", "w:one"];
    for (const part of before) await backend.store.call("COPY", key(part), `${key(part)}:before`);
    await writer.set("b", { title: "two" });
    await writer.set("c", { title: "three" });
    expect((await reader.search("two OR three")).count).toBe(2);
    for (const part of ["d:b", "d:c", "w:two", "w:three"]) await backend.store.call("DEL", key(part));
    for (const part of before) await backend.store.call("RENAME", `${key(part)}:before`, key(part));
    await writer.set("d", { title: "two" });
    expect(idsOf(await reader.search("two"))).toEqual(["d"]);
    expect(idsOf(await reader.search("*"))).toEqual(["a", "d"]);
  });

  test("a version that is asked for is the one that is changed, or nothing is", async () => {
    const index = shop(backend.store);
    expect(await index.set("a", { title: "x" }, { ifVersion: 1 })).toEqual({ status: "conflict", version: 0 });
    expect(await index.set("a", { title: "x" }, { ifVersion: 0 })).toEqual({ status: "added", version: 1 });
    // Somebody else with the same content has not added it.
    expect(await index.set("a", { title: "x" }, { ifVersion: 0 })).toEqual({ status: "conflict", version: 1 });
    expect(await index.set("a", { title: "y" }, { ifVersion: 0 })).toEqual({ status: "conflict", version: 1 });
    expect(await index.update("a", { price: 1 }, { ifVersion: 7 })).toEqual({ status: "conflict", version: 1 });
    expect(await index.update("a", { price: 1 }, { ifVersion: 1 })).toEqual({ status: "changed", version: 2 });
    expect(await index.delete("a", { ifVersion: 1 })).toBe(false);
    expect(await index.delete("a", { ifVersion: 2 })).toBe(true);
  });

  test("of several who count on from the same version, one does", async () => {
    const index = shop(backend.store);
    await index.set("a", { title: "x", price: 0 });
    const count = async (): Promise<void> => {
      for (;;) {
        const { version, document } = (await index.get("a"))!;
        const { status } = await index.update("a", { price: document.price! + 1 }, { ifVersion: version });
        if (status === "changed") return;
      }
    };
    await Promise.all(Array.from({ length: 12 }, count));
    expect(await index.get("a")).toMatchObject({ version: 13, document: { price: 12 } });
  });

  test("a field has only what its type has", () => {
    const fields = { price: { type: "number", weight: 2 } } as never;
    expect(() => new SearchIndex(backend.store, "shop", { fields })).toThrow("only text fields have weight");
    const misspelt = { title: { type: "text", wieght: 2 } } as never;
    expect(() => new SearchIndex(backend.store, "shop", { fields: misspelt })).toThrow('"weight"');
  });

  test("an emptied index leaves nothing", async () => {
    const index = await filled(backend.store);
    await index.set("pot", { title: "Another thing", tags: ["x"] });
    await index.update("pan", { price: 1, name: "z" });
    for (const id of ["tea", "pot", "pan", "cup"]) expect(await index.delete(id)).toBe(true);
    expect(await keys(backend.store)).toBe(0);
    await filled(backend.store);
    // The name of the index stays among those of all indexes until it is cleared.
    const listed = async () => (await SearchIndex.list(backend.store)).items;
    await expect.poll(listed, { timeout: 20_000 }).toHaveLength(1);
    await index.clear();
    expect(await keys(backend.store)).toBe(0);
    expect(await listed()).toEqual([]);
  });

  test("a word that no document has any more is no word of the index", async () => {
    const index = shop(backend.store);
    await index.set("a", { title: "one two" });
    await index.set("b", { title: "two three" });
    await index.set("a", { title: "four" });
    const { items: terms } = await index.terms();
    expect(terms.map(({ term }) => term)).toEqual(["four", "three", "two"]);
    expect(await index.terms({ prefix: "t", limit: 1 })).toMatchObject({ items: [{ term: "three" }], cursor: "three" });
    expect((await index.terms({ prefix: "t", limit: 5, cursor: "three" })).items).toMatchObject([{ term: "two" }]);
    expect((await index.search("on*")).count).toBe(0);
  });

  test("what is written over and over does not grow without end", async () => {
    const index = shop(backend.store);
    await index.set("other", { title: "steady word", name: "n" });
    for (let nth = 0; nth < 150; nth++)
      await index.set("a", { title: `word number ${nth}`, price: nth, tags: [`t${nth}`] });
    const { postingsBytes, wordsBytes, documentsBytes, columnsBytes } = await index.inspect();
    expect(postingsBytes).toBeLessThan(2_000);
    for (const bytes of [wordsBytes, documentsBytes, columnsBytes.price!, columnsBytes.tags!])
      expect(bytes).toBeLessThan(1_100);
    expect(idsOf(await index.search("number 149 price:149 tags:t149"))).toEqual(["a"]);
    expect((await index.search("148")).count).toBe(0);
    // Numbers of removed documents are used again.
    for (let nth = 0; nth < 20; nth++) {
      await index.set(`new ${nth}`, { title: "passing" });
      await index.delete(`new ${nth}`);
    }
    expect(await backend.store.call("HGET", "search:{shop}:meta", "n")).toBe("3");
  });

  test("values can be changed without touching the words", async () => {
    const index = await filled(backend.store);
    expect(await index.update("tea", { price: 99, tags: ["rare"], name: null })).toEqual({
      status: "changed",
      version: 2,
    });
    expect(await index.update("tea", { price: 99 })).toEqual({ status: "same", version: 2 });
    expect(await index.update("absent", { price: 1 })).toEqual({ status: "not-found" });
    expect(idsOf(await index.search("leaves price:>50 tags:rare"))).toEqual(["tea"]);
    expect((await index.search("tags:leaf")).count).toBe(0);
    expect(await index.get("tea")).toEqual({
      id: "tea",
      version: 2,
      document: { title: "Green tea", body: "Leaves from the hills, dried slowly", tags: ["rare"], price: 99 },
    });
    expect(await index.get("absent")).toBeNull();
  });

  test("the language of queries", async () => {
    const index = await filled(backend.store);
    const found = async (query: string) => [...idsOf(await index.search(query))].sort();
    expect(await found("tea iron")).toEqual(["pot"]);
    expect(await found("tea AND iron")).toEqual(["pot"]);
    expect(await found("green OR pan")).toEqual(["pan", "tea"]);
    expect(await found("green | cup")).toEqual(["cup", "tea"]);
    expect(await found("tea -iron")).toEqual(["tea"]);
    expect(await found("tea NOT iron")).toEqual(["tea"]);
    expect(await found("-tea")).toEqual(["cup", "pan"]);
    expect(await found("pan +cup")).toEqual(["cup", "pan"]);
    expect(await found("iron tea +kitchen")).toEqual(["pan", "pot"]);
    expect(await found('"tea pot"')).toEqual(["pot"]);
    expect(await found('"pot tea"')).toEqual([]);
    expect(await found('"litre of tea"')).toEqual(["pot"]);
    expect(await found("kitch*")).toEqual(["pan"]);
    expect(await found("gren~")).toEqual(["tea"]);
    expect(await found("kitcen~1")).toEqual(["pan"]);
    expect(await found("kticen~1")).toEqual([]);
    expect(await found("ktichen~2")).toEqual(["pan"]);
    expect(await found("title:tea")).toEqual(["pot", "tea"]);
    expect(await found("title:(cup OR pan)")).toEqual(["cup", "pan"]);
    expect(await found("body:iron")).toEqual(["pot"]);
    expect(await found("price:[4 TO 25]")).toEqual(["cup", "pan", "tea"]);
    expect(await found("price:{4 TO 30}")).toEqual(["pan"]);
    expect(await found("price:[25 TO *]")).toEqual(["pan", "pot"]);
    expect(await found("price:4 -tea")).toEqual(["cup"]);
    expect(await found("price:<=4")).toEqual(["cup", "tea"]);
    expect(await found("tags:{leaf|kitchen}")).toEqual(["cup", "pan", "tea"]);
    expect(await found("tags:iron -tags:kitchen")).toEqual(["pot"]);
    expect(await found("(tea OR pan) iron")).toEqual(["pan", "pot"]);
    expect(await found("*")).toEqual(["cup", "pan", "pot", "tea"]);
    expect(await found("library cups")).toEqual(["cup"]);
    expect(await found("the tea")).toEqual(["pot", "tea"]);
    expect([...idsOf(await index.search("green cup -tea", { operator: "or" }))]).toEqual(["cup"]);
  });

  test("text is never refused, and what was not understood is said", async () => {
    const index = await filled(backend.store);
    const odd = [
      "", " ", "(", ")", "((((", "\"", "-", "+", "*", "~", "^", ":", "a:", ":a", "OR", "AND OR NOT", "-- --", "+ +tea",
      "tea )", ")(", "price:", "price:abc", "price:[", "price:[x TO y]", "tags:{", "tags:{}", "tea^", "tea^^3", "\u0000",
      "\ud800", "http://example.org/a?b=c#d", "nofield:tea", "-(", "NOT", "tea OR", "| tea", "-\"", "a\\b", "( ( a ) OR",
      "(".repeat(500), `${"a ".repeat(5_000)}`, "-".repeat(100), "'", "“tea pot”", "tea~9", "*tea", "~1", "[1 TO 2]", "{a|b}",
    ]; // biome-ignore format: one line for each kind would hide them
    for (const query of odd) {
      const { count, explanation } = await index.search(query);
      expect({ query, count: typeof count, notes: Array.isArray(explanation.notes) }).toEqual({
        query,
        count: "number",
        notes: true,
      });
    }
    const stops = await index.search("the of and");
    expect(stops).toMatchObject({ count: 0, hits: [] });
    expect(stops.explanation.notes).toEqual(["every word of the query is a stop word"]);
    expect(stops.explanation.ignored[0]).toEqual({ text: "the", why: "stop word" });
    expect((await index.search("the -tea")).count).toBe(0);
    expect((await index.search("nofield:tea")).explanation.notes).toEqual([
      'there is no field "nofield"; it was read as text',
    ]);
    expect(idsOf(await index.search("“tea pot"))).toEqual(["pot"]);
  });

  test("hits come in the order that is asked for, and alike ones by their ids", async () => {
    const index = await filled(backend.store);
    const sorted = async (sort: string | string[]) => idsOf(await index.search("*", { sort }));
    expect(await sorted("price")).toEqual(["cup", "tea", "pan", "pot"]);
    expect(await sorted("-price")).toEqual(["pot", "pan", "cup", "tea"]);
    expect(await sorted(["price", "-name"])).toEqual(["cup", "tea", "pan", "pot"]);
    expect(await sorted("name")).toEqual(["pot", "tea", "cup", "pan"]);
    expect(await sorted("-name")).toEqual(["cup", "tea", "pot", "pan"]);
    expect(idsOf(await index.search("*"))).toEqual(["cup", "pan", "pot", "tea"]);
    expect(idsOf(await index.search("tea", { sort: ["relevance"] }))).toEqual(idsOf(await index.search("tea")));
    expect(idsOf(await index.search("*", { sort: "price", offset: 1, limit: 2 }))).toEqual(["tea", "pan"]);
  });

  test("scores can be made of several fields by their weights", async () => {
    const index = await filled(backend.store);
    const { hits } = await index.search("tea", { rank: { relevance: 2, price: 0.5 } });
    const plain = new Map((await index.search("tea")).hits.map(({ id, score }) => [id, score]));
    expect(idsOf({ hits })).toEqual(["pot", "tea"]);
    expect(hits[0]!.score).toBeCloseTo(2 * plain.get("pot")! + 15, 9);
    const byName = await index.search("*", { rank: { name: 1 } });
    expect(idsOf(byName)).toEqual(["cup", "tea", "pot", "pan"]);
    expect(byName.hits[1]!.score).toBe(stringScore("b"));
  });

  test("facets count all that was found", async () => {
    const index = await filled(backend.store);
    const { facets, hits } = await index.search("tea OR iron OR cup", {
      limit: 1,
      facets: { tags: { limit: 2 }, price: { buckets: [5, 30] }, name: true },
    });
    expect(hits).toHaveLength(1);
    expect(facets.tags).toEqual([
      { value: "iron", count: 2 },
      { value: "kitchen", count: 2 },
    ]);
    expect(facets.price).toEqual([
      { from: null, to: 5, count: 2 },
      { from: 5, to: 30, count: 1 },
      { from: 30, to: null, count: 1 },
    ]);
    expect(facets.name).toHaveLength(3);
  });

  test("a hit can come with its document, a snippet, and what its score is made of", async () => {
    const index = await filled(backend.store);
    const long = `${"Something else entirely. ".repeat(20)}Here a <b>kettle</b> & more tea. ${"And so on. ".repeat(20)}`;
    await index.set("kettle", { title: "Kettle", body: long });
    const { hits } = await index.search("kettles tea", {
      documents: true,
      highlight: { fields: ["body"], units: 80 },
      explain: true,
    });
    expect(hits).toHaveLength(1);
    expect(hits[0]!.document).toMatchObject({ title: "Kettle" });
    expect(hits[0]!.snippets!.body).toMatch(
      /^….*&#60;b&#62;<mark>kettle<\/mark>&#60;\/b&#62; &#38; more <mark>tea<\/mark>.*…$/,
    );
    expect(hits[0]!.parts!.map(({ text }) => text)).toEqual(["kettles", "tea"]);
    expect(hits[0]!.parts!.reduce((sum, { score }) => sum + score, 0)).toBeCloseTo(hits[0]!.score, 9);
  });

  test("a kept answer is paged without gap or repetition while the index changes", async () => {
    const index = shop(backend.store);
    await index.setMany(
      Array.from({ length: 25 }, (_, nth) => [`d${String(nth).padStart(2, "0")}`, { title: "alike", price: nth }]),
    );
    const first = await index.search("alike", {
      sort: "price",
      limit: 10,
      cacheTtlMs: 60_000,
      facets: { price: { buckets: [10] } },
    });
    expect(first).toMatchObject({ count: 25, cached: false });
    await index.deleteMany(["d03", "d11", "d12"]);
    await index.set("d99", { title: "alike", price: -1 });
    const second = await index.page(first.id!, { offset: 10, limit: 10 });
    const third = await index.page(first.id!, { offset: 20, limit: 10, documents: true });
    const all = [first, second!, third!].flatMap((page) => idsOf(page));
    expect(all).toEqual(Array.from({ length: 25 }, (_, nth) => `d${String(nth).padStart(2, "0")}`));
    expect(third).toMatchObject({ count: 25, cached: true, facets: { price: [{ count: 10 }, { count: 15 }] } });
    // The same question is answered by what was kept; another one is not, and neither is one that wants it fresh.
    const again = { sort: "price", limit: 10, cacheTtlMs: 60_000, facets: { price: { buckets: [10] } } };
    expect(await index.search("alike", again)).toMatchObject({ id: first.id, cached: true, count: 25 });
    expect(await shop(await backend.open()).search("alike", { ...again, offset: 5 })).toMatchObject({ cached: true });
    expect(await index.search("alike", { ...again, sort: "-price" })).toMatchObject({ cached: false, count: 23 });
    const fresh = await index.search("alike", { ...again, fresh: true });
    expect(fresh).toMatchObject({ cached: false, count: 23 });
    expect(idsOf(fresh)[0]).toBe("d99");
    expect(idsOf((await index.page(first.id!, { offset: 3, limit: 1 }))!)).toEqual(["d03"]);
    expect(await index.page("absent")).toBeNull();
  });

  test("a kept answer goes when its time is over", async () => {
    const index = await filled(backend.store);
    const { id } = await index.search("tea", { cacheTtlMs: 1 });
    await expect.poll(() => backend.store.call("EXISTS", `search:{shop}:r:${id}`), { timeout: 20_000 }).toBe(0);
    expect(await index.search("tea", { cacheTtlMs: 60_000 })).toMatchObject({ cached: false });
  });

  test("a query that costs too much loses its most frequent words, and says so", async () => {
    await filled(backend.store);
    const index = new SearchIndex(backend.store, "shop", { fields: FIELDS, maxPostings: 2, maxExpansions: 2 });
    const cut = await index.search("tea green");
    expect(cut).toMatchObject({ complete: false, count: 1 });
    expect(cut.explanation.ignored.map(({ text }) => text)).toHaveLength(1);
    expect(cut.explanation.postings).toBeLessThanOrEqual(2);
    const wide = await index.search("l*");
    expect(wide.complete).toBe(false);
    expect(wide.explanation.notes.join()).toContain("more than 2 words");
    expect((await index.search("green")).complete).toBe(true);
  });

  test("processes that do not agree on the fields are told so", async () => {
    await filled(backend.store);
    const other = new SearchIndex(backend.store, "shop", { fields: { title: { type: "text" } } });
    await expect(other.set("a", { title: "x" })).rejects.toMatchObject({ code: "SCHEMA" });
    await expect(other.search("tea")).rejects.toMatchObject({ code: "SCHEMA" });
    // Weights are one's own affair.
    const heavier = new SearchIndex(backend.store, "shop", {
      fields: { ...FIELDS, title: { type: "text", weight: 9 } },
    });
    expect((await heavier.search("tea")).count).toBe(2);
  });

  test("what cannot be right is refused before anything is written", async () => {
    const index = shop(backend.store);
    const wrong = [
      () => index.set("", { title: "x" }),
      () => index.set("a", { title: 1 } as never),
      () => index.set("a", { nothing: "x" } as never),
      () => index.set("a", { price: Number.NaN }),
      () => index.set("a", { tags: "x" } as never),
      () => index.update("a", { title: "x" } as never),
      () => index.search("x", { limit: -1 }),
      () => index.search("x", { sort: "nothing" }),
      () => index.search("x", { sort: "tags" }),
      () => index.search("x", { facets: { price: true } }),
      () => index.search({ range: "tags" }),
      () => index.search({ nonsense: 1 } as never),
    ];
    for (const call of wrong) await expect((async () => call())()).rejects.toBeInstanceOf(InputError);
    expect(await keys(backend.store)).toBe(0);
    expect(() => new SearchIndex(backend.store, "x", { fields: {} })).toThrow(InputError);
    expect(() => new SearchIndex(backend.store, "x", { fields: { "a b": { type: "text" } } })).toThrow(InputError);
  });

  test("many documents at once are the same as one by one", async () => {
    const index = shop(backend.store);
    const documents = Array.from(
      { length: 1_200 },
      (_, nth) => [`d${nth}`, { title: `doc ${nth}`, price: nth }] as const,
    );
    expect(await index.setMany(documents)).toEqual({ added: 1_200, changed: 0, same: 0 });
    expect(await index.setMany(documents.slice(0, 40))).toEqual({ added: 0, changed: 0, same: 40 });
    const mixed = [
      ...documents.slice(0, 30),
      ["d1", { title: "changed" }] as const,
      ["new", { title: "doc" }] as const,
    ];
    expect(await index.setMany(mixed)).toEqual({ added: 1, changed: 1, same: 30 });
    expect((await index.search("doc")).count).toBe(1_200);
    expect(idsOf(await index.search("changed"))).toEqual(["d1"]);
    expect(await index.count()).toBe(1_201);
    expect(await index.deleteMany(documents.map(([id]) => id))).toBe(1_200);
    expect(idsOf(await index.search("*"))).toEqual(["new"]);
  });

  test("several that load at once get in each other's way, and all arrive", async () => {
    const stores = [backend.store, await backend.open(), await backend.open()];
    const loads = stores.map((store, at) =>
      shop(store).setMany(Array.from({ length: 300 }, (_, nth) => [`${at}-${nth}`, { title: `load ${at} common` }])),
    );
    await Promise.all([...loads, ...stores.map((store, at) => shop(store).set(`single ${at}`, { title: "common" }))]);
    const { count } = await shop(backend.store).search("common");
    expect(count).toBe(903);
    expect((await shop(stores[1]!).search("load 1")).count).toBe(300);
  });

  test("an index can be inspected without knowing its fields", async () => {
    await filled(backend.store);
    const found = await SearchIndex.open(backend.store, "shop");
    expect(found).toMatchObject({ isSearchable: true });
    expect(idsOf(await found!.index.search("title:tea price:<10"))).toEqual(["tea"]);
    expect(await found!.index.inspect()).toMatchObject({ documents: 4 });
    expect(await SearchIndex.open(backend.store, "absent")).toBeNull();
    const own = analyser({ stem: { name: "first letter", stem: (word) => word.slice(0, 1) } });
    await new SearchIndex(backend.store, "own", { fields: { text: { type: "text" } }, analyser: own }).set("a", {
      text: "x",
    });
    const odd = await SearchIndex.open(backend.store, "own");
    expect(odd).toMatchObject({ isSearchable: false });
    expect((await odd!.index.terms()).items).toMatchObject([{ term: "x" }]);
  });

  test("names and sizes are known", async () => {
    const index = await filled(backend.store);
    await expect.poll(() => SearchIndex.list(backend.store)).toEqual({ items: ["shop"], cursor: null });
    const look = await index.inspect({ longest: 2 });
    expect(look).toMatchObject({ documents: 4, terms: look.sampled });
    expect(look.longest[0]).toMatchObject({ term: "tea" });
    expect(look.postingsBytes).toBeGreaterThan(look.terms * 4);
    expect([...(await index.ids())].sort()).toEqual(["cup", "pan", "pot", "tea"]);
  });
});

describe("from text to words", () => {
  const words = (text: string, options = {}) => {
    const found: string[] = [];
    analyser(options).words(text, (word) => found.push(word));
    return found;
  };

  test("scripts without spaces are parted, others at everything but letters", () => {
    expect(words("検索エンジン", { language: "ja" })).toEqual([
      "検",
      "検索",
      "索",
      "索エ",
      "エ",
      "エン",
      "エンジン",
      "ン",
      "ンジ",
      "ジ",
      "ジン",
      "ン",
    ]);
    expect(words("Redis入門", { language: "und" })).toEqual(["redis", "入", "入門", "門"]);
    expect(words("ภาษาไทย ง่าย", { language: "th" }).length).toBeGreaterThan(2);
    expect(words("Redis入門 guide", { language: "und" })).toContain("redis");
    expect(words("snake_case kebab-case x86", { stem: false })).toEqual(["snake", "case", "kebab", "case", "x86"]);
  });

  test("forms of one letter are one, and diacritics if asked", () => {
    expect(words("ＦＵＬＬ ﬁne STRASSE Straße", { language: "und" })).toEqual(["full", "fine", "strasse", "strasse"]);
    expect(words("Cafe\u0301 café", { language: "und" })).toEqual(["café", "café"]);
    const folding = { language: "und", foldDiacritics: true };
    expect(words("Café naïve Łódź Ørsted Þór", folding)).toEqual(["cafe", "naive", "lodz", "orsted", "thor"]);
    // Marks that are no diacritics stay: vowels of Hindi, and what makes another letter in Japanese.
    expect(words("हिन्दी", folding)).toEqual(words("हिन्दी", { language: "und" }));
    expect(words("が", folding)).toEqual(["が"]);
    expect(words("IŞIK ışık", { language: "tr", stem: false })).toEqual(["ışık", "ışık"]);
  });

  test("stop words are left out and keep their place", () => {
    const places: [string, number][] = [];
    analyser().words("the bank of England", (word, position) => places.push([word, position]));
    expect(places).toEqual([
      ["bank", 1],
      ["england", 3],
    ]);
    expect(words("der Hund und die Katze", { language: "de" })).toEqual(["hund", "katz"]);
    expect(words("l'avion d'hier", { language: "fr" })).toEqual(["avion", "hi"]);
    expect(words("don't dog's", { stopWords: ["dont"] })).toEqual(["dog"]);
  });

  test("pictures are words, whatever their looks", () => {
    expect(words("ship it 🚀👍🏽 🇩🇪", { stopWords: [] })).toEqual(["ship", "it", "🚀", "👍", "🇩🇪"]);
  });

  test("each language has its stemmer, and a field can choose another", () => {
    expect(words("running used care")).toEqual(["run", "use", "care"]);
    expect(words("Häuser häusern", { language: "de" })).toEqual(["haus", "haus"]);
    expect(words("continuellement", { language: "fr" })).toEqual(["continuel"]);
    expect(words("husarna", { stem: "swedish" })).toEqual(["hus"]);
    expect(analyser({ stem: "swedish" }).name).not.toBe(analyser().name);
  });

  test("a stemmer of one's own is part of what must be agreed on", () => {
    const short = { name: "first four", stem: (word: string) => word.slice(0, 4) };
    expect(words("houses housing", { stem: short })).toEqual(["hous", "hous"]);
    expect(analyser({ stem: short }).name).not.toBe(analyser().name);
    expect(() => analyser({ language: "no such language!" })).toThrow(InputError);
  });
});

test("strings order as their bytes do, and so do their scores", () => {
  const strings = ["", "\0", "a", "a\0", "ab", "b", "z", "é", "ｆ", "\uffee", "\u{1f600}"];
  for (const [at, each] of strings.entries()) {
    for (const [other, another] of strings.entries()) {
      expect([each, another, Math.sign(compareBytes(each, another))]).toEqual([each, another, Math.sign(at - other)]);
      expect(Math.sign(stringScore(each) - stringScore(another))).toBe(Math.sign(at - other));
    }
  }
});

test("near words are found as by comparing with each", () => {
  const words = [
    "lake",
    "lakes",
    "take",
    "stake",
    "bake",
    "baker",
    "cake",
    "ache",
    "like",
    "l",
    "",
    "lakeside",
    "flake",
  ];
  const vocabulary = new Vocabulary();
  const log = Buffer.concat([
    Buffer.alloc(4),
    ...Array.from({ length: 1_100 }, (_, nth) => `filler${nth}`)
      .concat(words)
      .filter((word) => word !== "")
      .map((word) => Buffer.concat([Buffer.from([word.length * 2]), Buffer.from(word)])),
  ]);
  vocabulary.replace(log);
  vocabulary.append(Buffer.from([8, ...Buffer.from("rake"), 9, ...Buffer.from("cake")]));
  const near = (word: string, most: number) => vocabulary.near(word, most, 100).found.map((each) => each.word);
  expect(near("lake", 1)).toEqual(["lake", "bake", "like", "rake", "take", "flake", "lakes"]);
  expect(near("lake", 2)).toEqual([...near("lake", 1), "baker", "stake"]);
  expect(vocabulary.near("lake", 2, 3)).toMatchObject({ all: false });
});
