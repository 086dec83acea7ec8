/**
 * A place that a command is told on its command line: a folder, or the URL of a server, of Sentinels or of a Cluster.
 *
 * Credentials may stand in the URL, or in the environment, where other users of the machine do not see them: for a command with one
 * place CINNABAR_USERNAME and CINNABAR_PASSWORD (or REDISCLI_AUTH), for one with two CINNABAR_FROM_… and CINNABAR_TO_…. They are
 * never printed: `label` has none.
 */
import { isAbsolute } from "node:path";
import { UsageError, withoutCredentials } from "../../options.ts";
import { didYouMean } from "../nearest.ts";

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface Credentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

export interface ServerPlace {
  readonly kind: "single" | "sentinel" | "cluster";
  /** For messages: without credentials. */
  readonly label: string;
  /** With credentials, as `open()` takes it. */
  readonly url: string;
  /** Empty where `path` is. */
  readonly endpoints: readonly Endpoint[];
  /** Of a unix socket. */
  readonly path?: string;
  readonly tls: boolean;
  readonly db: number;
  /** Whether the URL says which database: commands about the whole store then mean that one alone. */
  readonly namesDb: boolean;
  readonly credentials: Credentials;
  /** Of the primary, among Sentinels. */
  readonly name?: string;
  readonly sentinelCredentials?: Credentials;
}

export interface FolderPlace {
  readonly kind: "folder";
  readonly label: string;
  readonly dir: string;
}

export type Place = ServerPlace | FolderPlace;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Which variables of the environment hold the credentials of a place. */
export type Role = "" | "FROM_" | "TO_";

export function placeOf(text: string, env: Environment, role: Role = ""): Place {
  if (text.includes("://")) return serverPlace(text, credentialsIn(env, role));
  if (text.trim() === "" || /^[\w.-]+:[^/\\]*$/.test(text) || /^[^/]*@/.test(text)) {
    throw new UsageError(
      `'${withoutCredentials(`//${text}`).slice(2)}' is neither a folder nor a URL such as redis://127.0.0.1:6379`,
    );
  }
  return { kind: "folder", label: isAbsolute(text) || text.startsWith(".") ? text : `./${text}`, dir: text };
}

/** The place that a command with one place means: the word, or CINNABAR_URL, or the store on this machine. */
export function onePlace(text: string | undefined, env: Environment): Place {
  return placeOf(text ?? env.CINNABAR_URL ?? "redis://127.0.0.1:6379", env);
}

function credentialsIn(env: Environment, role: Role): Credentials {
  const password = env[`CINNABAR_${role}PASSWORD`] ?? (role === "" ? env.REDISCLI_AUTH : undefined);
  return { username: env[`CINNABAR_${role}USERNAME`], password };
}

const SCHEMES = [
  "redis",
  "rediss",
  "valkey",
  "valkeys",
  "unix",
  "redis+sentinel",
  "rediss+sentinel",
  "redis+cluster",
  "rediss+cluster",
];
const URL_PARTS = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)\??([^#]*)/is;

function serverPlace(url: string, fromEnvironment: Credentials): ServerPlace {
  const [, scheme = "", authority = "", path = "", search = ""] = URL_PARTS.exec(url) ?? [];
  const name = scheme.toLowerCase();
  if (!SCHEMES.includes(name)) {
    throw new UsageError(`no store is at '${scheme}://'${didYouMean(name, SCHEMES)} (known: ${SCHEMES.join(", ")})`);
  }
  const at = authority.lastIndexOf("@");
  const inUrl = at === -1 ? {} : userInfo(authority.slice(0, at));
  const credentials = inUrl.password === undefined ? { ...fromEnvironment, ...given(inUrl) } : inUrl;
  const query = new URLSearchParams(search);
  const kind = name.endsWith("+sentinel") ? "sentinel" : name.endsWith("+cluster") ? "cluster" : "single";
  const isSocket = name === "unix";
  const parts = isSocket ? [] : path.split("/").slice(1);
  const dbText = (kind === "sentinel" ? parts[1] : parts[0]) || (query.get("db") ?? "");
  if (!/^\d{0,6}$/.test(dbText)) throw new UsageError(`'${dbText}' in the URL is no number of a database`);
  return {
    kind,
    label: withoutCredentials(url).replace(/\?.*$/, ""),
    url: withUserInfo(url, authority, credentials),
    endpoints: isSocket ? [] : endpointsOf(authority.slice(at + 1), kind === "sentinel" ? 26_379 : 6_379),
    ...(isSocket ? { path: decodeURIComponent(path) } : {}),
    tls: name.startsWith("rediss") || name === "valkeys",
    db: Number(dbText),
    namesDb: dbText !== "",
    credentials,
    ...(kind === "sentinel" ? sentinelParts(parts, query) : {}),
  };
}

function sentinelParts(
  parts: readonly string[],
  query: URLSearchParams,
): Pick<ServerPlace, "name" | "sentinelCredentials"> {
  const [name = ""] = parts;
  if (name === "") throw new UsageError("a Sentinel URL ends with the primary's name: redis+sentinel://h1,h2/main");
  const username = query.get("sentinelUsername") ?? undefined;
  return {
    name: decodeURIComponent(name),
    sentinelCredentials: { username, password: query.get("sentinelPassword") ?? undefined },
  };
}

const given = ({ username }: Credentials): Credentials => (username === undefined ? {} : { username });

function userInfo(text: string): Credentials {
  const colon = text.indexOf(":");
  const part = (piece: string): string | undefined => (piece === "" ? undefined : decodeURIComponent(piece));
  if (colon === -1) return { username: part(text) };
  return { username: part(text.slice(0, colon)), password: part(text.slice(colon + 1)) };
}

/** The same URL with the credentials in it. */
function withUserInfo(url: string, authority: string, { username = "", password }: Credentials): string {
  if (password === undefined) return url;
  const hosts = authority.slice(authority.lastIndexOf("@") + 1);
  const start = url.indexOf("://") + 3;
  const user = `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`;
  return `${url.slice(0, start)}${user}${hosts}${url.slice(start + authority.length)}`;
}

function endpointsOf(hosts: string, usualPort: number): Endpoint[] {
  return (hosts === "" ? "127.0.0.1" : hosts).split(",").map((each) => {
    const [, six, host, port] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/i.exec(each) ?? [];
    const name = six ?? host;
    if (name === undefined) throw new UsageError(`'${each}' in the URL is no host with a port`);
    return { host: name, port: port === undefined ? usualPort : Number(port) };
  });
}
