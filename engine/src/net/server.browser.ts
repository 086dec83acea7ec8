/** Clients of a store in a browser: there are no sockets to listen on, but a MessagePort can carry the protocol. */
import type { Engine } from "../core/engine.ts";
import { errorOf } from "../lib/caught.ts";
import { NoSockets } from "../platform/no-sockets.browser.ts";
import { type Port, PortStream } from "../platform/port-stream.ts";
import { Flusher } from "./flusher.ts";

export type ListenOptions = object;

/** How a channel is served. */
export interface ServeOptions {
  /**
   * For one that shares the data and goes on with its files when this ends: while it is there, every change is in the file before
   * its reply leaves (default false).
   */
  readonly peers?: boolean;
}

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly path: string | null;
}

export class NetServer {
  readonly #engine: Engine;
  readonly flusher: Flusher;
  readonly #streams = new Set<PortStream>();
  #ports = 0;
  #peers = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.flusher = new Flusher((then) => engine.persistence.commit(then));
    // A script holds the only thread: nobody else can be heard.
    engine.onBusy = () => 0;
  }

  /** Serves the client at the other end of a port. */
  serve(port: Port, { peers = false }: ServeOptions = {}): void {
    const stream = new PortStream(port);
    this.#streams.add(stream);
    const { appender } = this.#engine.persistence.aof;
    if (peers && this.#peers++ === 0) appender.handsOver = true;
    stream.once("close", () => {
      this.#streams.delete(stream);
      if (peers && --this.#peers === 0) appender.handsOver = false;
    });
    const address = `port:${++this.#ports}`;
    // What is sent before the protocol has been loaded waits in the stream.
    stream.pause();
    import("./connection.ts").then(
      ({ Connection }) => {
        if (stream.destroyed) return;
        new Connection(this.#engine, stream, this.flusher, { address, localAddress: "local:0", fd: -1 });
        stream.resume();
      },
      (error: unknown) => {
        this.#engine.log("warning", `Cannot serve ${address}: ${errorOf(error).message}`);
        stream.destroy();
      },
    );
  }

  async listen(_options: object): Promise<never> {
    throw new NoSockets("listen");
  }

  stopListening(_address: object): void {}

  async close(): Promise<void> {
    for (const stream of this.#streams) stream.destroy();
  }
}
