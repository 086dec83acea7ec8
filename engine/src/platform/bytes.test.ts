/** Bytes in browsers do what Node's Buffer does. */
import { Buffer as Nodes } from "node:buffer";
import { expect, test } from "vitest";
import { Buffer as Ours } from "./bytes.browser.ts";

const TEXTS = [
  "",
  "a",
  "plain text",
  "é\u0080\u009f",
  "漢字 and 😀",
  "\ud800 alone",
  "\ufeffmarked",
  "x".repeat(10_000),
];
const list = (bytes: Uint8Array): number[] => Array.from(bytes);

test.each(["latin1", "utf8", "utf16le", "hex", "base64", "base64url"] as const)("%s, there and back", (encoding) => {
  for (const text of TEXTS) {
    const bytes = Nodes.from(text, "utf8");
    const written = bytes.toString(encoding);
    const even = encoding === "utf16le" ? bytes.subarray(0, bytes.length & ~1) : bytes;
    expect(Ours.from(list(even)).toString(encoding)).toBe(even.toString(encoding));
    expect(list(Ours.from(written, encoding))).toEqual(list(Nodes.from(written, encoding)));
    expect(Ours.byteLength(text, "utf8")).toBe(Nodes.byteLength(text, "utf8"));
  }
});

test("comparing, joining and views", () => {
  const words = ["", "a", "ab", "b", "\u00ff"].map(
    (text) => [Nodes.from(text, "latin1"), Ours.from(text, "latin1")] as const,
  );
  for (const [a, ours] of words) {
    for (const [b, other] of words) {
      expect(Ours.compare(ours, other)).toBe(Nodes.compare(a, b));
      expect(ours.equals(other)).toBe(a.equals(b));
    }
  }
  expect(Ours.from("abcdef").compare(Ours.from("xcdx"), 1, 3, 2, 4)).toBe(0);
  expect(list(Ours.concat([Ours.of(1, 2), Ours.of(3)], 5))).toEqual([1, 2, 3, 0, 0]);
  expect(list(Ours.concat([Ours.of(1, 2), Ours.of(3)], 2))).toEqual([1, 2]);
  const whole = Ours.of(1, 2, 3);
  whole.slice(1)[0] = 9;
  expect(list(whole)).toEqual([1, 9, 3]);
});

test("numbers", () => {
  const [ours, nodes] = [Ours.alloc(16), Nodes.alloc(16)];
  for (const value of [0, 1, -1, 127, -128, 8_388_607, -8_388_608]) {
    for (const bytes of [ours, nodes]) {
      bytes.writeIntBE(value, 0, 3);
      bytes.writeUIntBE(value & 0xff_ffff, 3, 3);
      bytes.writeDoubleBE(value / 3, 6);
    }
    expect(list(ours)).toEqual(list(nodes));
    expect([ours.readIntBE(0, 3), ours.readDoubleBE(6)]).toEqual([value, value / 3]);
    expect(ours.readBigInt64BE(4)).toBe(nodes.readBigInt64BE(4));
  }
});
