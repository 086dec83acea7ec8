import { describe, expect, it } from "vitest";
import { run } from "./test-script.ts";

describe("struct", () => {
  it("packs and unpacks with byte order and alignment", () => {
    expect(run('return struct.pack(">I2i4", 258, -2)')).toEqual(["\x01\x02\xff\xff\xff\xfe"]);
    expect(run('return struct.unpack("!4bi", struct.pack("!4bi", 1, 2))')).toEqual([1, 2, 9]);
    expect(run('return struct.size("!8bd"), struct.size("bd")')).toEqual([16, 9]);
  });

  it.each([
    ['struct.pack("i2147483647", 1)', "integral size 2147483647 is larger than limit of 32"],
    ['struct.pack("i99999999999999", 1)', "integral size overflow"],
    ['struct.pack("c2147483647", "x")', "bad argument #3 to '?' (string too short)"],
    ['struct.unpack("c2147483647", "x")', "bad argument #2 to '?' (data string too short)"],
    ['struct.unpack("I4c0", "\\255\\255\\255\\255abc")', "bad argument #2 to '?' (data string too short)"],
  ])("stays within its input: %s", (call, message) => {
    const [name, ...args] = call.slice(0, -1).split(/[(]/);
    expect(run(`return pcall(${name}, ${args.join("(")})`)).toEqual([false, message]);
  });
});
