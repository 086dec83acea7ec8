/** The owner of a folder is killed under load. The long form kills it 50 times; `SHARED_KILLS` says how often. */
import { expect, test } from "vitest";
import { full } from "../../../../scripts/full.ts";
import { takeoverRounds } from "./rounds.ts";

test.each([2, 5])(
  "%i processes on one folder: the owner is killed, nothing acknowledged is lost, every process goes on",
  async (processes) => {
    const rounds = Number(process.env.SHARED_KILLS ?? (full ? 50 : processes === 2 ? 3 : 2));
    const figures = await takeoverRounds(processes, rounds);
    console.log(`${processes} processes, ${JSON.stringify(figures)}`);
    expect(figures).toMatchObject({ lost: 0, repeated: 0, takeovers: rounds });
    expect(figures.acknowledged).toBeGreaterThan(20 * processes * rounds);
  },
  full ? 3_600_000 : 180_000,
);
