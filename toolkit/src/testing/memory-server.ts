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

export interface RedisMemoryServerOptions {
  readonly instance?: InstanceOptions;
  /** Whether it starts when it is made. True by default. */
  readonly autoStart?: boolean;
  /** Taken and not used: there is no program to find. */
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

export class RedisMemoryServer {
  readonly #options: RedisMemoryServerOptions;
  #running: Promise<Running> | null = null;

  constructor(options: RedisMemoryServerOptions = {}) {
    this.#options = OPTIONS.check(options);
    if (options.autoStart !== false) void this.start();
  }

  static async create(options: RedisMemoryServerOptions = {}): Promise<RedisMemoryServer> {
    const server = new RedisMemoryServer({ ...options, autoStart: false });
    await server.start();
    return server;
  }

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

  async stop(): Promise<boolean> {
    const running = this.#running;
    this.#running = null;
    if (running === null) return false;
    await (await running).engine.close();
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Starts it if it does not run. */
  async ensureInstance(): Promise<{ readonly ip: string; readonly port: number }> {
    await this.start();
    const info = await this.#running!;
    return { ip: info.ip, port: info.port };
  }

  /** False while it does not run. */
  getInstanceInfo(): boolean {
    return this.#running !== null;
  }

  getHost(): Promise<string> {
    return this.getIp();
  }

  async getIp(): Promise<string> {
    return (await this.#info()).ip;
  }

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
