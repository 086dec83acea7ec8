/** Where the requests of a benchmark go: connections of so many clients, or calls of a component. */
import type { Duplex } from "node:stream";
import { slotOf } from "cinnabar";
import { codeOf, messageOf } from "../../values.ts";
import type { Link } from "../link/link.ts";
import type { Endpoint } from "../link/place.ts";
import { slotRanges } from "../link/reach.ts";
import type { WholeStore } from "../link/stores.ts";
import { ReplyCounter } from "./replies.ts";
import type { Request } from "./template.ts";

/** `intended`: when the request should have been sent; `error`: null for an answer that is none. */
export type OnAnswer = (client: number, intended: number, at: number, error: string | null) => void;

export interface Target {
  onAnswer: OnAnswer;
  /** Sends a request for each of the times, all as one client. Each is answered once, be it by an error. */
  send(client: number, intended: readonly number[]): void;
  close(): Promise<void>;
}

const ignore: OnAnswer = () => {};
/** How long a request to a node without a connection waits for its error, and how often the connection is tried again. */
const RETRY_MS = 100;
const LOST = "LOST the connection was lost";

/** One connection of one client. */
class Lane {
  readonly #client: number;
  readonly #connect: () => Promise<Link>;
  readonly #onAnswer: OnAnswer;
  #stream: Duplex | null = null;
  /** When each request that is not answered should have been sent. */
  #times: number[] = [];
  #head = 0;
  #text = "";
  #isClosed = false;
  #at = 0;

  constructor(client: number, connect: () => Promise<Link>, onAnswer: OnAnswer) {
    this.#client = client;
    this.#connect = connect;
    this.#onAnswer = onAnswer;
  }

