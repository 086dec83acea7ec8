/**
 * The URLs that `open` takes.
 *
 *   redis://[user:password@]host[:6379][/db]                  also valkey://; rediss:// and valkeys:// with TLS
 *   unix://[user:password@]/path/to/socket[?db=1]             also redis+unix://
 *   redis+sentinel://[user:password@]h1[:26379],h2,…/name[/db][?sentinelUsername=…&sentinelPassword=…]
 *   redis+cluster://[user:password@]h1[:6379],h2,…
 *
 * `rediss+…` for TLS. User and password are percent-encoded. They never stand in a message, and neither does the query.
 */
import { systemClock } from "../base/clock.ts";
import { InputError } from "../base/errors.ts";
import { nearest } from "../base/options.ts";
import { CachingDriver, type Tracked } from "./caching.ts";
import { ClientCache } from "./client-cache.ts";
import { ClusterDriver } from "./cluster.ts";
import { type Credentials, type Dialer, dialWire, type Endpoint, labelOf, type Settings } from "./dial.ts";
import type { OpenOptions } from "./open.ts";
import type { Driver, WorkerAddress } from "./port.ts";
import { RemoteDriver } from "./remote.ts";
import { checkedPolicy, type Grouped, ReplicaDriver } from "./replicas.ts";
import { openSentinel } from "./sentinel.ts";
import { socketDialer } from "./socket.ts";
import { checkTls } from "./tls.ts";

export const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;
export const DEFAULT_COMMAND_TIMEOUT_MS = 10_000;

export interface Target extends Credentials {
  readonly kind: "single" | "sentinel" | "cluster";
  readonly tls: boolean;
  readonly endpoints: readonly Endpoint[];
  readonly db: number;
  /** Sentinel's name for the primary. */
  readonly name?: string;
  readonly sentinel?: Credentials;
}

const SCHEME = /^(redis|rediss|valkey|valkeys)(?:[+-](unix|socket|sentinel|cluster))?$/;

const KNOWN_SCHEMES = ["redis", "rediss", "valkey", "valkeys", "unix", "redis+sentinel", "redis+cluster", "redis+unix"];

