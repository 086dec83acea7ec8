/** The slow log's cuts. */
import { expect, test } from "vitest";
import { ManualClock } from "./clock.ts";
import { Engine } from "./engine.ts";

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
