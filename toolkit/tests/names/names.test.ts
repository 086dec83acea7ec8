/**
 * Every kind of thing that has names: the name is announced when the thing is first used, and goes with the thing. A kind without a row
 * fails, and so does a row without a removal that does not say why.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { open, Registry, type Store } from "../../src/index.ts";
import { type NamedUse, USES } from "./uses.ts";

const SOURCES = join(import.meta.dirname, "../../src");

let store: Store;
let registry: Registry;

beforeEach(async () => {
  store = await open();
  registry = new Registry(store);
});
afterEach(() => store.close());

const namesOf = async (kind: string): Promise<string[]> => (await registry.list(kind)).items.map(({ name }) => name);

test("every kind that a component announces has a row", () => {
  const sources = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((file) => /^components\/.*\.ts$/.test(file) && !/\.test\.ts$/.test(file))
    .map((file) => readFileSync(join(SOURCES, file), "utf8").replace(/\s+/g, " "));
  const kinds = sources.flatMap((text) =>
    [...text.matchAll(/\bkind: "([a-z][a-z-]+)", (?:what|prefix)\b/g)].map(([, kind]) => kind!),
  );
  // Those of leases/permits.ts are named for what they hand out.
  const permits = ["elections", "locks", "semaphores"];
  expect([...new Set([...kinds, ...permits])].sort()).toEqual(Object.keys(USES).sort());
});

const end = async (left: unknown): Promise<void> => {
  if (typeof left === "function") await left();
};

describe.each(Object.entries(USES))("%s", (kind, row) => {
  const { use, names, remove, stays }: NamedUse = row;

  test("announce their names when they are first used", async () => {
    const left = await use(store);
    await expect.poll(() => namesOf(kind)).toEqual(names);
    await end(left);
  });

  test.runIf(remove !== undefined)(
    "lose their names when they are removed, and have them again when they are used again",
    async () => {
      const left = await use(store);
      await expect.poll(() => namesOf(kind)).toEqual(names);
      await remove!(store);
      await expect.poll(() => namesOf(kind)).toEqual([]);
      await end(left);
      const again = await use(store);
      await expect.poll(() => namesOf(kind)).toEqual(names);
      await end(again);
    },
  );

  test.runIf(remove === undefined)("that nothing removes as a whole say so", () => {
    expect(stays).toMatch(/\w+ .*\w/);
  });
});