export function parseUrl(url: string): Target {
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(url) ?? [];
  const named = scheme.toLowerCase() === "unix" ? "redis+unix" : scheme.toLowerCase();
  const [, protocol, form] = SCHEME.exec(named) ?? [];
  if (protocol === undefined) {
    const known = "redis://, rediss://, unix://, redis+sentinel:// and redis+cluster://";
    const near = nearest(named, KNOWN_SCHEMES);
    const question = near === null ? "" : ` Did you mean "${near}://"?`;
    throw new InputError(`open() does not know "${scheme}://"; it knows ${known}.${question}`);
  }
  const [, authority = "", path = "", query = ""] = /^([^/?#]*)([^?#]*)\??([^#]*)/s.exec(rest) ?? [];
  const at = authority.lastIndexOf("@");
  const parts: Parts = {
    scheme: `${scheme}://`,
    tls: protocol.endsWith("s") && protocol !== "redis",
    hosts: authority.slice(at + 1),
    path,
    query: new URLSearchParams(query),
    credentials: at === -1 ? {} : userInfo(authority.slice(0, at)),
  };
  refuseUnknown(parts, form === "sentinel" ? ["db", "sentinelUsername", "sentinelPassword"] : ["db"]);
  if (form === "sentinel") return sentinelTarget(parts);
  if (form === "cluster") return clusterTarget(parts);
  return form === undefined ? singleTarget(parts) : unixTarget(parts);
}

interface Parts {
  readonly scheme: string;
  readonly tls: boolean;
  readonly hosts: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly credentials: Credentials;
}

function singleTarget(parts: Parts): Target {
  const endpoints = endpointsOf(parts, 6379);
  if (endpoints.length > 1) {
    throw new InputError(`${parts.scheme} takes one host; several are for redis+sentinel:// or redis+cluster://`);
  }
  const db = dbOf(parts, parts.path.slice(1));
  return { kind: "single", tls: parts.tls, endpoints, db, ...parts.credentials };
}

function unixTarget(parts: Parts): Target {
  if (parts.hosts !== "" || parts.path === "" || parts.path === "/") {
    throw new InputError(`${parts.scheme} needs the socket's whole path: ${parts.scheme}/path/to/socket`);
  }
  const endpoints = [{ path: decoded(parts.path, "path") }];
  return { kind: "single", tls: false, endpoints, db: dbOf(parts, ""), ...parts.credentials };
}

function sentinelTarget(parts: Parts): Target {
  const [name = "", db = "", ...more] = parts.path.slice(1).split("/");
  if (name === "" || more.length > 0) {
    throw new InputError(`${parts.scheme} needs the primary's name behind the hosts: ${parts.scheme}h1,h2,h3/name`);
  }
  const username = parts.query.get("sentinelUsername") ?? undefined;
  const password = parts.query.get("sentinelPassword") ?? undefined;
  return {
    kind: "sentinel",
    tls: parts.tls,
    endpoints: endpointsOf(parts, 26379),
    db: dbOf(parts, db),
    name: decoded(name, "name"),
    sentinel: { username, password },
    ...parts.credentials,
  };
}

function clusterTarget(parts: Parts): Target {
  const db = dbOf(parts, parts.path.slice(1));
  if (db !== 0) throw new InputError("a Cluster has only database 0");
  return { kind: "cluster", tls: parts.tls, endpoints: endpointsOf(parts, 6379), db, ...parts.credentials };
}

function userInfo(text: string): Credentials {
  const colon = text.indexOf(":");
  const username = decoded(colon === -1 ? text : text.slice(0, colon), "user");
  const password = colon === -1 ? undefined : decoded(text.slice(colon + 1), "password");
  if (username !== "" && (password === undefined || password === "")) {
    throw new InputError(
      "a user without a password; a password alone is written with a colon before it: redis://:password@host",
    );
  }
  return { username: username === "" ? undefined : username, password: password === "" ? undefined : password };
}

function decoded(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InputError(`the URL's ${what} is not percent-encoded as it should be`);
  }
}

const HOST = /^(?:\[([0-9a-fA-F:.%\w]+)\]|([^:[\]\s]+))(?::(\d+))?$/;

function endpointsOf({ hosts, scheme }: Parts, defaultPort: number): Endpoint[] {
  // No host at all is this machine, as in redis:///1.
  const list = hosts === "" ? ["localhost"] : hosts.split(",");
  return list.map((each) => {
    const [, six, host, port] = HOST.exec(each) ?? [];
    const name = six ?? host;
    const number = port === undefined ? defaultPort : Number(port);
    if (name === undefined || number < 1 || number > 65_535) {
      throw new InputError(`"${each}" in the ${scheme} URL is no host with a port`);
    }
    return { host: name, port: number };
  });
}

function dbOf({ query }: Parts, inPath: string): number {
  const text = inPath === "" ? (query.get("db") ?? "0") : inPath;
  if (!/^\d{1,6}$/.test(text)) throw new InputError(`"${text}" in the URL is no number of a database`);
  return Number(text);
}

function refuseUnknown({ query, scheme }: Parts, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (!known.includes(name)) throw new InputError(`${scheme} URLs know ${known.join(", ")}; not "${name}"`);
  }
}

// -------------------------------------------------------------------------------------------------- opening

export async function openUrl(url: string, options: OpenOptions): Promise<Driver> {
  const target = parseUrl(url);
  if (options.tls !== undefined) checkTls(options.tls, target.tls);
  if (options.config !== undefined) throw new InputError("config is for the store in this process, not for a server");
  return openTarget(target, options, { dial: socketDialer(), address: addressFor(url, options) });
}

export interface Means {
  readonly dial: Dialer;
  readonly address: WorkerAddress | null;
  /** Options of `tls.connect`; those of `open` if there are none. */
  readonly tls?: object | undefined;
  readonly sentinelTls?: object | undefined;
  readonly credentials?: Settings["credentials"];
  readonly translate?: ((endpoint: Endpoint) => Endpoint) | undefined;
  /** Connections that have nothing to do let the process end. */
  readonly rests?: boolean;
  /** For one server: run once, when its connections are over. */
  readonly onClosed?: () => Promise<void>;
}

