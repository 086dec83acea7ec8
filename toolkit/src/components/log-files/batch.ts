/**
 * What the lines of a batch do to the store: commands and scripts, committed in one step with how far the file is read. Sums
 * are made here first, so that a thousand lines that count into twenty fields are twenty commands.
 */
import { integer } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { routingKey } from "../../connection/routing.ts";
import { slotOf } from "../../connection/slots.ts";
import type { Item } from "../../connection/store.ts";

const MOST_KNOWN = 10_000;

/**
 * What lines do to the store, committed in one step with how far the file is read. `Effects` are given it.
 *
 * @example
 * import { writeFileSync } from "node:fs";
 * writeFileSync("access.log", "GET /no 404\n");
 * const logs = new LogFiles(db, "access");
 * const fill = (batch: Batch) => batch.count(logs.key("by status"), "404").score(logs.key("by path"), "/no");
 * const effects: Effects = (_line, batch) => console.log(fill(batch).sums(), batch.add(["DEL", logs.key("old")]).items());
 * await logs.process("access.log", { effects });
 */
export class Batch {
  readonly #slot: number;
  readonly #tag: string;
  /** Keys that were found to be in the slot. */
  readonly #known: Set<string>;
  readonly #items: Item[] = [];
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #scores = new Map<string, Map<string, number>>();
  #sums = 0;

  /** `base` has the tag that all keys must have; `known` is shared by batches. */
  constructor(base: string, known: Set<string>) {
    this.#slot = slotOf(base);
    this.#tag = base.slice(base.indexOf("{"));
    this.#known = known;
  }

  /** How many commands it has come to. */
  get size(): number {
    return this.#items.length + this.#sums;
  }

  /** A command or a bound script, run as often as it is added, in this order. */
  add(item: Item): this {
    if ("script" in item && item.keys.length === 0) throw new InputError(`${item.script.name} has no keys`);
    const keys = "script" in item ? item.keys : [routingKey(item)];
    for (const key of keys) this.#check(key);
    this.#items.push(item);
    return this;
  }

  /** Adds to a field of a hash: HINCRBY. */
  count(key: string, field: string, by = 1): this {
    this.#check(key);
    return this.#sum(this.#counts, key, field, integer("by", by, Number.MIN_SAFE_INTEGER));
  }

  /** Adds to the score of a member of a sorted set: ZINCRBY. */
  score(key: string, member: string, by = 1): this {
    this.#check(key);
    if (!Number.isFinite(by)) throw new InputError("by must be a finite number");
    return this.#sum(this.#scores, key, member, by);
  }

  #sum(sums: Map<string, Map<string, number>>, key: string, name: string, by: number): this {
    const of = sums.get(key) ?? new Map<string, number>();
    if (of.size === 0) sums.set(key, of);
    const before = of.get(name);
    if (before === undefined) this.#sums++;
    of.set(name, (before ?? 0) + by);
    return this;
  }

  /** The same slot whatever the server: what works on one node works on a Cluster. */
  #check(key: string | undefined): void {
    if (key !== undefined && this.#known.has(key)) return;
    if (key === undefined || slotOf(key) !== this.#slot) {
      throw new InputError(`${key === undefined ? "an effect without a key" : `"${key}"`} is not under ${this.#tag}`);
    }
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.add(key);
  }

  /** What all of it comes to, if it is nothing but sums; null otherwise. `sums` are those of the script `addUp`. */
  sums(): { readonly targets: readonly string[]; readonly sums: readonly (string | number)[] } | null {
    if (this.#items.length > 0) return null;
    const targets: string[] = [];
    const words: (string | number)[] = [];
    for (const [command, sums] of [["HINCRBY", this.#counts] as const, ["ZINCRBY", this.#scores] as const]) {
      for (const [key, of] of sums) {
        const at = targets.push(key);
        for (const [name, by] of of) words.push(command, at, name, by);
      }
    }
    return { targets, sums: words };
  }

  /** All commands: those that were added, then one for each sum. */
  items(): Item[] {
    const items = [...this.#items];
    for (const [key, of] of this.#counts) for (const [field, by] of of) items.push(["HINCRBY", key, field, by]);
    for (const [key, of] of this.#scores) for (const [member, by] of of) items.push(["ZINCRBY", key, by, member]);
    return items;
  }
}
