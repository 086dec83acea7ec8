/**
 * What a prompt or a pipe talks through: a connection that comes back, follows a Cluster's redirections, and knows its database and
 * whether it is in a transaction.
 */
import { CommandFailure } from "../command.ts";
import type { Link } from "../link/link.ts";
import type { Endpoint } from "../link/place.ts";
import type { Reached } from "../link/reach.ts";
import { type Reply, textIn } from "../link/reply.ts";
import { type Delimiters, type Format, formatReply, isVerbatim } from "./format.ts";

export interface SessionOptions {
  readonly format: Format;
  readonly delimiters: Delimiters;
  readonly protocol: 2 | 3;
  readonly isCluster: boolean;
  readonly showsPushes: boolean;
  /** Prints text, latin1. */
  readonly print: (text: string) => void;
}

const MOST_REDIRECTIONS = 16;
/** Replies keep coming after these, until the connection ends. */
const ENDLESS = /^(monitor|[ps]?subscribe)$/i;

export class Session {
  readonly #reached: Reached;
  readonly #options: SessionOptions;
  #link: Link | null = null;
  #node: Endpoint | null = null;
  #label: string;
  #db: number;
  #dbBefore = 0;
  #protocol: 2 | 3;
  #isInTransaction = false;

  constructor(reached: Reached, options: SessionOptions) {
    this.#reached = reached;
    this.#options = options;
    this.#protocol = options.protocol;
    this.#db = reached.place.kind === "folder" ? 0 : reached.place.db;
    const { endpoint } = reached;
    const isPath = typeof endpoint === "string";
    this.#label =
      endpoint === undefined || isPath ? `${isPath ? `redis ${endpoint}` : reached.label}` : shownAt(endpoint);
  }

  get isConnected(): boolean {
    return this.#link !== null && !this.#link.isClosed;
  }

  /** `127.0.0.1:6379[3](TX)> `. */
  get prompt(): string {
    if (!this.isConnected) return "not connected> ";
    return `${this.#label}${this.#db === 0 ? "" : `[${this.#db}]`}${this.#isInTransaction ? "(TX)" : ""}> `;
  }

  async connect(): Promise<Link> {
    if (this.#link !== null && !this.#link.isClosed) return this.#link;
    this.#isInTransaction = false;
    const greeting = { db: this.#db, protocol: this.#protocol };
    const link =
      this.#node === null
        ? await this.#reached.connect(greeting)
        : await this.#reached.connectTo(this.#node, { protocol: this.#protocol });
    this.#link = link;
    link.onPush = (reply) => {
      if (this.#options.showsPushes) this.#options.print(this.#pushed(reply));
    };
    return link;
  }

  #pushed(reply: Reply): string {
    return formatReply(reply, this.#options.format, false, this.#options.delimiters);
  }

  /** To another server, as `connect host port` in the prompt. */
  async moveTo(endpoint: Endpoint): Promise<void> {
    this.close();
    this.#node = endpoint;
    this.#label = shownAt(endpoint);
    await this.connect();
  }

  /** Runs a command and prints its reply; answers whether that was an error. Words are latin1. */
  async run(words: readonly string[], signal?: AbortSignal): Promise<boolean> {
    const name = words[0]!.toLowerCase();
    if (/^p?sync$/.test(name))
      throw new CommandFailure("replication is not for a prompt: `cinnabar export` writes an RDB file");
    if (silences(words)) throw new CommandFailure("CLIENT REPLY OFF and SKIP leave a prompt without answers: not sent");
    const link = await this.connect();
    const bytes = words.map((word) => Buffer.from(word, "latin1"));
    if (ENDLESS.test(name) && !this.#isInTransaction) return this.#listen(link, bytes, signal);
    const reply = await this.#redirected(await link.send(bytes), bytes);
    this.#note(words, reply);
    this.#options.print(formatReply(reply, this.#options.format, isVerbatim(words), this.#options.delimiters));
    return reply.type === "error";
  }

  /** Follows MOVED and ASK. */
  async #redirected(first: Reply, bytes: readonly Buffer[]): Promise<Reply> {
    let reply = first;
    for (let count = 0; this.#options.isCluster && reply.type === "error"; count++) {
      const [, kind, slot, host, port] = /^(MOVED|ASK) (\d+) (.*):(\d+)$/.exec(textIn(reply)) ?? [];
      if (kind === undefined) break;
      if (count === MOST_REDIRECTIONS) throw new CommandFailure("too many redirections: the Cluster is being changed");
      const endpoint = { host: host || (this.#node?.host ?? hostOf(this.#reached)), port: Number(port) };
      if (this.#options.format === "standard") {
        this.#options.print(`-> Redirected to slot [${slot}] located at ${shownAt(endpoint)}\n`);
      }
      await this.moveTo(endpoint);
      const link = await this.connect();
      reply = (await Promise.all(link.sendMany(kind === "ASK" ? [["ASKING"], bytes] : [bytes]))).at(-1)!;
    }
    return reply;
  }

  /** What the prompt shows follows from commands that were answered. */
  #note(words: readonly string[], reply: Reply): void {
    const name = words[0]!.toLowerCase();
    const text = textIn(reply);
    if (name === "select" && (text === "OK" || text === "QUEUED")) this.#db = Number(words[1]);
    else if (name === "reset" && text === "RESET") [this.#db, this.#isInTransaction, this.#protocol] = [0, false, 2];
    else if (name === "hello" && reply.type !== "error" && words.length > 1) this.#protocol = words[1] === "3" ? 3 : 2;
    else if (name === "multi" && text === "OK") [this.#isInTransaction, this.#dbBefore] = [true, this.#db];
    else if (this.#isInTransaction && (name === "exec" || name === "discard")) {
      this.#isInTransaction = false;
      if (name === "discard" || reply.type === "error" || reply.type === "nil") this.#db = this.#dbBefore;
    }
  }

  /** Prints what comes until the connection ends or Ctrl-C is pressed; then the connection is given up. */
  async #listen(link: Link, bytes: readonly Buffer[], signal: AbortSignal | undefined): Promise<boolean> {
    const { format, print, delimiters } = this.#options;
    if (format === "standard") print("Reading messages... (press Ctrl-C to quit)\n");
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        link.onPush = null;
        this.close();
        resolve(false);
      };
      link.onPush = (reply) => print(formatReply(reply, format, false, delimiters));
      link.onClose(() => resolve(true));
      if (signal?.aborted === true) stop();
      signal?.addEventListener("abort", stop, { once: true });
      link.send(bytes).then((reply) => {
        print(formatReply(reply, format, false, delimiters));
        if (reply.type !== "error") return;
        signal?.removeEventListener("abort", stop);
        resolve(true);
      }, reject);
    });
  }

  close(): void {
    this.#link?.close();
    this.#link = null;
  }
}

function silences(words: readonly string[]): boolean {
  const [name, sub, mode] = words.map((word) => word.toLowerCase());
  return name === "client" && sub === "reply" && (mode === "off" || mode === "skip");
}

const shownAt = ({ host, port }: Endpoint): string => `${host}:${port}`;

function hostOf({ endpoint }: Reached): string {
  return typeof endpoint === "object" ? endpoint.host : "127.0.0.1";
}