export async function openTarget(target: Target, options: OpenOptions, means: Means): Promise<Driver> {
  const { reads: policy } = options;
  if (policy !== undefined) checkedPolicy(policy);
  const cache = cacheFor(options);
  const tracking = cache?.tracking;
  const settings = { ...settingsFor(target, options, means), tracking };
  const driver = await openGrouped(target, settings, means);
  if (cache !== null) return new CachingDriver(driver, cache, settings.clock);
  return policy === undefined ? driver : new ReplicaDriver(driver, { settings, policy, translate: means.translate });
}

function cacheFor({ clientCache, reads }: OpenOptions): ClientCache | null {
  if (clientCache === undefined) return null;
  if (reads !== undefined && reads.from !== "primary") {
    throw new InputError(
      "clientCache answers reads from memory and the primary: leave out reads, or have them from the primary",
    );
  }
  return new ClientCache(clientCache);
}

function openGrouped(target: Target, settings: Settings, means: Means): Promise<Grouped & Tracked> {
  const { address } = means;
  const translate = means.translate === undefined ? {} : { translate: means.translate };
  if (target.kind === "cluster")
    return ClusterDriver.open({ seeds: target.endpoints, settings, address, ...translate });
  if (target.kind === "sentinel") {
    return openSentinel({
      name: target.name!,
      sentinels: target.endpoints,
      credentials: target.sentinel ?? {},
      sentinelTls: "sentinelTls" in means ? means.sentinelTls : settings.tls,
      settings,
      address,
      ...translate,
    });
  }
  // None: the dialer knows the way.
  const endpoint = target.endpoints[0] ?? null;
  return RemoteDriver.open({
    topology: "single",
    settings,
    dial: () => dialWire(endpoint, settings),
    address,
    onClosed: means.onClosed,
  });
}

function settingsFor(target: Target, options: OpenOptions, means: Means): Settings {
  const { dial, tls, credentials, rests = false } = means;
  return {
    dial,
    rests,
    credentials,
    clock: options.clock ?? systemClock,
    tls: target.tls ? (tls ?? options.tls ?? {}) : undefined,
    db: target.db,
    username: target.username,
    password: target.password,
    clientName: options.clientName,
    connectTimeoutMs: positive(options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS, "connectTimeoutMs"),
    commandTimeoutMs: positive(options.commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS, "commandTimeoutMs"),
  };
}

/** Keys of scripts are declared and named by components; a prefix that is put before some of them would break that. */
export function refuseKeyPrefix(prefix: unknown): void {
  if (prefix === undefined || prefix === null || String(prefix) === "") return;
  throw new InputError("the client has a key prefix, which scripts cannot work with; give components a prefix instead");
}

export function positive(value: number, name: string): number {
  if (!(value > 0) || !Number.isFinite(value))
    throw new InputError(`${name} must be a positive number of milliseconds`);
  return value;
}

/** The URL of a target, for a thread of this process: with the password in it. */
export function formatUrl(target: Target): string {
  const { kind, tls, endpoints, db, name, username = "", password } = target;
  const form = kind === "single" ? "" : `+${kind}`;
  const user = password === undefined ? "" : `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`;
  const [first] = endpoints;
  if (first !== undefined && "path" in first) return `unix://${user}${encodeURI(first.path)}?db=${db}`;
  const query = new URLSearchParams();
  for (const part of ["username", "password"] as const) {
    const value = target.sentinel?.[part];
    if (value !== undefined) query.set(part === "username" ? "sentinelUsername" : "sentinelPassword", value);
  }
  const path = name === undefined ? `/${db}` : `/${encodeURIComponent(name)}/${db}`;
  const search = query.size === 0 ? "" : `?${query}`;
  return `redis${tls ? "s" : ""}${form}://${user}${endpoints.map(labelOf).join(",")}${path}${search}`;
}

function addressFor(url: string, { tls, connectTimeoutMs, commandTimeoutMs }: OpenOptions): WorkerAddress {
  return {
    url,
    options: {
      ...(tls === undefined ? {} : { tls }),
      ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
      ...(commandTimeoutMs === undefined ? {} : { commandTimeoutMs }),
    },
  };
}
