/** The examples of the web frameworks, driven over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser } from "../toolkit/tests/integrations/browser.ts";
import { describeStores, printed, type Running, started } from "./running.ts";

describe.each(["express.ts", "fastify.ts", "hono.ts", "koa.ts"])("%s", (file) => {
  describeStores(file, (env) => {
    let example: Running;
    beforeAll(async () => {
      example = await started(file, env());
    });
    afterAll(() => example.stop());

    test("counts visits, signs in and out, and says what is left of the limit", async () => {
      const browser = new Browser(example.url);
      expect(await browser.get("/")).toEqual({ user: null, visits: 1 });
      expect(await browser.get("/")).toEqual({ user: null, visits: 2 });
      const post = async (path: string) => (await browser.fetch(path, { method: "POST" })).status;
      expect(await post("/sign-in/ann")).toBe(204);
      expect(await browser.get("/")).toEqual({ user: "ann", visits: 3 });
      expect(await post("/sign-out")).toBe(204);
      expect(await browser.get("/")).toEqual({ user: null, visits: 1 });
      const response = await browser.fetch("/");
      expect(Number(response.headers.get("ratelimit-remaining"))).toBeLessThan(100);
    });
  });
});

describeStores("express-session.ts", (env) => {
  let example: Running;
  beforeAll(async () => {
    example = await started("express-session.ts", env());
  });
  afterAll(() => example.stop());

  test("counts visits and sessions, and clears them", async () => {
    const browser = new Browser(example.url);
    expect(await browser.get("/")).toEqual({ visits: 1 });
    expect(await browser.get("/")).toEqual({ visits: 2 });
    expect(await browser.get("/count")).toEqual({ count: 1 });
    expect((await browser.fetch("/clear", { method: "POST" })).status).toBe(204);
    expect(await browser.get("/count")).toEqual({ count: 0 });
  });
});

describeStores("schemas.ts", (env) => {
  test("says what it checked", async () => {
    expect(await printed("schemas.ts", env())).toEqual([
      "{ status: 'done', result: { messageId: '2026-1' } }",
      "true [ 'to' ]",
      "dark",
      "{ name: 'Ann Lee' }",
      "20",
    ]);
  });
});
