/**
 * What members of a chat were given, and whether it is what they should have been given.
 *
 * A member's reading is a row of lives: each begins where the store says they are and ends with a crash, or never. Within a life ids
 * follow each other without a gap. A life begins right after an acknowledgement: the last one that was answered, or one that was
 * asked for and whose answer nobody saw. So nothing is skipped, and nothing comes again that was acknowledged.
 */

/** What was stored, as its sender would say it: the sender and the number that the sender gave it. */
export interface Body {
  readonly sender: string;
  readonly number: number;
}

export class History {
  readonly faults: string[] = [];
  readonly #bodies = new Map<number, string>();
  #deliveries = 0;
  #redeliveries = 0;
  #crashes = 0;

  get deliveries(): number {
    return this.#deliveries;
  }

  get redeliveries(): number {
    return this.#redeliveries;
  }

  get crashes(): number {
    return this.#crashes;
  }

  get messages(): number {
    return this.#bodies.size;
  }

  /** `seen`: where the member began. */
  member(name: string, seen: number): Reading {
    return new Reading(this, name, seen);
  }

  delivered(id: number, body: Body, isAgain: boolean): void {
    this.#deliveries++;
    if (isAgain) this.#redeliveries++;
    const text = `${body.sender}:${body.number}`;
    const known = this.#bodies.get(id);
    if (known === undefined) this.#bodies.set(id, text);
    else if (known !== text) this.faults.push(`${id} is ${known} to one and ${text} to another`);
  }

  crashed(): void {
    this.#crashes++;
  }

  /** Every number of every sender, up to the last that was sent, is there once and in order; the ids have no gap. */
  checkSent(sent: ReadonlyMap<string, number>): void {
    const ids = [...this.#bodies.keys()].sort((a, b) => a - b);
    if (ids.length > 0 && ids.at(-1)! - ids[0]! !== ids.length - 1) this.faults.push("ids have gaps");
    const next = new Map([...sent.keys()].map((sender) => [sender, 1]));
    for (const id of ids) {
      const [sender, number] = this.#bodies.get(id)!.split(":") as [string, string];
      if (next.get(sender) !== Number(number)) {
        this.faults.push(`${id}: ${number} of ${sender} came where ${next.get(sender)} should`);
      }
      next.set(sender, Number(number) + 1);
    }
    for (const [sender, last] of sent) {
      if (next.get(sender) !== last + 1) this.faults.push(`${sender} sent ${last}, and ${next.get(sender)! - 1} came`);
    }
  }
}

export class Reading {
  readonly #history: History;
  readonly #name: string;
  #acknowledged: number;
  #asked: number;
  #last: number | null = null;
  #most: number;

  constructor(history: History, name: string, seen: number) {
    this.#history = history;
    this.#name = name;
    this.#acknowledged = seen;
    this.#asked = seen;
    this.#most = seen;
  }

  /** The largest id that came. */
  get most(): number {
    return this.#most;
  }

  got(id: number, body: Body, missed = 0): void {
    const { faults } = this.#history;
    if (missed > 0) faults.push(`${this.#name}: ${missed} were dropped before ${id}`);
    if (this.#last === null) {
      if (id <= this.#acknowledged || id > this.#asked + 1) {
        faults.push(`${this.#name} began at ${id}, having acknowledged ${this.#acknowledged} to ${this.#asked}`);
      }
    } else if (id !== this.#last + 1) faults.push(`${this.#name} got ${id} after ${this.#last}`);
    this.#last = id;
    this.#history.delivered(id, body, id <= this.#most);
    this.#most = Math.max(this.#most, id);
  }

  acknowledging(id: number): void {
    this.#asked = Math.max(this.#asked, id);
  }

  acknowledged(id: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, id);
  }

  crash(): void {
    this.#last = null;
    this.#history.crashed();
  }
}

/** Chance that can be repeated: whole numbers below `limit`. */
export function randomFrom(seed: number): (limit: number) => number {
  let state = seed >>> 0 || 1;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
