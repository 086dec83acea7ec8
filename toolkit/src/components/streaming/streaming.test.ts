/** The log and its listeners, on every backend. */
import { expect, test, vi } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { InputError } from "../../base/errors.ts";
import type { StatusEvent } from "./events.ts";
import {
  type Listening,
  StatusStream,
  type StatusStreamOptions,
  type StreamFilter,
  type StreamMessage,
} from "./index.ts";

type Status = Extract<StatusEvent, { kind: "status" }>;

function status(id: string, text: string, more: Partial<Status> = {}): Status {
  return { kind: "status", id, userId: "4", login: "ann", text, atMs: 1_700_000_000_000, ...more };
}

const deleted = (id: string, userId = "4"): StatusEvent => ({ kind: "delete", id, userId, atMs: 1_700_000_000_001 });

async function next(listening: Listening, count: number): Promise<StreamMessage[]> {
  const messages: StreamMessage[] = [];
  while (messages.length < count) {
    const { value, done } = await listening.next();
    if (done === true) break;
    messages.push(value);
  }
  return messages;
}

const brief = (message: StreamMessage): string =>
  message.kind === "status" || message.kind === "delete" ? `${message.kind} ${message.id}` : message.kind;

/** All that a listener gets until the status "last", which it must ask for. */
async function untilLast(listening: Listening): Promise<string[]> {
  const got: string[] = [];
  for await (const message of listening) {
    if (brief(message) === "status last") break;
    got.push(brief(message));
  }
  return got;
}

