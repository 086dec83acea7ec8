/** Readers of one stream at different places, each of whom gets all of it. */
import { describe, expect, it } from "vitest";
import { ManualClock } from "../core/clock.ts";
import { StreamBuffer } from "./stream-buffer.ts";

describe("a stream buffer", () => {
  it("gives every reader every byte, in whatever steps they read, and keeps no more than the slowest needs", () => {
    const clock = new ManualClock();
    const buffer = new StreamBuffer();
    const first = 12_345;
    let stream = Buffer.alloc(0);
    const readers = Array.from({ length: 4 }, () => ({ at: first, parts: [] as Buffer[] }));
    for (let round = 0; round < 400; round++) {
      const chunk = Buffer.alloc(Math.floor(clock.random() ** 4 * (round % 50 === 0 ? 400_000 : 3000)), round);
      buffer.append(chunk, first + stream.length);
      stream = Buffer.concat([stream, chunk]);
      for (const [i, reader] of readers.entries()) {
        if (clock.random() * 4 < i) continue;
        const view = buffer.after(reader.at);
        if (view === undefined) continue;
        reader.parts.push(view);
        reader.at += view.length;
      }
      buffer.trim(Math.min(...readers.map(({ at }) => at)));
      expect(buffer.sizeBytes).toBeLessThanOrEqual(
        stream.length + first - Math.min(...readers.map(({ at }) => at)) + 3e5,
      );
    }
    for (const reader of readers) {
      for (let view = buffer.after(reader.at); view !== undefined; view = buffer.after(reader.at)) {
        reader.parts.push(view);
        reader.at += view.length;
      }
      expect(Buffer.concat(reader.parts).equals(stream)).toBe(true);
    }
  });

  it("begins anew where nobody wanted what came between", () => {
    const buffer = new StreamBuffer();
    buffer.append(Buffer.from("abc"), 0);
    buffer.append(Buffer.from("xyz"), 10);
    expect(buffer.after(0)).toBeUndefined();
    expect(buffer.after(11)?.toString()).toBe("yz");
    expect(buffer.after(13)).toBeUndefined();
  });
});
