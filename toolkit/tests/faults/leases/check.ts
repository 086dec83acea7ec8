/**
 * Judges a history of leases. What is checked: at no moment do valid leases of a name sum up to more than its limit; fences are
 * all different, and grow in the order in which leases were got; who stood in line first got it first; no holder was refused
 * by a guard while its lease was valid.
 */
import type { Note } from "./player.ts";

export interface Interruption {
  readonly player: string;
  readonly from: number;
  /** Infinity: it was killed. */
  readonly to: number;
}

interface Held {
  readonly id: string;
  readonly player: string;
  readonly name: string;
  readonly weight: number;
  readonly fence: number;
  readonly start: number;
  readonly asked: number;
  readonly got: number;
  readonly again: boolean;
  /** Until when it was believed: to its end, its giving back, or the death of its holder. */
  until: number;
}

export interface Verdict {
  readonly leases: number;
  readonly lost: number;
  readonly handedOver: number;
  readonly violations: readonly string[];
}

export function judge(
  notes: readonly Note[],
  interruptions: readonly Interruption[],
  limitOf: (name: string) => number,
): Verdict {
  const violations: string[] = [];
  const leases = new Map<string, Held>();
  let lost = 0;
  for (const note of notes) {
    if (note.what === "got") {
      leases.set(note.id, { ...note });
      continue;
    }
    const lease = leases.get(note.id)!;
    if (note.what === "valid") lease.until = Math.max(lease.until, note.until);
    else if (note.what === "end") {
      lease.until = Math.min(lease.until, note.at);
      if (note.lost) lost += 1;
    } else violations.push(`${note.id} was refused as ${lease.name}'s older holder while its lease was valid`);
  }
  for (const { player, from, to } of interruptions) {
    if (to !== Number.POSITIVE_INFINITY) continue;
    for (const lease of leases.values()) {
      if (lease.player === player && lease.got <= from) lease.until = Math.min(lease.until, from);
    }
  }
  const byName = new Map<string, Held[]>();
  for (const lease of leases.values()) byName.set(lease.name, [...(byName.get(lease.name) ?? []), lease]);
  for (const [name, held] of byName) {
    violations.push(...overfull(name, held, limitOf(name)), ...disordered(held, interruptions));
  }
  const handedOver = [...leases.values()].filter(({ asked, got }) => got - asked > 1_000).length;
  return { leases: leases.size, lost, handedOver, violations };
}

function overfull(name: string, held: readonly Held[], limit: number): string[] {
  const changes = held
    .filter(({ got, until }) => until > got)
    .flatMap((lease) => [
      { at: lease.got, by: lease.weight, lease },
      { at: lease.until, by: -lease.weight, lease },
    ])
    .sort((a, b) => a.at - b.at || a.by - b.by);
  const inside = new Set<Held>();
  const violations: string[] = [];
  let used = 0;
  for (const { by, lease } of changes) {
    used += by;
    if (by < 0) inside.delete(lease);
    else inside.add(lease);
    if (by > 0 && used > limit) {
      const who = [...inside].map(({ id, weight, got, until }) => `${id} (${weight}, ${got}–${until})`).join(", ");
      violations.push(`${name} has a limit of ${limit} and was held by ${who}`);
    }
  }
  return violations;
}

function disordered(held: readonly Held[], interruptions: readonly Interruption[]): string[] {
  const violations: string[] = [];
  const steady = new Set(
    held.filter(
      ({ player, start, got, again }) =>
        !again && !interruptions.some((each) => each.player === player && each.from <= got && each.to >= start),
    ),
  );
  for (const a of held) {
    for (const b of held) {
      if (a === b) continue;
      if (a.fence === b.fence) violations.push(`${a.id} and ${b.id} have the same fence`);
      if (a.fence < b.fence) continue;
      // From here on a has the larger fence, so that it was let in after b.
      if (a.got < b.start) violations.push(`${b.id} came after ${a.id} and has a smaller fence`);
      else if (a.asked < b.start && steady.has(a) && steady.has(b)) {
        violations.push(`${b.id} was let in before ${a.id}, which stood in line before it`);
      }
    }
  }
  return violations;
}
