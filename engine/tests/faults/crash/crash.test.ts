/** kill -9 under load, a few rounds; `npm run soak:crash` does more of them. */
import { expect, test } from "vitest";
import { crashRounds } from "./rounds.ts";

test.each([
  ["server", "always"],
  ["server", "everysec"],
  ["inside", "always"],
  ["inside", "everysec"],
] as const)(
  "%s, appendfsync %s: what was acknowledged is there, and the store starts again",
  async (mode, appendfsync) => {
    const figures = await crashRounds({ rounds: 3, mode, appendfsync });
    expect(figures.acknowledged).toBeGreaterThan(0);
    if (appendfsync === "always") expect(figures.lost).toBe(0);
    expect(figures.oldestLostMs).toBeLessThan(1000);
  },
  60_000,
);
