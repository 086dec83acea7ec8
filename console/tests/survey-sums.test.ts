/** What a scan keeps is bounded, and its sums are true whatever the keys are called. */
import { describe, expect, test } from "vitest";
import { type Folder, Sums } from "../src/operate/survey-sums.ts";
import { Seen } from "../src/operate/walk.ts";

const key = (name: string, bytes = 10) => ({
  key: Buffer.from(name),
  type: "string",
  ttlMs: null,
  bytes,
  encoding: "raw",
  frequency: null,
});

const below = (folder: Folder): number =>
  folder.direct + folder.others.count + [...folder.folders.values()].reduce((sum, each) => sum + below(each), 0);
const sizeOf = (folder: Folder): number =>
  1 + [...folder.folders.values()].reduce((sum, each) => sum + sizeOf(each), 0);

describe("sums", () => {
  test("of a hundred thousand folders are true, and few folders are kept", () => {
    const sums = new Sums(":");
    for (let nth = 0; nth < 100_000; nth++) sums.add(key(`a:${nth}:x:${nth % 7}:leaf`, nth % 50));
    const { root } = sums;
    expect(root.count).toBe(100_000);
    expect(below(root)).toBe(100_000);
    expect(sizeOf(root)).toBeLessThan(31_000);
    expect(sums.at(["a"])!.folders.size).toBe(1_000);
    expect(sums.at(["a"])!.others.count).toBe(99_000);
    expect(sums.keys).toHaveLength(10_000);
    expect(sums.biggest).toHaveLength(50);
    expect(sums.biggest.every(({ bytes }) => bytes === 49)).toBe(true);
  });

  test("take names that are nested without end", () => {
    const sums = new Sums(":");
    sums.add(key(":".repeat(100_000)));
    sums.add(key(""));
    expect(sums.root.count).toBe(2);
    expect(sizeOf(sums.root)).toBeLessThan(20);
  });

  test("part names by any separator, but not inside of a hash tag", () => {
    const sums = new Sums("::");
    sums.add(key("a::b::{c::d}::e"));
    expect(sums.at(["a", "b", "{c::d}"])).toMatchObject({ count: 1, direct: 1 });
  });
});

describe("names that came before", () => {
  test("are known, and others are not", () => {
    const seen = new Seen();
    for (let nth = 0; nth < 200_000; nth++) expect(seen.add(Buffer.from(`name:${nth}`))).toBe(true);
    for (let nth = 0; nth < 200_000; nth += 97) expect(seen.add(Buffer.from(`name:${nth}`))).toBe(false);
    expect(seen.isExact).toBe(true);
  });
});
