import { describe, expect, test } from "vitest";
import { beforeScript } from "../../../tests/kit/before-script.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { CinnabarError, InputError } from "../../base/errors.ts";
import { Market } from "./index.ts";

const ways = ["script", "watch", "lock"] as const;

describeBackends("market", { audit: "tags" }, (backend) => {
  describe.each(ways)("by %s", (way) => {
    const market = (store = backend.store) => new Market(store, "fair", { way });

    test("an item is listed, seen and bought, and the money is the seller's", async () => {
      const fair = market();
      await fair.deposit("ben", 1_000);
      expect(await fair.mint("ann", "sword")).toBe(true);
      expect(await fair.mint("ben", "sword")).toBe(false);
      expect(await fair.offer("ann", "sword", 900)).toBe(true);
      expect(await fair.inventory("ann")).toEqual([]);
      expect((await fair.list()).items).toEqual([{ item: "sword", price: 900, seller: "ann" }]);
      expect(await fair.buy("ben", "sword", 900)).toEqual({ status: "bought", price: 900, seller: "ann" });
      expect([await fair.funds("ann"), await fair.funds("ben")]).toEqual([900, 100]);
      expect(await fair.inventory("ben")).toEqual(["sword"]);
      expect(await fair.ownerOf("sword")).toBe("ben");
      expect((await fair.list()).items).toEqual([]);
    });

    test("every reason not to buy leaves everything as it was", async () => {
      const fair = market();
      await fair.deposit("ben", 100);
      await fair.mint("ann", "sword");
      expect(await fair.buy("ben", "sword", 50)).toEqual({ status: "not-found" });
      await fair.offer("ann", "sword", 500);
      expect(await fair.buy("ben", "sword", 50)).toEqual({ status: "price-changed", price: 500 });
      expect(await fair.buy("ben", "sword", 500)).toEqual({ status: "insufficient-funds", price: 500, funds: 100 });
      expect(await fair.buy("ann", "sword", 500)).toEqual({ status: "own-item" });
      expect([await fair.funds("ann"), await fair.funds("ben")]).toEqual([0, 100]);
      expect((await fair.list()).items.length).toBe(1);
    });

    test("an offer can be taken back by its seller only", async () => {
      const fair = market();
      await fair.mint("ann", "sword");
      expect(await fair.retract("ann", "sword")).toEqual({ status: "not-found" });
      expect(await fair.offer("ben", "sword", 5)).toBe(false);
      await fair.offer("ann", "sword", 5);
      expect(await fair.offer("ann", "sword", 6)).toBe(false);
      expect(await fair.retract("ben", "sword")).toEqual({ status: "not-yours" });
      expect(await fair.retract("ann", "sword")).toEqual({ status: "retracted" });
      expect(await fair.inventory("ann")).toEqual(["sword"]);
      await fair.deposit("ben", 5);
      expect(await fair.buy("ben", "sword", 5)).toEqual({ status: "not-found" });
    });

    test("the same purchase twice is one purchase", async () => {
      const fair = market();
      await fair.deposit("ben", 1_000);
      await fair.mint("ann", "sword");
      await fair.offer("ann", "sword", 300);
      const bought = { status: "bought", price: 300, seller: "ann" };
      expect(await fair.buy("ben", "sword", 300, { id: "p1" })).toEqual(bought);
      expect(await fair.buy("ben", "sword", 300, { id: "p1" })).toEqual(bought);
      expect(await fair.funds("ben")).toBe(700);
    });

    test("an id belongs to a user and a kind of call, and to one call of them", async () => {
      const fair = market();
      for (const user of ["ben", "cat"]) expect(await fair.deposit(user, 1_000, { id: "1" })).toBe(1_000);
      for (const item of ["sword", "shield"]) {
        await fair.mint("ann", item);
        await fair.offer("ann", item, 300);
      }
      expect(await fair.buy("ben", "sword", 300, { id: "1" })).toMatchObject({ status: "bought" });
      expect(await fair.buy("cat", "sword", 300, { id: "1" })).toEqual({ status: "not-found" });
      expect(await fair.buy("cat", "shield", 300, { id: "1" })).toMatchObject({ status: "bought" });
      expect(await fair.withdraw("ben", 100, { id: "1" })).toBe(600);
      // Names that follow each other are told apart.
      expect(await fair.deposit("a", 1, { id: "b:c" })).toBe(1);
      expect(await fair.deposit("a:b", 1, { id: "c" })).toBe(1);
      await expect(fair.buy("ben", "shield", 300, { id: "1" })).rejects.toThrow(InputError);
      await expect(fair.buy("ben", "sword", 301, { id: "1" })).rejects.toThrow(InputError);
      await expect(fair.deposit("ben", 999, { id: "1" })).rejects.toThrow("take a new id");
      await expect(fair.withdraw("ben", 99, { id: "1" })).rejects.toThrow(InputError);
      expect([await fair.funds("ben"), await fair.funds("cat"), await fair.funds("ann")]).toEqual([600, 700, 600]);
    });

    test("a repeated call answers what the first one did, whatever happened since", async () => {
      const fair = market();
      expect(await fair.deposit("ben", 500, { id: "d" })).toBe(500);
      expect(await fair.withdraw("ben", 100, { id: "w" })).toBe(400);
      await fair.mint("ann", "sword");
      await fair.offer("ann", "sword", 300);
      const bought = { status: "bought", price: 300, seller: "ann" };
      expect(await fair.buy("ben", "sword", 300, { id: "b" })).toEqual(bought);
      await fair.offer("ben", "sword", 50);
      await fair.deposit("ben", 7);
      expect(await fair.deposit("ben", 500, { id: "d" })).toBe(500);
      expect(await fair.withdraw("ben", 100, { id: "w" })).toBe(400);
      expect(await fair.buy("ben", "sword", 300, { id: "b" })).toEqual(bought);
      expect(await fair.funds("ben")).toBe(107);
    });

    test("money and items are conserved when everybody trades at once", async () => {
      const stores = await Promise.all([backend.open(), backend.open(), backend.open()]);
      const markets = stores.map((store) => market(store));
      const users = ["ann", "ben", "cat", "dan"];
      const items = Array.from({ length: 8 }, (_, nth) => `item ${nth}`);
      for (const user of users) await markets[0]!.deposit(user, 500);
      for (const [nth, item] of items.entries()) await markets[0]!.mint(users[nth % 4]!, item);
      let seed = 17;
      const random = (below: number): number => {
        seed = (seed * 48271) % 2147483647;
        return seed % below;
      };
      const counts: Record<string, number> = {};
      const count = (outcome: string): void => {
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      };
      const trader = async (fair: Market): Promise<void> => {
        for (let nth = 0; nth < (way === "lock" ? 25 : 60); nth++) {
          const [user, item, price] = [users[random(4)]!, items[random(8)]!, 100 * (1 + random(3))];
          const action = random(10);
          if (action < 4) count((await fair.offer(user, item, price)) ? "offered" : "not held");
          else if (action < 5) count((await fair.retract(user, item)).status);
          else count((await fair.buy(user, item, price)).status);
        }
      };
      await Promise.all(Array.from({ length: 9 }, (_, nth) => trader(markets[nth % 3]!)));
      const money = await Promise.all(users.map((user) => markets[0]!.funds(user)));
      expect(money.reduce((sum, funds) => sum + funds, 0)).toBe(2_000);
      expect(Math.min(...money)).toBeGreaterThanOrEqual(0);
      const held = (await Promise.all(users.map((user) => markets[0]!.inventory(user)))).flat();
      const { items: listings } = await markets[0]!.list({ limit: 100 });
      expect([...held, ...listings.map(({ item }) => item)].sort()).toEqual([...items].sort());
      for (const { item, seller } of listings) expect(await markets[0]!.ownerOf(item)).toBe(seller);
      expect(counts.bought).toBeGreaterThan(0);
    });
  });

  test("scripts and watching can be used on one market at the same time", async () => {
    const markets = (["script", "watch", "watch"] as const).map((way) => new Market(backend.store, "fair", { way }));
    await markets[0]!.deposit("ben", 100_000);
    await markets[0]!.mint("ann", "sword");
    for (let round = 0; round < 5; round++) {
      const seller = (await markets[0]!.ownerOf("sword"))!;
      const buyer = seller === "ann" ? "ben" : "ann";
      await markets[round % 3]!.offer(seller, "sword", 10);
      const outcomes = await Promise.all(markets.map((fair) => fair.buy(buyer, "sword", 10)));
      expect(outcomes.filter(({ status }) => status === "bought").length).toBe(1);
    }
  });

  test("a withdrawal waits for a purchase under a lock, and cannot take the same money", async () => {
    const [mine, theirs] = await Promise.all([backend.open(), backend.open()]);
    const other = new Market(theirs, "fair", { way: "lock" });
    let withdrawn: Promise<unknown> | undefined;
    const late = beforeScript(mine, "market.commit", async () => {
      withdrawn = other.withdraw("ben", 100).catch((error: CinnabarError) => error.code);
      // An answer says that what was sent before it has arrived.
      await theirs.call("GET", "market:{fair}:listings:none");
    });
    const fair = new Market(late, "fair", { way: "lock" });
    await fair.deposit("ben", 100);
    await fair.mint("ann", "sword");
    await other.offer("ann", "sword", 100);
    expect(await fair.buy("ben", "sword", 100)).toMatchObject({ status: "bought" });
    expect(await withdrawn).toBe("FUNDS");
    expect(await fair.funds("ben")).toBe(0);
    await other.deposit("ben", 5);
    expect(await other.withdraw("ben", 5, { id: "w" })).toBe(0);
    expect(await other.withdraw("ben", 5, { id: "w" })).toBe(0);
  });

  test("money comes and goes once for each id, and never below nothing", async () => {
    const fair = new Market(backend.store, "fair");
    expect(await fair.deposit("ann", 100, { id: "d1" })).toBe(100);
    expect(await fair.deposit("ann", 100, { id: "d1" })).toBe(100);
    expect(await fair.withdraw("ann", 30, { id: "w1" })).toBe(70);
    expect(await fair.withdraw("ann", 30, { id: "w1" })).toBe(70);
    await expect(fair.withdraw("ann", 71)).rejects.toThrow(CinnabarError);
    expect(await fair.funds("ann")).toBe(70);
    await fair.mint("ben", "sword");
    await fair.offer("ben", "sword", 10);
    expect(await fair.buy("ann", "sword", 10, { id: "d1" })).toMatchObject({ status: "bought", seller: "ben" });
  });

  test("offers are paged by price", async () => {
    const fair = new Market(backend.store, "fair");
    for (let nth = 0; nth < 7; nth++) {
      await fair.mint("ann", `item ${nth}`);
      await fair.offer("ann", `item ${nth}`, 10 + (nth % 3));
    }
    const seen: number[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await fair.list({ limit: 3, ...(cursor ? { cursor } : {}) });
      seen.push(...page.items.map(({ price }) => price));
      cursor = page.cursor;
    } while (cursor !== null);
    expect(seen).toEqual([10, 10, 10, 11, 11, 12, 12]);
  });

  test("wrong input is refused", async () => {
    const fair = new Market(backend.store, "fair");
    await expect(fair.deposit("ann", -1)).rejects.toThrow(InputError);
    await expect(fair.offer("ann", "sword", -5)).rejects.toThrow(InputError);
    await expect(fair.offer("ann", "sword", 0.5)).rejects.toThrow(InputError);
    await expect(fair.buy("ann", "sword", "5" as never)).rejects.toThrow(InputError);
    await expect(fair.buy("", "sword", 5)).rejects.toThrow(InputError);
    await expect(fair.list({ cursor: "x" })).rejects.toThrow(InputError);
    expect(() => new Market(backend.store, "fair", { way: "hope" as never })).toThrow(InputError);
  });
});
