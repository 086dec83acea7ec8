/** Streams to other programs: a browser has none that a store could use, so these are the shapes that the core names. */
// biome-ignore lint/suspicious/noExplicitAny: each event has its own.
type Listener = (...values: any[]) => void;

export interface Duplex {
  readonly destroyed: boolean;
  readonly writableLength: number;
  readonly writableNeedDrain: boolean;
  setEncoding(encoding: string): this;
  on(event: string, listener: Listener): this;
  once(event: string, listener: Listener): this;
  off(event: string, listener: Listener): this;
  removeAllListeners(event?: string): this;
  write(data: string | Uint8Array, encoding?: string): boolean;
  end(then?: () => void): this;
  push(chunk: unknown, encoding?: string): boolean;
  readonly readableEnded: boolean;
  readonly readableLength: number;
  readonly readableFlowing: boolean | null;
  isPaused(): boolean;
  destroy(error?: Error): this;
  pause(): this;
  resume(): this;
  cork(): void;
  uncork(): void;
}

export interface TcpNetConnectOpts {
  readonly host?: string | undefined;
  readonly port: number;
  readonly localAddress?: string | undefined;
  readonly noDelay?: boolean;
}

export type SecureContextOptions = object;

export const isSocket = (_stream: Duplex): boolean => false;
