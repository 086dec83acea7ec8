/** The checker of histories finds what it is there to find. */
import { expect, test } from "vitest";
import type { QueueEvent } from "../../../src/components/queues/index.ts";
import { faultsOf, type History } from "./history.ts";

const jobs = [
  { id: "a", n: 1, group: "g" },
  { id: "b", n: 2, group: "g" },
];

function history(text: string, overrides: Partial<History> = {}): History {
  const events = text.split(" ").map((word, at) => {
    const [kind, id] = word.split(":");
    return { kind, id, cursor: `${at}-0:1` } as unknown as QueueEvent;
  });
  const lines = [
    { t: "start", id: "a", n: 1, fence: 1, group: "g" },
    { t: "end", id: "a", n: 1, fence: 1 },
    { t: "start", id: "b", n: 2, fence: 2, group: "g" },
    { t: "end", id: "b", n: 2, fence: 2 },
  ] as const;
  return {
    added: jobs,
    events,
    workers: [lines],
    taken: new Map([
      ["a", 1],
      ["b", 2],
    ]),
    ...overrides,
  };
}

const SOUND = "added:a added:b active:a done:a active:b done:b";

test("a sound history has no faults", () => {
  expect(faultsOf(history(SOUND))).toEqual([]);
  expect(
    faultsOf(history("added:a added:b active:a stalled:a active:a done:a active:b retry:b active:b done:b")),
  ).toEqual([]);
});

test.each([
  ["a lost job", "added:a added:b active:a done:a active:b", "2 was done 0 times"],
  ["a job ended twice", `${SOUND} done:b`, "2 was done 2 times"],
  ["a lease beside a lease", "active:a active:a done:a active:b done:b", "1 was leased twice"],
  ["an end without a lease", "done:a active:b done:b", "1 was done without a lease"],
  ["a run after the end", `${SOUND} active:a`, "1 ran after it was done"],
  ["two of a group at once", "active:a active:b done:a done:b", "2 ran while 1 of its group did"],
  ["a group out of order", "active:b done:b active:a done:a", "group g ended as 2,1"],
  ["a dead letter", `${SOUND} dead:a`, "1 is a dead letter"],
  ["a job from nowhere", `${SOUND} active:z`, "nobody added: z"],
])("%s is found", (_name, text, fault) => {
  expect(faultsOf(history(text)).join("; ")).toContain(fault);
});

test("a worker that hears about a lost lease has lost one", () => {
  const told = [{ t: "lost", id: "a" }] as const;
  const late = [{ t: "end", id: "a", n: 1, fence: 7 }, ...told] as const;
  expect(faultsOf(history(SOUND, { workers: [...history(SOUND).workers, late] }))).toEqual([]);
  expect(faultsOf(history(SOUND, { workers: [...history(SOUND).workers, told] })).join()).toContain("which it had not");
});

test("an end that no worker reached, and a fence given twice, are found", () => {
  expect(faultsOf(history(SOUND, { taken: new Map([["a", 1]]) })).join()).toContain("2 was taken as done");
  const again = [{ t: "start", id: "b", n: 2, fence: 1, group: "g" }] as const;
  expect(faultsOf(history(SOUND, { workers: [...history(SOUND).workers, again] })).join()).toContain("given twice");
});
