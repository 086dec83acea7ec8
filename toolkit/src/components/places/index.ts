/**
 * From an internet address to a place.
 *
 *   const places = new Places<{ country: string }>(store);
 *   await places.load(ranges("geo-whois-asn-country-ipv4.csv", { columns: ["country"] }));
 *   await places.get("1.0.1.7");                         // { place: { country: "CN" }, from: "1.0.1.0", to: "1.0.3.255" }
 *
 * IPv4 and IPv6. A look-up is one round trip, for one address or many. A load goes beside what is in use and takes its place in
 * one step; one that fails or dies changes nothing.
 */
import { aStore } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import { dropOldest, only, zipped } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { callback, defineOptions, number, prefix, signal, text, whole } from "../../base/options.ts";
import { asTextOrNull, asTexts, asTuple } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { type Address, type Family, formatAddress, parseAddress } from "./address.ts";
import { metaKey, type TableKeys, tableKeys } from "./keys.ts";
import { type BadRows, Loader, type Progress, type Row, removeVersion } from "./loader.ts";
import { activate, type FoundRange, find } from "./scripts.ts";

export type { BadRows, Progress, Row } from "./loader.ts";
export { type City, geoLite, type RangesOptions, ranges, type Source } from "./sources.ts";

const AT_ONCE = 500;

/** What `Places` may be given. */
export interface PlacesOptions {
  /** How all keys begin (default "places"). */
  readonly prefix?: string;
  /** Several tables may stand beside each other (default "default"). */
  readonly name?: string;
  /** How many answers are kept in this process, each for a minute at most. 0, the default: none. */
  readonly remember?: number;
}

/** A place, and the range of addresses that it was found for. */
export interface FoundPlace<P> {
  /** What the table says of the address. */
  readonly place: P;
  /** The range that the address is in, or the piece of it that others leave. */
  readonly from: string;
  /** The last address of the range. */
  readonly to: string;
}

/** What a load came to. */
export interface LoadReport {
  /** A random name of what was loaded. */
  readonly version: string;
  /** As stored: a range that others lie in counts as its pieces. */
  readonly ranges: number;
  /** How many different places there are. */
  readonly places: number;
  /** What ranges and places take, without the server's own. */
  readonly bytes: number;
  /** The rows that were left out. */
  readonly bad: BadRows;
}

/** How a table is loaded. */
export interface LoadOptions {
  /** Called every ten thousand rows. By default nobody is told. */
  readonly onProgress?: (progress: Progress) => void;
  /** Ends the load, which rejects with its reason; what was there stays. None by default. */
  readonly signal?: AbortSignal;
  /** With a smaller part of good rows than this the load is refused, and what was there stays. From 0 to 1 (default 0.5). */
  readonly minGood?: number;
}

const REMEMBER_MS = 60_000;

const OPTIONS = defineOptions<PlacesOptions>("Places", {
  prefix,
  name: text,
  remember: whole(0, 1_000_000),
});

const LOAD_OPTIONS = defineOptions<LoadOptions>("Places.load", {
  onProgress: callback,
  signal,
  minGood: number(0, 1),
});

/**
 * From an internet address to its place, v4 and v6, out of tables that people publish as CSV.
 *
 * @example
 * import { Readable } from "node:stream";
 * const places = new Places<Readonly<Record<string, string>>>(db);
 * await places.load(ranges(Readable.from(["1.0.1.0,1.0.3.255,CN\n", "2001:db8::/32,DE\n"])));
 * await places.get("1.0.1.7"); // → { place: { country: "CN" }, from: "1.0.1.0", to: "1.0.3.255" }
 * (await places.getMany(["2001:db8::17", "9.9.9.9"])).map((found) => found?.place.country); // → ["DE", undefined]
 * @example
 * import { Readable } from "node:stream";
 * const places = new Places(db, { name: "countries" });
 * await places.load(ranges(Readable.from(["2.16.0.0/16,IT\n"])), { minGood: 0.9 });
 * (await places.inspect())?.ranges; // → 1
 * await places.clear();
 * await places.inspect(); // → null
 */
export class Places<P = unknown> {
  readonly #store: Store;
  readonly #keys: TableKeys;
  readonly #remember: number;
  readonly #known = new Map<string, { readonly found: FoundPlace<P> | null; readonly until: number }>();
  readonly #names: NameIndex;
  readonly #name: string;

  constructor(store: Store, options: PlacesOptions = {}) {
    aStore("Places", store);
    OPTIONS.check(options);
    this.#store = store;
    this.#keys = tableKeys(options.prefix ?? "places", options.name ?? "default");
    this.#names = new NameIndex(store, { kind: "places", prefix: options.prefix ?? "places" });
    this.#name = options.name ?? "default";
    this.#remember = options.remember ?? 0;
  }

