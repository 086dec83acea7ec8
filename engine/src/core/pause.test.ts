/** CLIENT PAUSE: what waits, and in which order it goes on. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestClient } from "../../tests/kit/test-client.ts";
import { ManualClock } from "./clock.ts";
import { Engine } from "./engine.ts";
import { OK, PONG } from "./reply.ts";

let clock: ManualClock;
let engine: Engine;
let one: TestClient;
let two: TestClient;

beforeEach(() => {
  clock = new ManualClock();
  engine = new Engine({ clock });
  one = new TestClient(engine);
  two = new TestClient(engine);
});

afterEach(() => engine.stop());

const settled = () => Promise.resolve();

test("a pause of writes lets reads through, and writes go on in their order", async () => {
  one.run("CLIENT PAUSE 1000 WRITE").taken();
  expect(one.call("GET k")).toEqual([null]);
  expect(two.call("APPEND k 1")).toEqual([]);
  expect(one.call("APPEND k 2")).toEqual([]);
  expect(engine.pause.size).toBe(2);
  clock.advance(999);
  engine.tick();
  await settled();
  expect(two.taken()).toEqual([]);
  clock.advance(1);
  engine.tick();
  await settled();
  expect([two.taken(), one.taken()]).toEqual([[1], [2]]);
  expect(one.call("GET k")).toEqual(["12"]);
});

test("a pause of everything holds up everything until its time is over", async () => {
  one.run("CLIENT PAUSE 50").taken();
  expect(two.call("PING")).toEqual([]);
  expect(one.call("CLIENT UNPAUSE")).toEqual([]);
  clock.advance(50);
  engine.tick();
  await settled();
  expect([two.taken(), one.taken()]).toEqual([[PONG], [OK]]);
});

test("a second pause makes the first only longer and stricter", async () => {
  one.run("CLIENT PAUSE 100 WRITE").run("CLIENT PAUSE 10 WRITE").taken();
  clock.advance(50);
  engine.tick();
  expect(one.call("SET k v")).toEqual([]);
  clock.advance(50);
  engine.tick();
  await settled();
  expect(one.taken()).toEqual([OK]);
});

test("CLIENT UNPAUSE lets everybody go on after its own reply", async () => {
  one.run("CLIENT PAUSE 1000 WRITE").taken();
  two.run("SET k v");
  expect(one.call("CLIENT UNPAUSE")).toEqual([OK]);
  expect(two.taken()).toEqual([]);
  await settled();
  expect(two.taken()).toEqual([OK]);
});

test("EXEC waits when its queue writes", async () => {
  two.run("MULTI").run("SET k v").taken();
  one.run("CLIENT PAUSE 1000 WRITE").taken();
  expect(two.call("EXEC")).toEqual([]);
  one.run("CLIENT UNPAUSE");
  await settled();
  expect(two.taken()).toEqual([[OK]]);
});

test("a client that leaves meanwhile is forgotten", async () => {
  one.run("CLIENT PAUSE 1000 WRITE").taken();
  two.run("SET k v");
  two.close(false);
  expect(engine.pause.size).toBe(0);
  one.run("CLIENT UNPAUSE").taken();
  await settled();
  expect(one.call("EXISTS k")).toEqual([0]);
});

test("nothing expires by itself during a pause", () => {
  one.run("SET k v PX 10").run("CLIENT PAUSE 1000 WRITE").taken();
  clock.advance(20);
  engine.tick();
  expect(engine.databases[0]!.size).toBe(1);
});
