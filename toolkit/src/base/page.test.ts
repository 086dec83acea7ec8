import { expect, test } from "vitest";
import { describeBackends } from "../../tests/kit/index.ts";
import { InputError } from "./errors.ts";
import { pageByScore } from "./page.ts";

describeBackends("a page by score", (backend) => {
  const fill = (entries: readonly (readonly [number, string])[]) => backend.store.call("ZADD", "z", ...entries.flat());

  async function all(limit: number, meanwhile: () => Promise<unknown> = async () => {}): Promise<string[][]> {
    const pages: string[][] = [];
    let cursor: string | null | undefined;
    do {
      const page = await pageByScore(backend.store, "z", { limit, cursor: cursor ?? undefined });
      pages.push([...page.items]);
      cursor = page.cursor;
      await meanwhile();
    } while (cursor !== null);
    return pages;
  }

  test("goes from the highest score down, each member once, also among equal scores", async () => {
    await fill([...Array.from({ length: 7 }, (_, nth) => [5, `m${nth}`] as const), [9, "top"], [1, "é~b"], [1, "low"]]);
    const every = ["top", "m6", "m5", "m4", "m3", "m2", "m1", "m0", "é~b", "low"];
    for (const limit of [1, 2, 3, 4, 10, 100]) expect((await all(limit)).flat()).toEqual(every);
    expect(await all(5)).toEqual([every.slice(0, 5), every.slice(5)]);
  });

  test("of nothing is empty and the last", async () => {
    expect(await pageByScore(backend.store, "z", { limit: 10, cursor: undefined })).toEqual({
      items: [],
      cursor: null,
    });
  });

  test("is not disturbed by members that go or come meanwhile", async () => {
    await fill(Array.from({ length: 6 }, (_, nth) => [nth, `m${nth}`] as const));
    let nth = 5;
    const pages = await all(2, async () => {
      await backend.store.call("ZREM", "z", `m${nth--}`, `m${nth--}`);
      await backend.store.call("ZADD", "z", 100 + nth, `new${nth}`);
    });
    expect(pages.flat()).toEqual(["m5", "m4", "m3", "m2", "m1", "m0"]);
  });

  test("refuses a cursor that is none", async () => {
    for (const cursor of ["", "x", "~a", "nan~a"])
      await expect(pageByScore(backend.store, "z", { limit: 1, cursor })).rejects.toThrow(InputError);
  });
});
