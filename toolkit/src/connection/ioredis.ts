/**
 * Connections made with ioredis. Only its socket, its encoder and its parser are used: one client is one connection
 * that ends when it is cut. Reconnecting, Sentinel and Cluster are done above (line.ts, sentinel.ts, cluster.ts), where it is
 * known what may be sent twice; ioredis would repeat what was under way.
 *
 * Integers are asked for as text and strings as Buffers, so that 64 bits survive and the two can be told apart. Names of
 * commands are sent in capitals, since ioredis transforms what it knows by its name in small letters.
 */
import { ServerError } from "../base/errors.ts";
import { type Dialer, type Endpoint, nameOf } from "./dial.ts";
import { type RawAnswer, type RawLink, serverError } from "./wire.ts";

interface IoredisCommand {
  readonly promise: Promise<unknown>;
}

interface IoredisStream {
  cork?(): void;
  uncork?(): void;
  destroy(): void;
}

/** What is used of a client. */
interface IoredisClient {
  readonly status: string;
  readonly stream?: IoredisStream | null;
  connect(): Promise<void>;
  disconnect(): void;
  sendCommand(command: IoredisCommand): unknown;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): unknown;
}

interface IoredisClass {
  new (options: Readonly<Record<string, unknown>>): IoredisClient;
  readonly Command: new (
    name: string,
    args: readonly unknown[],
    options: { readonly replyEncoding: null },
  ) => IoredisCommand;
}

/** What makes a client a plain connection. */
const PLAIN = {
  lazyConnect: true,
  retryStrategy: null,
  enableOfflineQueue: false,
  enableReadyCheck: false,
  enableAutoPipelining: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: null,
  reconnectOnError: null,
  commandTimeout: undefined,
  socketTimeout: undefined,
  blockingTimeout: undefined,
  disableClientInfo: true,
  connectionName: null,
  username: null,
  password: null,
  db: 0,
  readOnly: false,
  monitor: false,
  stringNumbers: true,
  protocol: 2,
  replyMapping: "legacy",
  himportFieldsets: undefined,
  scripts: undefined,
  keyPrefix: "",
  // Ours; see sentinel.ts.
  sentinels: null,
};

/** ioredis is loaded here, and only when it is needed. `base`: options of an existing client. */
export async function ioredisDialer(base: Readonly<Record<string, unknown>> = {}): Promise<Dialer> {
  const { Redis: loaded } = await import("ioredis");
  const Redis = loaded as unknown as IoredisClass;
  return (endpoint, { timeoutMs, tls }) => connect(Redis, { ...base, ...PLAIN, ...target(endpoint, tls) }, timeoutMs);
}

function target(endpoint: Endpoint | null, tls: object | undefined): Record<string, unknown> {
  // No endpoint: the client's own way to its server (a connector of an engine in this process).
  if (endpoint === null) return {};
  const to =
    "path" in endpoint ? { path: endpoint.path } : { host: endpoint.host, port: endpoint.port, path: undefined };
  return { ...to, tls: tls === undefined ? undefined : tls };
}

async function connect(
  Redis: IoredisClass,
  options: Readonly<Record<string, unknown>>,
  timeoutMs: number,
): Promise<RawLink> {
  const client = new Redis({ ...options, connectTimeout: timeoutMs });
  const link = new IoredisLink(client, Redis);
  try {
    await client.connect();
  } catch (error) {
    link.destroy();
    // connect() itself says only that the connection was closed; why, the event said.
    throw link.error ?? error;
  }
  return link;
}

class IoredisLink implements RawLink {
  readonly exact = true;
  readonly #client: IoredisClient;
  readonly #Command: IoredisClass["Command"];
  readonly #listeners = new Map<string, (message: Buffer) => void>();
  readonly #onClose: ((error: Error | undefined) => void)[] = [];
  #corked: IoredisStream | null = null;
  #over = false;
  error: Error | undefined;

  constructor(client: IoredisClient, Redis: IoredisClass) {
    this.#client = client;
    this.#Command = Redis.Command;
    client.on("error", (error: Error) => {
      this.error = error;
    });
    const close = (): void => {
      if (this.#over) return;
      this.#over = true;
      for (const listener of this.#onClose) listener(this.error);
    };
    client.on("close", close);
    client.on("end", close);
    client.on("messageBuffer", (channel: Buffer, message: Buffer) =>
      this.#listeners.get(channel.toString("utf8"))?.(message),
    );
  }

  write(
    words: readonly (string | Buffer)[],
    answered: (answer: RawAnswer) => void,
    lost: (error: unknown) => void,
  ): void {
    const [name, ...args] = words;
    const command = new this.#Command(nameOf(name!), args, { replyEncoding: null });
    this.#client.sendCommand(command);
    command.promise.then(
      (value) => answered(toAnswer(value)),
      (error) => (isReplyError(error) ? answered(serverError(error.message)) : lost(error)),
    );
  }

  cork(): void {
    this.#corked = this.#client.stream ?? null;
    this.#corked?.cork?.();
  }

  uncork(): void {
    this.#corked?.uncork?.();
    this.#corked = null;
  }

  async subscribe(channel: string, listener: (message: Buffer) => void): Promise<void> {
    this.#listeners.set(channel, listener);
    await this.#client.subscribe(channel).catch(rethrow);
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#listeners.delete(channel);
    await this.#client.unsubscribe(channel).catch(rethrow);
  }

  onClose(listener: (error: Error | undefined) => void): void {
    if (this.#over) listener(this.error);
    else this.#onClose.push(listener);
  }

  destroy(): void {
    if (this.#client.status === "end") return;
    this.#client.disconnect();
    // disconnect() says goodbye and waits for the other side, which may be gone.
    this.#client.stream?.destroy();
  }
}

/** Inside of arrays (EXEC) errors are values. */
function toAnswer(value: unknown): RawAnswer {
  if (Array.isArray(value)) return value.map(toAnswer);
  if (value instanceof Error) return serverError(value.message);
  return value as RawAnswer;
}

function rethrow(error: unknown): never {
  throw isReplyError(error) ? serverError(error.message) : error;
}

/** What the server answered, not what the library made up. */
function isReplyError(error: unknown): error is Error {
  return error instanceof ServerError || (error instanceof Error && error.name === "ReplyError");
}
