import { Engine, ManualClock } from "@cinnabar/engine";
import { describe, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { InputError } from "../../base/errors.ts";
import { asTexts } from "../../base/replies.ts";
import { open } from "../../connection/open.ts";
import { Sessions } from "../sessions/index.ts";
import { Carts } from "./index.ts";
import { join, leave, left } from "./scripts.ts";

describeBackends("carts", { audit: "tags" }, (backend) => {
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
    const fields = asTexts(
      await store.run(leave, { ...keys, id: "move", to: "ann", session: '["",""]', idleMs: 100_000 }),
    );
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
      session: '["",""]',
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
    const next = { cart: "cart:{visitor}", leaving, id: "next", to: "ann", session: '["",""]', idleMs: 100_000 };
    await backend.store.run(leave, next);
    await backend.store.run(left, { leaving, id: "before:1.1" });
    await carts.merge("visitor", "ann");
    expect(await carts.get("ann")).toEqual([{ item: "pen", quantity: 1, price: null }]);
  });

  test("that a cart was taken over is remembered for longer than the cart can wait aside", async () => {
    const carts = await brokenOff("aside");
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

  test.skipIf(backend.isDisturbed)(
    "a merge is one round trip, but in a Cluster, where the carts are in different slots",
    async () => {
      const { store } = backend;
      const carts = new Carts(store);
      await carts.add("visitor", "pen");
      const sent: string[] = [];
      const stop = store.on("roundTrip", ({ name }) => {
        if (name.startsWith("carts.")) sent.push(name);
      });
      await carts.merge("visitor", "ann");
      await carts.merge("visitor", "ann");
      stop();
      const byTurns = ["carts.leave", "carts.join", "carts.left", "carts.leave"];
      expect(sent).toEqual(store.topology === "cluster" ? byTurns : ["carts.move", "carts.move"]);
      expect(await carts.get("ann")).toHaveLength(1);
    },
  );

  describe("of a session", () => {
    function shop(options: { maxPerUser?: number; maxLive?: number; endsWithSession?: boolean } = {}) {
      const { endsWithSession, ...limits } = options;
      const sessions = new Sessions(backend.store, limits);
      const carts = new Carts(backend.store, { sessions, ...(endsWithSession !== undefined && { endsWithSession }) });
      const isEmpty = async (owner: { readonly token: string }) => (await carts.get(owner)).length === 0;
      return { sessions, carts, isEmpty };
    }
    const cartsLeft = async () => (await keysIn(backend.store)).filter((key) => key.startsWith("cart:"));

    test("ends when the session does, by whatever way", async () => {
      const { sessions, carts, isEmpty } = shop({ maxPerUser: 3 });
      const filled = async (user?: string) => {
        const session = await sessions.create(user === undefined ? {} : { user });
        expect(await carts.add(session, "pen", 2, { price: 5 })).toBe(2);
        expect(await carts.get(session)).toEqual([{ item: "pen", quantity: 2, price: 5 }]);
        return session;
      };
      const visitor = await filled();
      expect(await sessions.signOut(visitor.token)).toBe(true);
      expect(await isEmpty(visitor)).toBe(true);

      const revoked = await filled("ann");
      expect(await sessions.revoke("ann", revoked.id)).toBe(true);
      expect(await isEmpty(revoked)).toBe(true);

      const ended = await filled("ben");
      await expect.poll(async () => (await sessions.recent()).length).toBe(1);
      expect(await sessions.end((await sessions.recent())[0]!.handle)).toBe(true);
      expect(await isEmpty(ended)).toBe(true);

      const [first, second] = [await filled("cat"), await filled("cat")];
      expect(await sessions.signOutEverywhere("cat", { except: second.token })).toBe(1);
      expect([await isEmpty(first), await isEmpty(second)]).toEqual([true, false]);
      // Of one millisecond, any may be taken for the oldest.
      await expect.poll(async () => (await sessions.create({ user: "cat" })) && isEmpty(second)).toBe(true);

      const dan = await filled("dan");
      await sessions.signIn(dan.token, "eve");
      expect(await isEmpty(dan)).toBe(true);
      expect(await cartsLeft()).toEqual([]);
    });

    test("ends with the sessions that the cleaner ends", async () => {
      const { sessions, carts } = shop({ maxLive: 2 });
      const made = [];
      for (let nth = 0; nth < 5; nth++) {
        made.push(await sessions.create());
        await carts.add(made[nth]!, "pen");
      }
      await expect.poll(() => sessions.count()).toBe(5);
      expect(await sessions.cleaner().runOnce()).toBe(3);
      expect(await cartsLeft()).toHaveLength(2);
      for (const session of made) {
        const lives = (await sessions.load(session.token, { touch: false })) !== null;
        expect((await carts.get(session)).length).toBe(lives ? 1 : 0);
      }
    });

    test("lives as long as the session, and is not begun after it", async () => {
      const { sessions, carts } = shop();
      const session = await sessions.create();
      await carts.add(session, "pen");
      const { tag, id } = sessions.bindingOf(session.token)!;
      const keys = [`session:{${tag}}:${id}`, `session:{${tag}}:${id}:bound`, `cart:{${tag}}:session:${id}`];
      const ends = async () => {
        const [left, bound, cart] = await Promise.all(keys.map(async (key) => backend.store.call("PTTL", key)));
        return [Math.abs(Number(bound) - Number(left)) < 60_000, Math.abs(Number(cart) - Number(left)) < 60_000];
      };
      expect(await ends()).toEqual([true, true]);
      // As if it had been used for a while by another process.
      for (const key of keys) await backend.store.call("PEXPIRE", key, 600_000);
      await new Sessions(backend.store).load(session.token);
      expect(Number(await backend.store.call("PTTL", keys[2]!))).toBeGreaterThan(86_400_000);
      expect(await ends()).toEqual([true, true]);
      await sessions.signOut(session.token);
      await expect(carts.add(session, "pen")).rejects.toMatchObject({ code: "SESSION_OVER" });
      await expect(carts.set(session, "pen", 1)).rejects.toMatchObject({ code: "SESSION_OVER" });
      expect(await cartsLeft()).toEqual([]);
    });

    test("stays at sign-in until it is taken over, once, into the user's cart or that of the new session", async () => {
      const { sessions, carts, isEmpty } = shop();
      const visitor = await sessions.create();
      await carts.add(visitor, "pen", 2);
      const ann = await sessions.signIn(visitor.token, "ann");
      await expect(carts.add(visitor, "pen")).rejects.toMatchObject({ code: "SESSION_OVER" });
      await carts.merge(visitor, ann);
      await carts.merge(visitor, ann);
      expect(await carts.get(ann)).toEqual([{ item: "pen", quantity: 2, price: null }]);
      await carts.merge(ann, "user:ann");
      expect(await isEmpty(ann)).toBe(true);
      await sessions.signOut(ann.token);
      expect(await carts.get("user:ann")).toEqual([{ item: "pen", quantity: 2, price: null }]);
      // Into a session that is over there is nothing to merge into.
      const other = await sessions.create();
      await carts.add(other, "ink");
      await carts.merge(other, ann);
      expect((await cartsLeft()).filter((key) => !key.includes(":merged:"))).toEqual(["cart:{user:ann}"]);
    });

    test("has a life of its own if that is wanted", async () => {
      const { sessions, carts } = shop({ endsWithSession: false });
      const session = await sessions.create();
      await carts.add(session, "pen");
      await sessions.signOut(session.token);
      expect(await carts.add(session, "pen")).toBe(2);
    });

    test("is never left behind by a session that ends while it is filled", async () => {
      const { sessions, carts } = shop();
      const visits = await Promise.all(Array.from({ length: 20 }, () => sessions.create()));
      await Promise.all(
        visits.flatMap((session) => [
          ...Array.from({ length: 5 }, () => carts.add(session, "pen").catch(() => 0)),
          sessions.signOut(session.token),
          ...Array.from({ length: 5 }, () => carts.add(session, "ink").catch(() => 0)),
        ]),
      );
      expect(await cartsLeft()).toEqual([]);
    });

    test("needs the sessions, and a token of one", async () => {
      const { sessions, carts } = shop();
      const session = await sessions.create();
      await expect(new Carts(backend.store).add(session, "pen")).rejects.toThrow("new Carts(store, { sessions })");
      await expect(carts.get({ token: "no token" })).rejects.toThrow(InputError);
      await expect(carts.merge(session, { token: session.token })).rejects.toThrow(InputError);
      expect(() => new Carts(backend.store, { sessions: {} as never })).toThrow(InputError);
    });
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

test("the cart of a session ends at the moment when the session does, if nobody uses it", async () => {
  const clock = new ManualClock();
  const engine = await Engine.open({ clock });
  const store = await open(engine);
  const day = 86_400_000;
  const sessions = new Sessions(store, { idleMs: day, ttlMs: 3 * day });
  const carts = new Carts(store, { sessions, idleMs: 1_000 });
  const [used, unused] = [await sessions.create(), await sessions.create()];
  for (const session of [used, unused]) await carts.add(session, "pen");
  const state = async (session: { readonly token: string }) => [
    (await new Sessions(store).load(session.token, { touch: false })) !== null,
    (await carts.get(session)).length > 0,
  ];
  for (let hours = 0; hours < 80; hours++) {
    clock.advance(day / 24);
    // Another process each time, so that the session is touched each time.
    await new Sessions(store, { idleMs: day, ttlMs: 3 * day }).load(used.token);
    const [lives, hasCart] = await state(unused);
    expect(hasCart).toBe(lives);
    expect(lives).toBe(hours < 24);
    expect(await state(used)).toEqual([hours < 71, hours < 71]);
  }
  expect((await keysIn(store)).filter((key) => !key.startsWith("session:live:"))).toEqual([]);
  await store.close();
  await engine.close();
});
