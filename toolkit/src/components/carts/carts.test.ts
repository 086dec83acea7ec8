import { describe, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { InputError } from "../../base/errors.ts";
import { asTexts } from "../../base/replies.ts";
import { Carts } from "./index.ts";
import { join, leave, left } from "./scripts.ts";

describeBackends("carts", (backend) => {
  test("items are set, added to, taken out and listed", async () => {
    const carts = new Carts(backend.store);
    expect(await carts.set("ann", "pen", 3, { price: 199 })).toBe(3);
    expect(await carts.add("ann", "pen")).toBe(4);
    expect(await carts.add("ann", "ink", 2)).toBe(2);
    expect(await carts.get("ann")).toEqual([
      { item: "ink", quantity: 2, price: null },
      { item: "pen", quantity: 4, price: 199 },
    ]);
    expect(await carts.add("ann", "ink", -5)).toBe(0);
    await carts.delete("ann", "pen");
    expect(await carts.get("ann")).toEqual([]);
    expect(await carts.get("ben")).toEqual([]);
  });

  test("quantities and items are bounded", async () => {
    const carts = new Carts(backend.store, { maxItems: 2, maxQuantity: 10 });
    expect(await carts.add("ann", "a", 100)).toBe(10);
    await carts.add("ann", "b");
    await expect(carts.add("ann", "c")).rejects.toMatchObject({ code: "CART_FULL" });
    expect(await carts.add("ann", "a", -1)).toBe(9);
  });

  test("a cart expires", async () => {
    const carts = new Carts(backend.store, { idleMs: 50_000 });
    await carts.add("ann", "a");
    expect(await backend.store.call("PTTL", "cart:{ann}")).toBeGreaterThan(40_000);
  });

  test("merging adds quantities up and empties the first cart", async () => {
    const carts = new Carts(backend.store);
    await carts.add("visitor", "pen", 2, { price: 100 });
    await carts.add("visitor", "ink", 1, { price: 50 });
    await carts.add("ann", "pen", 3, { price: 120 });
    await carts.merge("visitor", "ann");
    expect(await carts.get("ann")).toEqual([
      { item: "ink", quantity: 1, price: 50 },
      { item: "pen", quantity: 5, price: 120 },
    ]);
    expect(await carts.get("visitor")).toEqual([]);
    await carts.merge("visitor", "ann");
    await carts.add("visitor", "pen", 2);
    await carts.merge("visitor", "ann");
    expect((await carts.get("ann")).find(({ item }) => item === "pen")!.quantity).toBe(7);
  });

  /** The visitor's cart, with two pens, was on its way to Ann when the process died. */
  async function brokenOff(stage: string): Promise<Carts> {
    const { store } = backend;
    const carts = new Carts(store);
    await carts.add("visitor", "pen", 2);
    const keys = { cart: "cart:{visitor}", leaving: "cart:{visitor}:leaving" };
    const fields = asTexts(await store.run(leave, { ...keys, id: "move", to: "ann", idleMs: 100_000 }));
    if (stage === "taken over") {
      const merged = `cart:{ann}:merged:${fields[fields.indexOf("id") + 1]!}`;
      const limits = { maxItems: 500, maxQuantity: 9_999, idleMs: 100_000, markMs: 9_999 };
      await store.run(join, { cart: "cart:{ann}", merged, ...limits, fields });
    }
    return carts;
  }

  describe.each(["aside", "taken over"])("a merge that broke off when the cart was %s", (stage) => {
    test("is finished by the next, once", async () => {
      const carts = await brokenOff(stage);
      await carts.add("visitor", "ink");
      await carts.merge("visitor", "ann");
      expect((await carts.get("ann")).map(({ item, quantity }) => [item, quantity])).toEqual([
        ["ink", 1],
        ["pen", 2],
      ]);
      expect(await carts.get("visitor")).toEqual([]);
    });

    test("is finished where it was going, though the next goes elsewhere", async () => {
      const carts = await brokenOff(stage);
      await carts.add("visitor", "ink");
      await carts.merge("visitor", "ben");
      expect(await carts.get("ann")).toEqual([{ item: "pen", quantity: 2, price: null }]);
      expect(await carts.get("ben")).toEqual([{ item: "ink", quantity: 1, price: null }]);
    });
  });

  test("a move whose request is repeated after another finished it does not swallow the next", async () => {
    const carts = new Carts(backend.store);
    const moving = {
      cart: "cart:{visitor}",
      leaving: "cart:{visitor}:leaving",
      id: "move",
      to: "ann",
      idleMs: 100_000,
    };
    await carts.add("visitor", "pen");
    await backend.store.run(leave, moving);
    await carts.merge("visitor", "ann");
    await carts.add("visitor", "ink");
    await backend.store.run(leave, moving);
    await carts.merge("visitor", "ann");
    expect((await carts.get("ann")).map(({ item, quantity }) => [item, quantity])).toEqual([
      ["ink", 1],
      ["pen", 1],
    ]);
  });

  test("who ends a move late leaves the next one alone", async () => {
    const carts = new Carts(backend.store);
    const leaving = "cart:{visitor}:leaving";
    await carts.add("visitor", "pen");
    const next = { cart: "cart:{visitor}", leaving, id: "next", to: "ann", idleMs: 100_000 };
    await backend.store.run(leave, next);
    await backend.store.run(left, { leaving, id: "before:1.1" });
    await carts.merge("visitor", "ann");
    expect(await carts.get("ann")).toEqual([{ item: "pen", quantity: 1, price: null }]);
  });

  test("that a cart was taken over is remembered for longer than the cart can wait aside", async () => {
    const carts = new Carts(backend.store);
    await carts.add("visitor", "pen");
    await carts.merge("visitor", "ann");
    const marks = (await backend.store.sendToAll(["KEYS", "cart:{ann}:merged:*"])).flat() as string[];
    expect(marks.length).toBe(1);
    expect(Number(await backend.store.call("PTTL", marks[0]!))).toBeGreaterThan(30 * 86_400_000);
  });

  test("nothing is lost or doubled when carts merge while they are filled", async () => {
    const stores = await Promise.all([backend.open(), backend.open()]);
    const carts = stores.map((store) => new Carts(store));
    await Promise.all(
      Array.from({ length: 120 }, (_, nth) =>
        nth % 10 === 9 ? carts[nth % 2]!.merge("visitor", "ann") : carts[nth % 2]!.add("visitor", "pen"),
      ),
    );
    await carts[0]!.merge("visitor", "ann");
    await carts[1]!.merge("visitor", "ann");
    expect(await carts[0]!.get("ann")).toEqual([{ item: "pen", quantity: 108, price: null }]);
  });

  test("wrong input is refused", async () => {
    const carts = new Carts(backend.store);
    await expect(carts.set("ann", "pen", -1)).rejects.toThrow(InputError);
    await expect(carts.add("ann", "pen", 0.5)).rejects.toThrow(InputError);
    await expect(carts.add("", "pen")).rejects.toThrow(InputError);
    await expect(carts.add("ann", "")).rejects.toThrow(InputError);
    await expect(carts.add("ann", "pen", 1, { price: -1 })).rejects.toThrow(InputError);
    await expect(carts.merge("ann", "ann")).rejects.toThrow(InputError);
  });
});
