/** What `cinnabar` was told on its command line, checked as a whole before anything is opened. */
import { parseArgs } from "node:util";
import { messageOf } from "./values.ts";
import { VERSION } from "./version.ts";

export const DEFAULT_PORT = 6379;
export const DEFAULT_HTTP_PORT = 8080;

export const HELP = `cinnabar ${VERSION}: a store with Redis's data types and commands, and a console to see and run it

Usage: cinnabar [start] [options]

  --dir FOLDER     folder to keep the data in (default ./data)
  --memory         keep nothing on disk
  --url URL        open no store; show the one at URL instead: redis://…, rediss://…, redis+sentinel://…, redis+cluster://…
  --port N         port of the store (default ${DEFAULT_PORT}; the next free one if that is taken)
  --http-port N    port of the console (default ${DEFAULT_HTTP_PORT}; the next free one if that is taken)
  --host ADDRESS   address to listen on (default 127.0.0.1); others than loopback need --password
  --password P     password that clients and the console ask for; or CINNABAR_PASSWORD in the environment
  --read-only      refuse whatever would change the store or the server
  -h, --help       this text
  -v, --version    the version
`;

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

/** Told to the user as one line. */
export class UsageError extends Error {}

const isLoopback = (host: string) => host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        dir: { type: "string" },
        memory: { type: "boolean", default: false },
        url: { type: "string" },
        port: { type: "string" },
        "http-port": { type: "string" },
        host: { type: "string", default: "127.0.0.1" },
        password: { type: "string" },
        "read-only": { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
        version: { type: "boolean", short: "v", default: false },
      },
    });
  } catch (error) {
    throw new UsageError(messageOf(error).split("\n")[0]!.split(". To")[0]!);
  }
}

function portOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new UsageError(`${name} takes a number from 0 to 65535, not '${text}'`);
  }
  return Number(text);
}

/** What to do: print a text, or start. */
export function readOptions(argv: readonly string[], env: NodeJS.ProcessEnv): { readonly print: string } | Options {
  const { values, positionals } = parse(argv);
  if (values.help) return { print: HELP };
  if (values.version) return { print: `${VERSION}\n` };
  if (positionals.length > 1 || (positionals.length === 1 && positionals[0] !== "start")) {
    throw new UsageError(`unknown command '${positionals.join(" ")}'`);
  }
  const { url, host, memory } = values;
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
  return { dir, url, host, password, port, httpPort, readOnly: values["read-only"] };
}

function checkUrl(url: string, hasStoreOptions: boolean): void {
  if (!url.includes("://")) throw new UsageError(`--url takes a URL such as redis://127.0.0.1:6379, not '${url}'`);
  if (hasStoreOptions) throw new UsageError("--url shows another store: leave --dir, --memory and --port out");
}

/** A URL without what nobody else may read. */
export function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^/@]*@/, "//");
}
