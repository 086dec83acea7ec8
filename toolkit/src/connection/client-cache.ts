/**
 * Replies to reads, kept in this process until the server says that their keys have changed (invalidations.ts).
 *
 * **Never older than the server's word.** A read takes its place before it is sent. A change of one of its keys, told by the server
 * or made through this store, takes the place away, and the reply is then passed on but not kept. So it does not matter which
 * connection is faster. The loss of a connection that tells of changes empties the cache.
 *
 * **Own writes are seen.** When a write through this store has been answered, its keys are forgotten before the caller knows.
 *
 * **Keys that expire.** A server tells of an expiry when it deletes the key, which may be long after its time. So a reply is kept
 * no longer than its keys live: their PTTL is asked for together with each read that is kept.
 *
 * **Bounded** by `maxBytes`; what was not used for longest goes first. Replies are copied when they are kept and when they are
 * given out, so callers may change what they get.
 */
import { InputError } from "../base/errors.ts";
import type { Tracking } from "./invalidations.ts";
import type { Reply, Word } from "./port.ts";

/** Which replies are kept in this process, and how much memory they take. */
export interface ClientCacheOptions {
  /** Reads of keys that begin with one of these are kept. One must not begin with another. */
  readonly prefixes: readonly string[];
  /** How much memory replies may take, about. 16 MB by default. */
  readonly maxBytes?: number;
}

/** How the client cache does, since the store was opened. */
export interface ClientCacheStats {
  /** Replies that are kept. */
  readonly entries: number;
  /** The memory that they take, about. */
  readonly bytes: number;
  /** Reads that were answered from memory. */
  readonly hits: number;
  /** Reads that were sent to the server, though their replies may be kept. */
  readonly misses: number;
  /** Replies that were forgotten because a key had changed. */
  readonly invalidated: number;
}

const DEFAULT_MAX_BYTES = 16 << 20;
/** What an entry takes besides its reply and its text. */
const ENTRY_BYTES = 256;
const ITEM_BYTES = 16;

/** Reads of one key, which stands first. What they answer depends on nothing but the key. */
const ONE_KEY = `BITCOUNT BITPOS GEODIST GEOHASH GEOPOS GEOSEARCH GET GETBIT GETRANGE HEXISTS HGET HGETALL HKEYS HLEN HMGET HSTRLEN
  HVALS LINDEX LLEN LPOS LRANGE SCARD SISMEMBER SMEMBERS SMISMEMBER STRLEN TYPE XLEN XRANGE XREVRANGE ZCARD ZCOUNT ZLEXCOUNT
  ZMSCORE ZRANGE ZRANGEBYLEX ZRANGEBYSCORE ZRANK ZREVRANGE ZREVRANGEBYLEX ZREVRANGEBYSCORE ZREVRANK ZSCORE`;
/** Reads whose words are all keys. */
const ALL_KEYS = "EXISTS MGET SDIFF SINTER SUNION";

/** True: all words are keys. Names in upper and lower case, as programs write them. */
const CACHEABLE = new Map<Word, boolean>();
for (const [names, isAll] of [
  [ONE_KEY, false],
  [ALL_KEYS, true],
] as const) {
  for (const name of names.split(/\s+/)) CACHEABLE.set(name, isAll).set(name.toLowerCase(), isAll);
}

/** A read that may be kept. */
export interface Read {
  /** Tells one read from another. */
  readonly id: string;
  readonly keys: readonly string[];
}

/** A read that is under way or kept. */
export class Place {
  readonly read: Read;
  reply: Reply = null;
  bytes = 0;
  /** Monotonic. */
  until = Number.POSITIVE_INFINITY;
  /** What has not been answered yet: the read, and the time to live of each of its keys. */
  missing: number;
  isTaken = true;

  constructor(read: Read) {
    this.read = read;
    this.missing = 1 + read.keys.length;
  }
}

export class ClientCache {
  readonly #prefixes: readonly string[];
  readonly #maxBytes: number;
  /** Those that are kept, the one used last at the end. */
  readonly #kept = new Map<string, Place>();
  /** Of each key, all that are kept or under way. */
  readonly #byKey = new Map<string, Set<Place>>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;
  #invalidated = 0;

  constructor({ prefixes, maxBytes = DEFAULT_MAX_BYTES }: ClientCacheOptions) {
    refuseOverlap(prefixes);
    this.#prefixes = prefixes;
    this.#maxBytes = maxBytes;
  }

