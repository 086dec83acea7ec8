/** The backlog keeps the last bytes of a stream, whatever the sizes in which they come. */
import { describe, expect, it } from "vitest";
import { ManualClock } from "../core/clock.ts";
import { Backlog } from "./backlog.ts";

/** A stream whose bytes tell their offsets. */
const bytesAt = (from: number, count: number) => Buffer.from(Array.from({ length: count }, (_, i) => (from + i) % 251));

describe("a backlog", () => {
  it("is empty at first and reaches only what comes next", () => {
    const backlog = new Backlog(1000, 500);
    expect([backlog.start, backlog.end, backlog.length]).toEqual([501, 500, 0]);
    expect([500, 501, 502].map((offset) => backlog.reaches(offset))).toEqual([false, true, false]);
    expect(backlog.from(501).length).toBe(0);
  });

  it("has the newest bytes, and says from where, in every size of chunk and ring", () => {
    const clock = new ManualClock();
    for (let round = 0; round < 60; round++) {
      const size = 1 + Math.floor(clock.random() * 300);
      const first = Math.floor(clock.random() * 1000);
      const backlog = new Backlog(size, first);
      let end = first;
      for (let i = 0; i < 60; i++) {
        const count = Math.floor(clock.random() * (i % 7 === 0 ? 700 : 60));
        backlog.append(bytesAt(end + 1, count));
        end += count;
        expect(backlog.end).toBe(end);
        expect(backlog.length).toBe(Math.min(size, end - first));
        const from = backlog.start + Math.floor(clock.random() * (backlog.length + 1));
        expect(backlog.reaches(from)).toBe(true);
        expect(backlog.reaches(backlog.start - 1)).toBe(false);
        expect(backlog.from(from)).toEqual(bytesAt(from, end + 1 - from));
      }
    }
  });

  it("takes memory as it fills, up to its size", () => {
    const backlog = new Backlog(10_000_000, 0);
    expect(backlog.sizeBytes).toBeLessThan(100_000);
    let end = 0;
    for (let i = 0; i < 300; i++) {
      backlog.append(bytesAt(end + 1, 50_000));
      end += 50_000;
    }
    expect(backlog.sizeBytes).toBe(10_000_000);
    expect(backlog.from(backlog.start).equals(bytesAt(backlog.start, 10_000_000))).toBe(true);
  });

  it("keeps what fits when its size changes", () => {
    for (const size of [10, 100, 1000]) {
      const backlog = new Backlog(100, 0);
      backlog.append(bytesAt(1, 250));
      backlog.resize(size);
      expect(backlog.end).toBe(250);
      expect(backlog.length).toBe(Math.min(size, 100));
      backlog.append(bytesAt(251, 40));
      expect(backlog.length).toBe(Math.min(size, 140));
      expect(backlog.from(backlog.start)).toEqual(bytesAt(backlog.start, backlog.length));
    }
  });
});
