/**
 * A whole store as commands that move data see it: every primary and every database of it to read from, and for every key the
 * connection to write it through, with a Cluster's redirections followed.
 */
import { slotOf } from "cinnabar";
import { type Link, ReplyFailure } from "./link.ts";
import type { Endpoint } from "./place.ts";
import { type Reached, slotRanges } from "./reach.ts";
import { itemsIn, type Reply, textIn, type Word } from "./reply.ts";

export interface Part {
  readonly link: Link;
  readonly db: number;
}

export interface Keyed {
  /** The key that decides where the command goes. */
  readonly key: Buffer;
  readonly words: readonly Word[];
}

const MOST_REDIRECTIONS = 16;

export class WholeStore {
  readonly reached: Reached;
  readonly #links = new Map<string, Link>();
  #slots: (string | undefined)[] = [];
  #isCluster: boolean | null = null;

  constructor(reached: Reached) {
    this.reached = reached;
  }

  get label(): string {
    return this.reached.label;
  }

  /** A connection for what concerns the server; of a Cluster to any node. */
  control(): Promise<Link> {
    return this.#open("control", () => this.reached.connect());
  }

  /** Whether it is a Cluster, whatever the URL says. */
  async isCluster(): Promise<boolean> {
    if (this.#isCluster !== null) return this.#isCluster;
    const link = await this.control();
    const reply = await link.send(["INFO", "cluster"]);
    this.#isCluster = this.reached.place.kind === "cluster" || /cluster_enabled:1/.test(textIn(reply));
    if (this.#isCluster) await this.#readSlots();
    return this.#isCluster;
  }

  /** The primaries: one, or those of a Cluster. */
  async primaries(): Promise<Link[]> {
    if (!(await this.isCluster())) return [await this.control()];
    const names = [...new Set(this.#slots.filter((each) => each !== undefined))];
    return Promise.all(names.map((name) => this.#node(name)));
  }

  /** Connections of their own to the primaries, which the caller closes: RESP3, for what a server tells unasked. */
  async listeners(): Promise<Link[]> {
    if (!(await this.isCluster())) return [await this.reached.connect({ protocol: 3 })];
    const names = [...new Set(this.#slots.filter((each) => each !== undefined))];
    return Promise.all(names.map((name) => this.reached.connectTo(endpointIn(name), { protocol: 3 })));
  }

  /** Every database that has keys, on every primary; of a URL that names a database that one alone. */
  async parts(): Promise<Part[]> {
    const parts: Part[] = [];
    for (const primary of await this.primaries()) {
      for (const db of await this.#databasesOf(primary)) parts.push({ link: await this.#inDb(primary, db), db });
    }
    return parts;
  }

  async #databasesOf(link: Link): Promise<number[]> {
    const { place } = this.reached;
    if (place.kind !== "folder" && place.namesDb) return [place.db];
    const text = await link.text("INFO", "keyspace");
    return [...text.matchAll(/^db(\d+):/gm)].map(([, db]) => Number(db));
  }

  /** The keys of all parts. */
  async count(): Promise<number> {
    let total = 0;
    for (const { link } of await this.parts()) total += Number(await link.text("DBSIZE"));
    return total;
  }

  /** Runs commands in a database, each where its key is. Replies are in their order; errors are replies. */
  async run(db: number, commands: readonly Keyed[]): Promise<Reply[]> {
    if (!(await this.isCluster())) {
      const link = await this.#inDb(await this.control(), db);
      return Promise.all(link.sendMany(commands.map(({ words }) => words)));
    }
    const groups = new Map<string, number[]>();
    for (const [at, { key }] of commands.entries()) {
      const name = this.#slots[slotOf(key.toString())] ?? this.#slots.find((each) => each !== undefined)!;
      groups.set(name, [...(groups.get(name) ?? []), at]);
    }
    const replies: Reply[] = [];
    for (const [name, places] of groups) {
      const link = await this.#node(name);
      const answers = await Promise.all(link.sendMany(places.map((at) => commands[at]!.words)));
      for (const [index, at] of places.entries()) replies[at] = await this.#followed(answers[index]!, commands[at]!);
    }
    return replies;
  }

  async #followed(first: Reply, { words }: Keyed): Promise<Reply> {
    let reply = first;
    for (let count = 0; reply.type === "error" && count < MOST_REDIRECTIONS; count++) {
      const [, kind, target] = /^(MOVED|ASK) \d+ (\S+)$/.exec(textIn(reply)) ?? [];
      if (kind === undefined) break;
      if (kind === "MOVED") await this.#readSlots();
      const link = await this.#node(target!);
      reply = (await Promise.all(link.sendMany(kind === "ASK" ? [["ASKING"], words] : [words]))).at(-1)!;
    }
    return reply;
  }

  async #readSlots(): Promise<void> {
    const { endpoint } = this.reached;
    const asked = typeof endpoint === "object" ? endpoint : { host: "127.0.0.1", port: 6_379 };
    this.#slots = [];
    for (const { from, to, primary } of await slotRanges(await this.control(), asked)) {
      this.#slots.length = Math.max(this.#slots.length, to + 1);
      this.#slots.fill(`${primary.host}:${primary.port}`, from, to + 1);
    }
  }

  #node(name: string): Promise<Link> {
    return this.#open(name, () => this.reached.connectTo(endpointIn(name)));
  }

  /** A connection to the same server for each database. */
  async #inDb(primary: Link, db: number): Promise<Link> {
    if (await this.isCluster()) return primary;
    return this.#open(`db ${db}`, () => this.reached.connect({ db }));
  }

  async #open(name: string, connect: () => Promise<Link>): Promise<Link> {
    const known = this.#links.get(name);
    if (known !== undefined && !known.isClosed) return known;
    const link = await connect();
    this.#links.set(name, link);
    return link;
  }

  async close(): Promise<void> {
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
    await this.reached.close();
  }
}

function endpointIn(name: string): Endpoint {
  const colon = name.lastIndexOf(":");
  return { host: name.slice(0, colon), port: Number(name.slice(colon + 1)) };
}

/** The keys of a part, in batches; each may come more than once, as SCAN's may. */
export async function* keysOf({ link }: Part, pattern: string | undefined, size = 500): AsyncGenerator<Buffer[]> {
  const matching = pattern === undefined ? [] : ["MATCH", Buffer.from(pattern)];
  let cursor = "0";
  do {
    const [next, keys] = itemsIn(await link.call("SCAN", cursor, ...matching, "COUNT", String(size)));
    cursor = textIn(next);
    const found = itemsIn(keys).flatMap((key) => ("bytes" in key ? [key.bytes] : []));
    if (found.length > 0) yield found;
  } while (cursor !== "0");
}

/** What a server says about itself, by name. */
export async function infoOf(link: Link, section: string): Promise<Map<string, string>> {
  const text = await link.text("INFO", section);
  return new Map([...text.matchAll(/^([^#:\r\n]+):(.*?)\r?$/gm)].map(([, name, value]) => [name!, value!]));
}

/** The first error among replies is thrown. */
export function noErrors(replies: readonly Reply[]): readonly Reply[] {
  for (const reply of replies) if (reply.type === "error") throw new ReplyFailure(textIn(reply));
  return replies;
}
