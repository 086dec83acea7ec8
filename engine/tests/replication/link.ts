/**
 * A cable that can be cut, stalled, slowed and made to swallow: a TCP proxy before a server. A client that connects to its port is
 * connected to the server's. Faults hold for connections that exist and for new ones, until `restore`; those that swallow
 * stay dead, as behind a router that has lost its state.
 */
import { connect, createServer, type Server as NetServer, type Socket } from "node:net";
import { stopLater } from "./servers.ts";

type Mode = "open" | "stalled" | "refusing";

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One connection through the link: two sockets and a pump for each direction. */
class Cable {
  readonly near: Socket;
  readonly far: Socket;
  readonly #link: Link;
  /** Takes everything, passes on nothing, not even an end. */
  swallows = false;
  closed = false;

  constructor(link: Link, near: Socket, far: Socket) {
    this.#link = link;
    this.near = near;
    this.far = far;
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.setNoDelay(true);
      socket.on("error", () => {});
      // What one side has said before it left still reaches the other.
      socket.on("close", () => {
        if (this.swallows) return;
        other.destroySoon();
        if (other.destroyed) this.close();
      });
    }
    void this.#pump(near, far, false);
    void this.#pump(far, near, true);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.near.destroy();
    this.far.destroy();
    this.#link.forget(this);
  }

  /** Bytes back towards the one who connected (a replica) are those that `throttle` slows. */
  async #pump(source: Socket, sink: Socket, back: boolean): Promise<void> {
    try {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        await this.#link.passable(this);
        if (this.swallows) continue;
        await this.#link.carry(chunk.length, back, (from, to) => this.#write(sink, chunk.subarray(from, to)));
      }
    } catch {
      // Cut in the middle: its end closes the other side.
    }
  }

  #write(sink: Socket, bytes: Buffer): Promise<void> {
    if (this.swallows || sink.destroyed || sink.write(bytes)) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        sink.off("drain", done);
        sink.off("close", done);
        resolve();
      };
      sink.on("drain", done);
      sink.on("close", done);
    });
  }
}

export class Link {
  readonly port: number;
  /** Connections that were made through it. */
  made = 0;
  /** Bytes that went back to the replicas. */
  bytesBack = 0;
  readonly #server: NetServer;
  readonly #cables = new Set<Cable>();
  #mode: Mode = "open";
  #delayMs = 0;
  #bytesPerSecond = Number.POSITIVE_INFINITY;
  #piece = Number.POSITIVE_INFINITY;
  #wake: (() => void)[] = [];

  private constructor(server: NetServer, target: number) {
    this.#server = server;
    this.port = (server.address() as { port: number }).port;
    server.on("connection", (near) => {
      if (this.#mode === "refusing") {
        near.on("error", () => {});
        near.destroy();
        return;
      }
      this.made++;
      this.#cables.add(new Cable(this, near, connect({ port: target, host: "127.0.0.1", allowHalfOpen: true })));
    });
  }

  static async to(target: { readonly port: number }): Promise<Link> {
    const server = createServer({ allowHalfOpen: true });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return stopLater(new Link(server, target.port));
  }

  get open(): number {
    return this.#cables.size;
  }

  /** Ends what goes through it now; new connections are made as before. */
  cut(): void {
    for (const cable of this.#cables) cable.close();
  }

  /** Cuts, and lets nobody through until `restore`. */
  refuse(): void {
    this.#mode = "refusing";
    this.cut();
  }

  /** Connections stand, no byte moves. */
  stall(): void {
    this.#mode = "stalled";
  }

  /** What exists now is half open from here on: neither side hears of the other again. */
  swallow(): void {
    for (const cable of this.#cables) cable.swallows = true;
    this.#wakeAll();
  }

  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Hands everything on in pieces of this many bytes. */
  shred(bytes: number): void {
    this.#piece = bytes;
  }

  /** Slows what goes back to the replicas. */
  throttle(bytesPerSecond: number): void {
    this.#bytesPerSecond = bytesPerSecond;
  }

  restore(): void {
    this.#mode = "open";
    this.#delayMs = 0;
    this.#bytesPerSecond = Number.POSITIVE_INFINITY;
    this.#piece = Number.POSITIVE_INFINITY;
    this.#wakeAll();
  }

  async stop(): Promise<void> {
    this.cut();
    this.#wakeAll();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  forget(cable: Cable): void {
    this.#cables.delete(cable);
    this.#wakeAll();
  }

  /** Returns once bytes may move on this cable, or it no longer matters. */
  async passable(cable: Cable): Promise<void> {
    while (this.#mode === "stalled" && !cable.swallows && !cable.closed) {
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  async carry(length: number, back: boolean, write: (from: number, to: number) => Promise<void>): Promise<void> {
    if (this.#delayMs > 0) await sleep(this.#delayMs);
    for (let at = 0; at < length; ) {
      const rate = back ? this.#bytesPerSecond : Number.POSITIVE_INFINITY;
      const to = Math.min(length, at + this.#piece, at + Math.max(1, Math.ceil(rate / 20)));
      await write(at, to);
      if (back) this.bytesBack += to - at;
      if (rate < Number.POSITIVE_INFINITY) await sleep(((to - at) / rate) * 1000);
      // So that the system does not put the pieces together again.
      else if (to < length) await new Promise((resolve) => setImmediate(resolve));
      at = to;
    }
  }

  #wakeAll(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}
