/**
 * Which server has what: for each component its shards, and for each of the 16 384 slots (those of Redis Cluster, by the key's
 * tag) the shard that owns it. Pure data and pure functions; what is stored is the data.
 *
 * A change of owner is a move of a few slots at a time. While `moving` says so, nobody may touch these slots. When they have
 * their new owner, what is left of them at the old one stands in `left` until it is deleted, so that nothing old can come back
 * with a later move.
 */
import { word } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { SLOTS } from "../../connection/slots.ts";

/** A server of a component. */
export interface Shard {
  /** Its URL, as `open` takes it. */
  readonly url: string;
  /** Gives its slots away, and is forgotten when it has none. */
  readonly leaving?: boolean;
}

/** Slots from `from` to `to`, both included. */
export interface Slots {
  /** The first slot. */
  readonly from: number;
  /** The last slot. */
  readonly to: number;
}

/** Slots and the shard that owns them. */
export interface Owned extends Slots {
  /** The name of the shard. */
  readonly shard: string;
}

/** Slots on their way from one shard to another. */
export interface Move extends Slots {
  /** The shard that gives them. */
  readonly source: string;
  /** The shard that gets them. */
  readonly target: string;
}

/** Which server has what of a component. */
export interface ComponentLayout {
  /** Its shards by their names. */
  readonly shards: Readonly<Record<string, Shard>>;
  /** The keys that begin with one of these are the component's; without any, every key of its servers is (ownership.ts). */
  readonly prefixes?: readonly string[];
  /** Who owns the 16 384 slots, in their order, without gaps. */
  readonly slots: readonly Owned[];
  /** The slots that are being moved, which nobody may touch; absent while none are. */
  readonly moving?: Move;
  /** Slots that a shard has given away, and whose keys it still has to delete. */
  readonly left?: readonly Owned[];
}

/** The configuration of a fleet. */
export interface Layout {
  /** The components by their names. */
  readonly components: Readonly<Record<string, ComponentLayout>>;
}

export const NOTHING: Layout = { components: {} };

const MOST_SHARDS = 256;

/** A component on these shards, with equal shares. */
export function firstLayout(
  urls: Readonly<Record<string, string>>,
  prefixes: readonly string[] | undefined = undefined,
): ComponentLayout {
  const named = Object.entries(urls).sort(([a], [b]) => (a < b ? -1 : 1));
  if (named.length === 0) throw new InputError("a component needs at least one shard");
  const slots = named.map(([shard], at) => ({
    from: Math.floor((at * SLOTS) / named.length),
    to: Math.floor(((at + 1) * SLOTS) / named.length) - 1,
    shard,
  }));
  const shards = Object.fromEntries(named.map(([name, url]) => [name, { url }]));
  return validComponent("component", { shards, slots, ...(prefixes === undefined ? {} : { prefixes }) });
}

/** Gives a layout its type, or says what is wrong with it. */
export function validLayout(value: unknown): Layout {
  const components = typeof value === "object" && value !== null && "components" in value ? value.components : null;
  if (typeof components !== "object" || components === null) throw new InputError("a layout has components");
  for (const [name, component] of Object.entries(components)) validComponent(`component "${name}"`, component);
  return value as Layout;
}

function validComponent(what: string, component: ComponentLayout): ComponentLayout {
  const shards = Object.entries(component.shards ?? {});
  if (shards.length === 0 || shards.length > MOST_SHARDS) {
    throw new InputError(`${what} has from 1 to ${MOST_SHARDS} shards`);
  }
  const urls = new Set<string>();
  for (const [name, { url }] of shards) {
    word(`the name of a shard of ${what}`, name, 256);
    checkUrl(`${what}, shard "${name}"`, url);
    if (urls.has(url)) throw new InputError(`${what} names the same server for two shards`);
    urls.add(url);
  }
  let next = 0;
  for (const { from, to, shard } of component.slots ?? []) {
    if (from !== next || to < from || !(shard in component.shards)) {
      throw new InputError(`${what}: every slot from 0 to ${SLOTS - 1} has one owner, in order`);
    }
    next = to + 1;
  }
  if (next !== SLOTS) throw new InputError(`${what}: every slot from 0 to ${SLOTS - 1} has one owner, in order`);
  return component;
}

