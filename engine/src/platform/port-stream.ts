/**
 * A MessagePort as a stream of bytes: what one side posts, the other reads, in chunks. A port has no end and no back pressure, so
 * `null` is the end, and everything that is written counts as gone.
 */
import { Buffer } from "./bytes.ts";

// biome-ignore lint/suspicious/noExplicitAny: each event has its own.
type Listener = (...values: any[]) => void;

/** What of a MessagePort is used: a browser's and Node's differ in the rest. */
export interface Port {
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  start(): void;
  close(): void;
}

export class PortStream {
  readonly #port: Port;
  readonly #listeners = new Map<string, Set<Listener>>();
  /** What has come while nobody wanted it. */
  #waiting: (Uint8Array<ArrayBuffer> | null)[] = [];
  #paused = false;
  destroyed = false;
  readableEnded = false;
  readonly readableFlowing = true;
  readonly writableLength = 0;
  readonly writableNeedDrain = false;

  constructor(port: Port) {
    this.#port = port;
    port.addEventListener("message", ({ data }) => {
      if (data === null) this.#waiting.push(null);
      else if (data instanceof ArrayBuffer) this.#waiting.push(new Uint8Array(data));
      else if (data instanceof Uint8Array) this.#waiting.push(Uint8Array.from(data));
      else this.destroy();
      this.#deliver();
    });
    port.start();
  }

  get readableLength(): number {
    let length = 0;
    for (const chunk of this.#waiting) length += chunk?.length ?? 0;
    return length;
  }

  #deliver(): void {
    while (!this.#paused && !this.destroyed) {
      const chunk = this.#waiting.shift();
      if (chunk === undefined) return;
      if (chunk === null) {
        this.readableEnded = true;
        this.#emit("end");
      } else this.#emit("data", Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    }
  }

  #emit(event: string, ...values: unknown[]): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(...values);
  }

  on(event: string, listener: Listener): this {
    const known = this.#listeners.get(event);
    if (known === undefined) this.#listeners.set(event, new Set([listener]));
    else known.add(listener);
    return this;
  }

  once(event: string, listener: Listener): this {
    const once: Listener = (...values) => {
      this.off(event, once);
      listener(...values);
    };
    return this.on(event, once);
  }

  off(event: string, listener: Listener): this {
    this.#listeners.get(event)?.delete(listener);
    return this;
  }

  removeAllListeners(event?: string): this {
    if (event === undefined) this.#listeners.clear();
    else this.#listeners.delete(event);
    return this;
  }

  setEncoding(): this {
    return this;
  }

  write(data: string | Uint8Array, _encoding?: string): boolean {
    if (this.destroyed) return false;
    const bytes = typeof data === "string" ? Buffer.from(data, "latin1") : Buffer.from(data);
    // A small Buffer of Node's is a part of a larger one, which stays here.
    const { buffer } = bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
    this.#port.postMessage(buffer, [buffer]);
    return true;
  }

  end(then?: () => void): this {
    if (!this.destroyed) this.#port.postMessage(null, []);
    then?.();
    return this;
  }

  destroy(error?: Error): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    if (error !== undefined) this.#emit("error", error);
    this.#port.postMessage(null, []);
    this.#port.close();
    this.#emit("close");
    return this;
  }

  pause(): this {
    this.#paused = true;
    return this;
  }

  resume(): this {
    this.#paused = false;
    this.#deliver();
    return this;
  }

  isPaused(): boolean {
    return this.#paused;
  }

  push(): boolean {
    return false;
  }

  cork(): void {}

  uncork(): void {}
}
