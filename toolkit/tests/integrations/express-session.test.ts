/** The store for express-session, in a real application of Express. */
import express from "express";
import session from "express-session";
import { afterEach, expect, test } from "vitest";
import { expressSessionStore } from "../../src/integrations/express-session/index.ts";
import { describeBackends } from "../kit/index.ts";
import { keysIn } from "../kit/keys.ts";
import { addressOf, Browser, ended } from "./browser.ts";

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** In this repository `request.session` has the type of cinnabar/express: an application has one or the other. */
interface Kept {
  visits?: number;
  destroy(callback: () => void): void;
}
const keptIn = (request: object): Kept => (request as unknown as { session: Kept }).session;

/** What a method with a callback gives. */
const given = <T>(call: (callback: (error: unknown, value?: T) => void) => void): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value)));
  });

describeBackends("express-session with our store", { backends: ["embedded", "redis", "cluster"] }, (backend) => {
  async function start() {
    const store = new (expressSessionStore(session.Store))(backend.store, { ttlMs: 60_000 });
    const app = express();
    app.use(session({ store, secret: "for the test", resave: false, saveUninitialized: false }));
    app.get("/visit", (request, response) => {
      const kept = keptIn(request);
      kept.visits = (kept.visits ?? 0) + 1;
      response.json({ visits: kept.visits });
    });
    app.get("/", (request, response) => {
      response.json({ visits: keptIn(request).visits ?? 0 });
    });
    app.get("/out", (request, response) => {
      keptIn(request).destroy(() => response.json({}));
    });
    const server = app.listen(0, "127.0.0.1");
    closing.push(() => ended(server));
    return { store, url: await addressOf(server) };
  }

  test("keeps, touches and destroys its sessions", async () => {
    const { store, url } = await start();
    const browser = new Browser(url);
    expect(await browser.get("/")).toEqual({ visits: 0 });
    expect(await given<number>((callback) => store.length(callback))).toBe(0);
    expect(await browser.get("/visit")).toEqual({ visits: 1 });
    expect(await browser.get("/visit")).toEqual({ visits: 2 });
    expect(await browser.get("/")).toEqual({ visits: 2 });
    if (backend.name !== "cluster") {
      const [key] = (await keysIn(backend.store)).filter((each) => each.startsWith("express-session:"));
      expect(await backend.store.call("PTTL", key!)).toBeGreaterThan(50_000);
    }
    await browser.get("/out");
    expect(await given<number>((callback) => store.length(callback))).toBe(0);
    expect(await browser.get("/")).toEqual({ visits: 0 });
  });

  test("lists, counts and clears all of them, and nobody else's", async () => {
    const { store, url } = await start();
    for (let at = 0; at < 30; at++) await new Browser(url).get("/visit");
    await backend.store.call("SET", "express-session:other", "mine");
    const all = await given<{ id?: string; visits?: number }[]>((callback) => store.all(callback as never));
    expect(all).toHaveLength(30);
    expect(new Set(all?.map(({ id }) => id)).size).toBe(30);
    expect(all?.every(({ visits }) => visits === 1)).toBe(true);
    expect(await given<number>((callback) => store.length(callback))).toBe(30);
    const one = await given<{ visits?: number }>((callback) => store.get(all![0]!.id!, callback as never));
    expect(one).toMatchObject({ visits: 1 });
    await given((callback) => store.clear(callback));
    expect(await given<number>((callback) => store.length(callback))).toBe(0);
    expect(await backend.store.call("GET", "express-session:other")).toBe("mine");
  });
});
