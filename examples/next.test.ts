/**
 * Real Next.js applications, one with `use cache` and one with ISR: built, started twice on one Redis, and driven over HTTP. They take
 * minutes, so only the long run has them.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { full } from "../scripts/full.ts";
import { Browser } from "../toolkit/tests/integrations/browser.ts";
import { freePort } from "../toolkit/tests/kit/servers.ts";
import { describeStores } from "./running.ts";

const NEXT = join(import.meta.dirname, "../node_modules/next/dist/bin/next");
const BUILT = join(import.meta.dirname, "../toolkit/dist/integrations/next/index.js");
const appOf = (name: string): string => join(import.meta.dirname, name);

async function build(name: string): Promise<void> {
  expect(existsSync(BUILT), "npm run build comes first").toBe(true);
  const env = { ...process.env, STORE: "memory:", NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" };
  await promisify(execFile)(process.execPath, [NEXT, "build"], { cwd: appOf(name), env: env as NodeJS.ProcessEnv });
}

/** Servers of an application, which end with the suite. */
function serversOf(name: string, page: string, env: () => NodeJS.ProcessEnv): () => Promise<string> {
  const servers: ChildProcess[] = [];
  afterAll(async () => {
    for (const child of servers) {
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));
    }
  });
  return async () => {
    const port = await freePort();
    const child = spawn(process.execPath, [NEXT, "start", "-p", String(port), "-H", "127.0.0.1"], {
      cwd: appOf(name),
      env: { ...process.env, ...env(), NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" },
      stdio: "ignore",
    });
    servers.push(child);
    const url = `http://127.0.0.1:${port}`;
    const isUp = () =>
      fetch(`${url}${page}`).then(
        ({ ok }) => ok,
        () => false,
      );
    await expect.poll(isUp).toBe(true);
    return url;
  };
}

const made = async (url: string, id = "made"): Promise<string | undefined> =>
  new RegExp(`<p id="${id}">([a-z0-9]+)</p>`).exec(await (await fetch(url)).text())?.[1];

describe.runIf(full)("next", () => {
  beforeAll(() => build("next"), 600_000);

  describeStores("next", (env) => {
    const start = serversOf("next", "", env);

    test("gives what `use cache` has made until its tag is revalidated, and counts visits by session", async () => {
      const url = await start();
      const first = await made(url);
      expect(first).toMatch(/^[a-z0-9]+$/);
      expect(await made(url)).toBe(first);
      expect((await fetch(`${url}/revalidate`, { method: "POST" })).status).toBe(204);
      await expect.poll(() => made(url)).not.toBe(first);
      const browser = new Browser(url);
      expect(await browser.get("/visits")).toEqual({ user: null, visits: 1 });
      expect(await browser.get("/visits")).toEqual({ user: null, visits: 2 });
      if (env().STORE === "memory:") return;
      // Another server of the same application has the same entries and sessions.
      const other = await start();
      const there = new Browser(other, browser.cookie);
      expect(await there.get("/visits")).toEqual({ user: null, visits: 3 });
      const now = await made(url);
      await expect.poll(() => made(other)).toBe(now);
      expect((await fetch(`${other}/revalidate`, { method: "POST" })).status).toBe(204);
      await expect.poll(() => made(url)).not.toBe(now);
    });
  });
});

describe.runIf(full)("next with ISR", () => {
  beforeAll(() => build("next-isr"), 600_000);

  describeStores("next with ISR", (env) => {
    // The page of another product: starting must not make the one that the test looks at.
    const start = serversOf("next-isr", "/products/0", env);
    const page = "/products/7";

    const revalidate = async (url: string, what: string): Promise<void> => {
      expect((await fetch(`${url}/revalidate?${what}`, { method: "POST" })).status).toBe(204);
    };
    const cacheOf = async (url: string): Promise<string | null> => (await fetch(url)).headers.get("x-nextjs-cache");

    test("gives what it has rendered until its path or its tag is revalidated", async () => {
      const url = await start();
      const first = [await made(url + page), await made(url + page, "stock")];
      expect(first).toEqual([expect.stringMatching(/^[a-z0-9]+$/), expect.stringMatching(/^7[a-z0-9]+$/)]);
      expect(await cacheOf(url + page)).toBe("HIT");
      expect([await made(url + page), await made(url + page, "stock")]).toEqual(first);
      // The path: the page is rendered anew.
      await revalidate(url, `path=${page}`);
      await expect.poll(() => made(url + page)).not.toBe(first[0]);
      // A tag: also what it was made of.
      const second = [await made(url + page), await made(url + page, "stock")];
      await revalidate(url, "tag=products");
      await expect.poll(() => made(url + page, "stock")).not.toBe(second[1]);
      expect(await made(url + page)).not.toBe(second[0]);
      expect(await cacheOf(url + page)).toBe("HIT");
      if (env().STORE === "memory:") return;
      // Another server has the same pages, and what one revalidates holds for both.
      const other = await start();
      const now = await made(url + page);
      expect([await cacheOf(other + page), await made(other + page)]).toEqual(["HIT", now]);
      await revalidate(other, "tag=products");
      await expect.poll(() => made(url + page)).not.toBe(now);
      const third = await made(other + page);
      await expect.poll(() => made(url + page)).toBe(third);
      await revalidate(url, `path=${page}`);
      await expect.poll(() => made(other + page)).not.toBe(third);
    });

    test("renders a page anew that is older than its `revalidate` says", async () => {
      const url = await start();
      const first = await made(`${url}/latest`);
      await expect.poll(() => made(`${url}/latest`)).not.toBe(first);
    });
  });
});
