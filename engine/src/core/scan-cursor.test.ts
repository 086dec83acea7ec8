import { describe, expect, it } from "vitest";
import { TestClient } from "../../tests/kit/test-client.ts";
import { Engine } from "./engine.ts";
import { hideCursor, showCursor } from "./scan-cursor.ts";

describe("cursors", () => {
  it("come back as what they stand for; 0 stays 0, and nothing else becomes 0", () => {
    expect(hideCursor(0)).toBe(0);
    expect(showCursor(0)).toBe(0);
    const seen = new Set<number>();
    for (let i = 0; i < 20_000; i++) {
      const cursor = i < 10_000 ? i + 1 : 4294967295 - i * 40_000;
      const hidden = hideCursor(cursor);
      expect(showCursor(hidden)).toBe(cursor);
      seen.add(hidden);
    }
    expect(seen.has(0)).toBe(false);
    expect(seen.size).toBe(20_000);
  });

  it("do not show where a scan stands", () => {
    const client = new TestClient(new Engine());
    client.call(`SADD s ${Array.from({ length: 1000 }, (_, i) => `member:${i}`).join(" ")}`);
    const cursors: number[] = [];
    const members: string[] = [];
    let cursor = "0";
    do {
      const [next, page] = client.call(`SSCAN s ${cursor} COUNT 1`)[0] as [string, string[]];
      members.push(...page);
      cursors.push(Number(next));
      cursor = next;
    } while (cursor !== "0");
    expect(new Set(members).size).toBe(1000);
    expect(members.length).toBe(1000);
    // Of cursors in no order about half are larger than the one before; 1 in 10^9 times it is not within these bounds.
    const rising = cursors.filter((value, i) => i > 0 && value > cursors[i - 1]!).length;
    expect(Math.abs(rising / cursors.length - 0.5)).toBeLessThan(0.1);
  });

  it("that this process has not given go on from somewhere", () => {
    const client = new TestClient(new Engine());
    client.call(`SADD s ${Array.from({ length: 1000 }, (_, i) => `member:${i}`).join(" ")}`);
    for (const cursor of ["1", "4294967295", "4294967296", "18446744073709551615", "123456789"]) {
      const [next, page] = client.call(`SSCAN s ${cursor}`)[0] as [string, string[]];
      expect(next).toMatch(/^\d+$/);
      expect(page.every((member) => member.startsWith("member:"))).toBe(true);
    }
  });
});
