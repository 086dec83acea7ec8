/** From a place to connections: opens the folder's store, asks the Sentinels who is the primary, finds a Cluster's primaries. */
import { existsSync } from "node:fs";
import { Engine } from "@cinnabar/engine";
import { messageOf } from "../../values.ts";
import { CommandFailure } from "../command.ts";
import { type DialOptions, dial, greet, Link, labelOf, socketTo } from "./link.ts";
import type { Endpoint, Place, ServerPlace } from "./place.ts";
import { itemsIn, textIn } from "./reply.ts";

/** A store that can be connected to, until it is closed. */
export interface Reached {
  readonly place: Place;
  readonly label: string;
  /** The store of a folder, in this process. */
  readonly engine?: Engine;
  /** Where it is now, where that is known; of a Cluster any of its nodes. */
  readonly endpoint?: Endpoint | string;
  /** Lets a store in this process follow it. Only of a server. */
  replicate?(engine: Engine, options: { readonly timeoutMs: number }): Promise<void>;
  connect(options?: Pick<DialOptions, "db" | "protocol">): Promise<Link>;
  /** To another node of the same Cluster. */
  connectTo(endpoint: Endpoint, options?: Pick<DialOptions, "db" | "protocol">): Promise<Link>;
  close(): Promise<void>;
}

export interface ReachOptions {
  /** A folder that is not there is an error, not a new store: for commands that only read. */
  readonly mustExist?: boolean;
  readonly tls?: object;
  readonly config?: Readonly<Record<string, string>>;
}

export function reach(place: Place, options: ReachOptions = {}): Promise<Reached> {
  return place.kind === "folder" ? reachFolder(place, options) : reachServer(place, options);
}

async function reachFolder(place: Place & { kind: "folder" }, { config, mustExist }: ReachOptions): Promise<Reached> {
  const { dir, label } = place;
  if (mustExist === true && !existsSync(dir)) throw new CommandFailure(`there is no folder ${label}`);
  const engine = await Engine.open({ dir, ...(config === undefined ? {} : { config }) }).catch((error: unknown) => {
    const isLocked = error instanceof Error && error.name === "DirectoryLocked";
    const advice = isLocked
      ? "a program has this store open: let it listen on a port, and give its redis:// URL in place of the folder"
      : "cinnabar-check-aof and cinnabar-check-rdb show what is wrong with a file";
    throw new CommandFailure(`cannot open ${label}: ${messageOf(error)}`, advice, { cause: error });
  });
  const connect: Reached["connect"] = async (greeting = {}) => {
    const link = new Link(engine.stream(), label);
    await greet(link, greeting);
    return link;
  };
  return { place, label, engine, connect, connectTo: (_, greeting) => connect(greeting), close: () => engine.close() };
}

async function reachServer(place: ServerPlace, options: ReachOptions): Promise<Reached> {
  const { label, credentials, db } = place;
  const tls = place.tls ? (options.tls ?? {}) : undefined;
  const connectTo = (to: Endpoint | string, greeting: DialOptions = {}): Promise<Link> =>
    dial(to, { tls, credentials, db, ...greeting });
  const endpoint = place.kind === "sentinel" ? await primaryOf(place, tls) : await answering(place, connectTo);
  return {
    place,
    label,
    endpoint,
    replicate: (engine, options) => replicate(engine, endpoint, tls, options),
    connect: (greeting) => connectTo(endpoint, greeting),
    connectTo,
    close: async () => {},
  };
}

/** The engine's own link knows TCP; over TLS, and to the path of a socket, it is given the connection. */
async function replicate(
  engine: Engine,
  endpoint: Endpoint | string,
  tls: object | undefined,
  options: { readonly timeoutMs: number },
): Promise<void> {
  const { host, port } = typeof endpoint === "object" ? endpoint : { host: "localhost", port: 6_379 };
  engine.core.dial = (_host, _port, purpose) => (purpose === "replication" ? socketTo(endpoint, tls) : null);
  await engine.replicaOf(host, port, options);
}

/** The first of several hosts that can be connected to; a single one is not tried before it is used. */
async function answering(place: ServerPlace, connectTo: (to: Endpoint) => Promise<Link>): Promise<Endpoint | string> {
  if (place.path !== undefined) return place.path;
  const [first, ...others] = place.endpoints;
  if (others.length === 0) return first!;
  let last: unknown;
  for (const each of place.endpoints) {
    try {
      (await connectTo(each)).close();
      return each;
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

async function primaryOf(place: ServerPlace, tls: object | undefined): Promise<Endpoint> {
  let reason = "";
  let advice: string | undefined;
  for (const each of place.endpoints) {
    try {
      const link = await dial(each, { tls, credentials: place.sentinelCredentials ?? {} });
      const [host, port] = itemsIn(await link.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", place.name!));
      link.close();
      if (host !== undefined) return { host: textIn(host), port: Number(textIn(port)) };
      reason = `${labelOf(each)} knows no primary named '${place.name}'`;
    } catch (error) {
      reason = messageOf(error);
      if (error instanceof CommandFailure) advice = error.advice;
    }
  }
  throw new CommandFailure(
    `no Sentinel names the primary: ${reason}`,
    advice ?? "check the hosts, and the name behind them",
  );
}

/** Slots from `from` to `to` are at the primary. */
export interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly primary: Endpoint;
}

/** Who has which slots, as a node of the Cluster says. */
export async function slotRanges(link: Link, asked: Endpoint): Promise<SlotRange[]> {
  return itemsIn(await link.call("CLUSTER", "SLOTS")).map((range) => {
    const [from, to, primary] = itemsIn(range);
    const [host, port] = itemsIn(primary);
    return {
      from: Number(textIn(from)),
      to: Number(textIn(to)),
      // A node that does not know its own address leaves it out.
      primary: { host: textIn(host) || asked.host, port: Number(textIn(port)) },
    };
  });
}
