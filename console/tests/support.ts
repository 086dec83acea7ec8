/** A console on a free port with a client for its API, for tests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Engine } from "@cinnabar/engine";
import { open, type Store, type StoreOptions } from "cinnabar";
import { type Console, type ConsoleOptions, openConsole } from "../src/server.ts";

export interface Backend {
  readonly store: Store;
  /** Of a server. */
  readonly url?: string;
  stop(): Promise<void>;
}

/** A server that a test file has started, or can start. */
export type StartServer = () => Promise<{ readonly url: string; stop(): Promise<void> }>;

async function ourStore(options: StoreOptions): Promise<Backend> {
  const engine = await Engine.open();
  const store = await open(engine, options);
  return {
    store,
    stop: async () => {
      await store.close();
      await engine.close();
    },
  };
}

/** Our store, and a real Redis where there is one. */
export function backends(
  startRedis: StartServer | undefined,
  options: StoreOptions = {},
): [string, () => Promise<Backend>][] {
  const own = (): Promise<Backend> => ourStore(options);
  if (startRedis === undefined) return [["our store", own]];
  const redis = async (): Promise<Backend> => {
    const server = await startRedis();
    const store = await open(server.url, { ...options, retryMs: 500 });
    return {
      store,
      url: server.url,
      stop: async () => {
        await store.close();
        await server.stop();
      },
    };
  };
  return [
    ["our store", own],
    ["redis-server", redis],
  ];
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any;
}

export interface Served {
  readonly console: Console;
  readonly url: string;
  readonly port: number;
  /** The folder of the built page, where there is one. */
  readonly page?: string | undefined;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

export async function serve(store: Store, options: Partial<ConsoleOptions> = {}): Promise<Served> {
  const served = await openConsole({ store, backend: "test", ...options });
  const port = await served.listen("127.0.0.1", 0);
  const url = `http://127.0.0.1:${port}`;
  const ask = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(url + path, init);
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
  return {
    console: served,
    url,
    port,
    page: options.page,
    get: (path, headers = {}) => ask(path, { headers }),
    send: (method, path, body, headers = {}) =>
      ask(path, {
        method,
        headers: { "x-cinnabar": "1", ...(body !== undefined && { "content-type": "application/json" }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
  };
}

export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "cinnabar-console-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
