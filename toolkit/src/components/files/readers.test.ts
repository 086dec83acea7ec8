import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { Files, type FilesOptions } from "./index.ts";
import { channelKeys } from "./keys.ts";
import { bytesOf, linesOf, opened, SMALL, TAKEN, textsOf } from "./testing/reading.ts";

describeBackends("readers of files", { audit: "tags" }, (backend) => {
  const channel = (options: FilesOptions = {}, store = backend.store) => new Files(store, "logs", options);
  const keys = channelKeys("files", "logs");

  test("a reader that commits by hand and too seldom is told, rather than left to wait for room that it takes", async () => {
    const logs = channel(SMALL);
    const reader = await logs.join("ann");
    const sending = logs.send("one", Buffer.alloc(400, "line\n"));
    const file = await opened(reader, "one");
    await expect(async () => {
      for await (const _ of file.lines({ autoCommit: false }));
    }).rejects.toMatchObject({ code: "UNCOMMITTED" });
    expect(file.position).toBe(0);
    expect((await textsOf(file)).length).toBe(80);
    expect((await sending).bytes).toBe(400);
  });

  test("every step can be done twice, as it is when its answer was lost, and has the effect of once", async () => {
    const { store } = backend;
    const again = new Proxy(store, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property, target);
        if (property !== "run") return typeof value === "function" ? value.bind(target) : value;
        return async (...args: Parameters<typeof store.run>) => {
          await target.run(...args);
          return target.run(...args);
        };
      },
    });
    const logs = channel({ ...SMALL, budgetBytes: 40 * TAKEN }, again);
    const [ann, ben] = [await logs.join("ann"), await logs.join("ben")];
    const text = Array.from({ length: 50 }, (_, at) => `line ${at}\n`).join("");
    await Promise.all([
      logs.send("one", Buffer.from(text)),
      ...[ann, ben].map(async (reader) => {
        for await (const file of reader.files({ follow: true })) {
          for await (const { number } of file.lines()) file.count(reader.name, String(number));
          return;
        }
      }),
    ]);
    const once = new Map(Array.from({ length: 50 }, (_, at) => [String(at + 1), 1]));
    expect([await logs.totals("ann"), await logs.totals("ben")]).toEqual([once, once]);
    expect(await logs.inspect()).toMatchObject({ bytes: 0, files: 0 });
    await logs.delete("one");
    await logs.send("one", Buffer.from(text));
    await ann.leave();
    await ben.leave();
    expect((await logs.list()).items.length).toBe(1);
    await logs.delete("one");
    expect(await logs.inspect()).toMatchObject({ bytes: 0, files: 0, readers: {} });
  });

  test("a reader goes on where its last commit was, and commits what it has counted with it", async () => {
    const logs = channel({ blockBytes: 16 });
    await logs.invite("ann");
    await logs.send("one", Buffer.from(Array.from({ length: 10 }, (_, at) => `line ${at} ü\n`).join("")));
    const first = await logs.join("ann");
    const file = await opened(first, "one");
    for await (const { number } of file.lines({ autoCommit: false })) {
      file.count("lines", number % 2 ? "odd" : "even");
      if (number === 5) await file.checkpoint();
      // Killed here: what was counted since is not committed either.
      if (number === 8) break;
    }
    expect([file.position, file.lineCount]).toEqual([50, 5]);
    const second = await logs.join("ann");
    expect([second.dropped, second.missed]).toEqual([false, []]);
    const again = await opened(second, "one");
    expect(again.position).toBe(50);
    const numbers: number[] = [];
    for await (const { number, offset } of again.lines()) {
      expect(offset).toBe((number - 1) * 10);
      numbers.push(number);
      again.count("lines", number % 2 ? "odd" : "even");
    }
    expect(numbers).toEqual([6, 7, 8, 9, 10]);
    expect(await logs.totals("lines")).toEqual(
      new Map([
        ["odd", 5],
        ["even", 5],
      ]),
    );
    await logs.clearTotals("lines");
    expect((await logs.totals("lines")).size).toBe(0);
  });

  test("a loop that is left and begun again goes on from the last commit, also from one that is under way", async () => {
    const logs = channel({ blockBytes: 16, budgetBytes: 100_000, commitBytes: 1 });
    const reader = await logs.join("ann");
    for (const name of ["plain", "packed.gz"]) {
      const text = Buffer.from(Array.from({ length: 80 }, (_, at) => `line ${at}\n`).join(""));
      await logs.send(name, name.endsWith(".gz") ? gzipSync(text, { level: 0 }) : text);
      const file = await opened(reader, name);
      while (!file.done) {
        let left = 30;
        for await (const { text: line, number } of file.lines()) {
          expect(line).toBe(`line ${number - 1}`);
          file.count(name, String(number));
          if (--left === 0) break;
        }
      }
      expect(await logs.totals(name)).toEqual(new Map(Array.from({ length: 80 }, (_, at) => [String(at + 1), 1])));
    }
  });

  test("two processes under one name: only the later can commit", async () => {
    const logs = channel({ blockBytes: 16 });
    const first = await logs.join("ann");
    await logs.send("one", Buffer.alloc(100, "x\n"));
    const file = await opened(first, "one");
    const lines = file.lines({ autoCommit: false });
    await lines.next();
    const second = await logs.join("ann");
    file.count("total", "x");
    await expect(file.checkpoint()).rejects.toMatchObject({ code: "TAKEN" });
    expect((await textsOf(await opened(second, "one"))).length).toBe(50);
    expect((await logs.totals("total")).size).toBe(0);
    await expect(first.open("one").then(async () => first.files().next())).rejects.toMatchObject({ code: "TAKEN" });
    expect(first.signal.aborted).toBe(true);
  });

  test("a dead reader is waited for until its lease is over, then it does not pin memory and is told so", async () => {
    const logs = channel(SMALL);
    const dead = await logs.join("dead", { leaseMs: 40 });
    dead.close();
    const ann = await logs.join("ann");
    const sending = logs.send("one", Buffer.alloc(800, "0123456789\n"));
    await vi.waitFor(async () => expect((await logs.list()).items.length).toBe(1), 20_000);
    const read = bytesOf(await opened(ann, "one"));
    expect([(await sending).bytes, (await read).length]).toEqual([800, 800]);
    await logs.sweep();
    expect(Object.keys((await logs.inspect()).readers)).toEqual(["ann"]);
    expect((await logs.list()).items).toEqual([]);
    const writer = (await logs.write("two"))!;
    await writer.append(Buffer.alloc(32, "y"));
    await writer.flush();
    const late = (await opened(ann, "two")).blocks();
    await late.next();
    await late.next();
    await writer.append("zz\n");
    await writer.close();
    await late.next();
    await vi.waitFor(async () => expect((await logs.list()).items[0]?.kept).toBe(2), 20_000);
    const back = await logs.join("dead");
    expect([back.dropped, back.missed]).toEqual([true, [{ name: "two", position: 0 }]]);
    expect(await back.open("two")).toBe(null);
    // Once told, it is one like the others.
    expect((await logs.join("dead")).dropped).toBe(false);
  });

  test("a reader that was dropped hears of it when it goes on", async () => {
    const logs = channel({ blockBytes: 16 });
    const [slow, ann] = [await logs.join("slow", { leaseMs: 5_000 }), await logs.join("ann")];
    await logs.send("one", Buffer.alloc(100, "x\n"));
    const file = await opened(slow, "one");
    const lines = file.lines({ autoCommit: false });
    await lines.next();
    slow.close();
    // As if its lease had been over for long.
    await backend.store.call("ZADD", keys.readers, 1, "slow");
    expect(await logs.sweep()).toBe(1);
    expect((await textsOf(await opened(ann, "one"))).length).toBe(50);
    await expect(file.checkpoint()).rejects.toMatchObject({ code: "DROPPED" });
    const back = await logs.join("slow");
    expect([back.dropped, back.missed]).toEqual([true, []]);
  });

  test("a reader that was dropped and has missed nothing goes on as if nothing had been", async () => {
    const logs = channel({ blockBytes: 16 });
    const slow = await logs.join("slow", { leaseMs: 5_000 });
    await logs.send("one", Buffer.alloc(100, "x\n"));
    const file = await opened(slow, "one");
    for await (const { number } of file.lines({ autoCommit: false })) {
      if (number < 20) continue;
      await file.checkpoint();
      break;
    }
    slow.close();
    await backend.store.call("ZADD", keys.readers, 1, "slow");
    await logs.sweep();
    const back = await logs.join("slow");
    expect([back.dropped, back.missed]).toEqual([true, []]);
    const lines = await linesOf(await opened(back, "one"));
    expect([lines[0]!.number, lines.length]).toEqual([21, 30]);
  });

  test("a lease is renewed while its reader lives", async () => {
    const logs = channel({ blockBytes: 16 });
    // Long enough for a machine that stands still for a moment.
    const reader = await logs.join("ann", { leaseMs: 1_500 });
    const until = async () => (await logs.inspect()).readers.ann!;
    const first = await until();
    await vi.waitFor(async () => expect(await until()).toBeGreaterThan(first), 20_000);
    expect(reader.signal.aborted).toBe(false);
    await reader.leave();
    expect((await logs.inspect()).readers).toEqual({});
  });

  test("a reader that leaves needs nothing more", async () => {
    const logs = channel({ blockBytes: 16 });
    const [ann, ben] = [await logs.join("ann"), await logs.join("ben")];
    await logs.send("one", Buffer.alloc(100, "x\n"));
    await textsOf(await opened(ann, "one"));
    expect((await logs.list()).items.length).toBe(1);
    await ben.leave();
    expect((await logs.list()).items).toEqual([]);
    await logs.send("two", Buffer.alloc(100, "x\n"));
    await logs.deleteReader("ann");
    await expect((await logs.join("late")).open("two")).resolves.not.toBe(null);
    await expect(ann.open("two")).rejects.toMatchObject({ code: "DROPPED" });
  });

  test("a reader can be told not to wait for ever, and a file that is removed ends its readers", async () => {
    const logs = channel({ blockBytes: 16 });
    const reader = await logs.join("ann");
    const writer = (await logs.write("one"))!;
    await writer.append("line\n");
    await writer.flush();
    const read: string[] = [];
    const idle = async () => {
      for await (const { text } of (await opened(reader, "one")).lines({ idleMs: 20 })) read.push(text);
    };
    await expect(idle()).rejects.toMatchObject({ code: "IDLE" });
    // What was read before is committed.
    await expect(idle()).rejects.toMatchObject({ code: "IDLE" });
    expect(read).toEqual(["line"]);
    const reading = textsOf(await opened(reader, "one"));
    reading.catch(() => {});
    expect(await logs.delete("one")).toBe(true);
    await expect(reading).rejects.toMatchObject({ code: "GONE" });
    await expect(writer.append("x").then(() => writer.flush())).rejects.toMatchObject({ code: "GONE" });
    expect(await logs.inspect()).toMatchObject({ bytes: 0, files: 0 });
    expect(await logs.delete("one")).toBe(false);
  });
});
