/** A store for looking: components leave no trace through it, and it ends with the store that it was made of. */
import { expect, test } from "vitest";
import { Chats } from "../components/chats/index.ts";
import { PackedTable, uint8, words } from "../components/packed-table/index.ts";
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

test("a packed table is opened through it as it is: none is made, no column and no word is added", async () => {
  const store = await open();
  const observer = store.observing();
  const schema = { country: words(["ITA", "USA"]), age: uint8() };
  await expect(PackedTable.open(observer, "users", schema)).rejects.toThrow('there is no table "users"');
  expect(await store.call("DBSIZE")).toBe(0);
  await (await PackedTable.open(store, "users", { country: words() })).set(1, { country: "ITA" });
  const stored = await store.call("GET", "packed:{users}:schema");
  const wider = PackedTable.open(observer, "users", schema, { addColumns: true });
  await expect(wider).rejects.toThrow('the table "users" has other columns');
  const seen = await PackedTable.open(observer, "users", { country: words(["FRA"]) });
  expect(await seen.get(1)).toEqual({ country: "ITA" });
  expect(await store.call("GET", "packed:{users}:schema")).toBe(stored);
  expect(await store.call("HKEYS", "packed:{users}:words:country")).toEqual(["ITA"]);
  await store.close();
});