/** The message does not show the URL: there may be a password in it. */
function checkUrl(what: string, url: unknown): void {
  if (typeof url !== "string" || !/^[a-z+]+:\/\//.test(url))
    throw new InputError(`${what} needs a URL as open() takes it`);
  if (/^\w+[+-]cluster:/.test(url)) throw new InputError(`${what} is a Cluster, which has shards of its own`);
}

/** Where a shard is. */
export function urlOf(component: ComponentLayout, shard: string): string {
  const known = component.shards[shard];
  if (known === undefined) throw new InputError(`the layout has no shard "${shard}"`);
  return known.url;
}

/**
 * How many slots each shard has.
 *
 * @example
 * await using server = await RedisMemoryServer.create();
 * await using fleet = await Fleet.open(db);
 * await fleet.define("shop", { a: `redis://127.0.0.1:${await server.getPort()}` });
 * shares(fleet.layout.components.shop!); // → Map { "a" → 16384 }
 */
export function shares(component: ComponentLayout): Map<string, number> {
  const counts = new Map(Object.keys(component.shards).map((name) => [name, 0]));
  for (const { from, to, shard } of component.slots) counts.set(shard, (counts.get(shard) ?? 0) + to - from + 1);
  return counts;
}

/** The next step towards equal shares, of at most so many slots; null when there is none to take. */
export function nextMove(component: ComponentLayout, mostSlots: number): Move | null {
  const shards = Object.entries(component.shards).sort(([a], [b]) => (a < b ? -1 : 1));
  const staying = shards.filter(([, { leaving }]) => leaving !== true).map(([name]) => name);
  const counts = shares(component);
  const ordered = shards.map(([name, { leaving = false }]) => {
    const at = staying.indexOf(name);
    const share = at < 0 ? 0 : Math.floor(SLOTS / staying.length) + (at < SLOTS % staying.length ? 1 : 0);
    // Positive: has too many.
    return { name, leaving, excess: (counts.get(name) ?? 0) - share };
  });
  ordered.sort((a, b) => b.excess - a.excess);
  const [most, least] = [ordered[0], ordered.at(-1)];
  // One more or less is not worth a move.
  if (most === undefined || most.excess <= (most.leaving ? 0 : 1)) return null;
  if (least === undefined || least.excess >= 0) return null;
  const [source, target] = [most.name, least.name];
  const owned = component.slots.findLast(({ shard }) => shard === source);
  if (owned === undefined) return null;
  const { from, to } = owned;
  const count = Math.min(most.excess, -least.excess, mostSlots, to - from + 1);
  return { from: to - count + 1, to, source, target };
}

/** The owners after a move. */
export function moved(slots: readonly Owned[], move: Move): Owned[] {
  const pieces = slots.flatMap((owned) => cut(owned, move));
  pieces.push({ from: move.from, to: move.to, shard: move.target });
  pieces.sort((a, b) => a.from - b.from);
  const joined: Owned[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last?.shard === piece.shard) joined[joined.length - 1] = { ...last, to: piece.to };
    else joined.push(piece);
  }
  return joined;
}

/** What remains of a range without another. */
function cut(owned: Owned, { from, to }: Slots): Owned[] {
  if (to < owned.from || from > owned.to) return [owned];
  const before = owned.from < from ? [{ ...owned, to: from - 1 }] : [];
  const after = owned.to > to ? [{ ...owned, from: to + 1 }] : [];
  return [...before, ...after];
}

export function overlap(a: Slots, b: Slots): boolean {
  return a.from <= b.to && b.from <= a.to;
}

/** Whether something was begun that is not finished. */
export function isUnfinished(component: ComponentLayout): boolean {
  const { moving, left = [], shards } = component;
  const isLeaving = Object.values(shards).some(({ leaving }) => leaving === true);
  return moving !== undefined || left.length > 0 || isLeaving || nextMove(component, 1) !== null;
}
