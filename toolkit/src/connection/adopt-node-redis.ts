/**
 * The settings of a node-redis client, cluster or sentinel, 5 or 6. Where they are kept differs and is private for sentinels;
 * `duplicate()` is public (sentinels of 5 have none, and cannot be taken), and builds its copy with the constructor that it finds on its prototype. A prototype with a
 * constructor of our own gets the settings, and nothing is built.
 */
import { InputError } from "../base/errors.ts";
import type { Credentials, Endpoint } from "./dial.ts";
import type { OpenOptions } from "./open.ts";
import type { Driver } from "./port.ts";
import { socketDialer } from "./socket.ts";
import { formatUrl, openTarget, parseUrl, refuseKeyPrefix, type Target } from "./url.ts";

interface SocketOptions {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
  readonly tls?: boolean;
}

interface BasicAuth {
  readonly username?: string;
  readonly password?: string;
}

type CredentialsProvider =
  | { readonly type: "async-credentials-provider"; credentials(): Promise<BasicAuth> }
  | {
      readonly type: "streaming-credentials-provider";
      subscribe(listener: object): Promise<[BasicAuth, { dispose(): void }]>;
    };

interface ClientOptions {
  readonly url?: string;
  readonly socket?: SocketOptions;
  readonly username?: string;
  readonly password?: string;
  readonly database?: number;
  readonly keyPrefix?: unknown;
  readonly credentialsProvider?: CredentialsProvider;
}

type AddressMap =
  | Readonly<Record<string, { readonly host: string; readonly port: number }>>
  | ((address: string) => { readonly host: string; readonly port: number } | undefined);

interface AnyOptions extends ClientOptions {
  readonly rootNodes?: readonly ClientOptions[];
  readonly defaults?: ClientOptions;
  readonly name?: string;
  readonly sentinelRootNodes?: readonly { readonly host: string; readonly port: number }[];
  readonly nodeClientOptions?: ClientOptions;
  readonly sentinelClientOptions?: ClientOptions;
  readonly nodeAddressMap?: AddressMap;
}

export function isNodeRedis(client: object): boolean {
  return "isOpen" in client && "sendCommand" in client;
}

export async function adoptNodeRedis(client: object, options: OpenOptions): Promise<Driver> {
  const own = settingsOf(client);
  refuseKeyPrefix(own.keyPrefix);
  if (own.sentinelRootNodes !== undefined) return adoptSentinel(own.sentinelRootNodes, own, options);
  if (own.rootNodes !== undefined) return adoptCluster(own.rootNodes, own, options);
  const one = resolved(own);
  const target: Target = { ...one.target, kind: "single", db: own.database ?? one.target.db };
  return openTarget(target, options, { ...(await means(one, target)) });
}

function settingsOf(client: object): AnyOptions {
  if (!("duplicate" in client)) {
    throw new InputError(
      "sentinels of node-redis 5 keep their settings to themselves; open a redis+sentinel:// URL instead",
    );
  }
  let settings: AnyOptions | undefined;
  const prototype = Object.create(client, {
    constructor: {
      value: function Settings(given: AnyOptions) {
        settings = given;
      },
    },
  });
  const carrier: { duplicate(): unknown } = Object.create(prototype);
  carrier.duplicate();
  if (settings === undefined) throw new InputError("the settings of this node-redis client cannot be read");
  return settings;
}

interface Resolved {
  readonly target: Omit<Target, "kind">;
  readonly tls: object | undefined;
  readonly credentials: (() => Promise<Credentials>) | undefined;
}

