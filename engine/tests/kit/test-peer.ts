/** A raw connection for tests of the engine's borders: bytes out, bytes in, nothing understood. */
import { connect, type Socket } from "node:net";

export class Peer {
  readonly socket: Socket;
  /** What has come and has not been taken, one char one byte. */
  received = "";
  /** How much has come in all. */
  receivedBytes = 0;
  /** The other side has ended or cut the connection. */
  ended = false;
  readonly closed: Promise<void>;
  #wake: (() => void) | null = null;

  constructor(port: number, keep = true) {
    this.socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    this.closed = new Promise((resolve) => this.socket.once("close", () => resolve()));
    this.socket.on("data", (chunk: Buffer) => {
      this.receivedBytes += chunk.length;
      if (keep) this.received += chunk.latin1Slice();
      this.#wake?.();
    });
    for (const event of ["end", "close", "error"]) {
      this.socket.on(event, () => {
        this.ended = true;
        this.#wake?.();
      });
    }
  }

  write(bytes: string | Buffer): this {
    if (typeof bytes === "string") this.socket.write(bytes, "latin1");
    else this.socket.write(bytes);
    return this;
  }

  /** Writes and waits until the system has taken it all. */
  send(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => this.socket.write(bytes, "latin1", () => resolve()));
  }

  /** Waits until this much has come in all, or the connection is over. */
  async until(what: () => boolean): Promise<void> {
    while (!what() && !this.ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#wake = null;
  }

  /** What has come, once it is this long or the connection is over. */
  async take(length: number): Promise<string> {
    await this.until(() => this.received.length >= length);
    const taken = this.received;
    this.received = "";
    return taken;
  }

  /** Everything until the other side ends the connection. */
  rest(): Promise<string> {
    return this.take(Number.POSITIVE_INFINITY);
  }

  /** Goes on sending until the system says that nobody is there; false if somebody still is after two seconds. */
  async gone(): Promise<boolean> {
    for (let i = 0; i < 1000 && !this.socket.destroyed; i++) {
      this.write("PING\r\n");
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return this.socket.destroyed;
  }
}

/** Waits until something is so; false if it is not after a while. */
export async function eventually(what: () => boolean, ms = 5000): Promise<boolean> {
  for (let waited = 0; waited < ms && !what(); waited += 5) await new Promise((resolve) => setTimeout(resolve, 5));
  return what();
}
