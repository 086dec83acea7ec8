/** What `cinnabar` was told on its command line, in its environment and in files, checked as a whole before anything is opened. */
import { type KnownUser, readJsonFile, readSecretFile, readUsers } from "./access/users.ts";
import { UsageError } from "./usage-error.ts";

export { UsageError };

export const DEFAULT_PORT = 6379;
export const DEFAULT_HTTP_PORT = 8080;

/** The flags of `cinnabar start`, as its help and the shells' completion have them. */
export const START_FLAGS = [
  { name: "dir", value: "FOLDER", isPath: true, summary: "folder to keep the data in (default ./data)" },
  { name: "memory", summary: "keep nothing on disk" },
  {
    name: "url",
    value: "URL",
    summary:
      "open no store; show the one at URL instead: redis://…, rediss://…, redis+sentinel://…, redis+cluster://…; or CINNABAR_URL in the environment",
  },
  { name: "url-file", value: "FILE", isPath: true, summary: "read that URL from a file that only you can read" },
  {
    name: "connections",
    value: "FILE",
    isPath: true,
    summary: 'further stores to choose from, as JSON: { "staging": "redis://…" }',
  },
  { name: "allow-connections", summary: "let an admin add connections in the console" },
  {
    name: "port",
    value: "N",
    summary: `port of the store (default ${DEFAULT_PORT}; the next free one if that is taken)`,
  },
  {
    name: "http-port",
    value: "N",
    summary: `port of the console (default ${DEFAULT_HTTP_PORT}; the next free one if that is taken)`,
  },
  {
    name: "host",
    value: "ADDRESS",
    summary: "address to listen on (default 127.0.0.1); others than loopback need --password",
  },
  {
    name: "password",
    value: "P",
    summary: "password that clients and the console ask for; or CINNABAR_PASSWORD in the environment",
  },
  {
    name: "password-file",
    value: "FILE",
    isPath: true,
    summary: "read the password from a file that only you can read",
  },
  {
    name: "users",
    value: "FILE",
    isPath: true,
    summary: "people with names, passwords and roles (viewer, operator, admin) in place of one password, as JSON",
  },
  { name: "audit-log", value: "FILE", isPath: true, summary: "append what is changed by whom to a file" },
  {
    name: "trust-proxy",
    summary: "believe X-Forwarded-Proto and X-Forwarded-For of the proxy in front; cookies are Secure behind TLS",
  },
  { name: "examples", summary: "show the example applications also on a store that --url names" },
  { name: "no-examples", summary: "leave the example applications out" },
  { name: "read-only", summary: "refuse whatever would change the store or the server" },
] as const;

export interface Options {
  /** Folder of the data; undefined: in memory, or another's. */
  readonly dir: string | undefined;
  readonly url: string | undefined;
  readonly host: string;
  readonly password: string | undefined;
  /** Undefined: the usual one, or the next that is free. */
  readonly port: number | undefined;
  readonly httpPort: number | undefined;
  /** Whether the console only looks. */
  readonly readOnly: boolean;
  /** Whether the example applications are there. */
  readonly examples: boolean;
  readonly users: readonly KnownUser[] | undefined;
  /** Further stores, by name. */
  readonly connections: ReadonlyMap<string, string>;
  readonly allowConnections: boolean;
  readonly auditLog: string | undefined;
  readonly trustProxy: boolean;
}

/** The command line once its flags are read: `Arguments` of commands/flags.ts. */
interface Given {
  readonly positionals: readonly string[];
  has(name: string): boolean;
  text(name: string): string | undefined;
}

const isLoopback = (host: string) => host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);

function portOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new UsageError(`${name} takes a number from 0 to 65535, not '${text}'`);
  }
  return Number(text);
}

/** What was given on the command line, in a file that it names, or in the environment: one of them. */
function secretOf(args: Given, name: string, inEnvironment: string | undefined): string | undefined {
  const direct = args.text(name);
  const file = args.text(`${name}-file`);
  if (direct !== undefined && file !== undefined) throw new UsageError(`give --${name} or --${name}-file, not both`);
  return direct ?? (file === undefined ? inEnvironment : readSecretFile(file, `--${name}-file`));
}

function readConnections(path: string | undefined): ReadonlyMap<string, string> {
  if (path === undefined) return new Map();
  const given = readJsonFile(path, "--connections");
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new UsageError('--connections: the file is an object of URLs: { "staging": "redis://…" }');
  }
  const connections = new Map<string, string>();
  for (const [name, url] of Object.entries(given)) {
    if (!/^[\w.-]{1,64}$/.test(name) || name === "main") {
      throw new UsageError(`--connections: '${name}' is no name: 1 to 64 letters, digits and . _ -, and not 'main'`);
    }
    if (typeof url !== "string" || !url.includes("://")) throw new UsageError(`--connections: '${name}' is no URL`);
    connections.set(name, url);
  }
  return connections;
}

/** What `start` was told. */
export function readOptions(args: Given, env: Readonly<Record<string, string | undefined>>): Options {
  const { positionals } = args;
  if (positionals.length > 0) throw new UsageError(`start takes no '${positionals.join(" ")}'`);
  const memory = args.has("memory");
  const dirGiven = args.text("dir");
  const port = portOf("--port", args.text("port"));
  const hasStoreOptions = memory || dirGiven !== undefined || port !== undefined;
  // What is on the command line wins over the environment: `cinnabar --dir x` opens a store of its own.
  const url = secretOf(args, "url", hasStoreOptions ? undefined : env.CINNABAR_URL);
  const host = args.text("host") ?? "127.0.0.1";
  const password = secretOf(args, "password", env.CINNABAR_PASSWORD);
  const usersFile = args.text("users");
  const users = usersFile === undefined ? undefined : readUsers(usersFile);
  if (password === "") throw new UsageError("the password is empty");
  // Users sign in to the console; a store that is opened here needs its own password besides.
  if (!isLoopback(host) && password === undefined && (users === undefined || url === undefined)) {
    throw new UsageError(
      `--host ${host} opens ${url ? "the console" : "the store"} to other machines: give a --password`,
    );
  }
  if (memory && dirGiven !== undefined) throw new UsageError("--memory keeps nothing on disk: leave --dir out");
  if (dirGiven === "") throw new UsageError("--dir needs the name of a folder");
  if (args.has("examples") && args.has("no-examples"))
    throw new UsageError("give --examples or --no-examples, not both");
  if (url !== undefined) checkUrl(url, hasStoreOptions);
  return {
    dir: memory || url !== undefined ? undefined : (dirGiven ?? "./data"),
    url,
    host,
    password,
    port,
    httpPort: portOf("--http-port", args.text("http-port")),
    readOnly: args.has("read-only"),
    // A store that is not ours gets nothing written into it unless somebody asks.
    examples: !args.has("no-examples") && (url === undefined || args.has("examples")),
    users,
    connections: readConnections(args.text("connections")),
    allowConnections: args.has("allow-connections"),
    auditLog: args.text("audit-log"),
    trustProxy: args.has("trust-proxy"),
  };
}

function checkUrl(url: string, hasStoreOptions: boolean): void {
  if (!url.includes("://")) throw new UsageError(`--url takes a URL such as redis://127.0.0.1:6379, not '${url}'`);
  if (hasStoreOptions) throw new UsageError("--url shows another store: leave --dir, --memory and --port out");
}

/** A URL without what nobody else may read. */
export function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^/@]*@/, "//");
}
