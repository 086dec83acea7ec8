/** Waiting for messages and following them, on every backend. */
import { describe, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import type { Store } from "../../connection/store.ts";
import { Chats, type ChatsOptions, type Message } from "./index.ts";
import { bodies, deaf, eventually, sendMany, untilEnd } from "./testing/shared.ts";

describeBackends("following chats", (backend) => {
  const make = (options: ChatsOptions<string> = {}, store: Store = backend.store) => new Chats<string>(store, options);

  describe("waiting", () => {
    test("ends with the next message, or with an empty page", async () => {
      const chats = make();
      await chats.joinMany("team", ["ann", "ben"]);
      const empty = (await chats.read("team", "ben"))!;
      expect(empty).toMatchObject({ items: [], missed: 0 });
      expect(await chats.read("team", "ben", { waitMs: 20 })).toEqual(empty);
      const other = make({}, await backend.open());
      const waiting = chats.read("team", "ben", { waitMs: 60_000 });
      const sent = await other.send("team", "ann", "hello");
      expect(await waiting).toMatchObject({ items: [{ id: sent!.id, body: "hello" }], cursor: sent!.id });
      // What is there is answered at once.
      expect(bodies(await chats.read("team", "ben", { waitMs: 25_000 }))).toEqual(["hello"]);
    });

    test("is cancelled by a signal, and by the store's end", async () => {
      const store = await backend.open();
      const chats = make({}, store);
      await chats.join("team", "ann");
      const stop = new AbortController();
      const waiting = chats.read("team", "ann", { waitMs: 25_000, signal: stop.signal });
      stop.abort(new Error("enough"));
      await expect(waiting).rejects.toThrow("enough");
      await expect(chats.read("team", "ann", { waitMs: 25_000, signal: stop.signal })).rejects.toThrow("enough");
      const waitingOn = chats.read("team", "ann", { waitMs: 25_000 });
      const reading = chats.messages("team", "ann").next();
      // Both are under way.
      await eventually(() => make().present("team")).toEqual(["ann"]);
      await Promise.all([expect(waitingOn).rejects.toThrow("closed"), store.close()]);
      expect(await reading).toEqual({ done: true, value: undefined });
    });

    /** So that nothing comes by a poll before the test is given up. */
    const NEVER = { pollMs: 80_000_000, presenceLeaseMs: 80_000_000 };

    test("what comes between the first look and the subscription is not waited for until a poll", async () => {
      let sent = false;
      const subscribe: Store["subscribe"] = async (...args) => {
        await make().send("team", "ann", "hello");
        sent = true;
        return backend.store.subscribe(...args);
      };
      const late = new Proxy(backend.store, {
        get: (target, property) => {
          if (property === "subscribe") return subscribe;
          const value: unknown = Reflect.get(target, property, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      await make().joinMany("team", ["ann", "ben"]);
      expect(bodies(await make(NEVER, late).read("team", "ben", { waitMs: 60_000 }))).toEqual(["hello"]);
      expect(sent).toBe(true);
    });

    test("nor is what comes while the subscription's connection is lost", async () => {
      const store = await backend.open();
      const chats = make(NEVER, store);
      await chats.joinMany("team", ["ann", "ben"]);
      const got: string[] = [];
      const signal = untilEnd();
      const reading = (async () => {
        for await (const { body } of chats.messages("team", "ben", { signal })) if (got.push(body) === 3) break;
      })();
      await make().send("team", "ann", "1");
      await eventually(() => got).toEqual(["1"]);
      // The embedded store has no connection to lose.
      if (backend.url !== undefined) await backend.store.sendToAll(["CLIENT", "KILL", "TYPE", "pubsub"]);
      for (const body of ["2", "3"]) await make().send("team", "ann", body);
      await reading;
      expect(got).toEqual(["1", "2", "3"]);
    });

    test("a lost wake-up costs a poll, never a message", async () => {
      const chats = make({ pollMs: 20 }, deaf(backend.store));
      await chats.joinMany("team", ["ann", "ben"]);
      const waiting = chats.read("team", "ben", { waitMs: 60_000 });
      const sent = await make().send("team", "ann", "1");
      expect(await waiting).toMatchObject({ items: [{ id: sent!.id }] });
      const read: string[] = [];
      const signal = untilEnd();
      const reading = (async () => {
        for await (const { body } of chats.messages("team", "ben", { signal })) if (read.push(body) === 4) break;
      })();
      for (const body of ["2", "3", "4"]) await make().send("team", "ann", body);
      await reading;
      expect(read).toEqual(["1", "2", "3", "4"]);
    });
  });

  describe("streams", () => {
    test("give every message to every reader, in order, and acknowledge what was read", async () => {
      const chats = make();
      const readers = Array.from({ length: 20 }, (_, nth) => `reader ${nth}`);
      await chats.joinMany("team", ["ann", ...readers]);
      const signal = untilEnd();
      const got = readers.map(async (member) => {
        const messages: Message<string>[] = [];
        for await (const message of chats.messages("team", member, { signal })) {
          messages.push(message);
          if (message.body === "last") continue;
          if (messages.length === 52) break;
        }
        return messages;
      });
      const other = make({}, await backend.open());
      for (let nth = 0; nth < 50; nth++) await other.send("team", "ann", String(nth));
      const last = (await other.send("team", "ann", "last"))!;
      // All but "ann" have come back for the next: the last one counts.
      await eventually(() => other.inspect("team")).toMatchObject({ messages: 51 });
      const upToDate = async () => (await other.members("team")).filter(({ seen }) => seen === last.id).length;
      await eventually(upToDate).toBe(20);
      await other.send("team", "ann", "end");
      const expected = [...Array.from({ length: 50 }, (_, nth) => String(nth)), "last", "end"];
      for (const messages of await Promise.all(got)) {
        expect(messages.map(({ body }) => body)).toEqual(expected);
        expect(messages.every(({ missed }) => missed === 0)).toBe(true);
      }
      // A loop that is left does not acknowledge what it was left at.
      for (const member of readers) expect((await chats.position("team", member))!.seen).toBe(last.id);
    });

    test("a reader that crashed is given again what it had not acknowledged", async () => {
      const chats = make();
      await chats.joinMany("team", ["ann", "ben"]);
      const ids = await sendMany(chats, "team", "ann", 5);
      const signal = untilEnd();
      const crashing = async (): Promise<void> => {
        for await (const { id } of chats.messages("team", "ben", { signal }))
          if (id === ids[2]) throw new Error("crashed");
      };
      await expect(crashing()).rejects.toThrow("crashed");
      expect((await chats.position("team", "ben"))!.seen).toBe(ids[1]);
      const again: number[] = [];
      for await (const { id } of chats.messages("team", "ben", { signal })) if (again.push(id) === 3) break;
      expect(again).toEqual(ids.slice(2));
    });

    test("can leave acknowledging to their reader, and begin anywhere", async () => {
      const chats = make();
      await chats.join("team", "ann");
      const ids = await sendMany(chats, "team", "ann", 5);
      const got: number[] = [];
      const signal = untilEnd();
      for await (const { id } of chats.messages("team", "ann", {
        from: ids[1]!,
        acknowledge: false,
        limit: 1,
        signal,
      })) {
        if (got.push(id) === 3) break;
      }
      expect(got).toEqual(ids.slice(2));
      expect((await chats.position("team", "ann"))!.unread).toBe(5);
    });

    test("end when the member leaves, and nothing that came after is handed out", async () => {
      // By polls: what comes next is fetched together with the news that somebody has left.
      const chats = make({ pollMs: 200 }, deaf(backend.store));
      await chats.joinMany("team", ["ann", "ben"]);
      const got: string[] = [];
      const reading = (async () => {
        for await (const { body } of chats.messages("team", "ben")) got.push(body);
      })();
      const other = make({}, await backend.open());
      await other.send("team", "ann", "before");
      await eventually(() => got).toEqual(["before"]);
      await other.leave("team", "ben");
      await other.send("team", "ann", "after");
      await reading;
      expect(got).toEqual(["before"]);
      expect(await chats.read("team", "ben")).toBeNull();
    });

    test("readers who are far behind catch up from the log while others read the end", async () => {
      const chats = make();
      await chats.joinMany("team", ["ann", "quick", "slow"]);
      const signal = untilEnd();
      const quick = (async () => {
        const seen: string[] = [];
        for await (const { body } of chats.messages("team", "quick", { signal })) if (seen.push(body) === 1_300) break;
        return seen;
      })();
      const slow = chats.messages("team", "slow", { signal, limit: 7 });
      const other = make({}, await backend.open());
      await other.send("team", "ann", "0");
      const got = [(await slow.next()).value!.body];
      for (let at = 1; at < 1_300; at += 100) {
        const sending = Array.from({ length: Math.min(100, 1_300 - at) }, (_, nth) =>
          other.send("team", "ann", String(at + nth)),
        );
        await Promise.all(sending);
      }
      const seen = await quick;
      while (got.length < 1_300) got.push((await slow.next()).value!.body);
      // Those that were sent together may come in any order, which is the same for all.
      expect(got).toEqual(seen);
      expect(got.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 1_300 }, (_, nth) => nth));
    });

    test("a chat that was deleted and made anew is read from its beginning by its new members", async () => {
      const chats = make();
      await chats.join("team", "ann");
      await sendMany(chats, "team", "ann", 2);
      const cursor = (await chats.read("team", "ann"))!.cursor;
      await chats.leave("team", "ann");
      await chats.join("team", "ann");
      const signal = untilEnd();
      const reading = chats.messages("team", "ann", { from: cursor, signal }).next();
      await chats.send("team", "ann", "new");
      expect((await reading).value).toMatchObject({ body: "new", missed: 0 });
    });
  });
});
