import { Engine, ManualClock } from "@cinnabar/engine";
import { expect, test } from "vitest";
import { describeBackends, withinAnHour } from "../../../tests/kit/index.ts";
import { systemClock } from "../../base/clock.ts";
import { ConnectionError, InputError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import { Logs } from "./index.ts";

const HOUR = 3_600_000;

describeBackends("logs", (backend) => {
  test("the last entries are kept, newest first, by name and severity", async () => {
    const logs = new Logs(backend.store, { keepRecent: 5 });
    for (let nth = 0; nth < 8; nth++) logs.write("web", "info", `entry ${nth}`, { nth });
    logs.write("web", "error", "other");
    await logs.flush();
    const recent = await logs.recent("web", "info");
    expect(recent.map(({ message }) => message)).toEqual([7, 6, 5, 4, 3].map((nth) => `entry ${nth}`));
    expect(recent[0]!.fields).toEqual({ nth: 7 });
    expect(await logs.recent("web", "info", { limit: 1 })).toHaveLength(1);
    expect(await logs.recent("absent", "info")).toEqual([]);
    await expect.poll(async () => (await logs.list()).items.length).toBe(2);
  });

  test("messages that differ in numbers only are counted as one", () =>
    withinAnHour(backend, async () => {
      const logs = new Logs(backend.store);
      for (let nth = 0; nth < 5; nth++) logs.write("web", "info", `user ${nth} came in ${nth * 1.5} s`);
      logs.write("web", "info", "token 0123456789abcdef0123456789abcdef is old");
      await logs.flush();
      const { thisHour, lastHour } = await logs.common("web", "info");
      expect([...thisHour, ...lastHour].sort((a, b) => b.count - a.count)).toEqual([
        { message: "user # came in # s", count: 5 },
        { message: "token # is old", count: 1 },
      ]);
    }));

  test("no entry is lost or doubled when many processes write", async () => {
    const stores = await Promise.all([backend.open(), backend.open()]);
    const all = stores.map(
      (store) => new Logs(store, { keepRecent: 10_000, bufferMs: 1, fingerprint: (message) => message }),
    );
    for (let nth = 0; nth < 1_000; nth++) all[nth % 2]!.write("web", "info", `entry ${nth}`);
    await Promise.all(all.map((logs) => logs.flush()));
    const messages = (await all[0]!.recent("web", "info")).map(({ message }) => message);
    expect(new Set(messages).size).toBe(1_000);
    expect(messages.length).toBe(1_000);
    const { thisHour, lastHour } = await all[0]!.common("web", "info", { limit: 1_000 });
    expect([...thisHour, ...lastHour].reduce((sum, { count }) => sum + count, 0)).toBe(1_000);
  });

  test("different messages are bounded; the rarest go", () =>
    withinAnHour(backend, async () => {
      const logs = new Logs(backend.store, { keepCommon: 10, fingerprint: (message) => message });
      for (let nth = 0; nth < 30; nth++) logs.write("web", "info", `rare ${nth}`);
      for (let nth = 0; nth < 5; nth++) logs.write("web", "info", "often");
      await logs.flush();
      expect(await backend.store.call("ZCARD", "log:{web}:info:common")).toBe(10);
      expect((await logs.common("web", "info", { limit: 1 })).thisHour[0]).toEqual({ message: "often", count: 5 });
    }));

  test("closing the store sends what is left", async () => {
    const store = await backend.open();
    new Logs(store, { bufferMs: 60_000 }).write("web", "info", "goodbye");
    await store.close();
    expect((await new Logs(backend.store).recent("web", "info"))[0]!.message).toBe("goodbye");
  });

  test("is a destination for pino", async () => {
    const { default: pino } = await import("pino");
    const logs = new Logs(backend.store);
    const stream = logs.stream({ name: "fallback" });
    const logger = pino({ level: "debug" }, stream);
    logger.info({ user: 17 }, "hello %s", "you");
    logger.child({ name: "child" }).error(new Error("broken"));
    stream.write("no json at all\n");
    await logs.flush();
    expect((await logs.recent("fallback", "info")).map(({ message }) => message)).toEqual([
      "no json at all",
      "hello you",
    ]);
    expect((await logs.recent("fallback", "info"))[1]!.fields).toEqual({ user: 17 });
    const [failure] = await logs.recent("child", "error");
    expect(failure!.message).toBe("broken");
    expect(failure!.fields).toMatchObject({ err: { type: "Error", message: "broken" } });
  });
});

test("fields that are too long or have no JSON form are left out, and the entry is kept", async () => {
  const store = await open();
  const logs = new Logs(store);
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  logs.write("web", "info", "large", { text: "x".repeat(100_000) });
  logs.write("web", "info", "circular", circular);
  await logs.flush();
  const [second, first] = await logs.recent("web", "info");
  expect([first!.message, first!.fields]).toEqual([
    "large",
    { omitted: expect.stringMatching(/^1000\d\d characters$/) },
  ]);
  expect([second!.message, second!.fields]).toEqual(["circular", { omitted: expect.stringContaining("circular") }]);
  await store.close();
});

test("an hour's counts become the last hour's, and then are gone", async () => {
  const clock = new ManualClock(1_700_000_000_000 - (1_700_000_000_000 % HOUR));
  const engine = await Engine.open({ clock });
  const store = await open(engine);
  const logs = new Logs(store, { fingerprint: (message) => message });
  const write = async (message: string): Promise<void> => {
    logs.write("web", "info", message);
    await logs.flush();
  };
  await write("first");
  clock.advance(HOUR);
  expect(await logs.common("web", "info")).toEqual({ thisHour: [], lastHour: [{ message: "first", count: 1 }] });
  await write("second");
  expect(await logs.common("web", "info")).toEqual({
    thisHour: [{ message: "second", count: 1 }],
    lastHour: [{ message: "first", count: 1 }],
  });
  clock.advance(2 * HOUR);
  await write("third");
  expect(await logs.common("web", "info")).toEqual({ thisHour: [{ message: "third", count: 1 }], lastHour: [] });
  await store.close();
  await engine.close();
});

test("a store that cannot be reached costs entries, never the caller", async () => {
  const dropped: number[] = [];
  const broken = {
    clock: systemClock,
    closed: false,
    on: () => () => {},
    pipeline: () => Promise.reject(new Error("gone")),
    run: () => Promise.reject(new ConnectionError("gone", { maybeExecuted: true })),
  };
  const logs = new Logs(broken as never, {
    maxBuffered: 3,
    bufferMs: 1_000,
    onError: (_, count) => dropped.push(count),
  });
  for (let nth = 0; nth < 5; nth++) logs.write("web", "info", `entry ${nth}`);
  await logs.flush();
  expect(logs.dropped).toBe(5);
  expect(dropped).toEqual([1, 1, 3]);
  expect(() => logs.write("", "info", "x")).toThrow(InputError);
});
