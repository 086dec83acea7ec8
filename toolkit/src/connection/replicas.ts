/**
 * Reads from replicas, no older than asked.
 *
 * How old a replica is, is measured and not assumed. Now and then the primary is asked how far its stream of changes is, and
 * then each replica how far it has followed. A replica that has followed to offset `o` has everything that the primary had
 * when its own offset was at most `o`: the time at which that question was sent is the moment up to which the replica is
 * known to be fresh (`freshAsOf`). An answer of it is then at most `now - freshAsOf` old, whatever the network does. No clock
 * but this process's own monotonic one is used, and no command is added to a write: a write that was answered before the
 * question was sent is in it, so read-your-writes is the same comparison.
 *
 * Nothing is asked while nobody reads: a read that finds its measurement old begins a new one and goes to the primary if it
 * cannot be sure. So does everything that is not a read of a key, and a read whose replica fails.
 */
import { integer, oneOf } from "../base/checks.ts";
import type { Clock, Timer } from "../base/clock.ts";
import { ConnectionError, InputError, ServerError } from "../base/errors.ts";
import { zipped } from "../base/lists.ts";
import { asReply } from "../base/replies.ts";
import { dialWire, type Endpoint, labelOf, request, type Settings } from "./dial.ts";
import { Line } from "./line.ts";
import type {
  Answer,
  ConnectionState,
  Driver,
  ReadPolicy,
  Reply,
  Request,
  Session,
  SessionOptions,
  Subscriber,
  SubscriberEvents,
  Topology,
  WorkerAddress,
} from "./port.ts";
import { isRead, routingKey } from "./routing.ts";

/** A primary and its replicas; one, or in a Cluster one for each range of slots. */
export interface Group {
  /** The same for the same primary. */
  readonly label: string;
  /** Asks the primary. */
  ask(request: Request): Promise<Answer>;
}

/** A driver that says which primary has a key. */
export interface Grouped extends Driver {
  groupOf(key: string): Group;
}

export interface ReplicaOptions {
  readonly settings: Settings;
  readonly policy: ReadPolicy;
  /** Where servers are reached under other addresses than their own. */
  readonly translate?: ((endpoint: Endpoint) => Endpoint) | undefined;
}

const DEFAULT_MAX_LAG_MS = 1_000;
/** A measurement is made anew when it is older than this part of what is allowed, and within these bounds. */
const MEASURE_PART = 4;
const LEAST_MEASURE_MS = 20;
const LONGEST_MEASURE_MS = 1_000;
/** So many past offsets of a primary are remembered: a replica that is behind is compared with these. */
const REMEMBERED = 64;

/** The primary is to be asked instead. */
const ELSEWHERE = Symbol("elsewhere");
/** What a replica says when it cannot answer, though another can. */
const ELSEWHERE_CODES = new Set([
  "ASK",
  "CLUSTERDOWN",
  "LOADING",
  "MASTERDOWN",
  "MOVED",
  "NOAUTH",
  "NOPERM",
  "READONLY",
]);

export function checkedPolicy(policy: ReadPolicy): ReadPolicy {
  oneOf("reads.from", policy.from, ["primary", "replicas"]);
  if (policy.from === "replicas" && policy.maxLagMs !== undefined) integer("maxLagMs", policy.maxLagMs, 1);
  if (policy.from === "replicas" && policy.after !== undefined) positionOf(policy.after);
  return policy;
}

interface Position {
  readonly id: string;
  readonly offset: number;
}

/** How far a stream of changes is: `id:offset`, out of INFO replication. */
export function positionIn(info: string): string {
  const id = field(info, "master_replid");
  const offset = field(info, "master_repl_offset");
  if (id === undefined || offset === undefined) throw new InputError("the server does not say how far it is");
  return `${id}:${offset}`;
}

function positionOf(text: string): Position {
  const [, id, offset] = /^([0-9a-f]{40}):(\d{1,16})$/.exec(text) ?? [];
  if (id === undefined) throw new InputError(`"${text}" is no position; store.position() gives one`);
  return { id, offset: Number(offset) };
}

