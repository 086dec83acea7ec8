/**
 * In the place of the package ioredis-mock: the real ioredis, over an engine in this process.
 *
 *   vi.mock("ioredis", async (original) => inProcess(await original()));
 *
 * As with ioredis-mock, clients of the same host, port and database number see the same data, and `flushInProcess` empties all.
 */
import { connectorFor, Engine } from "@cinnabar/engine";

// biome-ignore lint/suspicious/noExplicitAny: the class of whichever version of ioredis the program has
type RedisClass = new (...given: any[]) => { readonly options: { host?: string; port?: number; path?: string } };

/** By host and port, or by path. */
const engines = new Map<string, Promise<Engine>>();

function engineFor(name: string): Promise<Engine> {
  let engine = engines.get(name);
  if (engine === undefined) {
    engine = Engine.open();
    engines.set(name, engine);
  }
  return engine;
}

/**
 * The module of ioredis with clients that need no server.
 * @example
 * import * as ioredis from "ioredis";
 * const { Redis } = inProcess(ioredis);
 * const redis = new Redis();
 * await redis.set("k", "v"); // → "OK"
 * redis.disconnect();
 */
export function inProcess<M extends object>(ioredis: M): M {
  const { default: main, Redis = main } = ioredis as { default?: RedisClass; Redis?: RedisClass };
  if (Redis === undefined) throw new TypeError("inProcess() takes the module of ioredis");
  const local = localClass(Redis);
  return { ...ioredis, default: local, Redis: local };
}

function localClass(Redis: RedisClass): RedisClass {
  return class LocalRedis extends Redis {
    constructor(...given: unknown[]) {
      const Connector = localConnector();
      const last = given.at(-1);
      const isOptions = typeof last === "object" && last !== null;
      const options = { ...(isOptions ? last : {}), Connector };
      super(...(isOptions ? given.slice(0, -1) : given), options);
    }
  };
}

/** ioredis gives a connector its options, host and port among them. */
function localConnector() {
  return class {
    readonly #options: { host?: string; port?: number; path?: string };
    #inner: { connect(): Promise<unknown>; disconnect(): void } | null = null;
    firstError?: Error;

    constructor(options: { host?: string; port?: number; path?: string } = {}) {
      this.#options = options;
    }

    async connect(): Promise<unknown> {
      const { host = "localhost", port = 6379, path = "" } = this.#options;
      const engine = await engineFor(path === "" ? `${host}:${port}` : path);
      this.#inner = new (connectorFor(engine))();
      return this.#inner!.connect();
    }

    check(): boolean {
      return true;
    }

    disconnect(): void {
      this.#inner?.disconnect();
    }
  };
}

/**
 * Empties every store that clients of `inProcess` have made: for between tests.
 * @example
 * await flushInProcess();
 */
export async function flushInProcess(): Promise<void> {
  for (const engine of engines.values()) (await engine).restore(null);
}
