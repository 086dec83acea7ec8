/** What tests of web frameworks share: a browser as far as cookies go, and servers that end with the test. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";

export class Browser {
  readonly #url: string;
  cookie: string | undefined;
  lastHeader: string | null = null;

  constructor(url: string, cookie?: string) {
    this.#url = url;
    this.cookie = cookie;
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = {
      connection: "close",
      ...(this.cookie === undefined ? {} : { cookie: `other=1; ${this.cookie}` }),
      ...(init.headers as Record<string, string>),
    };
    const response = await fetch(`${this.#url}${path}`, { ...init, headers });
    this.lastHeader = response.headers.get("set-cookie");
    if (this.lastHeader !== null) {
      const [pair] = this.lastHeader.split(";");
      this.cookie = pair!.endsWith("=") ? undefined : pair;
    }
    return response;
  }

  async get(path: string): Promise<unknown> {
    const response = await this.fetch(path);
    expect(response.status).toBe(200);
    return response.json();
  }
}

/** Where a server listens, when it does. */
export async function addressOf(server: Server): Promise<string> {
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const ended = (server: Server): Promise<unknown> =>
  new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
