/** A store for looking: components leave no trace through it, and it ends with the store that it was made of. */
import { expect, test } from "vitest";
import { Chats } from "../components/chats/index.ts";
import { Queue } from "../components/queues/index.ts";
import { open } from "./open.ts";

test("what components ask through it notes neither layouts nor names", async () => {
  const store = await open();
  const observer = store.observing();
  expect([store.isObserver, observer.isObserver]).toEqual([false, true]);
  expect(await new Chats(observer).inspect("unused")).toBeNull();
  await new Queue(observer, "unused").counts();
  expect(await store.call("DBSIZE")).toBe(0);
  await new Chats(store).inspect("unused");
  expect(await store.call("EXISTS", "cinnabar:layouts")).toBe(1);
  await store.close();
  expect(observer.closed).toBe(true);
});

test("it refuses keys of a version that it cannot read, as any other store does", async () => {
  const store = await open();
  await store.call("HSET", "cinnabar:layouts", "chats", "99");
  await expect(new Chats(store.observing()).inspect("any")).rejects.toThrow("version 99");
  await store.close();
});