  /** What the servers have to tell it. */
  get tracking(): Tracking {
    return { prefixes: this.#prefixes, changed: (keys) => this.forget(keys) };
  }

  stats(): ClientCacheStats {
    return {
      entries: this.#kept.size,
      bytes: this.#bytes,
      hits: this.#hits,
      misses: this.#misses,
      invalidated: this.#invalidated,
    };
  }

  /** The read that a command is, if its reply may be kept. */
  readOf(words: readonly Word[], buffers: boolean): Read | null {
    const isAll = CACHEABLE.get(words[0]!);
    if (isAll === undefined || words.length < 2) return null;
    const keys: string[] = [];
    let id = buffers ? `b${words[0]}` : String(words[0]);
    for (let at = 1; at < words.length; at++) {
      const word = words[at]!;
      if (typeof word === "object") return null;
      const text = String(word);
      if (at === 1 || isAll) {
        if (!this.#isOurs(text)) return null;
        keys.push(text);
      }
      // With their lengths: words may hold any characters.
      id += ` ${text.length} ${text}`;
    }
    return { id, keys };
  }

  #isOurs(text: string): boolean {
    for (const prefix of this.#prefixes) if (text.startsWith(prefix)) return true;
    return false;
  }

  /** A reply that is kept. Undefined: there is none. */
  get({ id }: Read, now: number): Reply | undefined {
    const place = this.#kept.get(id);
    if (place !== undefined && place.until > now) {
      this.#hits++;
      this.#kept.delete(id);
      this.#kept.set(id, place);
      return copied(place.reply);
    }
    if (place !== undefined) this.#leave(place);
    this.#misses++;
    return undefined;
  }

  /** Takes a place for a read that is about to be sent. */
  take(read: Read): Place {
    const place = new Place(read);
    for (const key of read.keys) {
      const places = this.#byKey.get(key);
      if (places === undefined) this.#byKey.set(key, new Set([place]));
      else places.add(place);
    }
    return place;
  }

  answered(place: Place, reply: Reply): void {
    if (!place.isTaken) return;
    place.reply = copied(reply);
    this.#settle(place);
  }

  /** One of its keys lives until then; infinity: as long as it likes. */
  lives(place: Place, until: number): void {
    if (!place.isTaken) return;
    place.until = Math.min(place.until, until);
    this.#settle(place);
  }

  #settle(place: Place): void {
    if (--place.missing > 0) return;
    const { id } = place.read;
    const before = this.#kept.get(id);
    if (before !== undefined) this.#leave(before);
    place.bytes = ENTRY_BYTES + 2 * id.length + sizeOf(place.reply);
    this.#bytes += place.bytes;
    this.#kept.set(id, place);
    for (const oldest of this.#kept.values()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#leave(oldest);
    }
  }

  /** Gives a place up: the read has failed, or must not be kept. */
  give(place: Place): void {
    if (place.isTaken) this.#leave(place);
  }

  #leave(place: Place): void {
    place.isTaken = false;
    const { id, keys } = place.read;
    if (this.#kept.get(id) === place) {
      this.#kept.delete(id);
      this.#bytes -= place.bytes;
    }
    for (const key of keys) {
      const places = this.#byKey.get(key);
      if (places?.delete(place) === true && places.size === 0) this.#byKey.delete(key);
    }
  }

  /** These keys have changed; null: all of them may have. */
  forget(keys: readonly string[] | null): void {
    if (keys === null) {
      this.#invalidated += this.#kept.size;
      for (const places of [...this.#byKey.values()]) for (const place of [...places]) this.#leave(place);
      return;
    }
    for (const key of keys) {
      const places = this.#byKey.get(key);
      if (places === undefined) continue;
      for (const place of [...places]) {
        if (place.missing === 0) this.#invalidated++;
        this.#leave(place);
      }
    }
  }

  /** A command through this store has been answered, or may have run: what it may have changed is forgotten. */
  wrote(words: readonly Word[]): void {
    const name = String(words[0]).toUpperCase();
    if (name === "FLUSHALL" || name === "FLUSHDB" || name === "SWAPDB") {
      this.forget(null);
      return;
    }
    for (let at = 1; at < words.length; at++) {
      const word = words[at]!;
      // Any word may be a key: one that is none is nobody's entry.
      const text = typeof word === "string" ? word : word instanceof Uint8Array ? textOf(word) : undefined;
      if (text !== undefined && this.#byKey.has(text)) this.forget([text]);
    }
  }
}

/** Servers refuse them too, but with less to say. */
function refuseOverlap(prefixes: readonly string[]): void {
  if (prefixes.length === 0) throw new InputError("clientCache.prefixes is empty: it says whose reads are kept");
  for (const [at, prefix] of prefixes.entries()) {
    const other = prefixes.find((each, place) => place !== at && each.startsWith(prefix));
    if (other === undefined) continue;
    throw new InputError(
      `clientCache.prefixes has "${prefix}" and "${other}", which begins with it: one of them is enough`,
    );
  }
}

/** Keys are short; values may be large. */
const LONGEST_KEY = 64 << 10;

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > LONGEST_KEY) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
}

function copied(reply: Reply): Reply {
  if (Array.isArray(reply)) return reply.map(copied);
  return Buffer.isBuffer(reply) ? Buffer.from(reply) : reply;
}

function sizeOf(reply: Reply): number {
  if (typeof reply === "string") return 2 * reply.length + ITEM_BYTES;
  if (Buffer.isBuffer(reply)) return reply.length + 96;
  if (!Array.isArray(reply)) return ITEM_BYTES;
  return reply.reduce((sum: number, each) => sum + sizeOf(each), ITEM_BYTES);
}