/** One client's options: a URL, or its parts; the URL wins, as in node-redis. */
function resolved(own: ClientOptions, defaults: ClientOptions = {}): Resolved {
  const parsed = own.url === undefined ? undefined : parseUrl(own.url);
  const socket = { ...defaults.socket, ...own.socket };
  const endpoint: Endpoint =
    parsed?.endpoints[0] ??
    (socket.path === undefined
      ? { host: socket.host ?? "localhost", port: socket.port ?? 6379 }
      : { path: socket.path });
  const secure = parsed?.tls ?? socket.tls === true;
  const password = parsed?.password ?? own.password ?? defaults.password;
  const fixed = password !== undefined;
  const { host: _host, port: _port, path: _path, tls: _tls, ...rest } = socket;
  return {
    target: {
      endpoints: [endpoint],
      tls: secure,
      db: parsed?.db ?? 0,
      username: parsed?.username ?? own.username ?? defaults.username,
      password,
    },
    tls: secure ? tlsOptions(rest) : undefined,
    // node-redis makes a provider of a fixed password; the password itself says as much.
    credentials: fixed ? undefined : providerOf(own.credentialsProvider ?? defaults.credentialsProvider),
  };
}

/** What of a socket's options is about it and not about TLS. */
const SOCKET_ONLY = [
  "connectTimeout",
  "reconnectStrategy",
  "socketTimeout",
  "noDelay",
  "keepAlive",
  "keepAliveInitialDelay",
];

function tlsOptions(socket: object): object {
  return Object.fromEntries(Object.entries(socket).filter(([name]) => !SOCKET_ONLY.includes(name)));
}

function providerOf(provider: CredentialsProvider | undefined): (() => Promise<Credentials>) | undefined {
  if (provider === undefined) return undefined;
  return async () => {
    if (provider.type === "async-credentials-provider") return provider.credentials();
    const [credentials, subscription] = await provider.subscribe({ onNext() {}, onError() {} });
    subscription.dispose();
    return credentials;
  };
}

async function means(one: Resolved, target: Target) {
  const plain = one.tls === undefined && one.credentials === undefined;
  return {
    dial: socketDialer(),
    tls: one.tls,
    credentials: one.credentials,
    address: plain ? { url: formatUrl(target), options: {} } : null,
  };
}

async function adoptCluster(roots: readonly ClientOptions[], own: AnyOptions, options: OpenOptions): Promise<Driver> {
  const nodes = roots.map((node) => resolved(node, own.defaults));
  const first = nodes[0];
  if (first === undefined) throw new InputError("the cluster has no rootNodes");
  refuseKeyPrefix(own.defaults?.keyPrefix);
  const endpoints = nodes.flatMap(({ target }) => target.endpoints);
  const target: Target = { ...first.target, endpoints, kind: "cluster", db: 0 };
  const translate = translated(own.nodeAddressMap);
  const { address, ...rest } = await means(first, target);
  return openTarget(target, options, { ...rest, address: translate === undefined ? address : null, translate });
}

async function adoptSentinel(
  roots: NonNullable<AnyOptions["sentinelRootNodes"]>,
  own: AnyOptions,
  options: OpenOptions,
): Promise<Driver> {
  const node = resolved(own.nodeClientOptions ?? {});
  refuseKeyPrefix(own.nodeClientOptions?.keyPrefix);
  const sentinel = resolved(own.sentinelClientOptions ?? {});
  const target: Target = {
    ...node.target,
    kind: "sentinel",
    endpoints: roots.map(({ host, port }) => ({ host, port })),
    db: own.nodeClientOptions?.database ?? 0,
    name: own.name ?? "mymaster",
    sentinel: { username: sentinel.target.username, password: sentinel.target.password },
  };
  const translate = translated(own.nodeAddressMap);
  const { address, ...rest } = await means(node, target);
  return openTarget(target, options, {
    ...rest,
    sentinelTls: sentinel.tls,
    address: translate === undefined && sentinel.tls === undefined ? address : null,
    translate,
  });
}

function translated(map: AddressMap | undefined): ((endpoint: Endpoint) => Endpoint) | undefined {
  if (map === undefined) return undefined;
  return (endpoint) => {
    if ("path" in endpoint) return endpoint;
    const name = `${endpoint.host}:${endpoint.port}`;
    return (typeof map === "function" ? map(name) : map[name]) ?? endpoint;
  };
}
