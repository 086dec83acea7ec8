/** MONITOR: what is shown, and in which order. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestClient } from "../../tests/kit/test-client.ts";
import { ManualClock } from "../core/clock.ts";
import { Engine } from "../core/engine.ts";
import { OK, PONG, Status } from "../core/reply.ts";

let engine: Engine;
let monitor: TestClient;
let client: TestClient;

beforeEach(() => {
  engine = new Engine({ clock: new ManualClock(1_700_000_000_123) });
  monitor = new TestClient(engine);
  client = new TestClient(engine);
  monitor.run("MONITOR").taken();
});

afterEach(() => engine.stop());

const line = (db: number, who: TestClient, words: string) =>
  new Status(`1700000000.123000 [${db} ${who.address}] ${words}`);

test("shows commands as they came, with the database that they leave", () => {
  client.run("set k v").run("SELECT 3");
  expect(monitor.taken()).toEqual([line(0, client, '"set" "k" "v"'), line(3, client, '"SELECT" "3"')]);
});

test("shows a transaction when it runs, EXEC last", () => {
  client.run("MULTI").run("SET k v").run("EXEC");
  expect(monitor.taken()).toEqual([
    line(0, client, '"MULTI"'),
    line(0, client, '"SET" "k" "v"'),
    line(0, client, '"EXEC"'),
  ]);
});

test("hides passwords, and shows neither administration nor what was refused", () => {
  client.run("AUTH secret").run("HELLO 2 AUTH default secret").run("CLIENT LIST").run("GET").run("NOSUCH");
  expect(monitor.taken()).toEqual([
    line(0, client, '"AUTH" "(redacted)"'),
    line(0, client, '"HELLO" "2" "AUTH" "(redacted)" "(redacted)"'),
  ]);
});

test("shows its own commands behind their replies", () => {
  expect(monitor.call("PING")).toEqual([PONG, line(0, monitor, '"PING"')]);
});

test("ends with RESET", () => {
  expect(monitor.call("RESET")).toEqual([new Status("RESET")]);
  client.run("SET k v").taken();
  expect(monitor.taken()).toEqual([]);
  expect(monitor.call("SET k v")).toEqual([OK]);
  expect(engine.monitor.active).toBe(false);
});
