/** A channel tells when its subscription begins, is lost and is there again. */
import { beforeEach, describe, expect, test } from "vitest";
import { Channel } from "./channel.ts";
import { FakeStore } from "./testing/fake-store.ts";

let store: FakeStore;
beforeEach(() => {
  store = new FakeStore();
});

describe("a channel", () => {
  let heard: string[];
  const open = (): Channel =>
    new Channel(store, "news", {
      message: (message) => heard.push(message.toString()),
      begun: () => heard.push("(begun)"),
      resumed: () => heard.push("(resumed)"),
    });
  beforeEach(() => {
    heard = [];
  });

  test("is one subscription for all who open it, and tells when it begins and when it was interrupted", async () => {
    const channel = open();
    const opened = Promise.all([channel.open(), channel.open()]);
    expect(channel.isOpen).toBe(false);
    await store.asked[0]!.confirm();
    await opened;
    await channel.open();
    store.asked[0]!.say("a");
    store.asked[0]!.resumed!();
    expect(channel.isOpen).toBe(true);
    expect(store.asked.map((asked) => asked.channel)).toEqual(["news"]);
    expect(heard).toEqual(["(begun)", "a", "(resumed)"]);
  });

  test("rejects when the store cannot be reached, and is asked for anew by the next call", async () => {
    const channel = open();
    const opened = channel.open();
    void store.asked[0]!.refuse();
    await expect(opened).rejects.toThrow("lost");
    const again = channel.open();
    await store.asked[1]!.confirm();
    await again;
    expect(heard).toEqual(["(begun)"]);
  });

  test("hears nothing after it is closed, and can be opened again", async () => {
    const channel = open();
    void channel.open();
    await store.asked[0]!.confirm();
    await channel.close();
    store.asked[0]!.say("late");
    store.asked[0]!.resumed!();
    expect(store.asked[0]!.isClosed).toBe(true);
    expect(channel.isOpen).toBe(false);
    void channel.open();
    await store.asked[1]!.confirm();
    store.asked[1]!.say("b");
    expect(heard).toEqual(["(begun)", "(begun)", "b"]);
  });

  test("closed while its subscription is on its way, does not wait for it and ends it when it comes", async () => {
    const channel = open();
    void channel.open();
    await channel.close();
    expect(store.asked[0]!.isClosed).toBe(false);
    store.asked[0]!.say("early");
    await store.asked[0]!.confirm();
    expect(store.asked[0]!.isClosed).toBe(true);
    expect(channel.isOpen).toBe(false);
    expect(heard).toEqual([]);
  });

  test("opened eventually, tries again until it succeeds, then no more", async () => {
    const channel = open();
    channel.openEventually(1_000);
    await store.asked[0]!.refuse();
    await store.clock.advance(999);
    expect(store.asked).toHaveLength(1);
    await store.clock.advance(1);
    await store.asked[1]!.confirm();
    await store.clock.advance(10_000);
    expect(store.asked).toHaveLength(2);
    expect(heard).toEqual(["(begun)"]);
  });

  test("opened eventually, gives up when it is closed, and with the store", async () => {
    const channel = open();
    channel.openEventually(1_000);
    await channel.close();
    await store.asked[0]!.refuse();
    await store.clock.advance(5_000);
    expect(store.asked).toHaveLength(1);
    channel.openEventually(1_000);
    await store.asked[1]!.refuse();
    await channel.close();
    await store.clock.advance(5_000);
    expect(store.asked).toHaveLength(2);
    channel.openEventually(1_000);
    store.closed = true;
    await store.asked[2]!.refuse();
    await store.clock.advance(5_000);
    expect(store.asked).toHaveLength(3);
  });
});
