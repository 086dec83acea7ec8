/** Messages: to whom, in which order, and what is left when a subscriber leaves. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestClient } from "../../tests/kit/test-client.ts";
import { encode } from "../resp/encode.ts";
import { Output } from "../resp/output.ts";
import { Engine } from "./engine.ts";
import { Push } from "./reply.ts";

let engine: Engine;
let one: TestClient;
let two: TestClient;

beforeEach(() => {
  engine = new Engine();
  one = new TestClient(engine);
  two = new TestClient(engine, 3);
});

afterEach(() => engine.stop());

test("a message goes to the channel's subscribers and once for each pattern that matches", () => {
  one.run("SUBSCRIBE news").run("PSUBSCRIBE n* *s").taken();
  two.run("SUBSCRIBE news").taken();
  expect(engine.pubsub.publish("news", "hi")).toBe(4);
  expect(one.taken()).toEqual([
    new Push(["message", "news", "hi"]),
    new Push(["pmessage", "n*", "news", "hi"]),
    new Push(["pmessage", "*s", "news", "hi"]),
  ]);
  expect(two.taken()).toEqual([new Push(["message", "news", "hi"])]);
});

test("a message is one object for all, and is encoded once in each protocol", () => {
  one.run("SUBSCRIBE news").taken();
  two.run("SUBSCRIBE news").taken();
  engine.pubsub.publish("news", "hi");
  const [message] = one.taken() as Push[];
  expect(two.taken()[0]).toBe(message);
  const bytes = (protocol: 2 | 3) => {
    const out = new Output();
    encode(message!, protocol, out);
    return out.takeText();
  };
  expect(bytes(2)).toBe("*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n");
  expect(bytes(3)).toBe(">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n");
  expect(bytes(3)).toBe(message!.resp3);
});

test("shard channels are a space of their own", () => {
  one.run("SSUBSCRIBE c").taken();
  two.run("SUBSCRIBE c").run("PSUBSCRIBE *").taken();
  expect(engine.pubsub.publishShard("c", "m")).toBe(1);
  expect(engine.pubsub.publish("c", "m")).toBe(2);
  expect(one.taken()).toEqual([new Push(["smessage", "c", "m"])]);
});

test("a client that leaves takes its subscriptions with it", () => {
  one.run("SUBSCRIBE a b").run("PSUBSCRIBE p").run("SSUBSCRIBE s");
  one.close(false);
  expect(engine.pubsub.channels.size + engine.pubsub.patternCount + engine.pubsub.shardChannels.size).toBe(0);
  expect(engine.pubsub.publish("a", "m")).toBe(0);
});

test("a subscriber may be cut off while a message goes round", () => {
  const three = new TestClient(engine);
  for (const client of [one, two, three]) client.run("SUBSCRIBE c").taken();
  two.push = () => two.close(false);
  expect(engine.pubsub.publish("c", "m")).toBe(3);
  expect(three.taken()).toEqual([new Push(["message", "c", "m"])]);
  expect(engine.pubsub.publish("c", "m")).toBe(2);
});