  async open(): Promise<void> {
    const stream = (await this.#connect()).release();
    if (this.#isClosed) {
      stream.destroy();
      return;
    }
    const counter = new ReplyCounter((error) => this.#answered(error));
    stream.on("data", (chunk: Buffer) => {
      this.#at = performance.now();
      try {
        counter.feed(chunk);
      } catch {
        stream.destroy();
      }
    });
    stream.on("error", () => {});
    stream.on("close", () => this.#lost(stream));
    stream.on("end", () => this.#lost(stream));
    this.#stream = stream;
  }

  add(bytes: string, intended: number): void {
    if (this.#stream === null) {
      setTimeout(() => this.#onAnswer(this.#client, intended, performance.now(), LOST), RETRY_MS);
      return;
    }
    this.#text += bytes;
    this.#times.push(intended);
  }

  flush(): void {
    const text = this.#text;
    if (text === "") return;
    this.#text = "";
    this.#stream?.write(text, "latin1");
  }

  #answered(error: string | null): void {
    const intended = this.#times[this.#head]!;
    this.#head++;
    if (this.#head === this.#times.length) {
      this.#times = [];
      this.#head = 0;
    } else if (this.#head > 4_096) {
      this.#times.splice(0, this.#head);
      this.#head = 0;
    }
    this.#onAnswer(this.#client, intended, this.#at, error);
  }

  #lost(stream: Duplex): void {
    if (this.#stream !== stream) return;
    this.#stream = null;
    stream.destroy();
    const times = this.#times.slice(this.#head);
    [this.#times, this.#head, this.#text] = [[], 0, ""];
    this.#reopen();
    for (const intended of times) this.#onAnswer(this.#client, intended, performance.now(), LOST);
  }

  #reopen(): void {
    if (this.#isClosed) return;
    setTimeout(() => this.open().catch(() => this.#reopen()), RETRY_MS);
  }

  close(): void {
    this.#isClosed = true;
    this.#stream?.destroy();
    this.#stream = null;
  }
}

/** Commands over connections: one for each client, or of a Cluster one for each client and primary. */
export class CommandTarget implements Target {
  onAnswer: OnAnswer = ignore;
  readonly #store: WholeStore;
  readonly #next: () => Request;
  readonly #clients: Lane[][] = [];
  #nodes: string[] = [""];
  /** Which of the nodes has a slot; null: it is no Cluster. */
  #nodeOfSlot: Int16Array | null = null;
  #isReading = false;

  constructor(store: WholeStore, next: () => Request) {
    this.#store = store;
    this.#next = next;
  }

  async open(clients: number): Promise<void> {
    if (await this.#store.isCluster()) await this.#readSlots();
    // Many at once, but not so many that a server's queue of new connections overflows.
    for (let from = 0; from < clients; from += 100) {
      const some = Array.from({ length: Math.min(100, clients - from) }, (_, at) => this.#openClient(from + at));
      await Promise.all(some);
    }
  }

  async #openClient(client: number): Promise<void> {
    const lanes = this.#nodes.map((name) => this.#lane(client, name));
    this.#clients[client] = lanes;
    await Promise.all(lanes.map((lane) => lane.open()));
  }

  #lane(client: number, name: string): Lane {
    const { reached } = this.#store;
    const connect = (): Promise<Link> => (name === "" ? reached.connect() : reached.connectTo(endpointIn(name)));
    return new Lane(client, connect, (...answer) => this.#answered(...answer));
  }

  #answered(client: number, intended: number, at: number, error: string | null): void {
    if (error !== null && this.#nodeOfSlot !== null && /^(MOVED|ASK|CLUSTERDOWN|LOST) /.test(error)) this.#refresh();
    this.onAnswer(client, intended, at, error);
  }

  #refresh(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#readSlots()
      .catch(() => {})
      .finally(() => setTimeout(() => (this.#isReading = false), RETRY_MS));
  }

  async #readSlots(): Promise<void> {
    const { endpoint } = this.#store.reached;
    const asked = typeof endpoint === "object" ? endpoint : { host: "127.0.0.1", port: 6_379 };
    const ranges = await slotRanges(await this.#store.control(), asked);
    const names = ranges.map(({ primary }) => `${primary.host}:${primary.port}`);
    // Numbers of nodes stay: connections are kept by them.
    const nodes = [...new Set([...this.#nodes.filter((name) => name !== ""), ...names])];
    const nodeOfSlot = new Int16Array(16_384);
    for (const [at, { from, to }] of ranges.entries()) nodeOfSlot.fill(nodes.indexOf(names[at]!), from, to + 1);
    for (const [client, lanes] of this.#clients.entries()) {
      for (const name of nodes.slice(lanes.length)) {
        const lane = this.#lane(client, name);
        lanes.push(lane);
        await lane.open().catch(() => {});
      }
    }
    [this.#nodes, this.#nodeOfSlot] = [nodes, nodeOfSlot];
  }

  send(client: number, intended: readonly number[]): void {
    const lanes = this.#clients[client]!;
    for (const time of intended) {
      const { bytes, key } = this.#next();
      const node = this.#nodeOfSlot === null || key === "" ? 0 : this.#nodeOfSlot[slotOf(key)]!;
      lanes[node]!.add(bytes, time);
    }
    for (const lane of lanes) lane.flush();
  }

  async close(): Promise<void> {
    this.onAnswer = ignore;
    for (const lanes of this.#clients) for (const lane of lanes ?? []) lane.close();
  }
}

function endpointIn(name: string): Endpoint {
  const colon = name.lastIndexOf(":");
  return { host: name.slice(0, colon), port: Number(name.slice(colon + 1)) };
}

/** Calls of a component: a request is a call, which may take several commands. */
export class CallTarget implements Target {
  onAnswer: OnAnswer = ignore;
  readonly #call: () => Promise<unknown>;
  readonly #close: () => Promise<void>;

  constructor(call: () => Promise<unknown>, close: () => Promise<void>) {
    this.#call = call;
    this.#close = close;
  }

  send(client: number, intended: readonly number[]): void {
    for (const time of intended) {
      this.#call().then(
        () => this.onAnswer(client, time, performance.now(), null),
        (error: unknown) => this.onAnswer(client, time, performance.now(), textOf(error)),
      );
    }
  }

  async close(): Promise<void> {
    this.onAnswer = ignore;
    await this.#close();
  }
}

const textOf = (error: unknown): string => {
  const code = codeOf(error);
  return `${code === undefined ? "" : `${code} `}${messageOf(error)}`;
};
