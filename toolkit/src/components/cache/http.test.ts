/** Cached pages in real Express and Fastify applications, over HTTP. */
import { get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Engine, ManualClock } from "@cinnabar/engine";
import express from "express";
import fastify from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConnectionError } from "../../base/errors.ts";
import { open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import { cachedPagesPlugin } from "../../integrations/fastify/index.ts";
import { Views } from "../views/index.ts";
import { type CachedPage, cachedPages, type PagesOptions, pageCodec } from "./http.ts";
import { Cache } from "./index.ts";

let store: Store;
let pages: Cache<CachedPage>;
let rendered = 0;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  store = await open();
  pages = new Cache<CachedPage>(store, "pages", { codec: pageCodec });
  rendered = 0;
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await store.close();
});

interface Made {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

async function render(path: string): Promise<Made> {
  rendered++;
  await new Promise((resolve) => setImmediate(resolve));
  if (path.startsWith("/cookie")) return { headers: { "set-cookie": `n=${rendered}` }, body: "cookie" };
  if (path.startsWith("/private")) return { headers: { "cache-control": "private" }, body: "private" };
  if (path.startsWith("/vary")) return { headers: { vary: "Cookie" }, body: "vary" };
  if (path.startsWith("/missing")) return { status: 404, body: "missing" };
  if (path.startsWith("/large")) return { body: "x".repeat(3_000) };
  return { headers: { "content-type": "text/html; charset=utf-8", "x-own": "yes" }, body: `page ${rendered} ü` };
}

async function withExpress(options: PagesOptions): Promise<string> {
  const app = express();
  app.disable("etag");
  app.use(cachedPages(pages, options));
  app.use(async (request, response) => {
    const { status = 200, headers = {}, body } = await render(request.url);
    response.status(status).set(headers);
    response.write(body.slice(0, 3));
    response.end(body.slice(3));
  });
  const server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function withFastify(options: PagesOptions): Promise<string> {
  const app = fastify();
  await app.register(cachedPagesPlugin, { pages, options });
  app.all("/*", async (request, reply) => {
    const { status = 200, headers = {}, body } = await render(request.url);
    return reply.code(status).headers(headers).send(body);
  });
  closing.push(() => app.close());
  return app.listen({ port: 0, host: "127.0.0.1" });
}

async function ask(
  url: string,
  init: RequestInit = {},
): Promise<{ status: number; cache: string | null; body: string; own: string | null }> {
  const response = await fetch(url, { ...init, headers: { connection: "close", ...init.headers } });
  const { status, headers } = response;
  return { status, cache: headers.get("x-cache"), body: await response.text(), own: headers.get("x-own") };
}

describe.each([
  ["Express", withExpress],
  ["Fastify", withFastify],
])("in %s", (_, start) => {
  test("a page is made once, and then comes from the cache as it was", async () => {
    const url = await start({});
    expect(await ask(`${url}/a`)).toEqual({ status: 200, cache: "MISS", body: "page 1 ü", own: "yes" });
    expect(await ask(`${url}/a`)).toEqual({ status: 200, cache: "HIT", body: "page 1 ü", own: "yes" });
    expect(await ask(`${url}/b`)).toMatchObject({ cache: "MISS", body: "page 2 ü" });
  });

  test("of many who ask at once one makes the page", async () => {
    const url = await start({});
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(`${url}/a`)));
    expect(rendered).toBe(1);
    expect(new Set(answers.map(({ body }) => body))).toEqual(new Set(["page 1 ü"]));
  });

  test.each(["/cookie", "/private", "/vary", "/missing", "/a?_=1"])("%s is never kept", async (path) => {
    const url = await start({});
    const answers = await Promise.all([ask(url + path), ask(url + path)]);
    expect(answers.map(({ cache }) => cache)).not.toContain("HIT");
    await ask(url + path);
    expect(rendered).toBe(3);
  });

  test("other methods and requests with credentials pass by", async () => {
    const url = await start({});
    await ask(`${url}/a`);
    expect(await ask(`${url}/a`, { headers: { authorization: "Bearer x" } })).toMatchObject({ cache: null });
    expect(await ask(`${url}/a`, { method: "POST" })).toMatchObject({ cache: null });
    expect(rendered).toBe(3);
  });

  test("requests with a cookie pass by, unless no page depends on it", async () => {
    const url = await start({ ignoreCookies: ["_stats"] });
    await ask(`${url}/a`);
    expect(await ask(`${url}/a`, { headers: { cookie: "sid=1; _stats=2" } })).toMatchObject({
      cache: null,
      body: "page 2 ü",
    });
    expect(await ask(`${url}/a`, { headers: { cookie: "_stats=2" } })).toMatchObject({
      cache: "HIT",
      body: "page 1 ü",
    });
    expect(await ask(`${url}/a`)).toMatchObject({ cache: "HIT", body: "page 1 ü" });
  });

  test("answers over the limit are passed through whole", async () => {
    const url = await start({ maxBytes: 1_000 });
    expect((await ask(`${url}/large`)).body.length).toBe(3_000);
    expect(await ask(`${url}/large`)).toMatchObject({ cache: "MISS" });
  });

  test("a tag makes its pages anew", async () => {
    const url = await start({ tags: ({ url: path }) => (path!.startsWith("/product") ? ["products"] : []) });
    await ask(`${url}/product/1`);
    await ask(`${url}/about`);
    await pages.invalidate("products");
    expect(await ask(`${url}/product/1`)).toMatchObject({ cache: "MISS" });
    expect(await ask(`${url}/about`)).toMatchObject({ cache: "HIT" });
  });

  test("a stale page is made anew by one request, and the others get the stale one", async () => {
    const clock = new ManualClock();
    const engine = await Engine.open({ clock });
    closing.push(() => engine.close());
    pages = new Cache<CachedPage>(await open(engine), "pages", { codec: pageCodec, freshMs: 1_000, staleMs: 60_000 });
    const url = await start({});
    await ask(`${url}/a`);
    clock.advance(2_000);
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(`${url}/a`)));
    const kinds = answers.map(({ cache, body }) => `${cache} ${body}`);
    expect(kinds.filter((kind) => kind === "MISS page 2 ü").length).toBe(1);
    // Who comes when the new one is there gets that.
    expect(kinds.filter((kind) => kind === "STALE page 1 ü" || kind === "HIT page 2 ü").length).toBe(4);
    expect(rendered).toBe(2);
    expect(await ask(`${url}/a`)).toMatchObject({ cache: "HIT", body: "page 2 ü" });
  });

  test("pages are made without a store that cannot be reached", async () => {
    const unreachable = { add: () => Promise.reject(new ConnectionError("cut", { maybeExecuted: false })) };
    const url = await start({ views: unreachable as unknown as Views });
    expect(await ask(`${url}/a`)).toMatchObject({ status: 200, cache: null, body: "page 1 ü" });
  });

  test("only pages that are viewed enough are kept", async () => {
    const views = new Views(store, "pages");
    const url = await start({ views, maxRank: 1 });
    for (let nth = 0; nth < 3; nth++) await ask(`${url}/often`);
    expect(await ask(`${url}/often`)).toMatchObject({ cache: "HIT" });
    await ask(`${url}/rare`);
    expect(await ask(`${url}/rare`)).toMatchObject({ cache: null });
  });
});

test("pages are told apart by host and by the whole address, wherever the middleware stands", async () => {
  const app = express();
  for (const path of ["/a", "/b"]) {
    app.use(path, cachedPages(pages), (request, response) => {
      response.send(`${request.headers.host} ${path}`);
    });
  }
  const server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  const bodies: string[] = [];
  for (const host of ["127.0.0.1", "localhost"]) {
    for (const path of ["/a/17", "/b/17"]) {
      const options = { host: "127.0.0.1", port, path, headers: { host, connection: "close" } };
      const response = await new Promise<IncomingMessage>((resolve) => void get(options, resolve));
      bodies.push(await text(response));
    }
  }
  expect(bodies).toEqual(["127.0.0.1 /a", "127.0.0.1 /b", "localhost /a", "localhost /b"]);
});
