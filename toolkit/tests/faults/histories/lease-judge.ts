/**
 * Judges leases of locks and semaphores, any number of them. What is checked, for each name:
 *
 * - At no moment are the permits that valid leases have more than the limit. A lease is valid from when its holder knew of it until
 *   the holder gave it back, died, or believed it over, by a monotonic clock that all processes share. A holder that is stopped
 *   goes on to have its lease for as long as it was promised, and no longer.
 * - Fences are all different, and grow: one that was asked for after another was got is larger.
 * - No fenced write of a valid holder was refused. (That those of an older holder are refused is the receiver's rule.)
 */

export interface LeaseRecord {
  readonly id: string;
  readonly name: string;
  readonly weight: number;
  readonly fence: number;
  readonly start: number;
  readonly got: number;
  until: number;
}

export class LeaseJudge {
  readonly #limitOf: (name: string) => number;
  readonly #byName = new Map<string, LeaseRecord[]>();
  /** Those that have not ended, by process. */
  readonly #open = new Map<string, Map<string, LeaseRecord>>();
  readonly violations: string[] = [];
  count = 0;

  constructor(limitOf: (name: string) => number) {
    this.#limitOf = limitOf;
  }

  got(actor: string, lease: LeaseRecord): void {
    this.count += 1;
    const list = this.#byName.get(lease.name);
    if (list === undefined) this.#byName.set(lease.name, [lease]);
    else list.push(lease);
    const open = this.#open.get(actor);
    if (open === undefined) this.#open.set(actor, new Map([[lease.id, lease]]));
    else open.set(lease.id, lease);
  }

  ended(actor: string, id: string, at: number, until: number, refused: boolean): void {
    const lease = this.#open.get(actor)?.get(id);
    if (lease === undefined) {
      this.violations.push(`${id} ended and had not begun`);
      return;
    }
    this.#open.get(actor)!.delete(id);
    lease.until = Math.min(until, at);
    if (refused) this.violations.push(`a write of ${id} under ${lease.name} was refused while its lease was valid`);
  }

  killed(actor: string, at: number): void {
    for (const lease of this.#open.get(actor)?.values() ?? []) lease.until = Math.min(lease.until, at);
    this.#open.delete(actor);
  }

  /** Everything that is wrong, in words. */
  verdict(): string[] {
    const found = [...this.violations];
    for (const [name, leases] of this.#byName) found.push(...this.#overfull(name, leases), ...disordered(name, leases));
    return found;
  }

  #overfull(name: string, leases: readonly LeaseRecord[]): string[] {
    const limit = this.#limitOf(name);
    const changes: { readonly at: number; readonly by: number; readonly lease: LeaseRecord }[] = [];
    for (const lease of leases) {
      if (lease.until <= lease.got) continue;
      changes.push({ at: lease.got, by: lease.weight, lease }, { at: lease.until, by: -lease.weight, lease });
    }
    // Who leaves at a moment makes room for who comes at it.
    changes.sort((a, b) => a.at - b.at || a.by - b.by);
    const inside = new Set<LeaseRecord>();
    const found: string[] = [];
    let used = 0;
    for (const { by, lease } of changes) {
      used += by;
      if (by < 0) inside.delete(lease);
      else inside.add(lease);
      if (by < 0 || used <= limit) continue;
      const who = [...inside].map((each) => `${each.id} (${each.weight}, ${each.got} to ${each.until})`).join(", ");
      found.push(`${name} has ${limit} permits and was held by ${who}`);
    }
    return found;
  }
}

function disordered(name: string, leases: readonly LeaseRecord[]): string[] {
  const found: string[] = [];
  const byGot = [...leases].sort((a, b) => a.got - b.got);
  const byStart = [...leases].sort((a, b) => a.start - b.start);
  let largest: LeaseRecord | null = null;
  let at = 0;
  for (const lease of byStart) {
    for (; at < byGot.length && byGot[at]!.got < lease.start; at++) {
      if (largest === null || byGot[at]!.fence > largest.fence) largest = byGot[at]!;
    }
    if (largest !== null && largest.fence > lease.fence) {
      found.push(`${lease.id} came after ${largest.id} to ${name} and has a smaller fence`);
    }
  }
  const fences = new Map<number, string>();
  for (const { id, fence } of leases) {
    const other = fences.get(fence);
    if (other !== undefined) found.push(`${other} and ${id} have the same fence of ${name}`);
    fences.set(fence, id);
  }
  return found;
}
