/** The contract of group chats and mailboxes, on every backend. */
import { describe, expect, test } from "vitest";
import { beforeScript } from "../../../tests/kit/before-script.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { bytes } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";
import { Chats, type ChatsOptions, Mailboxes } from "./index.ts";
import { bodies, eventually, sendMany, untilEnd } from "./testing/shared.ts";

describeBackends("chats", (backend) => {
  const make = (options: ChatsOptions<string> = {}, store: Store = backend.store) => new Chats<string>(store, options);

  const allKeys = () => keysIn(backend.store);

  describe("sending and reading", () => {
    test("members get what is sent after they joined, in order, with ids that grow by one", async () => {
      const chats = make();
      expect(await chats.join("team", "ann")).toEqual({ status: "joined" });
      expect(await chats.join("team", "ben")).toEqual({ status: "joined" });
      const ids = await sendMany(chats, "team", "ann", 3);
      expect(ids).toEqual([ids[0], ids[0]! + 1, ids[0]! + 2]);
      for (const member of ["ann", "ben"]) {
        const page = (await chats.read("team", member))!;
        expect(page.items.map(({ id, sender, body, missed }) => [id, sender, body, missed])).toEqual([
          [ids[0], "ann", "1", 0],
          [ids[1], "ann", "2", 0],
          [ids[2], "ann", "3", 0],
        ]);
        expect(page).toMatchObject({ cursor: ids[2], missed: 0, remaining: 0 });
      }
    });

    test("a message tells when it was stored and by what id its sender knows it", async () => {
      const chats = make();
      await chats.join("team", "ann");
      const [seconds, micros] = (await backend.store.call("TIME")) as [string, string];
      await chats.send("team", "ann", "hello", { id: "my own id 7" });
      const { items: messages } = (await chats.read("team", "ann"))!;
      expect(messages[0]!.ownId).toBe("my own id 7");
      expect(messages[0]!.sentAt.getTime()).toBeGreaterThanOrEqual(
        Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000),
      );
    });

    test("bodies are anything with a JSON form, or bytes", async () => {
      const any = new Chats<unknown>(backend.store);
      await any.join("team", "ann");
      const sent = [null, 1.5, "Zoë\n{}", { deep: [{ a: "\u0000" }] }, ""];
      for (const body of sent) await any.send("team", "ann", body);
      expect(bodies(await any.read("team", "ann"))).toEqual(sent);
      const raw = new Chats<Uint8Array>(backend.store, { codec: bytes, prefix: "raw" });
      await raw.join("team", "Zoë");
      const body = Buffer.from([0, 10, 32, 255, 10, 254]);
      await raw.send("team", "Zoë", body, { id: "ü 1" });
      const [message] = (await raw.read("team", "Zoë"))!.items;
      expect([message!.sender, message!.ownId, Buffer.from(message!.body)]).toEqual(["Zoë", "ü 1", body]);
      const waited = raw.read("team", "Zoë", { cursor: message!.id, waitMs: 25_000 });
      await raw.send("team", "Zoë", body);
      expect(Buffer.from((await waited)!.items[0]!.body)).toEqual(body);
    });

    test("only members send and read", async () => {
      const chats = make();
      expect(await chats.send("team", "ann", "hello")).toBeNull();
      expect(await chats.read("team", "ann")).toBeNull();
      expect(await chats.read("team", "ann", { waitMs: 25_000 })).toBeNull();
      expect(await chats.acknowledge("team", "ann", 1)).toBeNull();
      expect(await chats.position("team", "ann")).toBeNull();
      await chats.join("team", "ben");
      expect(await chats.send("team", "ann", "hello")).toBeNull();
      expect(await chats.read("team", "ann")).toBeNull();
      for await (const _ of chats.messages("team", "ann")) expect.unreachable();
    });

    test("a message that is sent again with its id is not sent twice", async () => {
      const chats = make();
      await chats.joinMany("team", ["ann", "ben"]);
      const first = (await chats.send("team", "ann", "hello", { id: "a" }))!;
      expect(first.repeated).toBe(false);
      expect(await chats.send("team", "ann", "hello", { id: "a" })).toEqual({ id: first.id, repeated: true });
      // Another sender's id is another id, however the two are joined.
      expect((await chats.send("team", "ben", "hello", { id: "a" }))!.repeated).toBe(false);
      // All have seen it, and it is gone: it is still known.
      for (const member of ["ann", "ben"]) await chats.acknowledge("team", member, first.id + 1);
      expect((await chats.inspect("team"))!.messages).toBe(0);
      expect(await chats.send("team", "ann", "hello", { id: "a" })).toEqual({ id: first.id, repeated: true });
      // Also after the sender has left: what was answered was true.
      await chats.leave("team", "ann");
      expect(await chats.send("team", "ann", "hello", { id: "a" })).toEqual({ id: first.id, repeated: true });
    });

    test("an id is known for as long as was asked, and for no longer than twice that", async () => {
      const chats = make({ keepIdsMs: 200 });
      await chats.join("team", "ann");
      const sent = (await chats.send("team", "ann", "hello", { id: "a" }))!;
      const until = async (): Promise<boolean> =>
        (await chats.send("team", "ann", "hello", { id: "a" }))!.id !== sent.id;
      await eventually(until).toBe(true);
      expect(bodies(await chats.read("team", "ann"))).toEqual(["hello", "hello"]);
    });

    test("many who send at once get ids without gaps, and all is there in that order", async () => {
      const stores = [backend.store, await backend.open(), await backend.open()];
      const chats = stores.map((store) => make({}, store));
      await chats[0]!.joinMany("team", ["ann", "ben", "cid"]);
      const sent = await Promise.all(
        chats.flatMap((each, at) =>
          Array.from({ length: 30 }, (_, nth) => each.send("team", ["ann", "ben", "cid"][at]!, `${at}:${nth}`)),
        ),
      );
      const ids = sent.map((each) => each!.id).sort((a, b) => a - b);
      expect(ids).toEqual(ids.map((_, nth) => ids[0]! + nth));
      expect((await chats[1]!.read("team", "ben"))!.items.map(({ id }) => id)).toEqual(ids);
    });

    test("reading goes on from any id, in pages", async () => {
      const chats = make();
      await chats.join("team", "ann");
      const ids = await sendMany(chats, "team", "ann", 5);
      const first = (await chats.read("team", "ann", { limit: 2 }))!;
      expect([bodies(first), first.remaining]).toEqual([["1", "2"], 3]);
      const second = (await chats.read("team", "ann", { cursor: first.cursor, limit: 2 }))!;
      expect([bodies(second), second.remaining]).toEqual([["3", "4"], 1]);
      expect(bodies(await chats.read("team", "ann", { cursor: ids[3]! }))).toEqual(["5"]);
      expect(await chats.read("team", "ann", { cursor: ids[4]! })).toMatchObject({ items: [], cursor: ids[4] });
      // From before the beginning, and from what a failover has forgotten.
      expect(bodies(await chats.read("team", "ann", { cursor: 0 }))).toEqual(["1", "2", "3", "4", "5"]);
      expect(await chats.read("team", "ann", { cursor: ids[4]! + 10 })).toMatchObject({ items: [], cursor: ids[4] });
    });

    test("what was not acknowledged is read again; acknowledging goes forward only", async () => {
      const chats = make();
      await chats.joinMany("team", ["ann", "ben"]);
      const ids = await sendMany(chats, "team", "ann", 4);
      expect(bodies(await chats.read("team", "ben"))).toEqual(["1", "2", "3", "4"]);
      expect(bodies(await chats.read("team", "ben"))).toEqual(["1", "2", "3", "4"]);
      expect(await chats.acknowledge("team", "ben", ids[1]!)).toEqual({ seen: ids[1], unread: 2, missed: 0 });
      expect(await chats.acknowledge("team", "ben", ids[0]!)).toEqual({ seen: ids[1], unread: 2, missed: 0 });
      expect(bodies(await chats.read("team", "ben"))).toEqual(["3", "4"]);
      // Beyond the end is the end: what comes next has not been seen.
      expect(await chats.acknowledge("team", "ben", ids[3]! + 100)).toEqual({ seen: ids[3], unread: 0, missed: 0 });
      await chats.send("team", "ann", "5");
      expect(bodies(await chats.read("team", "ben"))).toEqual(["5"]);
    });

    test("what one sends may count as seen by oneself, unless something before it was not", async () => {
      const chats = make();
      await chats.joinMany("team", ["ann", "ben"]);
      await chats.send("team", "ann", "1", { markSeen: true });
      expect((await chats.position("team", "ann"))!.unread).toBe(0);
      expect((await chats.position("team", "ben"))!.unread).toBe(1);
      await chats.send("team", "ben", "2", { markSeen: true });
      await chats.send("team", "ann", "3", { markSeen: true });
      expect((await chats.position("team", "ann"))!.unread).toBe(2);
      expect((await chats.position("team", "ben"))!.unread).toBe(3);
    });
  });

  describe("what is kept", () => {
    test("messages go when all have seen them", async () => {
      const chats = make();
      await chats.joinMany("team", ["ann", "ben"]);
      const ids = await sendMany(chats, "team", "ann", 4);
      await chats.acknowledge("team", "ann", ids[3]!);
      expect(await chats.inspect("team")).toMatchObject({ messages: 4, oldestId: ids[0] });
      await chats.acknowledge("team", "ben", ids[1]!);
      const left = (await chats.inspect("team"))!;
      expect(left).toMatchObject({ messages: 2, oldestId: ids[2], furthestBehind: 2 });
      expect(await chats.read("team", "ben")).toMatchObject({ missed: 0, remaining: 0 });
      await chats.acknowledge("team", "ben", ids[3]!);
      expect(await chats.inspect("team")).toMatchObject({ messages: 0, bytes: 0, oldestId: null, lastId: ids[3] });
      expect((await chats.send("team", "ben", "5"))!.id).toBe(ids[3]! + 1);
    });

    test("the last messages may stay, for members who join later", async () => {
      const chats = make({ keepSeen: 2 });
      await chats.join("team", "ann");
      const ids = await sendMany(chats, "team", "ann", 5);
      await chats.acknowledge("team", "ann", ids[4]!);
      expect(await chats.inspect("team")).toMatchObject({ messages: 2, oldestId: ids[3] });
      await chats.join("team", "new", { from: "start" });
      await chats.join("team", "newer");
      expect(bodies(await chats.read("team", "new"))).toEqual(["4", "5"]);
      expect(bodies(await chats.read("team", "newer"))).toEqual([]);
    });

    test("beyond the cap the oldest go, and a member who had not seen them is told how many", async () => {
      const chats = make({ maxMessages: 3 });
      await chats.joinMany("team", ["ann", "ben"]);
      const [first] = await sendMany(chats, "team", "ann", 2);
      await chats.acknowledge("team", "ben", first!);
      await sendMany(chats, "team", "ann", 4);
      expect(await chats.inspect("team")).toMatchObject({ messages: 3, oldestId: first! + 3 });
      expect(await chats.position("team", "ben")).toEqual({ seen: first, unread: 3, missed: 2 });
      expect(await chats.position("team", "ann")).toEqual({ seen: first! - 1, unread: 3, missed: 3 });
      const page = (await chats.read("team", "ben"))!;
      expect([page.missed, page.items.map(({ missed }) => missed)]).toEqual([2, [2, 0, 0]]);
      expect(bodies(page)).toEqual(["2", "3", "4"]);
      const signal = untilEnd();
      for await (const { missed, body } of chats.messages("team", "ann", { signal })) {
        expect([missed, body]).toEqual([3, "2"]);
        break;
      }
    });

    test("bytes are capped too, and counted exactly", async () => {
      const chats = make({ maxBytes: 1_000 });
      await chats.join("team", "ann");
      // As JSON: with quotes.
      const sizeOf = (body: string, id: string): number => body.length + 2 + "ann".length + id.length;
      const ids: number[] = [];
      for (let nth = 0; nth < 150; nth++) {
        ids.push((await chats.send("team", "ann", "x".repeat(nth), { id: String(nth) }))!.id);
      }
      let [bytesKept, kept] = [0, 0];
      while (bytesKept + sizeOf("x".repeat(149 - kept), String(149 - kept)) <= 1_000) {
        bytesKept += sizeOf("x".repeat(149 - kept), String(149 - kept));
        kept++;
      }
      expect(await chats.inspect("team")).toMatchObject({ messages: kept, bytes: bytesKept });
      // One that fills it alone; and one that is larger, which stays alone.
      await chats.send("team", "ann", "y".repeat(990), { id: "y" });
      expect(await chats.inspect("team")).toMatchObject({ messages: 1, bytes: sizeOf("y".repeat(990), "y") });
      await chats.send("team", "ann", "z".repeat(2_000), { id: "z" });
      expect(await chats.inspect("team")).toMatchObject({ messages: 1, bytes: sizeOf("z".repeat(2_000), "z") });
      expect((await chats.read("team", "ann"))!.missed).toBe(151);
      await chats.acknowledge("team", "ann", ids[149]! + 2);
      expect(await chats.inspect("team")).toMatchObject({ messages: 0, bytes: 0 });
    });

    test("a reader whose cursor is behind what others of the same member have acknowledged hears about the gap", async () => {
      const chats = make();
      await chats.join("team", "ann");
      const ids = await sendMany(chats, "team", "ann", 3);
      await chats.acknowledge("team", "ann", ids[2]!);
      const page = await chats.read("team", "ann", { cursor: ids[0]!, waitMs: 60_000 });
      expect(page).toEqual({ items: [], cursor: ids[2], missed: 2, remaining: 0 });
      const signal = untilEnd();
      const reading = chats.messages("team", "ann", { from: ids[0]!, signal }).next();
      await chats.send("team", "ann", "4");
      expect((await reading).value).toMatchObject({ body: "4", missed: 2 });
    });

    test("messages are refused that are too large", async () => {
      const chats = make({ maxMessageBytes: 10 });
      await chats.join("team", "ann");
      await expect(chats.send("team", "ann", "x".repeat(9))).rejects.toThrow("more than the 10 allowed");
      expect((await chats.send("team", "ann", "x".repeat(8)))!.repeated).toBe(false);
    });
  });

  describe("coming and going", () => {
    test("joining twice changes nothing", async () => {
      const chats = make();
      await chats.join("team", "ann");
      await chats.send("team", "ann", "1");
      expect(await chats.join("team", "ann")).toEqual({ status: "exists" });
      expect(bodies(await chats.read("team", "ann"))).toEqual(["1"]);
    });

    test("the last one who leaves deletes everything", async () => {
      const chats = make();
      await chats.joinMany("team", ["ann", "ben"]);
      await sendMany(chats, "team", "ann", 3);
      await chats.arrive("team", "ann");
      expect(await chats.leave("team", "cid")).toEqual({ status: "not-found" });
      expect(await chats.leave("team", "ann")).toEqual({ status: "left" });
      expect(await chats.leave("team", "ann")).toEqual({ status: "not-found" });
      expect(await chats.present("team")).toEqual([]);
      expect(await chats.leave("team", "ben")).toEqual({ status: "deleted" });
      expect(await chats.inspect("team")).toBeNull();
      await eventually(allKeys).toEqual([]);
    });

    test("what only the one who leaves had not seen goes with them", async () => {
      const chats = make();
      await chats.joinMany("team", ["ann", "ben"]);
      const ids = await sendMany(chats, "team", "ann", 3);
      await chats.acknowledge("team", "ann", ids[1]!);
      await chats.leave("team", "ben");
      expect(await chats.inspect("team")).toMatchObject({ members: 1, messages: 1, oldestId: ids[2] });
    });

    test("a chat that is made anew gives no number twice, and old cursors and acknowledgements skip nothing", async () => {
      const chats = make();
      await chats.join("team", "ann");
      const old = await sendMany(chats, "team", "ann", 3);
      await chats.leave("team", "ann");
      await chats.join("team", "ann");
      const [id] = await sendMany(chats, "team", "ann", 1);
      expect(id).toBeGreaterThan(old[2]!);
      expect(await chats.acknowledge("team", "ann", old[2]!)).toMatchObject({ unread: 1 });
      expect(await chats.read("team", "ann", { cursor: old[2]! })).toMatchObject({ missed: 0, items: [{ id }] });
    });

    test("a chat can be full, and a member in too many", async () => {
      const chats = make({ maxMembers: 2, maxChats: 2 });
      expect(await chats.joinMany("team", ["ann", "ben", "cid"])).toEqual([
        { status: "joined" },
        { status: "joined" },
        { status: "full" },
      ]);
      expect(await chats.join("team", "ann")).toEqual({ status: "exists" });
      await chats.join("other", "ann");
      expect(await chats.join("third", "ann")).toEqual({ status: "too-many-chats" });
      expect(await chats.inspect("third")).toBeNull();
      await chats.leave("other", "ann");
      expect(await chats.join("third", "ann")).toEqual({ status: "joined" });
      // Neither does the chat that was full count for who did not get in, nor one that is gone.
      await chats.join("gone", "cid");
      await make({ maxChats: 10 }).delete("gone");
      expect([await chats.join("a", "cid"), await chats.join("b", "cid")]).toEqual([
        { status: "joined" },
        { status: "joined" },
      ]);
    });

    test("a thousand join at once", async () => {
      const chats = make();
      const all = Array.from({ length: 1_000 }, (_, nth) => `member ${nth}`);
      const outcomes = await chats.joinMany("team", all);
      expect(outcomes.filter(({ status }) => status === "joined").length).toBe(1_000);
      expect((await chats.inspect("team"))!.members).toBe(1_000);
    });

    test("a chat is deleted although members are in it, and its readers are told", async () => {
      const chats = make();
      await chats.joinMany("team", ["ann", "ben"]);
      const waiting = chats.read("team", "ann", { waitMs: 60_000 });
      await eventually(() => chats.present("team")).toEqual(["ann"]);
      expect(await chats.delete("team")).toBe(true);
      expect(await waiting).toBeNull();
      expect(await chats.delete("team")).toBe(false);
      expect([await chats.unread("ann"), await chats.unread("ben")]).toEqual([[], []]);
      await eventually(allKeys).toEqual([]);
    });
  });

  describe("unread", () => {
    test("is counted for all chats of a member in one call", async () => {
      const chats = make({ maxMessages: 5 });
      await chats.join("one", "ann");
      await chats.join("two", "ann");
      await chats.join("three", "ann");
      const [first] = await sendMany(chats, "two", "ann", 3);
      await chats.acknowledge("two", "ann", first!);
      await sendMany(chats, "three", "ann", 7);
      const found = new Map((await chats.unread("ann")).map(({ chat, unread, missed }) => [chat, [unread, missed]]));
      expect(found).toEqual(
        new Map([
          ["one", [0, 0]],
          ["two", [2, 0]],
          ["three", [5, 2]],
        ]),
      );
      await chats.leave("three", "ann");
      expect((await chats.unread("ann")).map(({ chat }) => chat).sort()).toEqual(["one", "two"]);
      expect(await chats.unread("nobody")).toEqual([]);
    });

    test("a join that crashed half way is not counted, and leaves no note behind", async () => {
      const crashing = beforeScript(backend.store, "chats.forget", () => {
        throw new Error("crashed");
      });
      const chats = make();
      await chats.joinMany("team", ["ann", "ben"]);
      // After leaving and before that is noted.
      await expect(make({}, crashing).leave("team", "ann")).rejects.toThrow("crashed");
      expect(await backend.store.call("HLEN", "chat:of:{ann}")).toBe(1);
      expect(await chats.unread("ann")).toEqual([]);
      expect(await backend.store.call("HLEN", "chat:of:{ann}")).toBe(0);
    });

    test("a join that comes while somebody cleans up, or leaves, is not forgotten", async () => {
      const chats = make();
      await chats.joinMany("team", ["ann", "ben"]);
      // The chat is joined anew between leaving it and striking it off.
      const leaving = make(
        {},
        beforeScript(backend.store, "chats.forget", () => chats.join("team", "ann")),
      );
      expect(await leaving.leave("team", "ann")).toEqual({ status: "left" });
      expect((await chats.unread("ann")).map(({ chat }) => chat)).toEqual(["team"]);
    });
  });

  describe("presence", () => {
    test("is given by waiting and by hand, and ends by itself", async () => {
      const chats = make({ presenceLeaseMs: 300 });
      await chats.joinMany("team", ["ann", "ben", "cid"]);
      expect(await chats.present("team")).toEqual([]);
      expect(await chats.arrive("team", "ann")).toBe(true);
      expect(await chats.arrive("team", "nobody")).toBe(false);
      await chats.read("team", "ben", { present: true });
      await chats.read("team", "cid", { present: false });
      await chats.read("team", "cid");
      const lasting = make({ presenceLeaseMs: 60_000 });
      await lasting.arrive("team", "ann");
      await lasting.read("team", "ben", { present: true });
      expect((await chats.present("team")).sort()).toEqual(["ann", "ben"]);
      expect(await lasting.depart("team", "ben")).toBe(true);
      expect(await chats.present("team")).toEqual(["ann"]);
      await chats.arrive("team", "ann");
      await eventually(() => chats.present("team")).toEqual([]);
    });

    test("lasts as long as a stream does", async () => {
      const chats = make({ presenceLeaseMs: 300 });
      await chats.join("team", "ann");
      const stop = new AbortController();
      const reading = chats.messages("team", "ann", { signal: stop.signal }).next();
      const until = async (): Promise<number> =>
        Number(await backend.store.call("ZSCORE", "chat:{team}:presence", "ann"));
      await eventually(until).toBeGreaterThan(0);
      const first = await until();
      // Renewed until well beyond what it was at first.
      await eventually(until).toBeGreaterThan(first + 300);
      stop.abort();
      await reading;
      await eventually(() => chats.present("team")).toEqual([]);
    });
  });

  describe("looking in", () => {
    test("tells of chats, their members and what is kept", async () => {
      const chats = make();
      await chats.joinMany("team", ["ann", "ben"]);
      await chats.join("other", "ann");
      const ids = await sendMany(chats, "team", "ann", 3);
      await chats.acknowledge("team", "ann", ids[2]!);
      await chats.acknowledge("team", "ben", ids[0]!);
      await chats.arrive("team", "ben");
      const info = (await chats.inspect("team"))!;
      expect(info).toMatchObject({
        chat: "team",
        members: 2,
        present: 1,
        messages: 2,
        oldestId: ids[1],
        lastId: ids[2],
      });
      expect(await chats.members("team")).toEqual([
        { member: "ben", present: true, seen: ids[0], unread: 2, missed: 0 },
        { member: "ann", present: false, seen: ids[2], unread: 0, missed: 0 },
      ]);
      expect((await chats.members("team", { offset: 1, limit: 1 })).map(({ member }) => member)).toEqual(["ann"]);
      expect(await chats.members("none")).toEqual([]);
      await eventually(async () => (await chats.list()).items.map(({ chat }) => chat).sort()).toEqual([
        "other",
        "team",
      ]);
      expect((await chats.list({ limit: 1 })).items.length).toBe(1);
      await chats.leave("other", "ann");
      expect((await chats.list()).items.map(({ chat }) => chat)).toEqual(["team"]);
    });
  });

  test("what cannot be right is refused before anything is written", async () => {
    const chats = make();
    const wrong = [
      () => chats.join("", "ann"),
      () => chats.join("team", ""),
      () => chats.join("team", "x".repeat(257)),
      () => chats.join("team", "ann", { from: "then" as "now" }),
      () => chats.joinMany("team", ["ann", "ann"]),
      () => chats.send("team", "", "x"),
      () => chats.send("team", "ann", "x", { id: "a\nb" }),
      () => chats.send("team", "ann", "x", { id: "" }),
      () => chats.send("team", "ann", undefined as unknown as string),
      () => chats.read("team", "ann", { cursor: -1 }),
      () => chats.read("team", "ann", { limit: 1_001 }),
      () => chats.read("team", "ann", { waitMs: -1 }),
      () => chats.acknowledge("team", "ann", 1.5),
    ];
    for (const call of wrong) await expect(call()).rejects.toThrow(InputError);
    expect(() => make({ maxMessages: 0 })).toThrow(InputError);
    expect(() => make({ maxMessages: 5, keepSeen: 6 })).toThrow(InputError);
    expect(await allKeys()).toEqual([]);
  });

  describe("mailboxes", () => {
    const boxes = (options = {}) => new Mailboxes<string>(backend.store, options);

    test("take what anybody sends, for one who reads", async () => {
      const mailboxes = boxes();
      expect(await mailboxes.position("ann")).toEqual({ seen: 0, unread: 0, missed: 0 });
      expect((await mailboxes.read("ann")).items).toEqual([]);
      const first = await mailboxes.send("ann", "ben", "1", { id: "b1" });
      await mailboxes.send("ann", "cid", "2");
      expect(await mailboxes.send("ann", "ben", "1", { id: "b1" })).toEqual({ id: first.id, repeated: true });
      const page = await mailboxes.read("ann");
      expect(page.items.map(({ sender, body }) => [sender, body])).toEqual([
        ["ben", "1"],
        ["cid", "2"],
      ]);
      expect((await mailboxes.position("ann")).unread).toBe(2);
      expect(await mailboxes.acknowledge("ann", first.id)).toMatchObject({ unread: 1 });
      expect(await mailboxes.inspect("ann")).toMatchObject({ messages: 1, oldestId: first.id + 1 });
      await mailboxes.acknowledge("ann", page.cursor);
      expect(await mailboxes.inspect("ann")).toMatchObject({ messages: 0, bytes: 0 });
      expect((await mailboxes.send("ann", "ben", "3")).id).toBe(first.id + 2);
      expect(bodies(await mailboxes.read("ann"))).toEqual(["3"]);
      await eventually(async () => (await mailboxes.list()).items.map(({ owner }) => owner)).toEqual(["ann"]);
      expect(await mailboxes.delete("ann")).toBe(true);
      expect([await mailboxes.inspect("ann"), await mailboxes.delete("ann")]).toEqual([null, false]);
    });

    test("are waited at before there is anything in them", async () => {
      const mailboxes = boxes();
      expect((await mailboxes.read("ann", { waitMs: 10 })).items).toEqual([]);
      const waiting = mailboxes.read("ann", { waitMs: 60_000 });
      await mailboxes.send("ann", "ben", "1");
      expect(bodies(await waiting)).toEqual(["1"]);
      const got: string[] = [];
      const signal = untilEnd();
      const reading = (async () => {
        for await (const { body } of mailboxes.messages("ann", { signal })) if (got.push(body) === 3) break;
      })();
      await mailboxes.send("ann", "ben", "2");
      await eventually(async () => (await mailboxes.position("ann")).unread).toBe(0);
      await mailboxes.delete("ann");
      await mailboxes.send("ann", "ben", "3");
      await reading;
      expect(got).toEqual(["1", "2", "3"]);
    });

    test("are forgotten when they stay empty, and never while something is in them", async () => {
      const mailboxes = boxes({ idleMs: 3_600_000 });
      const ttl = async () => Number(await backend.store.call("PTTL", "mailbox:{ann}:meta"));
      const first = await mailboxes.send("ann", "ben", "1");
      expect(await ttl()).toBe(-1);
      await mailboxes.acknowledge("ann", first.id);
      expect(await ttl()).toBeGreaterThan(3_000_000);
      await mailboxes.send("ann", "ben", "2");
      expect([await ttl(), await backend.store.call("PTTL", "mailbox:{ann}:seen")]).toEqual([-1, -1]);
    });
  });
});
