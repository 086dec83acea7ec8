/** The middlewares in real Express and Fastify applications, over HTTP. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import session from "express-session";
import fastify from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { keysIn } from "../../../tests/kit/keys.ts";
import { open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import { readCookie, writeCookie } from "./cookies.ts";
import { expressSessionStore } from "./express-session.ts";
import { type RequestSession, sessionMiddleware, sessionsForFastify, type WithSession } from "./http.ts";
import { Sessions } from "./index.ts";

let store: Store;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  store = await open();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await store.close();
});

/** A browser, as far as cookies go. */
class Browser {
  readonly #url: string;
  cookie: string | undefined;
  lastHeader: string | null = null;

  constructor(url: string, cookie?: string) {
    this.#url = url;
    this.cookie = cookie;
  }

  async get(path: string): Promise<unknown> {
    const headers = {
      connection: "close",
      ...(this.cookie === undefined ? {} : { cookie: `other=1; ${this.cookie}` }),
    };
    const response = await fetch(`${this.#url}${path}`, { headers });
    this.lastHeader = response.headers.get("set-cookie");
    if (this.lastHeader !== null) {
      const [pair] = this.lastHeader.split(";");
      this.cookie = pair!.endsWith("=") ? undefined : pair;
    }
    expect(response.status).toBe(200);
    return response.json();
  }
}

async function handle(session: RequestSession, path: string): Promise<unknown> {
  if (path === "/in") await session.signIn("ann");
  if (path === "/out") await session.signOut();
  if (path === "/everywhere") return { ended: await session.signOutEverywhere() };
  if (path === "/others") return { ended: await session.signOutEverywhere({ keepThis: true }) };
  if (path === "/visit") await session.set({ visits: ((session.data.visits as number | undefined) ?? 0) + 1 });
  return { user: session.user, data: session.data };
}

async function withExpress(sessions: Sessions): Promise<string> {
  const app = express();
  app.use(sessionMiddleware(sessions, { viewed: ({ url }) => url }));
  app.use(async (request, response) => {
    response.json(await handle((request as unknown as WithSession).session, request.path));
  });
  return listen(app.listen(0, "127.0.0.1"));
}

async function listen(server: Server): Promise<string> {
  await new Promise((resolve) => server.once("listening", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function withFastify(sessions: Sessions): Promise<string> {
  const app = fastify();
  sessionsForFastify(app as never, sessions, { viewed: ({ url }) => url! });
  app.get("/*", (request) => handle((request as unknown as WithSession).session, request.url));
  closing.push(() => app.close());
  return app.listen({ port: 0, host: "127.0.0.1" });
}

describe.each([
  ["Express", withExpress],
  ["Fastify", withFastify],
])("in %s", (_, start) => {
  test("a visitor gets a cookie with the first thing that is kept, and only then", async () => {
    const browser = new Browser(await start(new Sessions(store)));
    expect(await browser.get("/")).toEqual({ user: null, data: {} });
    expect(browser.lastHeader).toBeNull();
    expect(await browser.get("/visit")).toEqual({ user: null, data: { visits: 1 } });
    expect(browser.lastHeader).toMatch(/^sid=[\w-]{12}\.[\w-]{22}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax$/);
    expect(await browser.get("/visit")).toEqual({ user: null, data: { visits: 2 } });
    expect(browser.lastHeader).toBeNull();
  });

  test("signing in changes the cookie; the one from before is nobody's", async () => {
    const url = await start(new Sessions(store));
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
    const url = await start(new Sessions(store));
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

  test("pages are noted as viewed", async () => {
    const sessions = new Sessions(store);
    const browser = new Browser(await start(sessions));
    await browser.get("/visit");
    await browser.get("/a");
    expect(await sessions.viewed(browser.cookie!.slice(4))).toContain("/a");
  });
});

test("a cookie after the answer is an error, not silence", async () => {
  const app = express();
  let failure: unknown;
  app.use(sessionMiddleware(new Sessions(store)));
  app.get("/", async (request, response) => {
    response.json({});
    failure = await (request as unknown as WithSession).session.signIn("ann").catch((error: unknown) => error);
  });
  const browser = new Browser(await listen(app.listen(0, "127.0.0.1")));
  await browser.get("/");
  await expect.poll(() => failure).toMatchObject({ code: "TOO_LATE" });
});

describe("express-session with our store", () => {
  test("keeps, touches and destroys its sessions", async () => {
    const CinnabarStore = expressSessionStore(session.Store);
    const app = express();
    app.use(
      session({
        store: new CinnabarStore(store, { ttlMs: 60_000 }),
        secret: "for the test",
        resave: false,
        saveUninitialized: false,
      }),
    );
    app.get("/visit", (request, response) => {
      const kept = request.session as unknown as { visits?: number };
      kept.visits = (kept.visits ?? 0) + 1;
      response.json({ visits: kept.visits });
    });
    app.get("/", (request, response) => {
      response.json({ visits: (request.session as unknown as { visits?: number }).visits ?? 0 });
    });
    app.get("/out", (request, response) => {
      request.session.destroy(() => response.json({}));
    });
    const browser = new Browser(await listen(app.listen(0, "127.0.0.1")));
    expect(await browser.get("/")).toEqual({ visits: 0 });
    expect(await keysIn(store)).toEqual([]);
    expect(await browser.get("/visit")).toEqual({ visits: 1 });
    expect(await browser.get("/visit")).toEqual({ visits: 2 });
    expect(await browser.get("/")).toEqual({ visits: 2 });
    const [key] = (await store.call("KEYS", "express-session:*")) as string[];
    expect(await store.call("PTTL", key!)).toBeGreaterThan(50_000);
    await browser.get("/out");
    expect(await keysIn(store)).toEqual([]);
    expect(await browser.get("/")).toEqual({ visits: 0 });
  });
});

describe("the cookie", () => {
  test("is read among others, quoted or not, and an absurd header is not read", () => {
    expect(readCookie('a=1; sid="x.y"; b=2', "sid")).toBe("x.y");
    expect(readCookie("xsid=1; sid = z", "sid")).toBe("z");
    expect(readCookie("a=1", "sid")).toBeNull();
    expect(readCookie(undefined, "sid")).toBeNull();
    expect(readCookie(`sid=1;${"x".repeat(20_000)}`, "sid")).toBeNull();
  });

  test("is Secure over TLS, always or never as configured, and always when it crosses sites", () => {
    expect(writeCookie({}, "t", 1_000, true)).toContain("; Secure");
    expect(writeCookie({}, "t", 1_000, false)).not.toContain("Secure");
    expect(writeCookie({ secure: true }, "t", 1_000, false)).toContain("; Secure");
    expect(writeCookie({ sameSite: "none" }, "t", 1_000, false)).toContain("SameSite=None; Secure");
    expect(writeCookie({ name: "n", domain: "example.com", path: "/a" }, "t", 1_000, false)).toBe(
      "n=t; Path=/a; Domain=example.com; Max-Age=1; HttpOnly; SameSite=Lax",
    );
  });
});
