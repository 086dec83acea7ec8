/** The slow log's cuts. */
import { expect, test } from "vitest";
import { TestClient } from "../../tests/kit/test-client.ts";
import { ManualClock } from "../core/clock.ts";
import { Engine } from "../core/engine.ts";
import { infoText } from "./info.ts";

test("long commands and long words are kept in part, the newest first, and secrets not at all", () => {
  const engine = new Engine({
    clock: new ManualClock(),
    config: { "slowlog-log-slower-than": "0", "slowlog-max-len": "3" },
  });
  const client = engine.addClient({
    send() {},
    push() {},
    close() {},
    outputBytes: 0,
    inputBytes: 0,
    address: "1.2.3.4:5",
    localAddress: "",
    fd: -1,
  });
  client.name = "tester";
  engine.execute(client, ["SET", "k", "x".repeat(130)]);
  engine.execute(client, ["RPUSH", "l", ...Array.from({ length: 40 }, String)]);
  engine.execute(client, ["CONFIG", "SET", "maxmemory", "0", "requirepass", "secret"]);
  const [third, second, first] = engine.slowLog.entries;
  expect(first).toMatchObject({ id: 0, at: 1_700_000_000, microseconds: 0, address: "1.2.3.4:5", name: "tester" });
  expect(first!.argv[2]).toBe(`${"x".repeat(128)}... (2 more bytes)`);
  expect(second!.argv).toHaveLength(32);
  expect(second!.argv[31]).toBe("... (11 more arguments)");
  expect(third!.argv).toEqual(["CONFIG", "SET", "maxmemory", "0", "requirepass", "(redacted)"]);
  engine.execute(client, ["PING"]);
  expect(engine.slowLog.entries.map(({ id }) => id)).toEqual([3, 2, 1]);
  engine.stop();
});

test("a call that waited is logged when it is answered, as it was sent and with its wait", () => {
  const clock = new ManualClock();
  const engine = new Engine({ clock, config: { "slowlog-log-slower-than": "0" } });
  const waiting = new TestClient(engine);
  const other = new TestClient(engine);
  waiting.run("BLPOP l 0");
  expect(engine.slowLog.entries).toEqual([]);
  clock.advance(1500);
  other.run("LPUSH l a");
  expect(waiting.taken()).toEqual([["l", "a"]]);
  expect(engine.slowLog.entries).toMatchObject([
    { argv: ["BLPOP", "l", "0"], microseconds: 1_500_000 },
    { argv: ["LPUSH", "l", "a"], microseconds: 0 },
  ]);
  expect(infoText(engine, ["commandstats"])).toMatch(/cmdstat_blpop:calls=1,usec=1500000,/);
  waiting.run("BLPOP l 1");
  clock.advance(1000);
  engine.blocking.expire();
  expect(waiting.taken()).toHaveLength(1);
  expect(engine.slowLog.entries).toHaveLength(2);
  engine.stop();
});

test("an error that ends a wait counts as one of the command", () => {
  const engine = new Engine({ clock: new ManualClock() });
  const waiting = new TestClient(engine);
  waiting.run("BLPOP l 0");
  new TestClient(engine).run(`CLIENT UNBLOCK ${waiting.client.id} ERROR`);
  expect(infoText(engine, ["commandstats"])).toMatch(/cmdstat_blpop:calls=1,.*rejected_calls=0,failed_calls=1/);
  expect(infoText(engine, ["errorstats"])).toContain("errorstat_UNBLOCKED:count=1");
  engine.stop();
});
