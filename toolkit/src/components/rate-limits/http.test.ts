/** Rate limits in real Express and Fastify applications, over HTTP. */
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import fastify from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import { rateLimitsPlugin } from "../../integrations/fastify/index.ts";
import { type LimitedOptions, limited } from "./http.ts";
import { RateLimits } from "./index.ts";

let store: Store;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  store = await open();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await store.close();
});

type Options = Pick<LimitedOptions<{ readonly headers: IncomingMessage["headers"] }>, "subject" | "cost">;

async function withExpress(limiter: RateLimits, options: Options): Promise<string> {
  const app = express();
  app.use(limited(limiter, options));
  app.get("/", (_request, response) => {
    response.send("fine");
  });
  const server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function withFastify(limiter: RateLimits, options: Options): Promise<string> {
  const app = fastify();
  await app.register(rateLimitsPlugin, { limits: limiter, ...options });
  app.get("/", () => "fine");
  closing.push(() => app.close());
  return `${await app.listen({ port: 0, host: "127.0.0.1" })}/`;
}

const HOUR = 3_600_000;
const byUser = ({ headers }: { readonly headers: IncomingMessage["headers"] }) =>
  headers["x-user"] as string | undefined;

describe.each([
  ["Express", withExpress],
  ["Fastify", withFastify],
])("in %s", (_, start) => {
  const ask = (url: string, user?: string) =>
    fetch(url, { headers: { connection: "close", ...(user === undefined ? {} : { "x-user": user }) } });

  test("what is over the limit is answered with 429 and says when to come back", async () => {
    const url = await start(new RateLimits(store, { name: "api", rules: { limit: 1, windowMs: HOUR } }), {
      subject: byUser,
    });
    const first = await ask(url, "ann");
    expect([first.status, await first.text()]).toEqual([200, "fine"]);
    expect(first.headers.get("ratelimit-limit")).toBe("1");
    expect(first.headers.get("ratelimit-remaining")).toBe("0");
    const second = await ask(url, "ann");
    expect(second.status).toBe(429);
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(3_500);
    expect(Number(second.headers.get("ratelimit-reset"))).toBeGreaterThan(3_500);
    expect(second.headers.get("content-type")).toContain("application/problem+json");
    expect(await second.json()).toMatchObject({ status: 429, title: "Too Many Requests" });
    expect((await ask(url, "ben")).status).toBe(200);
  });

  test("who has no subject is not limited", async () => {
    const url = await start(new RateLimits(store, { name: "api", rules: { limit: 1, windowMs: HOUR } }), {
      subject: byUser,
    });
    for (let nth = 0; nth < 3; nth++) {
      const { status, headers } = await ask(url);
      expect([status, headers.get("ratelimit-limit")]).toEqual([200, null]);
    }
  });

  test("by default the address counts, and a request may cost more than one", async () => {
    const url = await start(new RateLimits(store, { name: "api", rules: { limit: 5, windowMs: HOUR } }), {
      cost: () => 2,
    });
    expect((await ask(url)).headers.get("ratelimit-remaining")).toBe("3");
    expect((await ask(url)).status).toBe(200);
    expect((await ask(url)).status).toBe(429);
  });

  test("a store that cannot be reached is an error of the application's, unless it chose otherwise", async () => {
    const closed = await open();
    await closed.close();
    const rule = { limit: 5, windowMs: HOUR };
    expect((await ask(await start(new RateLimits(closed, { name: "api", rules: rule }), {}))).status).toBe(500);
    const lenient = new RateLimits(closed, { name: "api", rules: rule, whenUnreachable: "allow" });
    expect((await ask(await start(lenient, {}))).status).toBe(200);
    const strict = new RateLimits(closed, { name: "api", rules: rule, whenUnreachable: "deny" });
    expect((await ask(await start(strict, {}))).status).toBe(429);
  });
});
