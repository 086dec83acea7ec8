/** What `cinnabar` was told on its command line, checked as a whole before anything is opened. */

export const DEFAULT_PORT = 6379;
export const DEFAULT_HTTP_PORT = 8080;

/** The flags of `cinnabar start`, as its help and the shells' completion have them. */
export const START_FLAGS = [
  { name: "dir", value: "FOLDER", isPath: true, summary: "folder to keep the data in (default ./data)" },
  { name: "memory", summary: "keep nothing on disk" },
  {
    name: "url",
    value: "URL",
    summary: "open no store; show the one at URL instead: redis://…, rediss://…, redis+sentinel://…, redis+cluster://…",
  },
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
}

/** The command line once its flags are read: `Arguments` of commands/flags.ts. */
interface Given {
  readonly positionals: readonly string[];
  has(name: string): boolean;
  text(name: string): string | undefined;
}

/** Told to the user as one line. */
export class UsageError extends Error {}

const isLoopback = (host: string) => host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);

function portOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new UsageError(`${name} takes a number from 0 to 65535, not '${text}'`);
  }
  return Number(text);
}

/** What `start` was told. */
export function readOptions(args: Given, env: Readonly<Record<string, string | undefined>>): Options {
  const { positionals } = args;
  if (positionals.length > 0) throw new UsageError(`start takes no '${positionals.join(" ")}'`);
  const url = args.text("url");
  const host = args.text("host") ?? "127.0.0.1";
  const memory = args.has("memory");
  const values = {
    dir: args.text("dir"),
    password: args.text("password"),
    port: args.text("port"),
    "http-port": args.text("http-port"),
  };
  const password = values.password ?? env.CINNABAR_PASSWORD;
  if (password === "") throw new UsageError("the password is empty");
  if (!isLoopback(host) && password === undefined) {
    throw new UsageError(
      `--host ${host} opens ${url ? "the console" : "the store"} to other machines: give a --password`,
    );
  }
  if (memory && values.dir !== undefined) throw new UsageError("--memory keeps nothing on disk: leave --dir out");
  if (values.dir === "") throw new UsageError("--dir needs the name of a folder");
  const port = portOf("--port", values.port);
  const httpPort = portOf("--http-port", values["http-port"]);
  if (url !== undefined) checkUrl(url, memory || values.dir !== undefined || port !== undefined);
  const dir = memory || url !== undefined ? undefined : (values.dir ?? "./data");
  return { dir, url, host, password, port, httpPort, readOnly: args.has("read-only") };
}

function checkUrl(url: string, hasStoreOptions: boolean): void {
  if (!url.includes("://")) throw new UsageError(`--url takes a URL such as redis://127.0.0.1:6379, not '${url}'`);
  if (hasStoreOptions) throw new UsageError("--url shows another store: leave --dir, --memory and --port out");
}

/** A URL without what nobody else may read. */
export function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^/@]*@/, "//");
}
