/** A short history, and that the judges find what they are there to find. `npm run faults:histories` runs long ones. */
import { describe, expect, test } from "vitest";
import type { QueueEvent } from "../../../src/components/queues/index.ts";
import { installed } from "../../kit/servers.ts";
import { runHistories } from "./histories.ts";
import { LeaseJudge, type LeaseRecord } from "./lease-judge.ts";
import { QueueJudge } from "./queue-judge.ts";

const OPERATIONS = Number(process.env.HISTORY_OPERATIONS ?? 10_000);
const SEED = Number(process.env.HISTORY_SEED ?? 20261116);

describe.skipIf(!installed("redis-server"))("a history of locks, semaphores and queues", () => {
  test(`on a Cluster under faults is sound (${OPERATIONS} operations, seed ${SEED})`, {
    timeout: 600_000,
  }, async () => {
    const summary = await runHistories({ operations: OPERATIONS, seed: SEED });
    console.log(JSON.stringify({ ...summary, violations: summary.violations.length }));
    expect(summary.violations).toEqual([]);
    expect(summary.operations).toBeGreaterThanOrEqual(OPERATIONS);
    expect(summary.leases).toBeGreaterThan(100);
    expect(summary.jobs).toBeGreaterThan(100);
    expect(summary.slotMoves).toBeGreaterThan(0);
  });
});

describe("the judge of leases", () => {
  const lease = (
    id: string,
    got: number,
    until: number,
    fence: number,
    more: Partial<LeaseRecord> = {},
  ): LeaseRecord => ({
    ...{ id, name: "door", weight: 2, fence, start: got - 1, got, until },
    ...more,
  });
  const verdict = (...leases: LeaseRecord[]): string[] => {
    const judge = new LeaseJudge(() => 2);
    for (const each of leases) judge.got(each.id, each);
    return judge.verdict();
  };

  test("passes what is sound", () => {
    expect(verdict(lease("a", 10, 20, 1), lease("b", 20, 30, 2))).toEqual([]);
    expect(verdict(lease("a", 10, 20, 1, { weight: 1 }), lease("b", 15, 30, 2, { weight: 1 }))).toEqual([]);
    // One that waited may have been asked for before an earlier one was got.
    expect(verdict(lease("a", 10, 12, 1), lease("b", 20, 30, 2, { start: 5 }))).toEqual([]);
  });

  test("finds two holders at a time, too many permits, equal fences and fences that shrink", () => {
    expect(verdict(lease("a", 10, 20, 1), lease("b", 15, 30, 2)).join()).toContain("was held by");
    expect(verdict(lease("a", 10, 20, 1, { weight: 1 }), lease("b", 15, 30, 2)).join()).toContain("was held by");
    expect(verdict(lease("a", 10, 12, 2), lease("b", 20, 30, 2)).join()).toContain("same fence");
    expect(verdict(lease("a", 10, 12, 2), lease("b", 20, 30, 1)).join()).toContain("smaller fence");
  });

  test("finds refused writes of a valid holder", () => {
    const judge = new LeaseJudge(() => 2);
    judge.got("p", lease("a", 10, 20, 1));
    judge.ended("p", "a", 15, 20, true);
    expect(judge.verdict().join()).toContain("was refused");
  });

  test("ends a lease when it is given back and when its holder is killed, and lets a stopped holder have its own", () => {
    const judge = new LeaseJudge(() => 2);
    judge.got("p", lease("a", 10, 40, 1));
    judge.ended("p", "a", 15, 40, false);
    judge.got("q", lease("b", 16, 40, 2));
    judge.killed("q", 20);
    judge.got("r", lease("c", 21, 40, 3));
    expect(judge.verdict()).toEqual([]);
    // "c" is stopped and says nothing more: it has its lease until 40.
    judge.got("s", lease("d", 39, 60, 4));
    expect(judge.verdict()).toHaveLength(1);
  });
});

describe("the judge of queues", () => {
  function judged(text: string, say: (judge: QueueJudge) => void = () => {}): string {
    const judge = new QueueJudge("q");
    judge.added("a", { n: 1, group: "g" });
    judge.added("b", { n: 2, group: "g" });
    for (const word of text.split(" ")) {
      const [kind, id] = word.split(":");
      judge.event({ kind, id, cursor: "" } as unknown as QueueEvent);
    }
    say(judge);
    return judge.verdict().join("; ");
  }
  const SOUND = "added:a added:b active:a done:a active:b done:b";

  test("passes what is sound", () => {
    expect(judged(SOUND)).toBe("");
    expect(judged("active:a stalled:a active:a done:a active:b retry:b active:b done:b")).toBe("");
  });

  test.each([
    ["a lost job", "active:a done:a active:b", "2 was not done"],
    ["a lease beside a lease", "active:a active:a done:a active:b done:b", "1 was leased twice"],
    ["an end without a lease", "done:a active:b done:b", "1 was done, and was waiting"],
    ["a job ended twice", `${SOUND} done:b`, "2 was done, and was done"],
    ["a run after the end", `${SOUND} active:a`, "1 ran after it was done"],
    ["two of a group at once", "active:a active:b done:a done:b", "2 ran while another of group g did"],
    ["a group out of order", "active:b done:b active:a done:a", "1 of group g came out of turn"],
    ["a dead letter", `${SOUND} dead:a`, "1 is a dead letter"],
    ["a job from nowhere", `${SOUND} active:z`, "nobody added: z"],
  ])("finds %s", (_name, text, fault) => {
    expect(judged(text)).toContain(fault);
  });

  test("finds a fence that was given twice, and an end that no worker came to", () => {
    expect(
      judged(SOUND, (judge) => {
        judge.began(1);
        judge.began(1);
      }),
    ).toContain("given twice");
    const ended = (judge: QueueJudge, taken: number): void => {
      judge.cameToEnd("a", 1);
      judge.took("a", taken);
    };
    expect(judged(SOUND, (judge) => ended(judge, 1))).toBe("");
    expect(judged(SOUND, (judge) => ended(judge, 2))).toContain("no worker ended it so");
  });
});
