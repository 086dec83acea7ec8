/** A short history, and that the judge of barriers finds what it is there to find. `npm run faults:coordination` runs long ones. */
import { describe, expect, test } from "vitest";
import { installed } from "../../kit/servers.ts";
import { BarrierJudge } from "./barrier-judge.ts";
import { runHistory } from "./history.ts";

const SECONDS = Number(process.env.COORDINATION_SECONDS ?? 8);
const SEED = Number(process.env.COORDINATION_SEED ?? 20261117);

describe.skipIf(!installed("redis-server"))("a history of elections, barriers and topics", () => {
  test(`under faults is sound (${SECONDS} s, seed ${SEED})`, { timeout: SECONDS * 1_000 + 180_000 }, async () => {
    const summary = await runHistory({ seconds: SECONDS, seed: SEED });
    console.log(JSON.stringify({ ...summary, violations: summary.violations.length }));
    expect(summary.violations).toEqual([]);
    expect(summary.terms).toBeGreaterThan(10);
    expect(summary.generations).toBeGreaterThan(10);
    expect(summary.messages).toBeGreaterThan(100);
    expect(summary.kills + summary.pauses + summary.cuts).toBeGreaterThan(0);
  });
});

describe("the judge of barriers", () => {
  /** "a0:5" party 0 arrives at 5; "r0:6" it is released at 6, "l0:6" as the last; "x0" it left. A slash ends the generation. */
  function judged(text: string): string {
    const judge = new BarrierJudge("b", 2);
    let generation = 1;
    let n = 0;
    const current = new Map<number, string>();
    for (const word of text.split(" ")) {
      if (word === "/") {
        generation += 1;
        continue;
      }
      const party = Number(word[1]);
      const at = Number(word.split(":")[1] ?? 0);
      if (word[0] === "a") {
        current.set(party, `n${n++}`);
        judge.arrived(current.get(party)!, party, at);
      } else if (word[0] === "x") judge.left(current.get(party)!);
      else judge.released(current.get(party)!, generation, word[0] === "l", at);
    }
    return judge.verdict().join("; ");
  }

  test("passes what is sound", () => {
    expect(judged("a0:1 a1:2 l1:3 r0:4 / a1:5 a0:6 l0:7 r1:8")).toBe("");
    // One left and came again; one was killed before it could tell.
    expect(judged("a0:1 x0 a0:2 a1:3 r0:4")).toBe("");
  });

  test.each([
    ["a release before all had come", "a0:1 r0:2 a1:3 l1:4", "released before party 1 had come"],
    ["a release without one that had left", "a0:1 a1:1 x1 r0:4", "released before party 1 had come"],
    ["an arrival that served twice", "a1:1 a0:1 r0:2 / a0:3 r0:4", "generation 2: released before party 1 had come"],
    ["two that were the last", "a0:1 a1:2 l0:3 l1:3", "two were the last"],
    ["none that was the last", "a0:1 a1:2 r0:3 r1:3", "none was the last"],
    ["a generation that a party had twice", "a0:1 a1:2 r0:3 a0:4 r0:5 l1:6", "a party twice"],
    ["a generation that was left out", "/ a0:1 x0 a1:2 x1 a0:3 a1:4 l0:5 r1:6", "generation 1"],
  ])("finds %s", (_what, text, violation) => {
    expect(judged(text)).toContain(violation);
  });
});
