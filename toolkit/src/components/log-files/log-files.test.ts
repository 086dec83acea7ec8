import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { FaultyProxy } from "../../../tests/kit/proxy.ts";
import { InputError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import { type Effects, type Line, LogFileError, LogFiles } from "./index.ts";
import { LineSplitter } from "./lines.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cinnabar-logs-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = (name: string): string => join(folder, name);
const write = (name: string, text: string | Buffer): void => writeFileSync(path(name), text);
const numbered = (from: number, to: number, what = "line"): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `${what} ${from + at}\n`).join("");

describeBackends("log files", (backend) => {
  /** Counts lines by their text. */
  const counting =
    (logs: LogFiles): Effects =>
    (line, batch) =>
      void batch.count(logs.key("seen"), line.text);
  const seen = async (logs: LogFiles): Promise<Record<string, number>> => {
    const flat = (await backend.store.call("HGETALL", logs.key("seen"))) as string[];
    return Object.fromEntries(
      Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at], Number(flat[2 * at + 1])]),
    );
  };
  const once = (from: number, to: number, what = "line") =>
    Object.fromEntries(Array.from({ length: to - from + 1 }, (_, at) => [`${what} ${from + at}`, 1]));

  test("each line is counted once, in batches, and a second run finds nothing new", async () => {
    write("a.log", numbered(1, 25));
    const logs = new LogFiles(backend.store, "l", { batchLines: 10 });
    const report = await logs.process(folder, { effects: counting(logs) });
    expect(report).toMatchObject({ lines: 25, files: [{ file: path("a.log"), status: "done", lines: 25 }] });
    const again = new LogFiles(backend.store, "l");
    expect((await again.process(folder, { effects: counting(again) })).lines).toBe(0);
    expect(await seen(logs)).toEqual(once(1, 25));
    expect((await logs.list()).items).toMatchObject([{ path: path("a.log"), lines: 25, at: expect.any(Date) }]);
  });

  test("a file that grows is read on, and a line without its end waits for it", async () => {
    write("a.log", "line 1\nline");
    const logs = new LogFiles(backend.store, "l");
    expect((await logs.process(folder, { effects: counting(logs) })).lines).toBe(1);
    appendFileSync(path("a.log"), " 2\r\nline 3\n");
    const numbers: number[] = [];
    const report = await logs.process(path("a.log"), {
      effects: (line, batch) => {
        numbers.push(line.number);
        batch.count(logs.key("seen"), line.text);
      },
    });
    expect([report.lines, numbers]).toEqual([2, [2, 3]]);
    expect(await seen(logs)).toEqual(once(1, 3));
  });

  test("a file keeps its progress when it is renamed, copied over and compressed", async () => {
    const logs = new LogFiles(backend.store, "l");
    const run = () => logs.process(folder, { effects: counting(logs) });
    write("access.log", numbered(1, 10));
    await run();
    appendFileSync(path("access.log"), numbered(11, 12));
    renameSync(path("access.log"), path("access.log.1"));
    write("access.log", numbered(1, 5, "new"));
    expect((await run()).lines).toBe(7);
    write("access.log.2.gz", gzipSync(`${numbered(1, 12)}line 13`));
    unlinkSync(path("access.log.1"));
    expect((await run()).lines).toBe(1);
    truncateSync(path("access.log"), 0);
    appendFileSync(path("access.log"), numbered(1, 3, "third"));
    expect((await run()).lines).toBe(3);
    expect(await seen(logs)).toEqual({ ...once(1, 13), ...once(1, 5, "new"), ...once(1, 3, "third") });
  });

  test("a file that only begins like another is reported, not read from the middle", async () => {
    const logs = new LogFiles(backend.store, "l");
    write("a.csv", `time,path\n${numbered(1, 9)}`);
    await logs.process(folder, { effects: counting(logs) });
    write("b.csv", `time,path\n${numbered(1, 20, "other")}`);
    const { files } = await logs.process(folder, { effects: counting(logs) });
    expect(files.map(({ status }) => status).sort()).toEqual(["different", "done"]);
    const byName = new LogFiles(backend.store, "by name", { identify: "name" });
    expect((await byName.process(folder, { effects: counting(byName) })).lines).toBe(31);
  });

  test("by name, a file that is replaced is read from its beginning, and one that is compressed is not", async () => {
    const logs = new LogFiles(backend.store, "l", { identify: "name" });
    const run = () => logs.process(folder, { effects: counting(logs) });
    write("a.log", numbered(1, 10));
    await run();
    // While it is being compressed both are there, and the new one ends in the middle.
    write("a.log.gz", gzipSync(numbered(1, 10)).subarray(0, 20));
    expect((await run()).files.map(({ status }) => status).sort()).toEqual(["done", "incomplete"]);
    write("a.log.gz", gzipSync(numbered(1, 10)));
    expect((await run()).lines).toBe(0);
    unlinkSync(path("a.log.gz"));
    write("a.log", numbered(1, 2, "new"));
    expect((await run()).lines).toBe(2);
    expect(await seen(logs)).toEqual({ ...once(1, 10), ...once(1, 2, "new") });
  });

  test("by inode, a file keeps its progress when it is renamed", async () => {
    const logs = new LogFiles(backend.store, "l", { identify: "inode" });
    write("a.log", numbered(1, 3));
    await logs.process(folder, { effects: counting(logs) });
    renameSync(path("a.log"), path("b.log"));
    appendFileSync(path("b.log"), numbered(4, 4));
    expect((await logs.process(folder, { effects: counting(logs) })).lines).toBe(1);
    expect(await seen(logs)).toEqual(once(1, 4));
  });

  test("an effect that throws commits nothing of its batch, and names the line; other files are read", async () => {
    write("a.log", numbered(1, 25));
    write("b.log", numbered(1, 5, "other"));
    const logs = new LogFiles(backend.store, "l", { batchLines: 10 });
    const failing: Effects = (line, batch) => {
      if (line.text === "line 17") throw new Error("bad");
      batch.count(logs.key("seen"), line.text);
    };
    await expect(logs.process(folder, { effects: failing })).rejects.toMatchObject({
      name: "LogFileError",
      file: path("a.log"),
      line: 17,
      message: expect.stringContaining("bad"),
    });
    expect(await seen(logs)).toEqual({ ...once(1, 10), ...once(1, 5, "other") });
    expect((await logs.process(folder, { effects: counting(logs) })).lines).toBe(15);
    expect(await seen(logs)).toEqual({ ...once(1, 25), ...once(1, 5, "other") });
  });

  test("many that share a folder count each line once, whichever is quicker", async () => {
    for (let file = 0; file < 6; file++) write(`${file}.log`, numbered(1, 60, `f${file}`));
    const workers: LogFiles[] = [];
    for (let count = 0; count < 4; count++) {
      // A lease that is as good as none: they meet at the same files all the time.
      workers.push(new LogFiles(await backend.open(), "l", { batchLines: 7, leaseMs: 10 }));
    }
    const slow: (logs: LogFiles) => Effects = (logs) => async (line, batch) => {
      if (line.number % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      batch.count(logs.key("seen"), line.text).score(logs.key("total"), "all");
    };
    const run = () => Promise.all(workers.map((logs) => logs.process(folder, { effects: slow(logs), concurrency: 3 })));
    const reports = [...(await run()), ...(await run())];
    expect(reports.reduce((sum, { lines }) => sum + lines, 0)).toBe(360);
    expect(Object.values(await seen(workers[0]!))).toEqual(Array(360).fill(1));
    expect(await backend.store.call("ZSCORE", workers[0]!.key("total"), "all")).toBe("360");
  });

  test("commands and scripts can be effects, but only on keys with the set's tag", async () => {
    write("a.log", numbered(1, 3));
    const logs = new LogFiles(backend.store, "l");
    await logs.process(folder, {
      effects: (line, batch) => void batch.add(["RPUSH", logs.key("list"), line.text]).add(["INCR", "mine:{l}:count"]),
    });
    expect(await backend.store.call("LRANGE", logs.key("list"), 0, -1)).toEqual(["line 1", "line 2", "line 3"]);
    expect(await backend.store.call("GET", "mine:{l}:count")).toBe("3");
    write("b.log", numbered(1, 3, "b"));
    const elsewhere: Effects = (_, batch) => void batch.add(["INCR", "elsewhere"]);
    await expect(logs.process(folder, { effects: elsewhere })).rejects.toThrow('"elsewhere" is not under {l}');
  });

  test("an effect that the server refuses is reported with its lines, and the others are done", async () => {
    write("a.log", numbered(1, 3));
    const logs = new LogFiles(backend.store, "l");
    await backend.store.call("SET", logs.key("seen"), "text");
    const both: Effects = (line, batch) =>
      void batch.score(logs.key("all"), "lines").count(logs.key("seen"), line.text);
    await expect(logs.process(folder, { effects: both })).rejects.toThrow(/lines 1 to 3 was refused.*WRONGTYPE/);
    expect(await backend.store.call("ZSCORE", logs.key("all"), "lines")).toBe("3");
    expect((await logs.list()).items).toMatchObject([{ lines: 3 }]);
    write("b.log", numbered(1, 3, "b"));
    const added: Effects = (line, batch) => void batch.add(["HSET", logs.key("seen"), line.text, 1]);
    await expect(logs.process(folder, { effects: added })).rejects.toThrow(/lines 1 to 3 was refused.*WRONGTYPE/);
  });

  test.skipIf(backend.isDisturbed)(
    "a batch of sums takes one round trip, one with commands two, and both do the same",
    async () => {
      const trips: string[] = [];
      const stop = backend.store.on("roundTrip", ({ name }) => {
        trips.push(name);
        return () => trips.push("·");
      });
      const told = () => {
        const all = trips.splice(0).join(" ");
        // Requests that go out together are one trip.
        return all.replaceAll(/ ·( ·)*/g, " ·").replaceAll("log-files.", "");
      };
      write("a.log", numbered(1, 4));
      const logs = new LogFiles(backend.store, "l", { batchLines: 2 });
      await backend.store.call("PING");
      told();
      const sums: Effects = (line, batch) =>
        void batch
          .count(logs.key("seen"), line.text)
          .score(logs.key("all"), "lines", 0.5)
          .score(logs.key("all"), line.text);
      expect((await logs.process(folder, { effects: sums })).lines).toBe(4);
      expect(told()).toContain("add-up · add-up · release");
      expect(await seen(logs)).toEqual(once(1, 4));
      expect(await backend.store.call("ZRANGE", logs.key("all"), 0, 1, "WITHSCORES")).toEqual([
        "line 1",
        "1",
        "line 2",
        "1",
      ]);
      expect(await backend.store.call("ZSCORE", logs.key("all"), "lines")).toBe("2");
      write("b.log", numbered(5, 6));
      const mixed: Effects = (line, batch) => void sums(line, batch.add(["RPUSH", logs.key("list"), line.text]));
      expect((await logs.process(folder, { effects: mixed })).lines).toBe(2);
      stop();
      expect(told()).toMatch(/WATCH HMGET · \S+ · release/);
      expect(await seen(logs)).toEqual(once(1, 6));
      expect(await backend.store.call("LLEN", logs.key("list"))).toBe(2);
    },
  );

  test("what is followed is read as it comes, until it is stopped", async () => {
    write("a.log", numbered(1, 2));
    const logs = new LogFiles(backend.store, "l");
    let told: (line: Line) => void = () => {};
    const third = new Promise<Line>((resolve) => {
      told = (line) => (line.number === 3 ? resolve(line) : undefined);
    });
    const loop = logs.follow(folder, {
      everyMs: 5,
      effects: (line, batch) => {
        batch.count(logs.key("seen"), line.text);
        told(line);
        if (line.number === 2) appendFileSync(path("a.log"), numbered(3, 3));
      },
    });
    loop.start();
    expect((await third).text).toBe("line 3");
    await loop.stop();
    await logs.process(folder, { effects: counting(logs) });
    expect(await seen(logs)).toEqual(once(1, 3));
  });

  test("the process that reads a file keeps others off it", async () => {
    write("a.log", numbered(1, 20));
    const mine = new LogFiles(backend.store, "l", { batchLines: 5 });
    const theirs = new LogFiles(await backend.open(), "l");
    let during: Promise<unknown> | undefined;
    await mine.process(folder, {
      effects: async (line, batch) => {
        if (line.number === 8) during = theirs.process(folder, { effects: counting(theirs) });
        await during;
        batch.count(mine.key("seen"), line.text);
      },
    });
    expect(await during).toMatchObject({ lines: 0, files: [{ status: "taken" }] });
    expect(await seen(mine)).toEqual(once(1, 20));
  });

  test("a signal ends the work after the batch that is under way, and the rest is read later", async () => {
    write("a.log", numbered(1, 30));
    const logs = new LogFiles(backend.store, "l", { batchLines: 10 });
    const ending = new AbortController();
    const effects: Effects = (line, batch) => {
      if (line.number === 15) ending.abort(new Error("enough"));
      batch.count(logs.key("seen"), line.text);
    };
    await expect(logs.process(folder, { effects, signal: ending.signal })).rejects.toThrow("enough");
    expect(await seen(logs)).toEqual(once(1, 20));
    expect((await logs.process(folder, { effects: counting(logs) })).lines).toBe(10);
    expect(await seen(logs)).toEqual(once(1, 30));
  });

  test("a file that is forgotten is read again", async () => {
    write("a.log", numbered(1, 2));
    const logs = new LogFiles(backend.store, "l");
    const { files } = await logs.process(folder, { effects: counting(logs) });
    expect(await logs.delete(files[0]!.id!)).toBe(true);
    expect((await logs.process(folder, { effects: counting(logs) })).lines).toBe(2);
  });

  test("records have a lifetime, renewed when the file is looked at", async () => {
    write("a.log", numbered(1, 2));
    const logs = new LogFiles(backend.store, "l", { keepMs: 50_000 });
    const { files } = await logs.process(folder, { effects: counting(logs) });
    for (const key of [`log-files:{l}:file:${files[0]!.id}`, "log-files:{l}:index"]) {
      expect(await backend.store.call("PTTL", key)).toBeGreaterThan(1_000);
    }
  });
});

