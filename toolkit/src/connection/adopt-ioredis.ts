/** The settings of an ioredis client, 5 or 6: a server, Sentinel, Cluster, or a connector of its own. */

import type { Socket } from "node:net";
import { InputError } from "../base/errors.ts";
import type { Dialer, Endpoint } from "./dial.ts";
import type { OpenOptions } from "./open.ts";
import type { Driver } from "./port.ts";
import { connected, socketDialer } from "./socket.ts";
import { formatUrl, openTarget, parseUrl, refuseKeyPrefix, type Target } from "./url.ts";

interface Address {
  readonly host?: string | null;
  readonly port?: number | string | null;
}

type NatMap =
  | Readonly<Record<string, { readonly host: string; readonly port: number }>>
  | ((key: string) => Address | null);

interface IoredisOptions extends Address {
  readonly path?: string | null;
  readonly family?: number | null;
  readonly username?: string | null;
  readonly password?: string | null;
  readonly db?: number | null;
  readonly tls?: object | null;
  readonly keyPrefix?: unknown;
  readonly Connector?: (new (options: object) => Connector) | null;
  readonly sentinels?: readonly Address[] | null;
  readonly name?: string | null;
  readonly role?: string;
  readonly sentinelUsername?: string | null;
  readonly sentinelPassword?: string | null;
  readonly sentinelTLS?: object | null;
  readonly enableTLSForSentinelMode?: boolean;
  readonly natMap?: NatMap | null;
  readonly connectionName?: string | null;
}

export interface IoredisInstance {
  readonly options: IoredisOptions;
}

export interface IoredisCluster {
  readonly options: {
    readonly redisOptions?: IoredisOptions;
    readonly natMap?: NatMap | null;
    readonly keyPrefix?: unknown;
  };
  readonly startupNodes?: readonly (string | number | Address)[];
}

export async function adoptIoredis(client: IoredisInstance, options: OpenOptions): Promise<Driver> {
  const own = client.options;
  refuseKeyPrefix(own.keyPrefix);
  if (typeof own.Connector === "function") {
    // An engine in this process, perhaps: only the connector knows the way.
    const target: Target = { ...common(own), kind: "single", endpoints: [], tls: false };
    return openTarget(target, options, { dial: connectorDialer(own.Connector, own), address: null });
  }
  if (own.sentinels !== null && own.sentinels !== undefined) return adoptSentinel(own.sentinels, own, options);
  const endpoint = typeof own.path === "string" ? { path: own.path } : endpointOf(own, 6379);
  const target: Target = { ...common(own), kind: "single", endpoints: [endpoint], tls: isSet(own.tls) };
  const { tls, address } = forTls(own.tls, target);
  return openTarget(target, options, { dial: socketDialer(family(own)), tls, address });
}

async function adoptSentinel(
  sentinels: readonly Address[],
  own: IoredisOptions,
  options: OpenOptions,
): Promise<Driver> {
  if (own.role === "slave") throw new InputError("the client reads from replicas; a store needs the primary");
  const target: Target = {
    ...common(own),
    kind: "sentinel",
    endpoints: sentinels.map((each) => endpointOf(each, 26379)),
    tls: own.enableTLSForSentinelMode === true || isSet(own.tls),
    name: own.name ?? "mymaster",
    sentinel: { username: own.sentinelUsername ?? undefined, password: own.sentinelPassword ?? undefined },
  };
  return openTarget(target, options, {
    dial: socketDialer(family(own)),
    tls: own.tls ?? undefined,
    sentinelTls:
      own.enableTLSForSentinelMode === true ? (own.sentinelTLS ?? own.tls ?? {}) : (own.sentinelTLS ?? undefined),
    address: target.tls || isSet(own.sentinelTLS) || isSet(own.natMap) ? null : { url: formatUrl(target), options: {} },
    translate: translated(own.natMap),
  });
}

export async function adoptIoredisCluster(cluster: IoredisCluster, options: OpenOptions): Promise<Driver> {
  const own = cluster.options.redisOptions ?? {};
  refuseKeyPrefix(cluster.options.keyPrefix ?? own.keyPrefix);
  const natMap = cluster.options.natMap ?? own.natMap;
  const seeds = (cluster.startupNodes ?? []).map(seedOf);
  const target: Target = {
    ...common(own),
    kind: "cluster",
    endpoints: seeds.length > 0 ? seeds : [{ host: "127.0.0.1", port: 6379 }],
    tls: isSet(own.tls),
  };
  const { tls, address } = forTls(own.tls, target);
  const dial = socketDialer(family(own));
  return openTarget(target, options, {
    dial,
    tls,
    address: isSet(natMap) ? null : address,
    translate: translated(natMap),
  });
}

function common(own: IoredisOptions): Pick<Target, "username" | "password" | "db"> {
  return { username: own.username ?? undefined, password: own.password ?? undefined, db: own.db ?? 0 };
}

/** IPv4, IPv6 or either. */
function family(own: IoredisOptions): { readonly family?: number } {
  return typeof own.family === "number" ? { family: own.family } : {};
}

/** A connector of ioredis: it makes a stream, which may still be connecting. */
interface Connector {
  connect(onError: (type: string, error: Error) => void): Promise<Socket>;
}

function connectorDialer(Connector: new (options: object) => Connector, own: IoredisOptions): Dialer {
  return async (_endpoint, { timeoutMs }) => {
    const stream = await new Connector(own).connect(() => {});
    return stream.connecting ? connected(stream, "connect", timeoutMs) : stream;
  };
}

/** Only the settings of a plain connection can be passed to a thread. */
function forTls(
  tls: object | null | undefined,
  target: Target,
): { tls: object | undefined; address: { url: string; options: object } | null } {
  return { tls: tls ?? undefined, address: isSet(tls) ? null : { url: formatUrl(target), options: {} } };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

function endpointOf({ host, port }: Address, defaultPort: number): Endpoint {
  return { host: host ?? "localhost", port: Number(port ?? defaultPort) };
}

function seedOf(node: string | number | Address): Endpoint {
  if (typeof node === "number") return { host: "127.0.0.1", port: node };
  if (typeof node === "object") return endpointOf(node, 6379);
  return parseUrl(node.includes("://") ? node : `redis://${node}`).endpoints[0]!;
}

function translated(natMap: NatMap | null | undefined): ((endpoint: Endpoint) => Endpoint) | undefined {
  if (natMap === null || natMap === undefined) return undefined;
  return (endpoint) => {
    if ("path" in endpoint) return endpoint;
    const name = `${endpoint.host}:${endpoint.port}`;
    const to = typeof natMap === "function" ? natMap(name) : natMap[name];
    return to === null || to === undefined ? endpoint : endpointOf(to, endpoint.port);
  };
}