  /** The place of an address; null if none is known. */
  async get(address: string): Promise<FoundPlace<P> | null> {
    return only(await this.getMany([address]));
  }

  /** The places of many addresses, in one round trip for each 500. */
  async getMany(addresses: readonly string[]): Promise<(FoundPlace<P> | null)[]> {
    const parsed = addresses.map((text) => {
      const address = typeof text === "string" ? parseAddress(text.trim()) : null;
      if (address === null) throw new InputError(`"${String(text).slice(0, 100)}" is no internet address`);
      return address;
    });
    const found: (FoundPlace<P> | null)[] = parsed.map((address) => this.#remembered(address) ?? null);
    const unknown = parsed.flatMap((address, at) => {
      return this.#remembered(address) === undefined ? [{ at, address }] : [];
    });
    for (let begin = 0; begin < unknown.length; begin += AT_ONCE) {
      const part = unknown.slice(begin, begin + AT_ONCE);
      const words = part.flatMap(({ address: { family, bytes } }) => [family, bytes.toString("hex")]);
      const { current, base } = this.#keys;
      const answers = await this.#store.run(find, { current, base, addresses: words });
      for (const [{ at, address }, answer] of zipped(part, answers)) {
        const place = toFound<P>(answer, address.family);
        found[at] = place;
        this.#keep(address, place);
      }
    }
    return found;
  }

  /** Loads a table from rows, as `ranges` and `geoLite` read them out of files, and uses it from then on. */
  async load(rows: AsyncIterable<Row<P>> | Iterable<Row<P>>, options: LoadOptions = {}): Promise<LoadReport> {
    LOAD_OPTIONS.check(options);
    this.#names.announce(this.#name);
    const { onProgress = () => {}, signal, minGood = 0.5 } = options;
    const loader = new Loader<P>(this.#store, this.#keys, randomToken());
    for (const left of await loader.heartbeat()) await removeVersion(this.#store, this.#keys, left);
    try {
      await loader.load(rows, onProgress, signal);
      const { ranges, bad } = loader.report;
      if (ranges === 0 || ranges / (ranges + bad.count) < minGood) {
        const [example] = bad.examples;
        const because = example === undefined ? "" : `; the first: ${example.reason} (${example.line})`;
        throw new InputError(`${bad.count} of ${ranges + bad.count} rows are bad${because}`);
      }
    } catch (error) {
      await removeVersion(this.#store, this.#keys, loader.version).catch(() => {});
      throw error;
    }
    const { current, versions } = this.#keys;
    const before = await this.#store.run(activate, { current, versions, version: loader.version });
    this.#known.clear();
    if (before !== "") await removeVersion(this.#store, this.#keys, before);
    return { version: loader.version, ...loader.report };
  }

  /** What is loaded; null if nothing is. */
  async inspect(): Promise<Omit<LoadReport, "bad"> | null> {
    const version = asTextOrNull(await this.#store.call("GET", this.#keys.current));
    if (version === null) return null;
    const meta = await this.#store.call("HMGET", metaKey(this.#keys.base, version), "ranges", "places", "bytes");
    const [ranges, places, bytes] = asTuple(asTextOrNull, asTextOrNull, asTextOrNull)(meta);
    return { version, ranges: Number(ranges), places: Number(places), bytes: Number(bytes) };
  }

  /** Removes everything. */
  async clear(): Promise<void> {
    const versions = asTexts(await this.#store.call("ZRANGE", this.#keys.versions, 0, -1));
    await this.#store.call("DEL", this.#keys.current);
    this.#known.clear();
    for (const version of versions) await removeVersion(this.#store, this.#keys, version);
    await this.#names.remove(this.#name);
  }

  #remembered(address: Address): FoundPlace<P> | null | undefined {
    if (this.#remember === 0) return undefined;
    const known = this.#known.get(address.bytes.toString("latin1"));
    return known === undefined || known.until < this.#store.clock.monotonicMs() ? undefined : known.found;
  }

  #keep(address: Address, found: FoundPlace<P> | null): void {
    if (this.#remember === 0) return;
    if (this.#known.size >= this.#remember) dropOldest(this.#known);
    this.#known.set(address.bytes.toString("latin1"), { found, until: this.#store.clock.monotonicMs() + REMEMBER_MS });
  }
}

function toFound<P>(answer: FoundRange | null, family: Family): FoundPlace<P> | null {
  if (answer === null) return null;
  const [from, to, json] = answer;
  const text = (hex: string): string => formatAddress({ family, bytes: Buffer.from(hex, "hex") });
  return { place: JSON.parse(json), from: text(from), to: text(to) };
}
