/**
 * The lanes of a sharded list: its stored description, what is known of each lane's ends, and changing how many there are.
 *
 * Nobody puts anything into a new lane before every lane that there was knows of the change: so a process that finds all
 * lanes empty that it knows of, by their own generation, has not missed one. Lanes that are given up get nothing more and are
 * emptied by pops; when nothing is left in them, the change is over.
 */

import { CinnabarError, ServerError } from "../../base/errors.ts";
import { NameIndex } from "../../base/names.ts";
import { asList } from "../../base/replies.ts";
import type { Reply } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { checkedName, DEFAULT_PREFIX, NAMES_MS, rootKey, type TagKeys, tagKeys } from "./keys.ts";
import { gateIn, laneIn, verdictOf } from "./scripts/answers.ts";
import { define, fieldsOf } from "./scripts/core.ts";
import { adopt, look, planLanes, settleLanes } from "./scripts/list.ts";

export const MOST_LANES = 1_024;
export const MOST_PER_PIECE = 65_536;

export interface View {
  readonly gen: number;
  readonly layout: number;
  /** Lanes that elements are put into. */
  readonly lanes: number;
  /** Lanes that may have elements: more, while some are given up. */
  readonly wide: number;
  /** Elements for each piece. */
  readonly size: number;
  readonly isMoving: boolean;
}

export interface Ends {
  readonly first: number;
  readonly last: number;
}

export interface ListOptions {
  /** How all keys begin (default `"sharded"`). */
  readonly prefix?: string;
  /** Lanes, each with a tag of its own (default 1): with one, the order is that of a list. */
  readonly lanes?: number;
  /** Elements for each piece (default 512): no key holds more. */
  readonly pieceSize?: number;
}

export class Lanes {
  readonly name: string;
  readonly store: Store;
  readonly prefix: string;
  readonly #options: Required<Omit<ListOptions, "prefix">>;
  readonly #names: NameIndex;
  readonly #keys: TagKeys[] = [];
  readonly #ends: (Ends | undefined)[] = [];
  #view: Promise<View> | null = null;

  constructor(store: Store, name: string, { prefix = DEFAULT_PREFIX, lanes = 1, pieceSize = 512 }: ListOptions) {
    this.store = store;
    this.name = checkedName(name);
    this.prefix = prefix;
    this.#options = { lanes, pieceSize };
    this.#names = new NameIndex(store, { kind: "sharded", prefix, keepMs: NAMES_MS });
  }

  keys(lane: number): TagKeys {
    this.#keys[lane] ??= tagKeys(this.prefix, this.name, lane);
    return this.#keys[lane];
  }

  view(): Promise<View> {
    this.#names.announce(`list ${this.name}`);
    this.#view ??= this.#load().catch((error) => {
      this.#view = null;
      throw error;
    });
    return this.#view;
  }

  freshView(): Promise<View> {
    this.#view = null;
    return this.view();
  }

  forget(): void {
    this.#view = null;
    this.#ends.length = 0;
    void this.#names.remove(`list ${this.name}`).catch(() => {});
  }

  async #load(): Promise<View> {
    const { lanes, pieceSize } = this.#options;
    const fields = Object.entries({ kind: "list", l: 1, lanes, wide: lanes, z: pieceSize, moving: 0 }).flat();
    const stored = await this.store.run(define, { root: rootKey(this.prefix, this.name), fields });
    if (stored.get("kind") !== "list") {
      throw new CinnabarError("KIND", `${this.name} is a sharded ${stored.get("kind")}, not a list`);
    }
    const view = viewOf(stored);
    await this.#adoptAll(view);
    return view;
  }

  /** Has all lanes know of this layout, also when a process died before it came to them. */
  async #adoptAll({ gen, wide, size }: View): Promise<void> {
    const calls = Array.from({ length: wide }, (_, lane) => {
      const { gate, bell } = this.keys(lane);
      return adopt.with({ gate, bell, gen, size });
    });
    for (const answer of await this.store.pipeline(calls)) if (answer instanceof ServerError) throw answer;
  }

  ends(lane: number): Ends {
    return this.#ends[lane] ?? { first: 0, last: 0 };
  }

  /** Takes what a script has answered. True if it did its work; otherwise what it said is known now. */
  async settled(lane: number, reply: readonly Reply[], { gen }: View): Promise<boolean> {
    if (verdictOf(reply) === "done") {
      this.#ends[lane] = laneIn(reply);
      return true;
    }
    const fields = fieldsOf(gateIn(reply));
    this.#ends[lane] = { first: Number(fields.get("first") ?? 0), last: Number(fields.get("last") ?? 0) };
    if (Number(fields.get("gen")) !== gen) await this.freshView();
    return false;
  }

  /** How much is in each lane, or null if one of them knows of another layout. */
  async lengths(view: View): Promise<number[] | null> {
    const replies = await this.store.pipeline(
      Array.from({ length: view.wide }, (_, lane) => {
        const { gate, bell } = this.keys(lane);
        return look.with({ gate, bell, gen: view.gen, heard: 0 });
      }),
    );
    const found: number[] = [];
    for (const [lane, reply] of replies.entries()) {
      if (reply instanceof ServerError) throw reply;
      if (!(await this.settled(lane, asList(reply), view))) return null;
      found.push(laneIn(asList(reply)).count);
    }
    return found;
  }

  /** Begins a change. False when one is under way. */
  async reshard(lanes: number | undefined, pieceSize: number | undefined): Promise<boolean> {
    const view = await this.freshView();
    const wanted = lanes ?? view.lanes;
    const planned = {
      root: rootKey(this.prefix, this.name),
      from: view.layout,
      lanes: wanted,
      wide: Math.max(view.wide, wanted),
      size: pieceSize ?? view.size,
    };
    if (view.isMoving || !(await this.store.run(planLanes, planned))) return false;
    await this.freshView();
    return true;
  }

  /** Ends a change if the lanes that were given up are empty. Answers whether there is none under way any more. */
  async settle(): Promise<boolean> {
    const view = await this.freshView();
    if (!view.isMoving) return true;
    const lengths = await this.lengths(view);
    if (lengths?.slice(view.lanes).some((length) => length > 0) !== false) return false;
    await this.store.run(settleLanes, { root: rootKey(this.prefix, this.name), layout: view.layout });
    await this.freshView();
    const given = Array.from({ length: view.wide - view.lanes }, (_, nth) => this.keys(view.lanes + nth));
    if (given.length > 0) await this.store.pipeline(given.map(({ gate, bell }) => ["DEL", gate, bell]));
    return true;
  }
}

function viewOf(fields: ReadonlyMap<string, string>): View {
  const number = (name: string): number => Number(fields.get(name));
  const isMoving = fields.get("moving") === "1";
  const layout = number("l");
  return {
    gen: 2 * layout - (isMoving ? 1 : 0),
    layout,
    lanes: number("lanes"),
    wide: number("wide"),
    size: number("z"),
    isMoving,
  };
}
