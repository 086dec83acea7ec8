/** Sessions and rate limits in real applications of each web framework, over HTTP. */
import { createServer, type Server } from "node:http";
import { serve } from "@hono/node-server";
import express from "express";
// @ts-expect-error: its types are those of Express 5
import express4 from "express4";
import Fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import { Cache } from "../../src/components/cache/index.ts";
import { limited as limitedOnNode } from "../../src/components/rate-limits/http.ts";
import { RateLimits } from "../../src/components/rate-limits/index.ts";
import {
  sessionMiddleware as onNode,
  type RequestSession,
  type WithSession,
} from "../../src/components/sessions/http.ts";
import { Sessions } from "../../src/components/sessions/index.ts";
import * as forExpress from "../../src/integrations/express/index.ts";
import * as forFastify from "../../src/integrations/fastify/index.ts";
import * as forHono from "../../src/integrations/hono/index.ts";
import * as forKoa from "../../src/integrations/koa/index.ts";
import { describeBackends } from "../kit/index.ts";
import { addressOf, Browser, ended } from "./browser.ts";

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function handle(session: RequestSession, path: string): Promise<object> {
  if (path === "/in") await session.signIn("ann");
  if (path === "/out") await session.signOut();
  if (path === "/everywhere") return { ended: await session.signOutEverywhere() };
  if (path === "/others") return { ended: await session.signOutEverywhere({ keepThis: true }) };
  if (path === "/visit") await session.set({ visits: ((session.data.visits as number | undefined) ?? 0) + 1 });
  if (path === "/twice") {
    await session.set({ a: 1 });
    await session.signIn("ann");
  }
  return { user: session.user, data: session.data };
}

interface Parts {
  readonly sessions: Sessions;
  readonly limits?: RateLimits;
}

function listening(server: Server): Promise<string> {
  closing.push(() => ended(server));
  return addressOf(server);
}

const byKey = (headers: NodeJS.Dict<string | string[]>): string | null =>
  (headers["x-key"] as string | undefined) ?? null;

/** An application with sessions, each page noted as viewed, and limits by the header `x-key`; where it is. */
const FRAMEWORKS: Readonly<Record<string, (parts: Parts) => Promise<string>>> = {
  async Node({ sessions, limits }) {
    const session = onNode(sessions, { viewed: ({ url }) => url });
    const limit = limits && limitedOnNode(limits, { subject: ({ headers }) => byKey(headers) });
    const server = createServer((request, response) => {
      const answer = (error?: unknown): void => {
        if (error !== undefined) return void response.writeHead(500).end(String(error));
        session(request, response, () => {
          handle((request as unknown as WithSession).session, request.url!).then((body) =>
            response.setHeader("content-type", "application/json").end(JSON.stringify(body)),
          );
        });
      };
      if (limit === undefined) answer();
      else limit(request, response, answer);
    });
    return listening(server.listen(0, "127.0.0.1"));
  },
  async "Express 5"({ sessions, limits }) {
    const app = express();
    if (limits) app.use(forExpress.limited(limits, { subject: (request) => byKey(request.headers) }));
    app.use(forExpress.sessionMiddleware(sessions, { viewed: (request) => request.path }));
    app.use(async (request, response) => {
      response.json(await handle(forExpress.sessionOf(request), request.path));
    });
    return listening(app.listen(0, "127.0.0.1"));
  },
  async "Express 4"({ sessions, limits }) {
    const app = (express4 as typeof express)();
    if (limits) app.use(forExpress.limited(limits, { subject: (request) => byKey(request.headers) }));
    app.use(forExpress.sessionMiddleware(sessions, { viewed: (request) => request.path }));
    app.use((request, response, next) => {
      handle(forExpress.sessionOf(request), request.path).then((body) => response.json(body), next);
    });
    return listening(app.listen(0, "127.0.0.1"));
  },
  async Fastify({ sessions, limits }) {
    const app = Fastify();
    if (limits) await app.register(forFastify.rateLimitsPlugin, { limits, subject: ({ headers }) => byKey(headers) });
    await app.register(forFastify.sessionsPlugin, { sessions, viewed: ({ url }) => url });
    app.get("/*", (request) => {
      expectTypeOf(request.session).toEqualTypeOf<RequestSession>();
      return handle(request.session, request.url);
    });
    closing.push(() => app.close());
    return app.listen({ port: 0, host: "127.0.0.1" });
  },
  async Hono({ sessions, limits }) {
    const app = new Hono<forHono.SessionEnv>();
    if (limits) app.use(forHono.limited(limits, { subject: (c) => c.req.header("x-key") ?? null }));
    app.use(forHono.sessionMiddleware(sessions, { viewed: (c) => c.req.path }));
    app.get("*", async (c) => {
      expectTypeOf(c.var.session).toEqualTypeOf<RequestSession>();
      return c.json(await handle(c.var.session, c.req.path));
    });
    return listening(serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server);
  },
  async Koa({ sessions, limits }) {
    const app = new Koa();
    if (limits) app.use(forKoa.limited(limits, { subject: (ctx) => byKey(ctx.headers) }));
    app.use(forKoa.sessionMiddleware(sessions, { viewed: (ctx) => ctx.path }));
    app.use(async (ctx) => {
      expectTypeOf(ctx.session).toEqualTypeOf<RequestSession>();
      ctx.body = await handle(ctx.session, ctx.path);
    });
    return listening(app.listen(0, "127.0.0.1"));
  },
};

