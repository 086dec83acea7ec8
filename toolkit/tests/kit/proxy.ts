/**
 * A man in the middle, for faults that servers do not have by themselves: connections that are cut, that swallow what is sent
 * (half-open, as after a cable is pulled), that lose an answer after the command was run.
 */
import { connect, createServer, type Server, type Socket } from "node:net";

export class FaultyProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs = new Set<{ readonly client: Socket; readonly upstream: Socket }>();
  #swallowing = false;
  #loseAfter: string | null = null;
  #onLost: (() => void) | null = null;
  #accepting = true;
  #received = 0;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async open(target: number): Promise<FaultyProxy> {
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
    });
    const proxy = new FaultyProxy(server, port);
    server.on("connection", (client) => proxy.#join(client, target));
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  /** How often anything has come from clients, passed on or not. */
  get received(): number {
    return this.#received;
  }

  #join(client: Socket, target: number): void {
    if (!this.#accepting) return void client.destroy();
    const upstream = connect({ host: "127.0.0.1", port: target });
    const pair = { client, upstream };
    this.#pairs.add(pair);
    let losing = false;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
      this.#pairs.delete(pair);
    };
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
    client.on("data", (data) => {
      this.#received++;
      if (this.#swallowing) return;
      if (this.#loseAfter !== null && data.includes(this.#loseAfter)) {
        this.#loseAfter = null;
        losing = true;
      }
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (losing) {
        // It was run; nobody will know.
        end();
        this.#onLost?.();
      } else if (!this.#swallowing) client.write(data);
    });
  }

  /** From now on nothing passes in either direction, and nobody is told. */
  swallow(yes = true): void {
    this.#swallowing = yes;
  }

  /** The next request that contains the text is run, and the connection is cut instead of the answer. */
  loseAnswerOf(text: string): Promise<void> {
    this.#loseAfter = text;
    return new Promise((resolve) => {
      this.#onLost = resolve;
    });
  }

  /** Cuts all connections. */
  cut(): void {
    for (const { client, upstream } of [...this.#pairs]) {
      client.resetAndDestroy();
      upstream.destroy();
    }
  }

  /** Nobody gets in any more, or again. */
  refuse(yes = true): void {
    this.#accepting = !yes;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }
}
