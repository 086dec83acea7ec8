/** The console inside of other applications: Express, Fastify, Hono, Nest and node:http; who is let in, other sites, the base path. */
import "reflect-metadata";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { serve as serveHono } from "@hono/node-server";
import { Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { open, type Store } from "cinnabar";
import express from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { consoleFor, type MountedConsole, type MountOptions } from "../src/index.ts";
import { temporaryFolder } from "./support.ts";

const BASE = "/admin/store";
const folder = temporaryFolder();
const page = join(folder.path, "ui");

interface Application {
  readonly url: string;
  stop(): Promise<unknown>;
}

const addressOf = (server: Pick<Server, "address">) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const listening = (server: Server) =>
  new Promise<Application>((resolve) =>
    server.listen(0, "127.0.0.1", () =>
      resolve({
        url: addressOf(server),
        stop: () =>
          new Promise((done) => {
            server.closeAllConnections();
            server.close(done);
          }),
      }),
    ),
  );

@Module({})
class NoModule {}

/** Each with what people have around it: a body parser, routes of their own. */
const FRAMEWORKS: readonly [string, (mounted: MountedConsole) => Promise<Application>][] = [
  [
    "Express",
    async ({ handler }) => {
      const app = express();
      app.use(BASE, handler);
      app.get("/own", (_request, response) => void response.send("own"));
      return listening(createServer(app));
    },
  ],
  [
    "Express after a body parser",
    async ({ handler }) => {
      const app = express();
      app.use(express.json());
      app.use(handler);
      app.get("/own", (_request, response) => void response.send("own"));
      return listening(createServer(app));
    },
  ],
  [
    "Fastify",
    async (mounted) => {
      const app = Fastify({ forceCloseConnections: true });
      await app.register(mounted.fastify);
      app.get("/own", () => "own");
      app.post("/own", (request) => request.body);
      await app.listen({ host: "127.0.0.1", port: 0 });
      return { url: addressOf(app.server), stop: () => app.close() };
    },
  ],
  [
    "Hono",
    async (mounted) => {
      const app = new Hono();
      app.all(BASE, (context) => mounted.fetch(context.req.raw));
      app.all(`${BASE}/*`, (context) => mounted.fetch(context.req.raw));
      app.get("/own", (context) => context.text("own"));
      const server = serveHono({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }) as Server;
      await new Promise((resolve) => (server.listening ? resolve(null) : server.once("listening", resolve)));
      return {
        url: addressOf(server),
        stop: () =>
          new Promise((done) => {
            server.closeAllConnections();
            server.close(done);
          }),
      };
    },
  ],
  [
    "Nest",
    async (mounted) => {
      const app = await NestFactory.create(NoModule, { logger: false });
      app.use(BASE, mounted.handler);
      app.use("/own", (_request: unknown, response: { end(text: string): void }) => response.end("own"));
      await app.listen(0, "127.0.0.1");
      return { url: addressOf(app.getHttpServer()), stop: () => app.close() };
    },
  ],
  [
    "node:http",
    async ({ handler }) =>
      listening(createServer((request, response) => handler(request, response, () => response.end("own")))),
  ],
];

const AS: Readonly<Record<string, { name: string; role: "viewer" | "operator" | "admin" }>> = {
  "Bearer vera": { name: "vera", role: "viewer" },
  "Bearer olga": { name: "olga", role: "operator" },
  "Bearer ada": { name: "ada", role: "admin" },
};

/** As an application would: by a header, whichever kind of request it gets. */
const seen: (IncomingMessage | Request)[] = [];
const authorize: NonNullable<MountOptions["authorize"]> = (request) => {
  seen.push(request);
  const { headers } = request;
  const given = headers instanceof Headers ? headers.get("authorization") : headers.authorization;
  return AS[given ?? ""] ?? false;
};

let store: Store;
beforeAll(async () => {
  mkdirSync(join(page, "assets"), { recursive: true });
  writeFileSync(join(page, "index.html"), "<!doctype html><title>console</title>");
  writeFileSync(join(page, "assets", "main-abcdefgh.js"), "export {};");
  store = await open();
  await store.call("SET", "k", "v");
});
afterAll(async () => {
  await store?.close();
  folder.remove();
});

describe.each(FRAMEWORKS)("in %s", (_name, start) => {
  let mounted: MountedConsole;
  let app: Application;
  beforeAll(async () => {
    mounted = await consoleFor(store, { basePath: BASE, authorize, page });
    app = await start(mounted);
  });
  afterAll(async () => {
    await app?.stop();
    await mounted?.close();
  });

  const ask = (path: string, token = "ada", init: RequestInit = {}) =>
    fetch(app.url + path, {
      redirect: "manual",
      ...init,
      headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
    });
  const command = (words: string[], token?: string, headers: Record<string, string> = {}) =>
    ask(`${BASE}/api/command`, token, {
      method: "POST",
      headers: { "x-cinnabar": "1", "content-type": "application/json", ...headers },
      body: JSON.stringify({ words }),
    });

  test("the page and its assets stand below the path, and the application's own routes stay", async () => {
    const bare = await ask(BASE);
    expect([bare.status, bare.headers.get("location")]).toEqual([308, `${BASE}/`]);
    const whole = await ask(`${BASE}/?connection=a`);
    expect(await whole.text()).toContain("<title>console</title>");
    expect(whole.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    const asset = await ask(`${BASE}/assets/main-abcdefgh.js`);
    expect([asset.status, asset.headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
    expect(await (await ask("/own")).text()).toBe("own");
    expect((await ask(`${BASE}/nothing`)).status).toBe(404);
  });

  test("reads and acts, with the role that the application gives", async () => {
    const keys = (await (await ask(`${BASE}/api/keys`)).json()) as { keys: unknown[] };
    expect(keys.keys).toHaveLength(1);
    expect(await (await command(["GET", "k"], "vera")).json()).toMatchObject({ value: "v" });
    // Whichever way it came, the application decides about its own request.
    expect(seen.every((request) => request instanceof IncomingMessage || "arrayBuffer" in request)).toBe(true);
    expect((await command(["SET", "k", "v"], "vera")).status).toBe(403);
    expect((await command(["SET", "k", "v"], "olga")).status).toBe(200);
    expect((await command(["CONFIG", "SET", "maxmemory", "0"], "olga")).status).toBe(403);
    const session = await (await ask(`${BASE}/api/session`, "olga")).json();
    expect(session).toMatchObject({ locked: false, user: { name: "olga", role: "operator" }, examples: false });
    const { entries } = (await (await ask(`${BASE}/api/audit`)).json()) as { entries: unknown[] };
    expect(entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ user: "olga", action: "SET", outcome: "done" }),
        expect.objectContaining({ user: "vera", action: "SET", outcome: "refused" }),
      ]),
    );
  });

  test("whom the application does not know gets nothing, not even the page", async () => {
    for (const path of ["/", "/api/session", "/api/keys", "/api/live", "/assets/main-abcdefgh.js", "/metrics"]) {
      const answer = await ask(BASE + path, "mallory");
      expect([answer.status, path]).toEqual([403, path]);
      await answer.body?.cancel();
    }
    expect((await command(["SET", "k", "owned"], "mallory")).status).toBe(403);
    expect(await store.call("GET", "k")).toBe("v");
  });

  test("other sites cannot act or read", async () => {
    const set = ["SET", "k", "owned"];
    expect((await command(set, "ada", { "x-cinnabar": "" })).status).toBe(403);
    expect((await command(set, "ada", { origin: "https://evil.example" })).status).toBe(403);
    expect((await command(set, "ada", { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await command(set, "ada", { "sec-fetch-site": "same-site" })).status).toBe(403);
    expect((await ask(`${BASE}/api/keys`, "ada", { headers: { "sec-fetch-site": "cross-site" } })).status).toBe(403);
    expect(await store.call("GET", "k")).toBe("v");
    expect((await command(["PING"], "ada", { origin: app.url, "sec-fetch-site": "same-origin" })).status).toBe(200);
  });

  test("is live, and lets go of a stream that is closed", async () => {
    const stop = new AbortController();
    const answer = await ask(`${BASE}/api/live`, "ada", { signal: stop.signal });
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    let text = "";
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes("event: point")) break;
    }
    stop.abort();
    expect(text).toContain("event: state");
  });
});