describeBackends("web frameworks", { backends: ["embedded", "redis"], audit: "tags" }, (backend) => {
  describe.each(Object.entries(FRAMEWORKS))("in %s", (_, start) => {
    test("a visitor gets a cookie with the first thing that is kept, and only then", async () => {
      const browser = new Browser(await start({ sessions: new Sessions(backend.store) }));
      expect(await browser.get("/")).toEqual({ user: null, data: {} });
      expect(browser.lastHeader).toBeNull();
      expect(await browser.get("/visit")).toEqual({ user: null, data: { visits: 1 } });
      expect(browser.lastHeader).toMatch(
        /^sid=[\w-]{12}\.[\w-]{22}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax$/,
      );
      expect(await browser.get("/visit")).toEqual({ user: null, data: { visits: 2 } });
      expect(browser.lastHeader).toBeNull();
    });

    test("signing in changes the cookie; the one from before is nobody's", async () => {
      const url = await start({ sessions: new Sessions(backend.store) });
      const browser = new Browser(url);
      await browser.get("/visit");
      const before = browser.cookie!;
      expect(await browser.get("/in")).toEqual({ user: "ann", data: { visits: 1 } });
      expect(browser.cookie).not.toBe(before);
      expect(await new Browser(url, before).get("/")).toEqual({ user: null, data: {} });
      expect(await browser.get("/out")).toEqual({ user: null, data: {} });
      expect(browser.cookie).toBeUndefined();
      expect(browser.lastHeader).toContain("Max-Age=0");
    });

    test("signing out everywhere ends every browser's session", async () => {
      const url = await start({ sessions: new Sessions(backend.store) });
      const browsers = [new Browser(url), new Browser(url), new Browser(url)];
      for (const browser of browsers) await browser.get("/in");
      expect(await browsers[0]!.get("/others")).toEqual({ ended: 2 });
      expect(await browsers[1]!.get("/")).toMatchObject({ user: null });
      expect(await browsers[0]!.get("/")).toMatchObject({ user: "ann" });
      await browsers[1]!.get("/in");
      expect(await browsers[0]!.get("/everywhere")).toEqual({ ended: 2 });
      expect(await browsers[1]!.get("/")).toMatchObject({ user: null });
      expect(browsers[0]!.cookie).toBeUndefined();
    });

    test("one cookie is set when it changes twice in a request; pages are noted as viewed", async () => {
      const sessions = new Sessions(backend.store);
      const browser = new Browser(await start({ sessions }));
      expect(await browser.get("/twice")).toEqual({ user: "ann", data: { a: 1 } });
      expect(browser.lastHeader?.match(/sid=/g)).toHaveLength(1);
      await browser.get("/a");
      expect(await sessions.viewed(browser.cookie!.slice(4))).toContain("/a");
    });

    test("what is over the limit is answered with 429 and says when to come back", async () => {
      const limits = new RateLimits(backend.store, { name: "api", rules: { limit: 1, windowMs: 3_600_000 } });
      const browser = new Browser(await start({ sessions: new Sessions(backend.store), limits }));
      const ask = (key?: string) => browser.fetch("/", key === undefined ? {} : { headers: { "x-key": key } });
      const first = await ask("ann");
      expect([first.status, first.headers.get("ratelimit-remaining")]).toEqual([200, "0"]);
      const second = await ask("ann");
      expect(second.status).toBe(429);
      expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(3_000);
      expect(second.headers.get("content-type")).toMatch(/^application\/problem\+json/);
      expect(await second.json()).toMatchObject({ status: 429, title: "Too Many Requests" });
      expect((await ask("ben")).status).toBe(200);
      const free = await ask();
      expect([free.status, free.headers.get("ratelimit-limit")]).toEqual([200, null]);
    });
  });

  test("a Fastify plugin holds for the whole application, and refuses unknown options", async () => {
    const app = Fastify();
    closing.push(() => app.close());
    await app.register(async (inner) => {
      await inner.register(forFastify.sessionsPlugin, { sessions: new Sessions(backend.store) });
    });
    app.get("/", (request) => request.session?.user ?? "nobody");
    expect((await app.inject("/")).body).toBe("nobody");
    const other = Fastify();
    closing.push(() => other.close());
    const wrong = { sessions: new Sessions(backend.store), cokie: {} } as never;
    await expect(other.register(forFastify.sessionsPlugin, wrong)).rejects.toThrow(/did you mean "cookie"/);
  });

  test("cached pages in Fastify are made once", async () => {
    const pages = new Cache<forFastify.CachedPage>(backend.store, "pages", { codec: forFastify.pageCodec });
    const app = Fastify();
    closing.push(() => app.close());
    await app.register(forFastify.cachedPagesPlugin, { pages });
    let made = 0;
    app.get("/", () => `made ${++made}`);
    const browser = new Browser(await app.listen({ port: 0, host: "127.0.0.1" }));
    const seen = async (): Promise<(string | null)[]> => {
      const response = await browser.fetch("/");
      return [response.headers.get("x-cache"), await response.text()];
    };
    expect(await seen()).toEqual(["MISS", "made 1"]);
    expect(await seen()).toEqual(["HIT", "made 1"]);
  });

  test("a request without a session of ours says what is missing", async () => {
    const app = express();
    const failures: unknown[] = [];
    const look: express.RequestHandler = (request, _response, next) => {
      try {
        forExpress.sessionOf(request);
      } catch (error) {
        failures.push((error as Error).message);
      }
      next();
    };
    const foreign: express.RequestHandler = (request, _response, next) => {
      Object.assign(request, { session: {} });
      next();
    };
    app.use(look, foreign, look, (_request, response) => void response.json({}));
    await new Browser(await listening(app.listen(0, "127.0.0.1"))).get("/");
    const told = (found: string): string =>
      `the request has no session of cinnabar but ${found}; sessionMiddleware must come before this`;
    expect(failures).toEqual([told("none"), told("one of another library")]);
  });

  test("a cookie after the answer is an error, not silence", async () => {
    const app = express();
    let failure: unknown;
    app.use(forExpress.sessionMiddleware(new Sessions(backend.store)));
    app.get("/", async (request, response) => {
      response.json({});
      failure = await forExpress
        .sessionOf(request)
        .signIn("ann")
        .catch((error: unknown) => error);
    });
    await new Browser(await listening(app.listen(0, "127.0.0.1"))).get("/");
    await expect.poll(() => failure).toMatchObject({ code: "TOO_LATE" });
  });
});
