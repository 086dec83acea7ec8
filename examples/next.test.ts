/** A real Next.js application: built, started twice on one Redis, and driven over HTTP. It takes a minute, so only the long run has it. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { full } from "../scripts/full.ts";
import { Browser } from "../toolkit/tests/integrations/browser.ts";
import { freePort } from "../toolkit/tests/kit/servers.ts";
import { describeStores } from "./running.ts";

const APP = join(import.meta.dirname, "next");
const NEXT = join(import.meta.dirname, "../node_modules/next/dist/bin/next");
const BUILT = join(import.meta.dirname, "../toolkit/dist/integrations/next/index.js");

describe.runIf(full)("next", () => {
  beforeAll(async () => {
    expect(existsSync(BUILT), "npm run build comes first").toBe(true);
    const env = { ...process.env, STORE: "memory:", NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" };
    await promisify(execFile)(process.execPath, [NEXT, "build"], { cwd: APP, env: env as NodeJS.ProcessEnv });
  }, 600_000);

  describeStores("next", (env) => {
    const servers: ChildProcess[] = [];

    async function start(): Promise<string> {
      const port = await freePort();
      const child = spawn(process.execPath, [NEXT, "start", "-p", String(port), "-H", "127.0.0.1"], {
        cwd: APP,
        env: { ...process.env, ...env(), NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" },
        stdio: "ignore",
      });
      servers.push(child);
      const url = `http://127.0.0.1:${port}`;
      await expect
        .poll(() =>
          fetch(url).then(
            ({ ok }) => ok,
            () => false,
          ),
        )
        .toBe(true);
      return url;
    }

    afterAll(async () => {
      for (const child of servers) {
        child.kill("SIGKILL");
        await new Promise((resolve) => child.once("exit", resolve));
      }
    });

    const made = async (url: string): Promise<string | undefined> =>
      />([a-z0-9]+)<\/p>/.exec(await (await fetch(url)).text())?.[1];

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
