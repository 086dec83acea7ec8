/**
 * Judges a barrier. What is checked, for each generation:
 *
 * - It was released once: no party was released in it twice, no more were released than there are parties, and one at most was the last
 *   to come.
 * - It was released only when all had come: the first release that anybody saw came after every party had arrived, with an arrival that was
 *   counted in this generation, or whose process was killed before it could tell what became of it. Each arrival serves one
 *   generation.
 * - Generations follow each other: those that one party was released in grow, and none is left out.
 */

interface Arrival {
  readonly party: number;
  readonly at: number;
  /** The generation it was released in; "left": it was not counted; null: nobody knows. */
  outcome: number | "left" | null;
}

interface Release {
  readonly party: number;
  readonly isLast: boolean;
  readonly at: number;
}

export class BarrierJudge {
  readonly #name: string;
  readonly #parties: number;
  readonly #arrivals = new Map<string, Arrival>();
  readonly #releases = new Map<number, Release[]>();
  readonly #lastOf = new Map<number, number>();
  readonly #violations: string[] = [];

  constructor(name: string, parties: number) {
    this.#name = name;
    this.#parties = parties;
  }

  get generations(): number {
    return this.#releases.size;
  }

  arrived(id: string, party: number, at: number): void {
    this.#arrivals.set(id, { party, at, outcome: null });
  }

  left(id: string): void {
    const arrival = this.#arrivals.get(id);
    if (arrival === undefined) this.#violations.push(`${this.#name}: ${id} left and had not come`);
    else arrival.outcome = "left";
  }

  released(id: string, generation: number, isLast: boolean, at: number): void {
    const arrival = this.#arrivals.get(id);
    if (arrival === undefined) {
      this.#violations.push(`${this.#name}: ${id} was released and had not come`);
      return;
    }
    arrival.outcome = generation;
    const { party } = arrival;
    const before = this.#lastOf.get(party) ?? 0;
    if (generation <= before) {
      this.#violations.push(`${this.#name}: party ${party} was released in ${generation} after ${before}`);
    }
    this.#lastOf.set(party, generation);
    this.#releases.set(generation, [...(this.#releases.get(generation) ?? []), { party, isLast, at }]);
  }

  /** Everything that is wrong, in words. */
  verdict(): string[] {
    const found = [...this.#violations];
    const used = new Set<Arrival>();
    const newest = Math.max(0, ...this.#releases.keys());
    for (let generation = 1; generation <= newest; generation++) {
      const releases = this.#releases.get(generation) ?? [];
      const where = `${this.#name}, generation ${generation}`;
      if (new Set(releases.map(({ party }) => party)).size !== releases.length) found.push(`${where}: a party twice`);
      if (releases.length > this.#parties) found.push(`${where}: ${releases.length} of ${this.#parties} parties`);
      if (releases.filter(({ isLast }) => isLast).length > 1) found.push(`${where}: two were the last`);
      if (releases.length === this.#parties && !releases.some(({ isLast }) => isLast))
        found.push(`${where}: none was the last`);
      const firstAt = Math.min(...releases.map(({ at }) => at));
      for (let party = 0; party < this.#parties; party++) {
        const arrival = this.#cameTo(generation, party, firstAt, used);
        if (arrival === undefined) found.push(`${where}: released before party ${party} had come`);
        else used.add(arrival);
      }
    }
    return found;
  }

  /** The arrival with which a party was counted: the one that was told so, else one of which nobody knows. */
  #cameTo(generation: number, party: number, firstAt: number, used: ReadonlySet<Arrival>): Arrival | undefined {
    const own = [...this.#arrivals.values()].filter((each) => each.party === party && each.at <= firstAt);
    return (
      own.find(({ outcome }) => outcome === generation) ?? own.find((each) => each.outcome === null && !used.has(each))
    );
  }
}
