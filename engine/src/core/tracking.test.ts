/** Client-side caching: which client gets which invalidation, and when. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TestClient } from "../../tests/kit/test-client.ts";
import { LocalClient } from "../embed/local-client.ts";
import { ManualClock } from "./clock.ts";
import { Engine } from "./engine.ts";
import { OK, PONG, Push, type Reply } from "./reply.ts";

let clock: ManualClock;
let engine: Engine;
let reader: TestClient;
let writer: TestClient;

beforeEach(() => {
  clock = new ManualClock();
  engine = new Engine({ clock, config: { "tracking-table-max-keys": "3" } });
  reader = new TestClient(engine, 3);
  writer = new TestClient(engine);
});

afterEach(() => engine.stop());

const invalidate = (...keys: string[]) => new Push(["invalidate", keys]);
const told = (client: TestClient): Reply[] => client.taken();
const settled = () => Promise.resolve();

describe("by default", () => {
  beforeEach(() => reader.run("CLIENT TRACKING on").taken());

  test("a reader hears once of a key that it has read", () => {
    reader.run("MGET a b").taken();
    writer.run("SET a 1").run("SET a 2").run("SET c 1");
    expect(told(reader)).toEqual([invalidate("a")]);
    expect(engine.tracking.keyCount).toBe(1);
  });

  test("its own change is told after the reply", () => {
    reader.run("GET a").taken();
    expect(reader.call("SET a 1")).toEqual([OK, invalidate("a")]);
  });

  test("what a transaction of its own changes is told after EXEC", () => {
    reader.run("GET a").run("MULTI").run("SET a 1").run("GET a").taken();
    expect(reader.call("EXEC")).toEqual([[OK, "1"], invalidate("a")]);
  });

  test("expiry is told, also when the reader itself finds the key gone", () => {
    writer.run("SET a 1 PX 10");
    reader.run("GET a").taken();
    clock.advance(20);
    expect(reader.call("GET a")).toEqual([null, invalidate("a")]);
  });

  test("a full table forgets the oldest key before the next command, and says so", () => {
    reader.run("MGET a b c d").taken();
    expect(reader.call("PING")).toEqual([invalidate("a"), PONG]);
    expect([engine.tracking.keyCount, engine.tracking.itemCount]).toEqual([3, 3]);
  });

  test("emptying the databases is told once, without keys", () => {
    reader.run("GET a").taken();
    for (const db of engine.databases) db.clear();
    engine.tick();
    expect(told(reader)).toEqual([new Push(["invalidate", null])]);
    expect(engine.tracking.keyCount).toBe(0);
  });

  test("nothing is kept for clients that have left", () => {
    reader.run("GET a");
    reader.close(false);
    expect([engine.tracking.active, engine.tracking.keyCount]).toEqual([false, 0]);
    writer.run("SET a 1");
  });
});

describe("options", () => {
  test("OPTIN remembers only after CLIENT CACHING YES, for one command or transaction", () => {
    reader.run("CLIENT TRACKING on OPTIN").run("GET a").run("CLIENT CACHING yes").run("GET b").run("GET c").taken();
    writer.run("MSET a 1 b 1 c 1");
    expect(told(reader)).toEqual([invalidate("b")]);
    reader.run("CLIENT CACHING yes").run("MULTI").run("GET a").run("GET b").run("EXEC").run("GET c").taken();
    writer.run("MSET a 1 b 1 c 1");
    expect(told(reader)).toEqual([invalidate("a"), invalidate("b")]);
  });

  test("OPTOUT remembers except after CLIENT CACHING NO", () => {
    reader.run("CLIENT TRACKING on OPTOUT").run("GET a").run("CLIENT CACHING no").run("GET b").taken();
    writer.run("MSET a 1 b 1");
    expect(told(reader)).toEqual([invalidate("a")]);
  });

  test("NOLOOP leaves out a client's own changes", () => {
    reader.run("CLIENT TRACKING on NOLOOP").run("GET a").taken();
    expect(reader.call("SET a 1")).toEqual([OK]);
  });

  test("REDIRECT tells another client, and says when it is gone", () => {
    const ear = new TestClient(engine);
    reader.run(`CLIENT TRACKING on REDIRECT ${ear.client.id}`).run("MGET a b").taken();
    writer.run("SET a 1");
    expect(told(ear)).toEqual([]);
    ear.run("SUBSCRIBE __redis__:invalidate").taken();
    writer.run("SET b 1");
    expect(told(ear)).toEqual([new Push(["message", "__redis__:invalidate", ["b"]])]);
    reader.run("GET a").taken();
    ear.close(false);
    writer.run("SET a 1");
    expect(told(reader)).toEqual([new Push(["tracking-redir-broken", ear.client.id])]);
    expect(reader.client.tracking?.redirectBroken).toBe(true);
  });
});

describe("BCAST", () => {
  test("tells of all keys of a batch at once, in order, for all clients that have read them", async () => {
    reader.run("CLIENT TRACKING on BCAST").taken();
    writer.run("SET b 1").run("SET a 1").run("SET b 2");
    expect(told(reader)).toEqual([]);
    await settled();
    expect(told(reader)).toEqual([invalidate("a", "b")]);
  });

  test("with prefixes, only of theirs", async () => {
    reader.run("CLIENT TRACKING on BCAST PREFIX user: PREFIX item:").taken();
    writer.run("MSET user:1 x item:1 x other x");
    await settled();
    expect(told(reader)).toEqual([invalidate("user:1"), invalidate("item:1")]);
  });

  test("with NOLOOP, not of its own, but of keys that expire", async () => {
    reader.run("CLIENT TRACKING on BCAST NOLOOP").run("SET a 1 PX 10").run("SET b 1").taken();
    await settled();
    expect(told(reader)).toEqual([]);
    clock.advance(20);
    reader.run("GET a").taken();
    await settled();
    expect(told(reader)).toEqual([invalidate("a")]);
  });

  test("a client that turns it off before the batch ends hears nothing", async () => {
    reader.run("CLIENT TRACKING on BCAST").taken();
    writer.run("SET a 1");
    reader.run("CLIENT TRACKING off").taken();
    await settled();
    expect(told(reader)).toEqual([]);
  });
});

test("a client inside the process gets the reply from the call and the message from its listener", async () => {
  const local = new LocalClient(engine, { protocol: 3 }, () => {});
  const messages: unknown[] = [];
  local.onPush((message) => messages.push(message));
  await local.call("CLIENT", "TRACKING", "on");
  await local.call("GET", "a");
  expect(await local.call("SET", "a", "1")).toBe("OK");
  await settled();
  expect(messages).toEqual([["invalidate", ["a"]]]);
});