describe("a mounted console", () => {
  const start = async (options: MountOptions) => {
    const mounted = await consoleFor(store, { basePath: BASE, page, ...options });
    const app = await listening(createServer((request, response) => mounted.handler(request, response)));
    return { ...app, mounted, stop: () => app.stop().then(() => mounted.close()) };
  };

  test("that nobody guards is for this machine only, and by its own names", async () => {
    const app = await start({});
    expect((await fetch(`${app.url}${BASE}/api/keys`)).status).toBe(200);
    expect((await fetch(`${app.url}${BASE}/api/keys`, { headers: { "x-forwarded-for": "1.2.3.4" } })).status).toBe(403);
    const request = new Request(`http://127.0.0.1${BASE}/api/keys`);
    expect((await app.mounted.fetch(request)).status).toBe(403);
    await app.stop();
  });

  test("that is read-only refuses what would change the store, also to admins", async () => {
    const app = await start({ readOnly: true, authorize: () => true });
    const send = (words: string[]) =>
      fetch(`${app.url}${BASE}/api/command`, {
        method: "POST",
        headers: { "x-cinnabar": "1", "content-type": "application/json" },
        body: JSON.stringify({ words, confirm: true }),
      });
    expect((await send(["SET", "k", "owned"])).status).toBe(403);
    expect((await send(["GET", "k"])).status).toBe(200);
    expect(await store.call("GET", "k")).toBe("v");
    await app.stop();
  });

  test("can be framed by the origins that are named, and by no others", async () => {
    const app = await start({ frames: ["self", "https://admin.example"] });
    const { headers } = await fetch(`${app.url}${BASE}/`);
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'self' https://admin.example");
    expect(headers.get("x-frame-options")).toBeNull();
    await app.stop();
    await expect(consoleFor(store, { frames: ["https://a; script-src *"] })).rejects.toThrow("origins such as");
    await expect(consoleFor(store, { basePath: "admin" })).rejects.toThrow("basePath");
  });

  test("whose guard throws or answers nonsense lets nobody in", async () => {
    for (const authorize of [
      () => Promise.reject(new Error("no")),
      () => ({ name: "x", role: "root" }) as never,
      () => "yes" as never,
      () => undefined as never,
    ]) {
      const app = await start({ authorize });
      expect((await fetch(`${app.url}${BASE}/api/keys`)).status).toBeGreaterThanOrEqual(400);
      await app.stop();
    }
  });
});
