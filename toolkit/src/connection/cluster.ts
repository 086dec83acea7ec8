/**
 * A Cluster: a line to each primary, and a table from slot to line. The table comes from CLUSTER SLOTS and is corrected by what
 * the nodes say: MOVED names the slot's new owner, ASK the node that has a key of a slot on its way. Both say that the command
 * did not run, so it goes there at once. CLUSTERDOWN and TRYAGAIN pass through: `Store` tries again after a pause.
 *
 * Requests that leave together are grouped by node, one write each, and those that were sent on go together too; so requests
 * for one key stay in order. The table is read again when a node was lost, and while one is missing every half second, since
 * a failover is seen there first.
 */
import type { Timer } from "../base/clock.ts";
import { ClosedError, ConnectionError, errorOf, InputError, ServerError } from "../base/errors.ts";
import { asListOf, asNumber, asReply, asTextOrNull, asTuple } from "../base/replies.ts";
import { dialWire, type Endpoint, labelOf, mayPass, openWithin, request, type Settings } from "./dial.ts";
import { Invalidations } from "./invalidations.ts";
import { DRAIN_MS, Line } from "./line.ts";
import type {
  Answer,
  ConnectionState,
  Reply,
  Request,
  Session,
  SessionOptions,
  Subscriber,
  SubscriberEvents,
  WorkerAddress,
} from "./port.ts";
import type { Group, Grouped } from "./replicas.ts";
import { asBuffers, EXEC, executed, sessionOver } from "./sessions.ts";
import { SLOTS, slotOf } from "./slots.ts";
import { States } from "./states.ts";
import { WireSubscriber } from "./subscriber.ts";
import type { Wire } from "./wire.ts";

export interface ClusterOptions {
  readonly seeds: readonly Endpoint[];
  readonly settings: Settings;
  readonly address: WorkerAddress | null;
  /** Where nodes are reached under other addresses than their own. */
  readonly translate?: (endpoint: Endpoint) => Endpoint;
}

interface Node {
  readonly label: string;
  readonly endpoint: Endpoint;
  readonly line: Line;
  /** Receives the changes that the server announces. */
  readonly invalidations: Invalidations | null;
  state: ConnectionState;
}

/** Where a request goes next. */
interface Hop {
  readonly at: number;
  readonly node: Node;
  readonly asking: boolean;
}

const MAX_HOPS = 16;
/** No sooner than this after the last time is the table read again. */
const REFRESH_EVERY_MS = 100;
const REFRESH_WHILE_LOST_MS = 500;
const ASKING = request("ASKING");

export class ClusterDriver implements Grouped {
  readonly topology = "cluster";
  readonly address: WorkerAddress | null;
  readonly #options: ClusterOptions;
  readonly #settings: Settings;
  readonly #states = new States();
  readonly #nodes = new Map<string, Node>();
  readonly #slots: (Node | undefined)[] = new Array(SLOTS).fill(undefined);
  /** With the key that each was asked for. */
  readonly #sessions = new Map<Wire, string | undefined>();
  readonly #subscribers = new Set<WireSubscriber>();
  /** Nodes that have answered with CLUSTERDOWN since the table was read. */
  readonly #saidDown = new Set<Node>();
  #refreshing: Promise<void> | null = null;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;
  #isOpen = false;
  #closed = false;

  private constructor(options: ClusterOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.address = options.address;
  }

