/**
 * A channel between tabs or within one as a stream of bytes, for the wire. What one end posts the other gets, in order; `null` is the
 * end. A BroadcastChannel is used with a name that only two know: it reaches other tabs, and cannot be handed to them as a port can.
 */
import type { Duplex } from "node:stream";

/** What MessagePort and BroadcastChannel have in common. */
export interface Channel {
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  postMessage(message: unknown): void;
  close(): void;
  start?(): void;
}

// biome-ignore lint/suspicious/noExplicitAny: each event has its own.
type Listener = (...values: any[]) => void;

export class TabStream implements Duplex {
  readonly #channel: Channel;
  readonly #listeners = new Map<string, Listener[]>();
  #early: Buffer[] = [];
  #over = false;

  constructor(channel: Channel) {
    this.#channel = channel;
    channel.addEventListener("message", ({ data }) => {
      if (data instanceof ArrayBuffer) this.#received(Buffer.from(data));
      else if (data === null) this.#end();
    });
    channel.start?.();
  }

  #received(bytes: Buffer): void {
    const listeners = this.#listeners.get("data");
    if (listeners === undefined) this.#early.push(bytes);
    else for (const listener of listeners) listener(bytes);
  }

  on(event: string, listener: Listener): this {
    const known = this.#listeners.get(event);
    if (known === undefined) this.#listeners.set(event, [listener]);
    else known.push(listener);
    if (event === "data") for (const bytes of this.#early.splice(0)) listener(bytes);
    return this;
  }

  write(data: string | Uint8Array, encoding?: string): boolean {
    if (this.#over) return false;
    const bytes = typeof data === "string" ? Buffer.from(data, encoding === "latin1" ? "latin1" : "utf8") : data;
    // A copy, since a part of a buffer would take the whole of it along.
    this.#channel.postMessage(new Uint8Array(bytes).buffer);
    return true;
  }

  cork(): void {}

  uncork(): void {}

  #end(error?: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#channel.close();
    if (error !== undefined) for (const listener of this.#listeners.get("error") ?? []) listener(error);
    for (const listener of this.#listeners.get("close") ?? []) listener();
  }

  destroy(error?: Error): this {
    if (!this.#over) this.#channel.postMessage(null);
    this.#end(error);
    return this;
  }
}
