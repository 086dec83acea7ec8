/**
 * Values up to the longest that there may be (src/longest-string.ts): one byte more is refused as a word past the limit is,
 * before any of it is read.
 *
 * The largest take gigabytes for a moment (the bytes on their way, the value, the reply), so they run only where the machine
 * has the room (and CINNABAR_LARGE is not 0); otherwise 64 MB stand for them, with proto-max-bulk-len set to that.
 */
import { freemem } from "node:os";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LONGEST_VALUE } from "../../src/core/longest-string.ts";
import { type Bench, Bystander, figures, openBench } from "./bench.ts";

const MB = 1024 * 1024;
const LARGE = process.env.CINNABAR_LARGE !== "0" && freemem() > 6 * 1024 * MB;
/** The longest value of this run. */
const LONGEST = LARGE ? LONGEST_VALUE : 64 * MB;

let bench: Bench;

beforeEach(async () => {
  bench = await openBench(LARGE ? {} : { "proto-max-bulk-len": String(LONGEST) });
});

afterEach(() => bench.close());

describe(`a value of ${LONGEST.toLocaleString("en")} bytes`, () => {
  it("is set, measured and read back, while others go on", async () => {
    const client = bench.engine.connect();
    const bystander = new Bystander(bench);
    const peer = bench.peer(false);
    const started = performance.now();
    peer.write(`*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n$${LONGEST}\r\n`);
    const piece = Buffer.alloc(4 * MB, "x");
    for (let sent = 0; sent < LONGEST; sent += piece.length) {
      await peer.send(sent + piece.length <= LONGEST ? piece : piece.subarray(0, LONGEST - sent));
    }
    await peer.send("\r\n");
    await peer.until(() => peer.receivedBytes >= 5);
    const setMs = performance.now() - started;
    expect(await client.call("STRLEN", "big")).toBe(LONGEST);
    expect(await client.call("GETRANGE", "big", -5, -1)).toBe("xxxxx");
    const reading = performance.now();
    const expected = 5 + `$${LONGEST}\r\n\r\n`.length + LONGEST;
    peer.write("GET big\r\n");
    await peer.until(() => peer.receivedBytes >= expected);
    expect(peer.receivedBytes).toBe(expected);
    const getMs = performance.now() - reading;
    await expect(client.call("APPEND", "big", "x".repeat(100))).rejects.toThrow("string exceeds maximum allowed size");
    await expect(client.call("SETRANGE", "big", LONGEST, "x")).rejects.toThrow("string exceeds maximum allowed size");
    const { asked, worstMs } = await bystander.stop();
    figures("the longest value", {
      MB: LONGEST / MB,
      "SET ms": setMs,
      "GET ms": getMs,
      "bystander asked": asked,
      "its worst wait ms": worstMs,
    });
  }, 60_000);

  it("is refused with one byte more, before any of it is read", async () => {
    const bystander = new Bystander(bench);
    const answer = await bench
      .peer()
      .write(`*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n$${LONGEST + 1}\r\n`)
      .rest();
    expect(answer).toBe("-ERR Protocol error: invalid bulk length\r\n");
    await bystander.stop();
    expect(await bench.engine.connect().call("EXISTS", "big")).toBe(0);
  });
});

describe("a value that grows by its offset", () => {
  it("may be as long as the longest value, and no longer, by whatever command", async () => {
    const client = bench.engine.connect();
    await client.call("CONFIG", "SET", "proto-max-bulk-len", "512mb");
    const started = performance.now();
    expect(client.callSync("SETRANGE", "k", LONGEST_VALUE - 1, "x")).toBe(LONGEST_VALUE);
    expect(client.callSync("GETRANGE", "k", -3, -1)).toBe("\0\0x");
    expect(client.callSync("DEL", "k")).toBe(1);
    expect(() => client.callSync("SETRANGE", "k", LONGEST_VALUE - 1, "xx")).toThrow("string exceeds maximum allowed");
    expect(() => client.callSync("SETRANGE", "k", "9223372036854775807", "x")).toThrow("string exceeds maximum");
    for (const offset of ["4294967295", "4294967296", "-1", "9223372036854775807"]) {
      expect(() => client.callSync("SETBIT", "k", offset, 1)).toThrow("bit offset is not an integer or out of range");
    }
    expect(() => client.callSync("BITFIELD", "k", "SET", "u8", "4294967296", 1)).toThrow("bit offset is not");
    expect(client.callSync("EXISTS", "k")).toBe(0);
    figures("values of half a gigabyte by offset", { ms: performance.now() - started });
  });
});

describe("a large reply", () => {
  it("of many elements is encoded and read", async () => {
    const client = bench.engine.connect();
    await client.call("DEL", "l");
    for (let i = 0; i < 100; i++) await client.call("RPUSH", "l", ...Array.from({ length: 10_000 }, (_, n) => n));
    const started = performance.now();
    const peer = bench.peer(false).write("LRANGE l 0 -1\r\n");
    let expected = "*1000000\r\n".length;
    for (let n = 0; n < 10_000; n++) expected += 100 * (String(n).length + 6);
    await peer.until(() => peer.receivedBytes >= expected);
    expect(peer.receivedBytes).toBe(expected);
    figures("a million elements", { "reply MB": expected / MB, ms: performance.now() - started });
  });
});