describeBackends("streaming", (backend) => {
  const streamOf = (options: StatusStreamOptions = {}): StatusStream =>
    new StatusStream(backend.store, "public", options);
  const publishAll = async (stream: StatusStream, ids: readonly string[], text = "x"): Promise<void> => {
    for (const id of ids) await stream.publish(status(id, text));
  };

  test("a listener gets what its filter wants from the moment it listens, in order and whole", async () => {
    const stream = streamOf();
    await stream.publish(status("0", "redis before"));
    const listening = await stream.events({ track: ["redis"] });
    const place = { longitude: 13.4, latitude: 52.5 };
    await stream.publish(status("1", "about Redis\nand “more” ☕", { place }));
    await stream.publish(status("2", "something else"));
    await stream.publish(status("3", "#redis"));
    const [first, second] = await next(listening, 2);
    expect(first).toEqual({ cursor: expect.any(String), ...status("1", "about Redis\nand “more” ☕", { place }) });
    expect(brief(second!)).toBe("status 3");
    listening.close();
  });

  test("listeners of another process get it too, by one reader each", async () => {
    const here = await streamOf().events({ all: true });
    const elsewhere = new StatusStream(await backend.open(), "public");
    const there = await Promise.all(Array.from({ length: 20 }, () => elsewhere.events({ all: true })));
    await streamOf().publish(status("1", "x"));
    for (const each of [here, ...there]) expect((await next(each, 1)).map(brief)).toEqual(["status 1"]);
    expect((await elsewhere.inspect()).listeners).toBe(20);
    for (const each of [here, ...there]) each.close();
    expect((await elsewhere.inspect()).listeners).toBe(0);
  });

  test("an event is published once, however often that is repeated", async () => {
    const stream = streamOf();
    const listening = await stream.events({ all: true });
    await Promise.all(Array.from({ length: 5 }, () => stream.publish(status("1", "x"))));
    await stream.publish(deleted("1"));
    await stream.publish(deleted("1"));
    await stream.publish(status("last", "x"));
    const got = await untilLast(listening);
    expect(got.filter((each) => each === "delete 1")).toHaveLength(1);
    expect(got.filter((each) => each === "status 1").length).toBeLessThanOrEqual(1);
    expect((await stream.inspect()).events).toBe(2);
  });

  test("a delete takes the status out of the log, and it does not come back", async () => {
    const stream = streamOf();
    await stream.publish(status("1", "secret"));
    await stream.publish(deleted("1"));
    await stream.publish(status("1", "secret"));
    await stream.publish(status("last", "x"));
    expect(await untilLast(await stream.events({ all: true }, { from: "oldest" }))).toEqual(["delete 1"]);
    expect(JSON.stringify(await backend.store.call("XRANGE", "stream:{public}:log", "-", "+"))).not.toContain("secret");
  });

  test("a delete goes to the listeners that got the status, and to no other", async () => {
    const stream = streamOf();
    const follower = await stream.events({ follow: ["4", "last"] });
    const tracker = await stream.events({ track: ["redis", "last"] });
    const other = await stream.events({ track: ["valkey", "last"] });
    await stream.publish(status("1", "redis"));
    expect((await next(follower, 1)).map(brief)).toEqual(["status 1"]);
    await stream.publish(deleted("1"));
    await stream.publish(status("last", "last", { userId: "last" }));
    expect(await untilLast(follower)).toEqual(["delete 1"]);
    expect(await untilLast(tracker)).toEqual(["status 1", "delete 1"]);
    expect(await untilLast(other)).toEqual([]);
  });

  test("where the status is not known any more, a delete goes to all who may have got it", async () => {
    const stream = streamOf();
    const byWord = await stream.events({ track: ["redis", "last"] });
    const byUser = await stream.events({ follow: ["4", "last"] });
    const byOtherUser = await stream.events({ follow: ["5", "last"] });
    await stream.publish(deleted("long ago", "4"));
    await stream.publish(status("last", "last", { userId: "last" }));
    expect(await untilLast(byWord)).toEqual(["delete long ago"]);
    expect(await untilLast(byUser)).toEqual(["delete long ago"]);
    expect(await untilLast(byOtherUser)).toEqual([]);
  });

  test.each([
    ["from memory", 10_000],
    ["from the log", 2],
  ])("who comes back with the last cursor misses nothing and gets nothing twice: %s", async (_, recentEvents) => {
    const stream = streamOf({ recentEvents });
    const first = await stream.events({ track: ["x"] });
    const keepsReader = await stream.events({ track: ["nothing"] });
    await publishAll(stream, ["1", "2", "3"]);
    const got = await next(first, 2);
    first.close();
    await publishAll(stream, ["4", "5", "6", "7", "8", "9", "10"]);
    await stream.publish(status("no", "y"));
    const second = await stream.events({ track: ["x"] }, { from: got[1]!.cursor });
    await publishAll(stream, ["11", "last"]);
    const expected = ["3", "4", "5", "6", "7", "8", "9", "10", "11"].map((id) => `status ${id}`);
    expect(await untilLast(second)).toEqual(expected);
    keepsReader.close();
  });

  test("what is published while the reader starts comes once and in order", async () => {
    const publishing = streamOf();
    for (let round = 0; round < 10; round++) {
      const stream = streamOf({ recentEvents: 3 });
      const ids = Array.from({ length: 10 }, (_, nth) => `${round}-${nth}`);
      const { newest } = await publishing.inspect();
      const [listening] = await Promise.all([
        stream.events({ all: true }, { from: newest }),
        publishAll(publishing, ids),
      ]);
      expect((await next(listening, 10)).map(brief)).toEqual(ids.map((id) => `status ${id}`));
      listening.close();
    }
  });

  test("a thousand and more events behind, also with more than one page", async () => {
    const stream = streamOf({ recentEvents: 3 });
    await stream.publish(status("first", "x"));
    const { newest } = await stream.inspect();
    const ids = Array.from({ length: 1_200 }, (_, nth) => `n${nth}`);
    await Promise.all(ids.map((id) => stream.publish(status(id, id === "n700" ? "x special" : "x"))));
    await stream.publish(status("last", "x special"));
    const some = await stream.events({ track: ["special"] }, { from: newest });
    expect(await untilLast(some)).toEqual(["status n700"]);
    const all = await untilLast(await stream.events({ track: ["x"] }, { from: newest, maxWaiting: 50 }));
    expect(all.sort()).toEqual(ids.map((id) => `status ${id}`).sort());
  });

  test("the log is bounded by number, and a cursor from before is told so", async () => {
    const stream = streamOf({ maxEvents: 10 });
    const listening = await stream.events({ all: true });
    await publishAll(stream, ["1", "2"]);
    const [first] = await next(listening, 2);
    listening.close();
    await publishAll(
      stream,
      Array.from({ length: 30 }, (_, nth) => `n${nth}`),
    );
    const { events, oldest } = await stream.inspect();
    expect(events).toBeLessThanOrEqual(10);
    expect(events).toBeGreaterThanOrEqual(9);
    expect(await backend.store.call("HLEN", "stream:{public}:known")).toBe(events);
    const late = await stream.events({ all: true }, { from: first!.cursor });
    await stream.publish(status("last", "x"));
    const [gap, ...rest] = await next(late, 1 + events);
    expect(gap).toEqual({ kind: "gap", after: first!.cursor, cursor: oldest });
    expect(rest.map(brief)).toEqual(Array.from({ length: events }, (_, nth) => `status n${30 - events + nth}`));
    late.close();
  });

  test("the log is bounded by bytes", async () => {
    const stream = streamOf({ maxBytes: 10_000 });
    await publishAll(
      stream,
      Array.from({ length: 40 }, (_, nth) => `n${nth}`),
      "y".repeat(900),
    );
    const { events, bytes } = await stream.inspect();
    expect(bytes).toBeLessThanOrEqual(10_000);
    expect(bytes).toBeGreaterThan(8_000);
    // Deletes give back what they take out.
    for (let nth = 0; nth < 40; nth++) await stream.publish(deleted(`n${nth}`));
    expect((await stream.inspect()).bytes).toBeLessThan(bytes);
    const stored = (await backend.store.call("XRANGE", "stream:{public}:log", "-", "+")) as [string, string[]][];
    const counted = stored.reduce((sum, [, [, key, , event]]) => sum + key!.length + event!.length, 0);
    expect((await stream.inspect()).bytes).toBe(counted);
    expect(events).toBeGreaterThan(5);
  });

  test("everything in the log has an end: by age, also when nobody publishes any more", async () => {
    const stream = streamOf({ keepMs: 1_000 });
    await stream.publish(status("1", "x"));
    const { newest } = await stream.inspect();
    for (const key of ["log", "known"]) {
      expect(await backend.store.call("PTTL", `stream:{public}:${key}`)).toBeGreaterThan(0);
    }
    // As when the time is over.
    await backend.store.call("DEL", "stream:{public}:log", "stream:{public}:known");
    expect(await stream.inspect()).toMatchObject({ events: 0, bytes: 0, oldest: newest, newest });
    const before = await stream.events({ all: true }, { from: `${Number(newest.split("-")[0]) - 1}-0` });
    const exact = await stream.events({ all: true }, { from: newest });
    await stream.publish(status("last", "x"));
    expect(await untilLast(before)).toEqual(["gap"]);
    expect(await untilLast(exact)).toEqual([]);
  });

  test("a cursor of another log is told so", async () => {
    const stream = streamOf();
    await stream.publish(status("1", "x"));
    const { newest } = await stream.inspect();
    const listening = await stream.events({ all: true }, { from: "900000000000000-0" });
    await stream.publish(status("last", "x"));
    const [gap] = await next(listening, 1);
    expect(gap).toEqual({ kind: "gap", after: "900000000000000-0", cursor: newest });
    expect(await untilLast(listening)).toEqual([]);
  });

  test("when the store is emptied, listeners are told and go on", async () => {
    const stream = streamOf({ pollMs: 20 });
    const listening = await stream.events({ all: true });
    await stream.publish(status("1", "x"));
    expect((await next(listening, 1)).map(brief)).toEqual(["status 1"]);
    await backend.flush();
    await stream.publish(status("2", "x"));
    const got: string[] = [];
    for await (const message of listening) {
      got.push(brief(message));
      if (got.at(-1) === "status 2") break;
    }
    expect(got.slice(0, -1).every((each) => each === "gap")).toBe(true);
    expect(got.length).toBeGreaterThan(1);
  });

  test("a message that is lost costs no event", async () => {
    const stream = streamOf({ pollMs: 20 });
    const listening = await stream.events({ all: true });
    // Written as publish does, and nobody is woken.
    const event = JSON.stringify(status("1", "x"));
    const [ms, nth] = (await stream.inspect()).newest.split("-");
    const cursor = `${ms}-${Number(nth) + 1}`;
    await backend.store.multi([
      ["XADD", "stream:{public}:log", cursor, "k", "s1", "e", event],
      ["HSET", "stream:{public}:meta", "top", cursor],
    ]);
    expect((await next(listening, 1)).map(brief)).toEqual(["status 1"]);
    listening.close();
  });

  test("a listener that stands still is cut off with a reason, and comes back where it was", async () => {
    const stream = streamOf({ readTimeoutMs: 30 });
    const slow = await stream.events({ all: true }, { maxWaiting: 5 });
    const quick = await stream.events({ all: true });
    const ids = Array.from({ length: 50 }, (_, nth) => `n${nth}`);
    await publishAll(stream, ids);
    expect(await next(quick, 50)).toHaveLength(50);
    await vi.waitFor(async () => expect((await stream.inspect()).listeners).toBe(1), { timeout: 20_000 });
    const got: StreamMessage[] = [];
    for await (const message of slow) got.push(message);
    const end = got.pop()!;
    expect(end).toMatchObject({ kind: "end", reason: "slow", message: expect.stringContaining("read nothing") });
    const again = await stream.events({ all: true }, { from: end.cursor });
    await stream.publish(status("last", "x"));
    expect([...got.map(brief), ...(await untilLast(again))]).toEqual(ids.map((id) => `status ${id}`));
    quick.close();
  });

  test("a listener that falls too far behind is cut off with a reason", async () => {
    const stream = streamOf({ recentEvents: 20 });
    const slow = await stream.events({ all: true }, { maxWaiting: 2 });
    const quick = await stream.events({ all: true });
    const publishing = publishAll(
      stream,
      Array.from({ length: 60 }, (_, nth) => `n${nth}`),
    );
    await next(quick, 60);
    await publishing;
    const got: StreamMessage[] = [];
    for await (const message of slow) got.push(message);
    expect(got.at(-1)).toMatchObject({
      kind: "end",
      reason: "slow",
      message: expect.stringContaining("too far behind"),
    });
    quick.close();
  });

  test("a burst larger than a listener's list costs it nothing", async () => {
    const stream = streamOf();
    const listening = await stream.events({ all: true }, { maxWaiting: 3 });
    const ids = Array.from({ length: 100 }, (_, nth) => `n${nth}`);
    await publishAll(stream, [...ids, "last"]);
    expect(await untilLast(listening)).toEqual(ids.map((id) => `status ${id}`));
  });

  test("closing tells listeners, and the reader goes with the last of them", async () => {
    const store = await backend.open();
    const stream = new StatusStream(store, "public");
    const one = await stream.events({ all: true });
    const two = await stream.events({ all: true });
    two.close();
    expect(await next(two, 1)).toEqual([]);
    await stream.close();
    const [end, ...rest] = await next(one, 2);
    expect(end).toMatchObject({ kind: "end", reason: "closing" });
    expect(rest).toEqual([]);
    await expect(stream.events({ all: true })).rejects.toThrow("closed");
    await store.close();
  });

  test("a signal ends a listener", async () => {
    const ending = new AbortController();
    const listening = await streamOf().events({ all: true }, { signal: ending.signal });
    const over = next(listening, 1);
    ending.abort();
    expect(await over).toEqual([]);
    await expect(streamOf().events({ all: true }, { signal: ending.signal })).rejects.toThrow("abort");
  });

  test("what cannot be is refused before anything is written", async () => {
    const stream = streamOf();
    const wrong: [Record<string, unknown>, string][] = [
      [{ id: "" }, "id must be"],
      [{ kind: "other" }, "kind must be"],
      [{ text: 5 }, "text must be"],
      [{ text: "x".repeat(20_000) }, "text must not be longer"],
      [{ atMs: 1.5 }, "atMs must be"],
      [{ place: { longitude: 181, latitude: 0 } }, "longitude must be"],
      [{ place: { longitude: 0, latitude: Number.NaN } }, "latitude must be"],
    ];
    for (const [change, message] of wrong) {
      const event = { ...status("1", "x"), ...change } as StatusEvent;
      await expect(stream.publish(event)).rejects.toThrow(message);
    }
    const filters: [StreamFilter, string][] = [
      [{}, "needs track"],
      [{ track: ["!!"] }, "has no words"],
      [{ track: Array.from({ length: 401 }, (_, nth) => `w${nth}`) }, "from 0 to 400"],
      [{ track: ["x".repeat(129)] }, "not be longer than 128"],
      [{ sample: 0 }, "sample must be"],
      [{ sample: 101 }, "sample must be"],
      [{ locations: [{ west: 0, south: 10, east: 1, north: 5 }] }, "north of its north"],
      [{ locations: [{ west: 0, south: 0, east: 200, north: 5 }] }, "-180 to 180"],
      [{ follow: ["@"] }, "login"],
    ];
    for (const [filter, message] of filters) {
      await expect(stream.events(filter)).rejects.toThrow(message);
      await expect(stream.events(filter)).rejects.toBeInstanceOf(InputError);
    }
    await expect(stream.events({ all: true }, { from: "yesterday" })).rejects.toThrow("no cursor");
    expect(await backend.store.call("EXISTS", "stream:{public}:log")).toBe(0);
    await stream.publish(status("empty", ""));
  });

  test("what an event has besides is not passed on", async () => {
    const stream = streamOf();
    const listening = await stream.events({ all: true });
    await stream.publish({ ...status("1", "x"), password: "secret" } as StatusEvent);
    const [message] = await next(listening, 1);
    expect(Object.keys(message!).sort()).toEqual(["atMs", "cursor", "id", "kind", "login", "text", "userId"]);
    listening.close();
  });
});
