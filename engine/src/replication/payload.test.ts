/** A snapshot that comes in pieces: both framings, cut anywhere; what is behind it; what is wrong with it. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TestClient } from "../../tests/kit/test-client.ts";
import { Engine } from "../core/engine.ts";
import { writeRdb } from "../persist/rdb/file.ts";
import { type Framing, loadMode, Payload, parseFraming } from "./payload.ts";

const MARK = "0123456789abcdef0123456789abcdef01234567";
let source: Engine;
let engine: Engine;
let rdb: Buffer;

function rdbOf(from: Engine): Buffer {
  const chunks: Buffer[] = [];
  writeRdb(from, (chunk) => chunks.push(Buffer.from(chunk)), { replication: { streamDb: 3, id: MARK, offset: 7 } });
  return Buffer.concat(chunks);
}

beforeEach(() => {
  source = new Engine();
  engine = new Engine();
  const client = new TestClient(source);
  for (const line of ["SET k v", "RPUSH l 1 2 3", "SELECT 3", "HSET h f 1", "SET gone 1 PXAT 1", "ZADD z 1 a"]) {
    client.run(line);
  }
  source.databases[3]!.load("late", "1", 1, undefined);
  rdb = rdbOf(source);
});

afterEach(() => {
  source.stop();
  engine.stop();
});

const framings: readonly (readonly [string, () => Framing, () => Buffer])[] = [
  ["counted", () => ({ lengthBytes: rdb.length }), () => rdb],
  ["marked", () => ({ mark: MARK }), () => Buffer.concat([rdb, Buffer.from(MARK)])],
];

const keysOf = (of: Engine) => of.databases.map((db) => db.size);

describe.each(framings)("a %s snapshot", (_name, framing, whole) => {
  it("is loaded whatever the pieces, and what stands behind it is given back", () => {
    const bytes = Buffer.concat([whole(), Buffer.from("*1\r\n$4\r\nPING\r\n")]);
    for (let cut = 1; cut < bytes.length; cut++) {
      const payload = new Payload(engine, framing(), "beside");
      const early = payload.feed(bytes.subarray(0, cut));
      const second = bytes.subarray(cut);
      const behind = early === undefined ? payload.feed(second)! : Buffer.concat([early, second]);
      expect(behind.toString()).toBe("*1\r\n$4\r\nPING\r\n");
      expect(payload.readBytes).toBe(whole().length);
    }
  });

  it("is loaded byte by byte, keys included whose time has come, and takes the place of what was there in one step", () => {
    new TestClient(engine).run("SET old 1");
    const payload = new Payload(engine, framing(), "beside");
    let rest: Buffer | undefined;
    for (const byte of whole()) {
      expect(rest).toBeUndefined();
      expect(keysOf(engine)[0]).toBe(1);
      rest = payload.feed(Buffer.of(byte));
    }
    expect(rest?.length).toBe(0);
    expect(engine.databases[0]!.exists("old")).toBe(true);
    payload.install();
    expect(engine.databases[0]!.keyspace.has("old")).toBe(false);
    expect(keysOf(engine).slice(0, 4)).toEqual([2, 0, 0, 4]);
    expect(payload.aux.get("repl-stream-db")).toBe("3");
  });

  it("goes into the place of the old data where there is no room for both", () => {
    vi.spyOn(engine.heapGuard, "availableBytes").mockReturnValue(0);
    expect(loadMode(engine, true)).toBe("beside");
    new TestClient(engine).run("SET old 1");
    expect(loadMode(engine, true)).toBe("in place");
    expect(new Payload(engine, framing(), "in place").inPlace).toBe(true);
  });

  it("is shown or hidden meanwhile as repl-diskless-load says", () => {
    engine.config.set([["repl-diskless-load", "on-empty-db"]], () => true);
    expect(loadMode(engine, true)).toBe("hidden");
    new TestClient(engine).run("SET old 1");
    expect(loadMode(engine, true)).toBe("beside");
    engine.config.set([["repl-diskless-load", "swapdb"]], () => true);
    expect([loadMode(engine, true), loadMode(engine, false)]).toEqual(["async", "hidden"]);
  });

  it("is refused where a byte is wrong, and the old data stays", () => {
    new TestClient(engine).run("SET old 1");
    const bytes = Buffer.from(whole());
    bytes[rdb.length - 1]! ^= 1;
    const payload = new Payload(engine, framing(), "beside");
    expect(() => payload.feed(bytes)).toThrow("the checksum is wrong");
    expect(keysOf(engine)[0]).toBe(1);
  });
});

describe("the end of a snapshot", () => {
  it("must be where it was announced", () => {
    const counted = new Payload(engine, { lengthBytes: rdb.length - 1 }, "beside");
    expect(() => counted.feed(rdb)).toThrow("ends too early");
    const marked = new Payload(engine, { mark: MARK }, "beside");
    expect(() => marked.feed(Buffer.concat([rdb, Buffer.from(MARK.replace("0", "1"))]))).toThrow("mark");
  });

  it("is announced in one of two ways and in no other", () => {
    expect(parseFraming("$17")).toEqual({ lengthBytes: 17 });
    expect(parseFraming(`$EOF:${MARK}`)).toEqual({ mark: MARK });
    for (const line of ["$-1", "$", "$EOF:", `$EOF:${MARK}0`, "+OK", "-ERR no", "$1x"]) {
      expect(parseFraming(line)).toBeUndefined();
    }
  });
});