  static async open(options: ClusterOptions): Promise<ClusterDriver> {
    const driver = new ClusterDriver(options);
    try {
      await openWithin(options.settings, driver.#open());
      return driver;
    } catch (error) {
      await driver.close();
      throw error;
    }
  }

  async #open(): Promise<void> {
    const { clock, connectTimeoutMs } = this.#settings;
    const until = clock.monotonicMs() + connectTimeoutMs;
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 500)) {
      try {
        await this.#refresh();
        await Promise.all([...this.#primaries()].map((node) => node.line.wire()));
        await Promise.all([...this.#primaries()].map((node) => node.invalidations?.open()));
        this.#isOpen = true;
        return this.#states.set("ready");
      } catch (error) {
        if (this.#closed || !mayPass(error) || clock.monotonicMs() + pauseMs >= until) throw error;
      }
      await new Promise<void>((resolve) => clock.after(pauseMs, resolve, { keepAlive: true }));
    }
  }

  // ---------------------------------------------------------------------------------------------- requests

  async send(each: Request): Promise<Reply> {
    const node = this.#nodeFor(each.key);
    return node.line.send(each).catch((error) => this.#refused(node, each, error));
  }

  post(each: Request, resolve: (reply: Reply) => void, reject: (error: Error) => void): number {
    let node: Node;
    try {
      node = this.#nodeFor(each.key);
    } catch (error) {
      queueMicrotask(() => reject(errorOf(error)));
      return this.#settings.clock.monotonicMs();
    }
    return node.line.post(each, resolve, (error) => void this.#refused(node, each, error).then(resolve, reject));
  }

  /** What follows a request that failed: on to where the node sends it, or the error as the driver tells it. */
  async #refused(node: Node, each: Request, error: unknown): Promise<Reply> {
    if (!(error instanceof ServerError)) return this.#failed(error, node);
    const hop = this.#redirected(error, 0, node);
    // One with a deadline comes again by itself, with what is left of it.
    if (hop === null || each.timeoutMs !== undefined) throw error;
    const [answer] = await this.#follow([each], [error], [hop]);
    return asReply(answer);
  }

  async sendMany(requests: readonly Request[]): Promise<Answer[]> {
    const hops = requests.map(({ key }, at): Hop => ({ at, node: this.#nodeFor(key), asking: false }));
    return this.#follow(requests, new Array(requests.length).fill(null), hops);
  }

  /** Sends those of the requests that have somewhere to go, and on to where they are sent on to. */
  async #follow(requests: readonly Request[], answers: Answer[], first: readonly Hop[]): Promise<Answer[]> {
    let hops = first;
    for (let count = 0; hops.length > 0 && count < MAX_HOPS; count++) {
      const next: Hop[] = [];
      const sending = [...groups(hops)].map(async ([node, group]) => {
        const got = await this.#askAll(
          node,
          group.flatMap((hop) => sent(requests[hop.at]!, hop.asking)),
        );
        let place = 0;
        for (const { at, asking } of group) {
          if (asking) place++;
          const answer = got[place++]!;
          answers[at] = answer;
          const hop = answer instanceof ServerError ? this.#redirected(answer, at, node) : null;
          if (hop !== null) next.push(hop);
        }
      });
      await everyGroup(sending, count > 0 || sending.length > 1);
      hops = next.sort((a, b) => a.at - b.at);
    }
    return answers;
  }

  async transact(requests: readonly Request[]): Promise<Answer[]> {
    const words = [request("MULTI"), ...asBuffers(requests), EXEC];
    let node = this.#nodeFor(requests.find(({ key }) => key !== undefined)?.key);
    let asking = false;
    for (let count = 0; ; count++) {
      // What ASKING allows lasts to the end of the transaction.
      const answers = await this.#askAll(node, asking ? [ASKING, ...words] : words);
      const error = answers.find((answer) => answer instanceof ServerError);
      const hop = error instanceof ServerError ? this.#redirected(error, 0, node) : null;
      if (hop === null || count >= MAX_HOPS) return executed(requests, answers);
      ({ node, asking } = hop);
    }
  }

  async sendToAll(each: Request): Promise<Answer[]> {
    if (this.#closed) throw new ClosedError();
    const nodes = [...this.#primaries()];
    const answers: Answer[] = [];
    const sending = nodes.map(async (node, at) => {
      answers[at] = await this.#ask(node, each);
    });
    await everyGroup(sending, sending.length > 1);
    return answers;
  }

  #ask(node: Node, each: Request): Promise<Answer> {
    return node.line.ask(each).catch((error) => this.#failed(error, node));
  }

  #askAll(node: Node, requests: readonly Request[]): Promise<Answer[]> {
    return node.line.askAll(requests).catch((error) => this.#failed(error, node));
  }

  #failed(error: unknown, node: Node): never {
    this.#suspect();
    // The line of a node that is no longer one of the Cluster: it was not written there.
    if (error instanceof ClosedError && !this.#closed) {
      throw new ConnectionError("the node has left the cluster", { maybeExecuted: false, cause: error });
    }
    if (!(error instanceof ConnectionError)) throw error;
    const { message, maybeExecuted, code, cause } = error;
    throw new ConnectionError(message, { maybeExecuted, code, cause, server: node.label });
  }

  // ---------------------------------------------------------------------------------------------- where to

  #nodeFor(key: string | undefined): Node {
    if (this.#closed) throw new ClosedError();
    if (key === undefined) return this.#anyNode();
    const node = this.#slots[slotOf(key)];
    if (node !== undefined) return node;
    this.#suspect();
    throw new ServerError(`CLUSTERDOWN no node is known for slot ${slotOf(key)}`);
  }

  #anyNode(): Node {
    const nodes = [...this.#primaries()];
    const ready = nodes.filter(({ line }) => line.ready);
    const among = ready.length > 0 ? ready : nodes;
    if (among.length === 0) throw new ServerError("CLUSTERDOWN no node is known");
    return among[Math.floor(this.#settings.clock.random() * among.length)]!;
  }

  #primaries(): Set<Node> {
    const primaries = new Set<Node>();
    for (const node of this.#slots) if (node !== undefined) primaries.add(node);
    return primaries;
  }

  /** Where an answer sends its request on to; null when the answer is one. */
  #redirected(error: ServerError, at: number, from: Node): Hop | null {
    if (error.code === "CLUSTERDOWN") {
      this.#saidDown.add(from);
      this.#suspect();
    }
    if (error.code !== "MOVED" && error.code !== "ASK") return null;
    const [, slot, address = ""] = error.message.split(" ");
    const colon = address.lastIndexOf(":");
    const host = address.slice(0, colon);
    const node = this.#nodeAt(this.#endpoint(host, Number(address.slice(colon + 1)), from.endpoint));
    if (error.code === "ASK") return { at, node, asking: true };
    this.#slots[Number(slot)] = node;
    this.#suspect();
    return { at, node, asking: false };
  }

  /** Nodes that do not know their own name answer with none: it is the one that was dialled. */
  #endpoint(host: string | null, port: number, asked: Endpoint): Endpoint {
    const known = host !== null && host !== "" && host !== "?" ? host : "host" in asked ? asked.host : "localhost";
    const endpoint = { host: known, port };
    return this.#options.translate?.(endpoint) ?? endpoint;
  }

  #nodeAt(endpoint: Endpoint): Node {
    const label = labelOf(endpoint);
    const existing = this.#nodes.get(label);
    if (existing !== undefined) return existing;
    const line = new Line({
      settings: this.#settings,
      dial: () => dialWire(endpoint, this.#settings),
      onState: (state) => this.#onNodeState(node, state),
    });
    const { tracking } = this.#settings;
    const dial = (): Promise<Wire> => dialWire(endpoint, this.#settings);
    const invalidations = tracking === undefined ? null : new Invalidations(this.#settings, tracking, dial);
    const node: Node = { label, endpoint, line, invalidations, state: "connecting" };
    this.#nodes.set(label, node);
    if (this.#isOpen) invalidations?.begin();
    return node;
  }

  #onNodeState(node: Node, state: ConnectionState): void {
    node.state = state;
    if (state === "lost") {
      this.#states.set("lost");
      this.#suspect();
    } else if (state === "ready" && ![...this.#primaries()].some((each) => each.state === "lost")) {
      if (this.#states.current === "lost") this.#states.set("ready");
    }
  }

  // ---------------------------------------------------------------------------------------------- the table

  /** Something is not as the table says: it is read again, soon and once. */
  #suspect(): void {
    if (this.#closed || this.#refreshing !== null || this.#timer !== undefined) return;
    const since = this.#settings.clock.monotonicMs() - this.#refreshedAt;
    this.#schedule(Math.max(0, REFRESH_EVERY_MS - since));
  }

  #schedule(ms: number): void {
    if (this.#closed) return;
    this.#timer = this.#settings.clock.after(ms, () => {
      this.#timer = undefined;
      this.#refresh()
        .catch(() => {})
        .finally(() => {
          const missing = [...this.#primaries()].some(({ state }) => state === "lost");
          if (missing && this.#timer === undefined) this.#schedule(REFRESH_WHILE_LOST_MS);
        });
    });
  }

  #refresh(): Promise<void> {
    this.#refreshing ??= this.#readTable().finally(() => {
      this.#refreshing = null;
      this.#refreshedAt = this.#settings.clock.monotonicMs();
    });
    return this.#refreshing;
  }

  async #readTable(): Promise<void> {
    let failure: unknown = new ConnectionError("no node of the cluster is known", { maybeExecuted: false });
    // One that is cut off from the others tells of the Cluster as it was.
    const cutOffLast = [...this.#nodes.values()].sort(
      (a, b) => Number(this.#saidDown.has(a)) - Number(this.#saidDown.has(b)),
    );
    this.#saidDown.clear();
    for (const node of cutOffLast) {
      if (!node.line.ready) continue;
      try {
        return this.#apply(await node.line.ask(request("CLUSTER", "SLOTS")), node.endpoint);
      } catch (error) {
        failure = error;
      }
    }
    for (const seed of this.#options.seeds) {
      if (this.#closed) throw new ClosedError();
      let wire: Wire | undefined;
      try {
        wire = await dialWire(seed, this.#settings);
        return this.#apply(await wire.ask(request("CLUSTER", "SLOTS"), this.#limits), seed);
      } catch (error) {
        failure = error;
        if (error instanceof InputError) throw error;
      } finally {
        wire?.destroy();
      }
    }
    throw failure;
  }

  get #limits(): { readonly timeoutMs: number } {
    return { timeoutMs: this.#settings.commandTimeoutMs };
  }

  #apply(table: Answer, asked: Endpoint): void {
    if (table instanceof ServerError) {
      if (!table.message.includes("cluster support disabled")) throw table;
      throw new InputError(`${labelOf(asked)} is not part of a Cluster; open it with redis://`);
    }
    if (this.#closed) throw new ClosedError();
    const slots: (Node | undefined)[] = new Array(SLOTS).fill(undefined);
    for (const range of asListOf(asTuple(asNumber, asNumber, asTuple(asTextOrNull, asNumber)))(table)) {
      const [from, to, [host, port]] = range;
      const node = this.#nodeAt(this.#endpoint(host, port, asked));
      for (let slot = from; slot <= to; slot++) slots[slot] = node;
    }
    if (slots.every((node) => node === undefined)) throw new ServerError("CLUSTERDOWN no slot is served");
    for (let slot = 0; slot < SLOTS; slot++) this.#slots[slot] = slots[slot];
    this.#forget(this.#primaries());
    this.#leaveReplaced();
  }

  /** A caller that waits at a node for a key would wait for ever once the key is another node's. */
  #leaveReplaced(): void {
    for (const [wire, key] of this.#sessions) {
      const isThere = key === undefined ? this.#nodes.has(wire.label) : this.serverOf(key) === wire.label;
      if (!isThere) void wire.drain(DRAIN_MS, `${wire.label} does not have the key of this connection any more`);
    }
  }

  /** Nodes that own nothing any more. What is under way there is answered or rejected by the line's end. */
  #forget(kept: ReadonlySet<Node>): void {
    for (const node of [...this.#nodes.values()]) {
      if (kept.has(node)) continue;
      this.#nodes.delete(node.label);
      void node.line.close();
      node.invalidations?.close();
    }
    if (this.#states.current === "lost" && ![...kept].some(({ state }) => state === "lost")) this.#states.set("ready");
  }

  serverOf(key: string | undefined): string {
    return (key === undefined ? undefined : this.#slots[slotOf(key)]?.label) ?? "";
  }

  servers(): readonly string[] {
    return [...this.#primaries()].map(({ label }) => label);
  }

  get soundUntil(): number {
    let until = this.#isOpen ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    for (const { invalidations } of this.#nodes.values()) {
      until = Math.min(until, invalidations?.soundUntil ?? Number.NEGATIVE_INFINITY);
    }
    return until;
  }

  /** A node that is silent may have been replaced, so the table is read again too. */
  probe(server: string): Promise<Answer> {
    this.#suspect();
    const node = this.#nodes.get(server);
    // One that has left the Cluster is nobody's server any more.
    return node === undefined ? Promise.resolve(null) : node.line.ask(request("PING"));
  }

  /** The primary that has a key now. */
  groupOf(key: string): Group {
    const node = this.#nodeFor(key);
    return { label: node.label, ask: (each) => this.#ask(node, each) };
  }

  // ---------------------------------------------------------------------------------------------- connections

  async session(key: string | undefined, options: SessionOptions = {}): Promise<Session> {
    const node = this.#nodeFor(key);
    const wire = await dialWire(node.endpoint, this.#settings).catch((error) => this.#failed(error, node));
    if (this.#closed) {
      wire.destroy();
      throw new ClosedError();
    }
    this.#sessions.set(wire, key);
    wire.onClose(() => this.#sessions.delete(wire));
    const session = sessionOver(wire, options.blocking === true ? undefined : this.#settings.commandTimeoutMs);
    const watch = (answer: unknown): void => {
      if (answer instanceof ServerError) this.#redirected(answer, 0, node);
      else if (answer instanceof ConnectionError) this.#suspect();
    };
    return {
      send: (each) =>
        session.send(each).catch((error) => {
          watch(error);
          throw error;
        }),
      sendMany: async (requests) => {
        const answers = await session.sendMany(requests);
        answers.forEach(watch);
        return answers;
      },
      destroy: session.destroy,
    };
  }

  async subscriber(events: SubscriberEvents): Promise<Subscriber> {
    if (this.#closed) throw new ClosedError();
    // Messages reach every node, so any will do; another one each time, as the last may be gone.
    const dial = async (): Promise<Wire> => dialWire(this.#anyNode().endpoint, this.#settings);
    const onEnd = (): void => void this.#subscribers.delete(subscriber);
    const subscriber = new WireSubscriber(this.#settings, dial, events, onEnd);
    // Known before it is there, so that closing ends it in any case.
    this.#subscribers.add(subscriber);
    return subscriber.open();
  }

  onState(listener: (state: ConnectionState) => void): () => void {
    return this.#states.add(listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    for (const each of [...this.#sessions.keys(), ...this.#subscribers]) each.destroy();
    for (const { invalidations } of this.#nodes.values()) invalidations?.close();
    await Promise.all([...this.#nodes.values()].map((node) => node.line.close()));
    await this.#refreshing?.catch(() => {});
    this.#states.set("closed");
  }
}

function sent(each: Request, asking: boolean): Request[] {
  return asking ? [ASKING, each] : [each];
}

function groups(hops: readonly Hop[]): Map<Node, Hop[]> {
  const byNode = new Map<Node, Hop[]>();
  for (const hop of hops) {
    const group = byNode.get(hop.node);
    if (group === undefined) byNode.set(hop.node, [hop]);
    else group.push(hop);
  }
  return byNode;
}

/** Waits for all. If one failed, others may have run, whatever that one says of itself. */
async function everyGroup(sending: readonly Promise<void>[], others: boolean): Promise<void> {
  const outcomes = await Promise.allSettled(sending);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed === undefined) return;
  const error: unknown = failed.reason;
  if (!(error instanceof ConnectionError) || error.maybeExecuted || !others) throw error;
  const { message, code, server } = error;
  throw new ConnectionError(message, { maybeExecuted: true, code, server, cause: error });
}
