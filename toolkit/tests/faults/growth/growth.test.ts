/**
 * What every component leaves in the store after everything is finished, given back, removed and expired. docs/growth.md lists the keys
 * that stay and how each is bounded; a component without a row there and here fails, and so does a key that is not listed.
 */
import { describe, expect, test } from "vitest";
import { LAYOUTS_KEY } from "../../../src/base/layout.ts";
import type { Store } from "../../../src/connection/store.ts";
import { ClockedStore } from "../../kit/clocked-store.ts";
import { componentNames, documentedRows } from "../components.ts";
import { USES } from "./uses.ts";

const YEAR_MS = 366 * 86_400_000;
/** As many digits each, so that numbers that are kept as text do not differ in length. */
const [FEW, MANY] = [20, 80];

interface Documented {
  readonly component: string;
  readonly key: string;
  readonly pattern: RegExp;
  /** "at most 1 000 names": bounded by that; "one for each user": grows with these; otherwise the same whatever was done. */
  readonly bound: string;
}

const documented: readonly Documented[] = documentedRows("growth.md", "Keys that stay").map(
  ([component, key, bound]) => ({
    component: component!.replaceAll("`", ""),
    key: key!.replaceAll("`", ""),
    pattern: patternOf(key!.replaceAll("`", "")),
    bound: bound!,
  }),
);

/** `ads:{name}:ad:<ad>`: what stands in braces and in angle brackets is any word. */
function patternOf(key: string): RegExp {
  const text = key.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]*\}/g, "\\{[^}]*\\}");
  return new RegExp(`^${text.replace(/<[^>]*>/g, ".+")}$`);
}

/** Names that differ from run to run. */
function nameless(key: string): string {
  return key.replace(/:article:.*/, ":article:…");
}

const SIZES: Readonly<Record<string, string>> = {
  string: "STRLEN",
  hash: "HLEN",
  list: "LLEN",
  set: "SCARD",
  zset: "ZCARD",
  stream: "XLEN",
};

async function sizesOf(store: Store, keys: readonly string[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const key of keys) {
    const type = String(await store.call("TYPE", key));
    sizes.set(key, Number(await store.call(SIZES[type]!, key)));
  }
  return sizes;
}

async function leftBy(component: string, count: number): Promise<Map<string, number>> {
  const world = await ClockedStore.open();
  try {
    await USES[component]!(world, count);
    // What is sent after a while is sent.
    await world.pass(5_000);
    await world.leap(YEAR_MS);
    const keys = await world.keys();
    return await sizesOf(
      world.store,
      keys.filter((key) => key !== LAYOUTS_KEY),
    );
  } finally {
    await world.close();
  }
}

test("every component has its use here and its row in docs/growth.md", () => {
  expect(Object.keys(USES).sort()).toEqual(componentNames());
  expect([...new Set(documented.map(({ component }) => component))]).toEqual(componentNames());
});

describe.each(componentNames())("%s", (component) => {
  const rows = documented.filter((row) => row.component === component && row.key !== "none");

  test("leaves the keys that docs/growth.md lists, and as much in them whatever was done", async () => {
    const [few, many] = [await leftBy(component, FEW), await leftBy(component, MANY)];
    const unlisted = [...many.keys()].filter((key) => !rows.some(({ pattern }) => pattern.test(key)));
    expect(unlisted, "keys that stay and are not listed").toEqual([]);
    const unseen = rows.filter(({ pattern }) => ![...many.keys()].some((key) => pattern.test(key)));
    expect(
      unseen.map(({ key }) => key),
      "keys that are listed and do not stay",
    ).toEqual([]);
    const isFixed = ([key, size]: [string, number]): boolean => {
      const { bound } = rows.find(({ pattern }) => pattern.test(key))!;
      const most = /^at most ([\d ]+)/.exec(bound)?.[1];
      if (most !== undefined) expect(size, key).toBeLessThanOrEqual(Number(most.replaceAll(" ", "")));
      return most === undefined && !bound.startsWith("one for each");
    };
    const fixed = (sizes: Map<string, number>) =>
      [...sizes].filter(isFixed).map(([key, size]) => [nameless(key), size]);
    expect(fixed(many), `after ${MANY} instead of ${FEW} of everything`).toEqual(fixed(few));
  });
});
