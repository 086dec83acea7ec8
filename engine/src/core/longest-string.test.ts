import { afterEach, describe, expect, it } from "vitest";
import { TestClient } from "../../tests/kit/test-client.ts";
import { Engine } from "./engine.ts";
import { STRING_TOO_LONG } from "./errors.ts";
import { LONGEST_VALUE } from "./longest-string.ts";
import { BAD_BIT_OFFSET } from "./rare-errors.ts";

let engine: Engine;
afterEach(() => engine.stop());

function open(config: Record<string, string> = {}) {
  engine = new Engine({ config });
  const client = new TestClient(engine);
  return (line: string) => client.call(line)[0];
}

describe("no command makes a string that cannot be read", () => {
  it.each([
    ["SETBIT k 4294967295 1", BAD_BIT_OFFSET],
    [`SETBIT k ${LONGEST_VALUE * 8} 1`, BAD_BIT_OFFSET],
    ["BITFIELD k SET u8 4294967288 1", BAD_BIT_OFFSET],
    ["BITFIELD k INCRBY i64 #67108863 1", BAD_BIT_OFFSET],
    [`SETRANGE k ${LONGEST_VALUE} x`, STRING_TOO_LONG],
    ["SETRANGE k 536870911 x", STRING_TOO_LONG],
  ])("%s", (line, error) => {
    const call = open({ "proto-max-bulk-len": "1gb" });
    expect(call(line)).toBe(error);
    expect(call("EXISTS k")).toBe(0);
  });

  it("the longest one is there to its last bit, and grows no further", () => {
    // The zeros are the system's: they take no memory until they are written to.
    const call = open();
    expect(call(`SETBIT k ${LONGEST_VALUE * 8 - 1} 1`)).toBe(0);
    expect(call("STRLEN k")).toBe(LONGEST_VALUE);
    expect(call("GETRANGE k -2 -1")).toBe("\0\x01");
    expect(call("APPEND k x")).toBe(STRING_TOO_LONG);
    expect(call("STRLEN k")).toBe(LONGEST_VALUE);
  });

  it("a lower proto-max-bulk-len is the limit then, as in Redis", () => {
    const call = open({ "proto-max-bulk-len": "1mb" });
    expect(call("SETBIT k 8388608 1")).toBe(BAD_BIT_OFFSET);
    expect(call("SETBIT k 8388607 1")).toBe(0);
    expect(call("APPEND k x")).toBe(STRING_TOO_LONG);
    expect(call("SETRANGE k 1048576 x")).toBe(STRING_TOO_LONG);
    // The last integer may begin within the limit and end beyond it.
    expect(call("BITFIELD k SET u8 8388607 255")).toEqual([128]);
    expect(call("STRLEN k")).toBe(1_048_577);
  });
});