describe("lines", () => {
  const read = async (options: ConstructorParameters<typeof LogFiles>[2]): Promise<Line[]> => {
    const lines: Line[] = [];
    const store = await open();
    await new LogFiles(store, "l", { ...options, identify: "name" }).process(folder, {
      effects: (line) => void lines.push(line),
    });
    await store.close();
    return lines;
  };

  test("any encoding: bytes that are none become U+FFFD, and a byte order mark is no text", async () => {
    write("a.log", Buffer.concat([Buffer.from("\ufeffcaffè\n"), Buffer.from([0xff, 0x0a])]));
    expect((await read({})).map(({ text }) => text)).toEqual(["caffè", "\ufffd"]);
    write("a.log", Buffer.from("caffè\nno\n", "latin1"));
    expect((await read({ encoding: "latin1" })).map(({ text }) => text)).toEqual(["caffè", "no"]);
    // U+0A0A and U+0A00 have the byte of a line feed in them.
    const wide = Buffer.from("\ufeffone\u0a0a\u0a00\r\ntwo\n", "utf16le");
    write("a.log", wide);
    const texts = ["one\u0a0a\u0a00", "two"];
    expect((await read({ encoding: "utf-16le" })).map(({ text }) => text)).toEqual(texts);
    write("a.log", Buffer.from(wide).swap16());
    expect((await read({ encoding: "utf-16be" })).map(({ text }) => text)).toEqual(texts);
    const store = await open();
    expect(() => new LogFiles(store, "l", { encoding: "klingon" })).toThrow(InputError);
    await store.close();
  });

  test("a line that is too long is cut, and the next begins where it ends", async () => {
    write("a.log", `${"x".repeat(1_000_000)}\nshort\n${"y".repeat(10)}\n`);
    const lines = await read({ maxLineBytes: 10 });
    expect(lines.map(({ text, cut, offset }) => [text, cut, offset])).toEqual([
      ["xxxxxxxxxx", true, 0],
      ["short", false, 1_000_001],
      ["yyyyyyyyyy", false, 1_000_007],
    ]);
  });

  test("a last line without a line feed is taken when asked to", async () => {
    write("a.log", "one\ntwo");
    expect((await read({ lastLine: "take" })).map(({ text }) => text)).toEqual(["one", "two"]);
  });

  test("lines are the same at whatever places the bytes are divided", () => {
    for (const encoding of ["utf-8", "utf-16le"]) {
      const bytes = Buffer.from("a\n\nbcd\r\nef", encoding === "utf-8" ? "utf8" : "utf16le");
      for (let size = 1; size <= bytes.length; size++) {
        const splitter = new LineSplitter(100, encoding);
        const found: Buffer[] = [];
        let length = 0;
        for (let at = 0; at < bytes.length; at += size) {
          for (const line of splitter.push(bytes.subarray(at, at + size))) {
            found.push(line.bytes);
            length += line.length;
          }
        }
        const rest = splitter.rest()!;
        const texts = [...found, rest.bytes].map((each) => each.toString(encoding === "utf-8" ? "utf8" : "utf16le"));
        expect(texts).toEqual(["a", "", "bcd\r", "ef"]);
        expect(length + rest.length).toBe(bytes.length);
      }
    }
  });

  test("a broken gzip file is an error that names it", async () => {
    const packed = gzipSync(numbered(1, 100_000));
    packed.fill(0xff, 5_000, 5_200);
    write("a.gz", packed);
    await expect(read({})).rejects.toThrow(LogFileError);
  });
});

describeBackends("log files over a bad connection", { backends: ["tcp", "redis"], fixedServer: true }, (backend) => {
  test("a commit whose answer is lost is not done again", async () => {
    const proxy = await FaultyProxy.open(backend.ports[0]!);
    const store = await open(proxy.url);
    try {
      write("a.log", numbered(1, 50));
      const logs = new LogFiles(store, "l", { batchLines: 10 });
      let losses = 0;
      await logs.process(folder, {
        effects: (line, batch) => {
          // The answer to EXEC never comes, though the server has run it.
          if (line.number % 10 === 5 && losses++ < 3) void proxy.loseAnswerOf("EXEC");
          batch.count(logs.key("seen"), "all");
        },
      });
      expect(losses).toBeGreaterThanOrEqual(3);
      expect(await backend.store.call("HGET", logs.key("seen"), "all")).toBe("50");
    } finally {
      await store.close();
      await proxy.close();
    }
  });
});