function field(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:([^\\r\\n]*)`, "m").exec(info)?.[1];
}

const INFO = request("INFO", "replication");

async function infoOf(asking: Promise<Answer>): Promise<string> {
  const answer = await asking;
  if (answer instanceof ServerError) throw answer;
  return String(answer);
}

class Replica {
  readonly label: string;
  readonly line: Line;
  /** Everything that the primary had at this moment is here. */
  freshAsOf = Number.NEGATIVE_INFINITY;
  position: Position | null = null;
  isLookedAt = false;

  constructor(endpoint: Endpoint, settings: Settings, isCluster: boolean) {
    this.label = labelOf(endpoint);
    const dial = async () => {
      const wire = await dialWire(endpoint, settings);
      // A node of a Cluster sends readers away unless they say that they know what they do.
      if (isCluster) await wire.ask(request("READONLY"), { timeoutMs: settings.connectTimeoutMs });
      return wire;
    };
    this.line = new Line({ settings, dial, onState: () => {} });
  }

  /** Trusted again only when it has been measured again. */
  distrust(): void {
    this.freshAsOf = Number.NEGATIVE_INFINITY;
    this.position = null;
  }
}

/** The replicas of one primary, and how fresh they are. */
class Following {
  readonly #group: Group;
  readonly #options: ReplicaOptions;
  readonly #isCluster: boolean;
  readonly #clock: Clock;
  readonly #replicas = new Map<string, Replica>();
  /** Where the primary was, by when it was asked; the latest last. */
  #past: { readonly askedAt: number; readonly position: Position }[] = [];
  #measuring: Promise<void> | null = null;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #next = 0;
  /** Who last said NOSCRIPT. */
  #unknowing: Replica | null = null;
  /** When the last write through this driver was over. */
  wroteAt = Number.NEGATIVE_INFINITY;

  constructor(group: Group, options: ReplicaOptions, isCluster: boolean) {
    this.#group = group;
    this.#options = options;
    this.#isCluster = isCluster;
    this.#clock = options.settings.clock;
  }

  /** A replica that may answer; null if none is known to be fresh enough. */
  choose(policy: ReadPolicy, bySource = false): Replica | null {
    if (policy.from === "primary") return null;
    const { maxLagMs = DEFAULT_MAX_LAG_MS, readYourWrites = false } = policy;
    const now = this.#clock.monotonicMs();
    const after = policy.after === undefined ? null : positionOf(policy.after);
    const oldest = Math.max(now - maxLagMs, readYourWrites ? this.wroteAt : Number.NEGATIVE_INFINITY);
    const fit = [...this.#replicas.values()].filter(
      ({ freshAsOf, position, line }) => line.ready && freshAsOf >= oldest && reaches(position, after),
    );
    // Sooner when it may be for want of a look that nobody fits.
    const dueMs = fit.length === 0 ? 0 : Math.min(maxLagMs / MEASURE_PART, LONGEST_MEASURE_MS);
    if (now - this.#measuredAt > Math.max(LEAST_MEASURE_MS, dueMs)) this.#measure();
    if (fit.length === 0) return null;
    // A script's source follows where its name was not known.
    const known = bySource && this.#unknowing !== null && fit.includes(this.#unknowing) ? this.#unknowing : null;
    return known ?? fit[this.#next++ % fit.length]!;
  }

  /** Takes note of what an answer says about the replica. */
  note(replica: Replica, answer: Answer): void {
    if (answer instanceof ServerError && answer.code === "NOSCRIPT") this.#unknowing = replica;
  }

  #measure(): void {
    this.#measuring ??= this.#measured()
      .catch(() => {})
      .finally(() => {
        this.#measuring = null;
        this.#measuredAt = this.#clock.monotonicMs();
      });
  }

  async #measured(): Promise<void> {
    const askedAt = this.#clock.monotonicMs();
    const info = await infoOf(this.#group.ask(INFO));
    const position = positionOf(positionIn(info));
    if (this.#past.at(-1)?.position.id !== position.id) this.#past = [];
    this.#past.push({ askedAt, position });
    if (this.#past.length > REMEMBERED) this.#past.shift();
    this.#know(endpointsIn(info).map((each) => this.#options.translate?.(each) ?? each));
    // Not waited for: one that stands still must not keep the others from being looked at.
    for (const replica of this.#replicas.values()) void this.#look(replica);
  }

  async #look(replica: Replica): Promise<void> {
    if (replica.isLookedAt) return;
    replica.isLookedAt = true;
    try {
      const info = await infoOf(replica.line.ask(INFO));
      const follows =
        field(info, "role") === "slave" &&
        field(info, "master_link_status") === "up" &&
        field(info, "master_sync_in_progress") === "0";
      if (!follows) return replica.distrust();
      replica.position = positionOf(positionIn(info));
      replica.freshAsOf =
        this.#past.findLast(({ position }) => reaches(replica.position, position))?.askedAt ?? -Infinity;
    } catch {
      replica.distrust();
    } finally {
      replica.isLookedAt = false;
    }
  }

  #know(endpoints: readonly Endpoint[]): void {
    const labels = new Set(endpoints.map(labelOf));
    for (const endpoint of endpoints) {
      const label = labelOf(endpoint);
      if (!this.#replicas.has(label)) {
        this.#replicas.set(label, new Replica(endpoint, this.#options.settings, this.#isCluster));
      }
    }
    for (const [label, replica] of [...this.#replicas]) {
      if (labels.has(label)) continue;
      this.#replicas.delete(label);
      void replica.line.close();
    }
  }

  async close(): Promise<void> {
    await this.#measuring;
    await Promise.all([...this.#replicas.values()].map(({ line }) => line.close()));
  }
}

/** Whether a server at `position` has all that was there at `other`. */
function reaches(position: Position | null, other: Position | null): boolean {
  if (other === null) return true;
  return position !== null && position.id === other.id && position.offset >= other.offset;
}

/** The replicas that follow, out of the primary's INFO replication. */
function endpointsIn(info: string): Endpoint[] {
  return [...info.matchAll(/^slave\d+:ip=([^,]+),port=(\d+),state=online/gm)].flatMap(([, host, port]) =>
    host === undefined ? [] : [{ host, port: Number(port) }],
  );
}

export class ReplicaDriver implements Driver {
  readonly topology: Topology;
  readonly address: WorkerAddress | null;
  readonly #inner: Grouped;
  readonly #options: ReplicaOptions;
  readonly #followings = new Map<string, Following>();

  constructor(inner: Grouped, options: ReplicaOptions) {
    this.#inner = inner;
    this.#options = { ...options, policy: checkedPolicy(options.policy) };
    this.topology = inner.topology;
    this.address = inner.address;
  }

  async send(each: Request): Promise<Reply> {
    const key = readKey(each);
    if (key === undefined) return this.#write([each], () => this.#inner.send(each));
    const following = this.#following(key);
    const replica = following.choose(each.reads ?? this.#options.policy, each.words[0] === "EVAL");
    if (replica === null) return this.#inner.send(each);
    const answer = await this.#answerOf(replica, each, replica.line.ask(each));
    if (answer === ELSEWHERE) return this.#inner.send(each);
    following.note(replica, answer);
    return asReply(answer);
  }

  async sendMany(requests: readonly Request[]): Promise<Answer[]> {
    const reads: { readonly at: number; readonly request: Request; readonly key: string }[] = [];
    for (const [at, request] of requests.entries()) {
      const key = readKey(request);
      // With a write among them, the order of what concerns one key is kept by one connection.
      if (key === undefined) return this.#write(requests, () => this.#inner.sendMany(requests));
      reads.push({ at, request, key });
    }
    const answers: Answer[] = new Array(requests.length).fill(null);
    const groups = new Map<Following, [(typeof reads)[number], ...typeof reads]>();
    for (const read of reads) {
      const following = this.#following(read.key);
      const group = groups.get(following);
      if (group === undefined) groups.set(following, [read]);
      else group.push(read);
    }
    await Promise.all(
      [...groups].map(async ([following, group]) => {
        const got = await this.#readMany(
          following,
          group[0].request,
          group.map(({ request }) => request),
        );
        for (const [{ at }, answer] of zipped(group, got)) answers[at] = answer;
      }),
    );
    return answers;
  }

  async #readMany(following: Following, first: Request, requests: readonly Request[]): Promise<Answer[]> {
    const replica = following.choose(first.reads ?? this.#options.policy);
    if (replica === null) return this.#inner.sendMany(requests);
    const answers = await this.#answerOf(replica, first, replica.line.askAll(requests));
    if (answers === ELSEWHERE || answers.some(isElsewhere)) return this.#inner.sendMany(requests);
    return answers;
  }

  /**
   * What the replica answers; ELSEWHERE if the primary is to be asked instead. A replica that stays silent for as long as its
   * answers may be old is no help: it is asked again when it has been measured again.
   */
  async #answerOf<T extends Answer | Answer[]>(
    replica: Replica,
    each: Request,
    asking: Promise<T>,
  ): Promise<T | typeof ELSEWHERE> {
    const policy = each.reads ?? this.#options.policy;
    const patienceMs = (policy.from === "replicas" ? policy.maxLagMs : undefined) ?? DEFAULT_MAX_LAG_MS;
    let timer: Timer | undefined;
    const silent = new Promise<typeof ELSEWHERE>((resolve) => {
      timer = this.#options.settings.clock.after(patienceMs, () => resolve(ELSEWHERE));
    });
    try {
      const answer = await Promise.race([asking, silent]);
      if (answer !== ELSEWHERE && (Array.isArray(answer) || !isElsewhere(answer))) return answer;
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
    } finally {
      timer?.cancel();
    }
    replica.distrust();
    return ELSEWHERE;
  }

  transact(requests: readonly Request[]): Promise<Answer[]> {
    return this.#write(requests, () => this.#inner.transact(requests));
  }

  /** Notes when a write was over, whatever became of it. */
  async #write<T>(requests: readonly Request[], send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } finally {
      const now = this.#options.settings.clock.monotonicMs();
      for (const { key, words } of requests) {
        const of = key ?? routingKey(words);
        if (of !== undefined) this.#following(of).wroteAt = now;
      }
    }
  }

  #following(key: string): Following {
    const group = this.#inner.groupOf(key);
    let following = this.#followings.get(group.label);
    if (following === undefined) {
      following = new Following(group, this.#options, this.topology === "cluster");
      this.#followings.set(group.label, following);
    }
    return following;
  }

  /** What is done over a connection of its own counts as a write from beginning to end. */
  async session(key: string | undefined, options?: SessionOptions): Promise<Session> {
    const session = await this.#inner.session(key, options);
    const noted = <T>(requests: readonly Request[], sending: Promise<T>) => this.#write(requests, () => sending);
    return {
      send: (each) => noted([each], session.send(each)),
      sendMany: (requests) => noted(requests, session.sendMany(requests)),
      destroy: () => session.destroy(),
    };
  }

  subscriber(events: SubscriberEvents): Promise<Subscriber> {
    return this.#inner.subscriber(events);
  }

  sendToAll(each: Request): Promise<Answer[]> {
    return this.#inner.sendToAll(each);
  }

  onState(listener: (state: ConnectionState) => void): () => void {
    return this.#inner.onState(listener);
  }

  serverOf(key: string | undefined): string {
    return this.#inner.serverOf?.(key) ?? "";
  }

  servers(): readonly string[] {
    return this.#inner.servers?.() ?? [""];
  }

  probe(server: string): Promise<unknown> {
    return this.#inner.probe?.(server) ?? Promise.resolve();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#followings.values()].map((following) => following.close()));
    await this.#inner.close();
  }
}

/** The key of a request that may be answered by a replica. */
function readKey({ words, key, readOnly }: Request): string | undefined {
  if (readOnly !== true && !isRead(words)) return undefined;
  return key ?? routingKey(words);
}

function isElsewhere(answer: Answer): boolean {
  return answer instanceof ServerError && ELSEWHERE_CODES.has(answer.code);
}

/** The same driver, with another answer to who may answer reads. It is not closed with what stands on it. */
export function readingDriver(inner: Driver, policy: ReadPolicy): Driver {
  const reads = checkedPolicy(policy);
  const told = (each: Request): Request => ({ ...each, reads });
  return {
    ...sharedDriver(inner),
    send: (each) => inner.send(told(each)),
    sendMany: (requests) => inner.sendMany(requests.map(told)),
  };
}

/** The same connections for another store, which does not end them. */
export function sharedDriver(inner: Driver): Driver {
  const probe = inner.probe?.bind(inner);
  const feed = inner.feed?.bind(inner);
  return {
    topology: inner.topology,
    address: inner.address,
    send: (each) => inner.send(each),
    sendMany: (requests) => inner.sendMany(requests),
    transact: (requests) => inner.transact(requests),
    session: (key, options) => inner.session(key, options),
    subscriber: (events) => inner.subscriber(events),
    sendToAll: (each) => inner.sendToAll(each),
    onState: (listener) => inner.onState(listener),
    serverOf: (key) => inner.serverOf?.(key) ?? "",
    servers: () => inner.servers?.() ?? [""],
    ...(probe === undefined ? {} : { probe }),
    ...(feed === undefined ? {} : { feed }),
    close: async () => {},
  };
}
