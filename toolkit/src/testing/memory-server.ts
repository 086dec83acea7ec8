/**
 * In the place of the package redis-memory-server: the same class with the same methods, over an engine in this process. Nothing is
 * downloaded or compiled, and no process is started. It listens on 127.0.0.1, on any free port unless one is asked for.
 */
import { Engine } from "@cinnabar/engine";
import { ConnectionError } from "../base/errors.ts";
import { defineOptions, flag, listOf, object, text, whole, within } from "../base/options.ts";

interface InstanceOptions {
  /** The port; any free one by default. */
  readonly port?: number;
  readonly ip?: string;
  /** Flags of redis-server: `["--maxmemory", "100mb"]`. */
  readonly args?: readonly string[];
}

/** How the server is started. */
export interface RedisMemoryServerOptions {
  /** Where it listens, and its settings. By default any free port of 127.0.0.1. */
  readonly instance?: InstanceOptions;
  /** Whether it starts when it is made. True by default. */
  readonly autoStart?: boolean;
  /** Taken and not used: there is no program to find. None by default. */
  readonly binary?: object;
}

const OPTIONS = defineOptions<RedisMemoryServerOptions>("RedisMemoryServer", {
  instance: within(
    defineOptions<InstanceOptions>("RedisMemoryServer.instance", {
      port: whole(0, 65_535),
      ip: text,
      args: listOf(text),
    }),
  ),
  autoStart: flag,
  binary: object,
});

interface Running {
  readonly engine: Engine;
  readonly ip: string;
  readonly port: number;
}

/**
 * A server in this process, with the methods of the package redis-memory-server. Nothing is downloaded, and no process is started.
 * @example
 * const server = await RedisMemoryServer.create();
 * const store = await open(`redis://${await server.getHost()}:${await server.getPort()}`);
 * await store.set("k", "v"); // → "OK"
 * await store.close();
 * await server.stop(); // → true
 */
export class RedisMemoryServer {
  readonly #options: RedisMemoryServerOptions;
  #running: Promise<Running> | null = null;

  constructor(options: RedisMemoryServerOptions = {}) {
    this.#options = OPTIONS.check(options);
    if (options.autoStart !== false) void this.start();
  }

  /** Makes a server and starts it. */
  static async create(options: RedisMemoryServerOptions = {}): Promise<RedisMemoryServer> {
    const server = new RedisMemoryServer({ ...options, autoStart: false });
    await server.start();
    return server;
  }

  /** Starts it, if it does not run; true when it runs. */
  async start(): Promise<boolean> {
    this.#running ??= this.#start();
    await this.#running;
    return true;
  }

  async #start(): Promise<Running> {
    const { ip = "127.0.0.1", port = 0, args = [] } = this.#options.instance ?? {};
    const engine = await Engine.open({ config: directivesOf(args) });
    const address = await engine.listen({ host: ip, port });
    return { engine, ip, port: address.port };
  }

  /** Ends it, with its data. False if it did not run. */
  async stop(): Promise<boolean> {
    const running = this.#running;
    this.#running = null;
    if (running === null) return false;
    await (await running).engine.close();
    return true;
  }

  /** The same as `stop`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /**
   * Starts it if it does not run.
   * @example
   * const server = new RedisMemoryServer({ autoStart: false });
   * server.getInstanceInfo(); // → false
   * await server.start(); // → true
   * await server.ensureInstance(); // → { ip: "127.0.0.1", port: … }
   * await server.getIp(); // → "127.0.0.1"
   * await server.stop(); // → true
   */
  async ensureInstance(): Promise<{ readonly ip: string; readonly port: number }> {
    await this.start();
    const info = await this.#running!;
    return { ip: info.ip, port: info.port };
  }

  /** False while it does not run. */
  getInstanceInfo(): boolean {
    return this.#running !== null;
  }

  /** The same as `getIp`. */
  getHost(): Promise<string> {
    return this.getIp();
  }

  /** The address where it listens. Throws a ConnectionError while it does not run. */
  async getIp(): Promise<string> {
    return (await this.#info()).ip;
  }

  /** The port where it listens. Throws a ConnectionError while it does not run. */
  async getPort(): Promise<number> {
    return (await this.#info()).port;
  }

  #info(): Promise<Running> {
    if (this.#running !== null) return this.#running;
    throw new ConnectionError("the server does not run; start() it first", { maybeExecuted: false });
  }
}

/** `["--maxmemory", "100mb"]` as the directives of redis.conf. */
function directivesOf(args: readonly string[]): Record<string, string> {
  const directives: Record<string, string> = {};
  let name = "";
  for (const word of args) {
    if (word.startsWith("--")) {
      name = word.slice(2);
      directives[name] = "";
    } else if (name !== "") directives[name] = directives[name] === "" ? word : `${directives[name]} ${word}`;
  }
  return directives;
}
