/** A move by replication: the new store becomes a replica of the old one, catches up, and is promoted. */
import { setTimeout as sleep } from "node:timers/promises";
import { CommandFailure } from "../command.ts";
import type { Link } from "../link/link.ts";
import type { Endpoint, ServerPlace } from "../link/place.ts";
import { itemsIn, textIn } from "../link/reply.ts";
import { infoOf, type WholeStore } from "../link/stores.ts";
import type { Progress } from "../progress.ts";

const POLL_MS = 50;
/** A link that is not up after so long, with nothing being transferred, does not come up. */
const LINK_MS = 15_000;

/** How the new store follows the old one, be it a server or a folder in this process. */
export interface Follower {
  /** Settles when it has the data and follows. */
  start(): Promise<void>;
  /** The offset up to which it has everything. */
  offset(): Promise<number>;
  promote(): Promise<void>;
  /** Puts back what was changed for it. */
  tidy(): Promise<void>;
}

export async function offsetOf(from: WholeStore): Promise<number> {
  return Number((await infoOf(await from.control(), "replication")).get("master_repl_offset"));
}

export function followerOf(to: WholeStore, from: WholeStore, progress: Progress): Follower {
  const place = from.reached.place as ServerPlace;
  const endpoint = from.reached.endpoint as Endpoint;
  return to.reached.engine === undefined
    ? new ServerFollower(to, place, endpoint, progress)
    : folderFollower(to, from, place);
}

function folderFollower(to: WholeStore, from: WholeStore, { credentials }: ServerPlace): Follower {
  const engine = to.reached.engine!;
  const client = engine.connect();
  const set = (name: string, value: string) => client.call("CONFIG", "SET", name, value);
  return {
    async start() {
      if (credentials.password !== undefined) await set("masterauth", credentials.password);
      if (credentials.username !== undefined) await set("masteruser", credentials.username);
      await from.reached.replicate!(engine, { timeoutMs: 0 });
    },
    offset: async () => engine.replication.offset,
    promote: async () => engine.promote(),
    async tidy() {
      for (const name of ["masterauth", "masteruser"]) await set(name, "");
      client.close();
    },
  };
}

class ServerFollower implements Follower {
  readonly #to: WholeStore;
  readonly #place: ServerPlace;
  readonly #from: Endpoint;
  readonly #progress: Progress;
  readonly #before = new Map<string, string>();

  constructor(to: WholeStore, place: ServerPlace, from: Endpoint, progress: Progress) {
    this.#to = to;
    this.#place = place;
    this.#from = from;
    this.#progress = progress;
  }

  async #set(link: Link, name: string, value: string): Promise<void> {
    if (!this.#before.has(name)) this.#before.set(name, textIn(itemsIn(await link.call("CONFIG", "GET", name))[1]));
    await link.call("CONFIG", "SET", name, value);
  }

  async start(): Promise<void> {
    const link = await this.#to.control();
    const { username, password } = this.#place.credentials;
    if (password !== undefined) await this.#set(link, "masterauth", password);
    if (username !== undefined) await this.#set(link, "masteruser", username);
    await this.#chooseTls(link);
    await link.call("REPLICAOF", this.#from.host, String(this.#from.port));
    let aliveAt = performance.now();
    for (;;) {
      const info = await infoOf(link, "replication");
      if (info.get("role") === "slave" && info.get("master_link_status") === "up") return;
      if (info.get("master_sync_in_progress") === "1") {
        aliveAt = performance.now();
        this.#progress.show(
          "Transferring",
          Number(info.get("master_sync_read_bytes")),
          Math.max(0, Number(info.get("master_sync_total_bytes"))),
        );
      }
      if (performance.now() - aliveAt > LINK_MS) {
        throw new CommandFailure(
          `${this.#to.label} cannot follow ${this.#from.host}:${this.#from.port}`,
          "the new server must reach the old one under this address; or copy: --by copy",
        );
      }
      await sleep(POLL_MS);
    }
  }

  /** The new server connects to the old one as the old one is reached: over TLS or not. */
  async #chooseTls(link: Link): Promise<void> {
    const wanted = this.#place.tls ? "yes" : "no";
    const now = textIn(itemsIn(await link.call("CONFIG", "GET", "tls-replication"))[1]) || "no";
    if (now === wanted) return;
    const reply = await link.send(["CONFIG", "SET", "tls-replication", wanted]);
    if (reply.type === "error") throw new CommandFailure(`${this.#to.label} cannot follow over TLS: ${textIn(reply)}`);
    this.#before.set("tls-replication", now);
  }

  async offset(): Promise<number> {
    return Number((await infoOf(await this.#to.control(), "replication")).get("slave_repl_offset"));
  }

  async promote(): Promise<void> {
    await (await this.#to.control()).call("REPLICAOF", "NO", "ONE");
  }

  async tidy(): Promise<void> {
    const link = await this.#to.control();
    for (const [name, value] of this.#before) await link.call("CONFIG", "SET", name, value);
    this.#before.clear();
  }
}
