import { describe, expect, test } from "vitest";
import { beforeScript } from "../../../tests/kit/before-script.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { InputError } from "../../base/errors.ts";
import { Market } from "./index.ts";

const ways = ["script", "watch", "lock"] as const;

describeBackends("market", { audit: "tags" }, (backend) => {
  describe.each(ways)("by %s", (way) => {
    const market = (store = backend.store) => new Market(store, "fair", { way });

    test("an item is listed, seen and bought, and the money is the seller's", async () => {
      const fair = market();
      await fair.deposit("ben", 1_000);
      expect(await fair.mint("ann", "sword")).toEqual({ status: "minted" });
      expect(await fair.mint("ben", "sword")).toEqual({ status: "exists" });
      expect(await fair.offer("ann", "sword", 900)).toEqual({ status: "offered" });
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
      expect(await fair.offer("ben", "sword", 5)).toEqual({ status: "not-found" });
      await fair.offer("ann", "sword", 5);
      expect(await fair.offer("ann", "sword", 6)).toEqual({ status: "not-found" });
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

    test("an id belongs to one call and its arguments: any other call with it is a conflict and does nothing", async () => {
      const fair = market();
      const conflict = { status: "conflict" };
      await fair.deposit("cat", 1_000);
      for (const item of ["sword", "shield"]) {
        await fair.mint("ann", item);
        await fair.offer("ann", item, 300);
      }
      const calls: Record<string, (id: string) => Promise<unknown>> = {
        deposit: (id) => fair.deposit("ben", 1_000, { id }),
        "another amount": (id) => fair.deposit("ben", 999, { id }),
        "another user": (id) => fair.deposit("cat", 1_000, { id }),
        withdraw: (id) => fair.withdraw("ben", 100, { id }),
        "another withdrawal": (id) => fair.withdraw("ben", 99, { id }),
        "somebody else's withdrawal": (id) => fair.withdraw("cat", 100, { id }),
        buy: (id) => fair.buy("ben", "sword", 300, { id }),
        "another item": (id) => fair.buy("ben", "shield", 300, { id }),
        "another price": (id) => fair.buy("ben", "sword", 301, { id }),
        "another buyer": (id) => fair.buy("cat", "sword", 300, { id }),
      };
      const funds = () => Promise.all(["ann", "ben", "cat"].map((user) => fair.funds(user)));
      const first: Record<string, unknown> = {};
      for (const made of ["deposit", "withdraw", "buy"]) first[made] = await calls[made]!(made);
      expect(first).toEqual({
        deposit: { status: "deposited", funds: 1_000 },
        withdraw: { status: "withdrawn", funds: 900 },
        buy: { status: "bought", price: 300, seller: "ann" },
      });
      for (const id of ["deposit", "withdraw", "buy"]) {
        for (const [name, call] of Object.entries(calls)) {
          expect([id, name, await call(id)]).toEqual([id, name, name === id ? first[name] : conflict]);
        }
      }
      expect(await funds()).toEqual([300, 600, 1_000]);
      expect(await fair.ownerOf("shield")).toBe("ann");
    });

    test("a call that was refused leaves its id free", async () => {
      const fair = market();
      expect(await fair.withdraw("ben", 5, { id: "1" })).toEqual({ status: "insufficient-funds", funds: 0 });
      expect(await fair.buy("ben", "sword", 5, { id: "1" })).toEqual({ status: "not-found" });
      expect(await fair.deposit("ben", 5, { id: "1" })).toEqual({ status: "deposited", funds: 5 });
    });

    test("of many calls with one id at the same moment, one is made", async () => {
      const stores = await Promise.all([backend.open(), backend.open(), backend.open()]);
      const users = Array.from({ length: 6 }, (_, nth) => `user ${nth}`);
      for (const [nth, user] of users.entries()) {
        await market().deposit(user, 100);
        await market().mint("ann", `item ${nth}`);
        await market().offer("ann", `item ${nth}`, 100);
      }
      const outcomes = await Promise.all(
        users.flatMap((user, nth) => {
          const fair = market(stores[nth % 3]!);
          return [fair.buy(user, `item ${nth}`, 100, { id: "1" }), fair.withdraw(user, 100, { id: "1" })];
        }),
      );
      const made = outcomes.filter(({ status }) => status === "bought" || status === "withdrawn");
      expect(made).toHaveLength(1);
      expect(outcomes.filter(({ status }) => status === "conflict")).toHaveLength(11);
      const left = await Promise.all(users.map((user) => market().funds(user)));
      expect(left.reduce((sum, funds) => sum + funds, 0)).toBe(500);
    });

    test("no more items are listed, and none are there, than the market takes", async () => {
      const fair = new Market(backend.store, "fair", { way, maxListings: 2, maxItems: 3 });
      for (const item of ["a", "b", "c"]) expect(await fair.mint("ann", item)).toEqual({ status: "minted" });
      expect(await fair.mint("ann", "d")).toEqual({ status: "full" });
      expect(await fair.mint("ben", "a")).toEqual({ status: "exists" });
      const offers = await Promise.all(["a", "b", "c"].map((item) => fair.offer("ann", item, 10)));
      expect(offers.map(({ status }) => status).sort()).toEqual(["full", "offered", "offered"]);
      const [left] = await fair.inventory("ann");
      expect((await fair.list()).items).toHaveLength(2);
      await fair.deposit("ben", 10);
      const { item } = (await fair.list()).items[0]!;
      await fair.buy("ben", item, 10);
      expect(await fair.offer("ann", left!, 10)).toEqual({ status: "offered" });
      expect(await fair.delete("ann", item)).toBe(false);
      expect(await fair.delete("ben", item)).toBe(true);
      expect(await fair.delete("ben", item)).toBe(false);
      expect([await fair.ownerOf(item), await fair.inventory("ben")]).toEqual([null, []]);
      expect(await fair.delete("ann", left!)).toBe(false);
      expect(await fair.mint("cat", item)).toEqual({ status: "minted" });
    });

    test("a repeated call answers what the first one did, whatever happened since", async () => {
      const fair = market();
      expect(await fair.deposit("ben", 500, { id: "d" })).toEqual({ status: "deposited", funds: 500 });
      expect(await fair.withdraw("ben", 100, { id: "w" })).toEqual({ status: "withdrawn", funds: 400 });
      await fair.mint("ann", "sword");
      await fair.offer("ann", "sword", 300);
      const bought = { status: "bought", price: 300, seller: "ann" };
      expect(await fair.buy("ben", "sword", 300, { id: "b" })).toEqual(bought);
      await fair.offer("ben", "sword", 50);
      await fair.deposit("ben", 7);
      expect(await fair.deposit("ben", 500, { id: "d" })).toEqual({ status: "deposited", funds: 500 });
      expect(await fair.withdraw("ben", 100, { id: "w" })).toEqual({ status: "withdrawn", funds: 400 });
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
          if (action < 4) count((await fair.offer(user, item, price)).status);
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
      withdrawn = other.withdraw("ben", 100);
      // An answer says that what was sent before it has arrived.
      await theirs.call("GET", "market:{fair}:listings:none");
    });
    const fair = new Market(late, "fair", { way: "lock" });
    await fair.deposit("ben", 100);
    await fair.mint("ann", "sword");
    await other.offer("ann", "sword", 100);
    expect(await fair.buy("ben", "sword", 100)).toMatchObject({ status: "bought" });
    expect(await withdrawn).toEqual({ status: "insufficient-funds", funds: 0 });
    expect(await fair.funds("ben")).toBe(0);
    await other.deposit("ben", 5);
    expect(await other.withdraw("ben", 5, { id: "w" })).toEqual({ status: "withdrawn", funds: 0 });
    expect(await other.withdraw("ben", 5, { id: "w" })).toEqual({ status: "withdrawn", funds: 0 });
  });

  test("money comes and goes once for each id, and never below nothing", async () => {
    const fair = new Market(backend.store, "fair");
    expect(await fair.deposit("ann", 100, { id: "d1" })).toEqual({ status: "deposited", funds: 100 });
    expect(await fair.deposit("ann", 100, { id: "d1" })).toEqual({ status: "deposited", funds: 100 });
    expect(await fair.withdraw("ann", 30, { id: "w1" })).toEqual({ status: "withdrawn", funds: 70 });
    expect(await fair.withdraw("ann", 30, { id: "w1" })).toEqual({ status: "withdrawn", funds: 70 });
    expect(await fair.withdraw("ann", 71)).toEqual({ status: "insufficient-funds", funds: 70 });
    expect(await fair.funds("ann")).toBe(70);
    await fair.mint("ben", "sword");
    await fair.offer("ben", "sword", 10);
    expect(await fair.buy("ann", "sword", 10, { id: "b1" })).toMatchObject({ status: "bought", seller: "ben" });
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
