import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { InputError } from "../../base/errors.ts";
import { Files, type FilesOptions } from "./index.ts";
import { channelKeys } from "./keys.ts";
import { bytesOf, linesOf, opened, SMALL, TAKEN, textsOf } from "./testing/reading.ts";

describeBackends("files", { audit: "tags" }, (backend) => {
  const channel = (options: FilesOptions = {}, store = backend.store) => new Files(store, "logs", options);
  const keys = channelKeys("files", "logs");

  test("a file is read by every reader, line by line and block by block, and is gone then", async () => {
    const logs = channel({ blockBytes: 16 });
    const [ann, ben] = [await logs.join("ann"), await logs.join("ben")];
    const text = "first line\nsecond, longer than a block of the store\r\n\nlast without end";
    expect(await logs.send("a.log", Buffer.from(text), { info: { day: 15 } })).toEqual({ status: "sent", bytes: 70 });
    const file = await opened(ann, "a.log");
    expect([file.name, file.encoding, file.info, file.position]).toEqual(["a.log", "plain", { day: 15 }, 0]);
    expect(await linesOf(file)).toEqual([
      { text: "first line", number: 1, offset: 0, cut: false },
      { text: "second, longer than a block of the store", number: 2, offset: 11, cut: false },
      { text: "", number: 3, offset: 53, cut: false },
      { text: "last without end", number: 4, offset: 54, cut: false },
    ]);
    expect([file.done, file.position, file.lineCount]).toEqual([true, 70, 4]);
    expect(await ann.open("a.log")).toBe(null);
    expect((await logs.list()).items.map(({ name, readers }) => [name, readers])).toEqual([
      ["a.log", { ann: 5, ben: 0 }],
    ]);
    expect((await bytesOf(await opened(ben, "a.log"))).toString()).toBe(text);
    expect((await logs.list()).items).toEqual([]);
    expect(await logs.inspect()).toMatchObject({ bytes: 0, files: 0 });
    // Sent again by mistake, it is not read again; removed, it may be.
    expect(await logs.send("a.log", Buffer.from(text))).toEqual({ status: "exists", bytes: 0 });
    expect(await logs.delete("a.log")).toBe(true);
    expect((await logs.send("a.log", Buffer.from(text))).status).toBe("sent");
  });

  test("lines and characters cross blocks, and lines that are too long are cut", async () => {
    const logs = channel({ blockBytes: 16 });
    const reader = await logs.join("ann");
    const text = `\ufeffJürgen 日本語 ${"ü".repeat(20)}\nплюс\r\n${"x".repeat(100)}\r\n\r\nend\r\n`;
    const bytes = Buffer.from(text);
    await logs.send("utf8", Readable.from([bytes.subarray(0, 9), bytes.subarray(9, 40), bytes.subarray(40)]));
    const lines = await linesOf(await opened(reader, "utf8"), { maxLineBytes: 61 });
    expect(lines.map(({ text }) => text)).toEqual([
      `Jürgen 日本語 ${"ü".repeat(20)}`,
      "плюс",
      "x".repeat(61),
      "",
      "end",
    ]);
    expect(lines.map(({ cut }) => cut)).toEqual([false, false, true, false, false]);
    await logs.send("cut", "/dev/null");
    expect(await textsOf(await opened(reader, "cut"))).toEqual([]);
    await logs.send("through a character", Readable.from([Buffer.from("aüüüü\nb")]));
    expect(await textsOf(await opened(reader, "through a character"), { maxLineBytes: 4 })).toEqual(["aü", "b"]);
  });

  test("a sender waits for room, which readers make, and several files share the budget", async () => {
    const logs = channel(SMALL);
    const reader = await logs.join("ann");
    const parts = ["0123456789abcde\n", "and so on, more\n"];
    const first = logs.send("one", Buffer.from(parts[0]!.repeat(20)));
    await vi.waitFor(async () => expect((await logs.inspect()).bytes).toBe(5 * TAKEN), 20_000);
    const second = logs.send("two", Buffer.from(parts[1]!.repeat(20)));
    await vi.waitFor(async () => expect((await logs.inspect()).files).toBe(2), 20_000);
    const read: string[] = [];
    for await (const file of reader.files({ follow: true })) {
      for await (const { text } of file.lines()) {
        read.push(text);
        expect((await logs.inspect()).bytes).toBeLessThanOrEqual(SMALL.budgetBytes);
      }
      if (file.name === "two") break;
    }
    expect(await Promise.all([first, second])).toEqual(Array(2).fill({ status: "sent", bytes: 320 }));
    expect(read).toEqual(parts.flatMap((part) => Array(20).fill(part.trimEnd())));
    expect((await logs.inspect()).bytes).toBe(0);
  });

  test("the oldest file has room kept for it, so that a reader that waits for its end gets there", async () => {
    const logs = channel(SMALL);
    const reader = await logs.join("ann");
    const old = (await logs.write("old"))!;
    const young = logs.send("young", Buffer.alloc(400, "young\n"));
    await vi.waitFor(async () => expect((await logs.inspect()).bytes).toBe(2 * TAKEN), 20_000);
    const read = textsOf(await opened(reader, "old"));
    for (let nth = 0; nth < 10; nth++) await old.append(`old line ${nth}\n`.padStart(40, "."));
    await old.close();
    expect((await read).length).toBe(10);
    const rest = await bytesOf(await opened(reader, "young"));
    expect([rest.length, (await young).bytes]).toEqual([400, 400]);
  });

  test("a line longer than the budget gets through, whole or cut, also to a reader that begins again in it", async () => {
    const logs = channel(SMALL);
    await logs.invite("ann");
    const long = Array.from({ length: 25 }, (_, at) => `word ${at} `).join("");
    const text = `short\n${long}\n${long}${long}\nend\n`;
    for (const [name, maxLineBytes] of [
      ["whole", 10_000],
      ["cut", 50],
    ] as const) {
      const writer = (await logs.write(name))!;
      const read: string[] = [];
      const readOn = async (): Promise<void> => {
        const reader = await logs.join("ann");
        for await (const line of (await opened(reader, name)).lines({ maxLineBytes, idleMs: 1 })) read.push(line.text);
      };
      // Another reader for each piece: all but the beginning of the line that it has, it cannot have from the blocks.
      for (let at = 0; at < text.length; at += 60) {
        await writer.append(text.slice(at, at + 60));
        await writer.flush();
        await expect(readOn()).rejects.toMatchObject({ code: "IDLE" });
        expect((await logs.inspect()).bytes).toBe(0);
      }
      await writer.close();
      await readOn();
      expect(read).toEqual(["short", long, long + long, "end"].map((line) => line.slice(0, maxLineBytes)));
    }
    // All at once, past a reader that has only as much room as there is.
    const sending = logs.send("once", Buffer.from(text));
    const reader = await logs.join("ann");
    expect((await textsOf(await opened(reader, "once"))).length).toBe(4);
    expect((await sending).bytes).toBe(text.length);
  });

  test("thousands of tiny blocks are freed a thousand at a time, and the writer gets its room all the same", async () => {
    const logs = channel({ blockBytes: 16, budgetBytes: 2_500 * TAKEN, pollMs: 50 });
    const reader = await logs.join("ann");
    const data = Buffer.alloc(3_600 * 16, "0123456789abcde\n");
    const sending = logs.send("one", data);
    await vi.waitFor(async () => expect((await logs.inspect()).bytes).toBe(2_500 * TAKEN), 20_000);
    const file = await opened(reader, "one");
    for await (const { number } of file.lines({ autoCommit: false })) {
      if (number % 1_200 !== 0) continue;
      await file.checkpoint();
      const [kept] = (await logs.list()).items.map((each) => each.blocks - each.kept);
      expect(kept).toBe(number - 1);
    }
    expect((await sending).bytes).toBe(data.length);
    expect(await logs.inspect()).toMatchObject({ bytes: 0, files: 0 });
  });

  test("waiting for room can be given up, and what the writer has goes with its next call", async () => {
    const logs = channel(SMALL);
    const reader = await logs.join("ann");
    const writer = (await logs.write("one"))!;
    await writer.append(Buffer.alloc(160, "x"));
    const stop = new AbortController();
    const waiting = writer.flush({ signal: stop.signal });
    await vi.waitFor(async () => expect((await logs.inspect()).bytes).toBe(5 * TAKEN), 20_000);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect(writer.offset).toBe(80);
    const read = bytesOf(await opened(reader, "one"));
    await writer.append("end");
    await writer.close();
    expect((await read).toString()).toBe(`${"x".repeat(160)}end`);
    await expect(writer.append("more")).rejects.toThrow(InputError);
  });

  test("a sender that died is followed by one that goes on where it was", async () => {
    const logs = channel({ blockBytes: 16 });
    const reader = await logs.join("ann");
    const data = Buffer.from(Array.from({ length: 100 }, (_, at) => `line ${at}\n`).join(""));
    const dead = (await logs.write("one"))!;
    await dead.append(data.subarray(0, 333));
    await dead.flush();
    const late = data.subarray(333, 400);
    await expect(logs.send("one", Buffer.concat([Buffer.from("other"), data]))).rejects.toThrow("not the beginning");
    await expect(logs.send("one", data.subarray(0, 100))).rejects.toThrow("not the beginning");
    await expect(logs.send("one", data, { encoding: "gzip" })).rejects.toThrow("begun as plain");
    const sent = await logs.send(
      "one",
      Readable.from([data.subarray(0, 333), data.subarray(333, 334), data.subarray(334)]),
    );
    expect(sent).toEqual({ status: "sent", bytes: data.length - 333 });
    // The first one was only thought to be dead.
    await dead.append(late);
    await expect(dead.flush()).rejects.toMatchObject({ code: "TAKEN" });
    expect((await bytesOf(await opened(reader, "one"))).equals(data)).toBe(true);
  });

  test("files are followed as they are announced and as they grow", async () => {
    const logs = channel({ blockBytes: 16 });
    const reader = await logs.join("ann");
    const stop = new AbortController();
    const read: string[] = [];
    const following = (async () => {
      for await (const file of reader.files({ follow: true, signal: stop.signal })) {
        for await (const { text } of file.lines()) read.push(`${file.name}: ${text}`);
      }
    })();
    following.catch(() => {});
    const writer = (await logs.write("one"))!;
    expect((await logs.list()).items.map(({ name, state, size }) => [name, state, size])).toEqual([["one", "open", 0]]);
    for (const text of ["a\n", "b\nc", "d\n"]) {
      await writer.append(text);
      await writer.flush();
    }
    await vi.waitFor(() => expect(read).toEqual(["one: a", "one: b", "one: cd"]), 20_000);
    await logs.send("two", Buffer.from("e\n"));
    await writer.close();
    await vi.waitFor(() => expect(read.at(-1)).toBe("two: e"), 20_000);
    stop.abort(new Error("the end"));
    await expect(following).rejects.toThrow("the end");
  });

  test("a gzip file is unpacked as it streams, larger than the budget, and goes on after a crash in the middle", async () => {
    const lines = Array.from({ length: 3_000 }, (_, at) => `${at} ${(at * 7_919) % 1_000} ü`);
    const packed = gzipSync(`${lines.join("\n")}\n`);
    const logs = channel({ blockBytes: 1_024, budgetBytes: 4_500, commitBytes: 1, pollMs: 50 });
    expect(packed.length).toBeGreaterThan(2 * 4_500);
    await logs.invite("ann");
    const sending = logs.send("a.gz", packed);
    const read: string[] = [];
    let joins = 0;
    for (let isDone = false; !isDone; joins++) {
      const reader = await logs.join("ann");
      const file = await opened(reader, "a.gz");
      expect(file.position).toBe(Buffer.byteLength(read.map((line) => `${line}\n`).join("")));
      let seen = 0;
      for await (const { text } of file.lines({ autoCommit: false })) {
        read.push(text);
        file.count("sum", "all");
        if (++seen % 100 === 0) await file.checkpoint();
        if (seen === 700) break;
      }
      isDone = file.done;
    }
    expect(joins).toBe(5);
    expect(read).toEqual(lines);
    expect(await sending).toEqual({ status: "sent", bytes: packed.length });
    expect(await logs.totals("sum")).toEqual(new Map([["all", 3_000]]));
  });

  test("a gzip file that is cut off or broken is an error, and what was sound before is read", async () => {
    const logs = channel({ blockBytes: 64 });
    const reader = await logs.join("ann");
    const packed = gzipSync(Array.from({ length: 500 }, (_, at) => `line ${(at * 7_919) % 1_000}\n`).join(""));
    await logs.send("cut.gz", packed.subarray(0, -20));
    const broken = Buffer.from(packed);
    broken[packed.length - 6]! ^= 1;
    await logs.send("broken.gz", broken);
    await logs.send("text.gz", Buffer.from("this is no gzip"));
    const read = async (name: string): Promise<number> => {
      let count = 0;
      await expect(async () => {
        for await (const _ of (await opened(reader, name)).lines()) count++;
      }).rejects.toMatchObject({ code: "CORRUPT", message: expect.stringMatching(/cut off|checksum|no gzip/) });
      return count;
    };
    expect(await read("cut.gz")).toBeGreaterThan(400);
    expect(await read("broken.gz")).toBe(500);
    expect(await read("text.gz")).toBe(0);
    await (await opened(reader, "cut.gz")).skip();
    expect((await logs.list()).items.map(({ name }) => name)).toEqual(["broken.gz", "text.gz"]);
  });

  test("a block that is not what was sent is never handed out", async () => {
    const logs = channel({ blockBytes: 16 });
    const reader = await logs.join("ann");
    await logs.send("one", Buffer.alloc(40, "x"));
    await backend.store.call("HSET", keys.blocks(1), 1, "0123456789");
    await expect(bytesOf(await opened(reader, "one"))).rejects.toMatchObject({ code: "CORRUPT" });
  });

  test("there are bounds on files and readers, and announcements wait for others to end", async () => {
    const logs = channel({ blockBytes: 16, maxFiles: 1, maxReaders: 1, pollMs: 50 });
    const reader = await logs.join("ann");
    await expect(logs.join("ben")).rejects.toMatchObject({ code: "FULL" });
    await logs.send("one", Buffer.from("a\n"));
    const second = logs.send("two", Buffer.from("b\n"));
    await expect(logs.write("three", { signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow("no");
    expect(await textsOf(await opened(reader, "one"))).toEqual(["a"]);
    expect((await second).bytes).toBe(2);
    expect((await logs.list()).items.map(({ name, number }) => [name, number])).toEqual([["two", 2]]);
  });

  test("a folder's file is sent by its path", async () => {
    const folder = mkdtempSync(join(tmpdir(), "cinnabar-files-"));
    try {
      writeFileSync(join(folder, "a.log"), "one\ntwo\n");
      const logs = channel();
      const reader = await logs.join("ann");
      await logs.send("a.log", join(folder, "a.log"));
      const file = await opened(reader, "a.log");
      const batches: string[][] = [];
      for await (const lines of file.lineBatches()) batches.push(lines.map(({ text }) => text));
      expect(batches).toEqual([["one", "two"]]);
      await expect(logs.send("b.log", join(folder, "absent"))).rejects.toMatchObject({ code: "ENOENT" });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("what cannot be right is refused before anything is written", async () => {
    expect(() => channel({ blockBytes: 1_000, budgetBytes: 4_271 })).toThrow(InputError);
    expect(() => channel({ blockBytes: 1 })).toThrow(InputError);
    const logs = channel();
    await expect(logs.write("")).rejects.toThrow(InputError);
    await expect(logs.write("a", { encoding: "zip" as "gzip" })).rejects.toThrow(InputError);
    await expect(logs.write("a", { info: "x".repeat(5_000) })).rejects.toThrow(InputError);
    await expect(logs.join("a", { leaseMs: 0 })).rejects.toThrow(InputError);
    const reader = await logs.join("ann");
    await logs.send("a", Buffer.from("x\n"));
    const file = await opened(reader, "a");
    expect(() => file.count("t", "f", 0.5)).toThrow(InputError);
    const one = file.lines();
    await one.next();
    await expect(file.lines().next()).rejects.toThrow("being read already");
  });
});
