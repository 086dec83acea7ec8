/** Stores that a browser keeps in its private file system: tabs that are killed, two at once, no room left, and files for Redis. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Browser,
  type BrowserContext,
  hasBrowser,
  launch,
  launchFrom,
  type Page,
} from "../../../console/tests/chromium.ts";
import { redisMissing, startRedis } from "../conformance/redis-server.ts";
import { openWire } from "../conformance/target.ts";
import { bundle } from "./target.ts";

/** Rounds of tabs that are closed while they write. */
const ROUNDS = process.env.FULL === undefined ? 8 : 100;
/** Rounds of browsers whose process is killed while a tab writes. */
const KILLS = process.env.FULL === undefined ? 2 : 50;

/** As many acknowledged writes may be unheard: Playwright would fall behind a tab that never waits, and hear nothing else. */
const UNHEARD = 50;

/** Does what it is told, and answers; `hammer` goes on until the tab is gone, and tells what was acknowledged. */
const WORKER = `
  import { Engine } from "/engine.js";
  let engine, client;
  // A quota that is set through the debugger's protocol does not reach these files: the browser's refusal is made here.
  let isFull = false;
  const { write } = FileSystemSyncAccessHandle.prototype;
  FileSystemSyncAccessHandle.prototype.write = function (...given) {
    if (isFull) throw new DOMException("No space available for this operation", "QuotaExceededError");
    return write.apply(this, given);
  };
  const told = {
    async open({ dir, config }) {
      engine = await Engine.open({ dir, config });
      client = engine.connect();
    },
    call: ({ words }) => client.call(...words),
    async hammer({ from }) {
      for (let n = from; ; n++) {
        await Promise.all([client.call("SET", "last", n), client.call("RPUSH", "all", n)]);
        postMessage({ acknowledged: n });
        if (n % ${UNHEARD} === 0) await new Promise((resolve) => (told.heard = resolve));
      }
    },
    limit(given) {
      ({ isFull } = given);
    },
    close: () => engine.close(),
    async files({ pool }) {
      const { PoolDisk } = await import("/engine.js");
      const disk = await PoolDisk.open(pool);
      const files = [...disk.names()].map((name) => {
        const file = disk.find(name);
        const bytes = new Uint8Array(file.size);
        file.read(bytes, 0);
        return [name, Array.from(bytes)];
      });
      disk.close();
      return files;
    },
  };
  onmessage = async ({ data: { id, what, ...rest } }) => {
    try {
      postMessage({ id, answer: await told[what](rest) });
    } catch (error) {
      postMessage({ id, error: String(error) });
    }
  };
`;

const PAGE = `<!doctype html><meta charset="utf-8"><title>Cinnabar</title><script>
  const worker = new Worker("/worker.js", { type: "module" });
  const waiting = new Map();
  let ids = 0;
  worker.onmessage = ({ data }) => {
    if ("acknowledged" in data) {
      const n = data.acknowledged;
      return void acknowledged(n).then(() => n % ${UNHEARD} === 0 && tell("heard"));
    }
    const { resolve, reject } = waiting.get(data.id);
    if ("error" in data) reject(new Error(data.error));
    else resolve(data.answer);
  };
  window.tell = (what, rest = {}) => new Promise((resolve, reject) => {
    waiting.set(++ids, { resolve, reject });
    worker.postMessage({ id: ids, what, ...rest });
  });
</script>`;

describe.skipIf(!hasBrowser)("a store that a browser keeps", () => {
  let browser: Browser;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    const engine = await bundle();
    server = createServer(({ url: path }, response) => {
      const script = path === "/worker.js" ? WORKER : engine.get(path ?? "");
      response.setHeader("content-type", script === undefined ? "text/html" : "text/javascript").end(script ?? PAGE);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  /** A tab of somebody's browser. */
  async function tab(context: BrowserContext, acknowledged: (n: number) => void = () => {}): Promise<Page> {
    const page = await context.newPage();
    await page.exposeFunction("acknowledged", acknowledged);
    await page.goto(url);
    return page;
  }

  const tell = <T>(page: Page, what: string, rest: object = {}): Promise<T> =>
    page.evaluate(
      ([name, more]) =>
        (globalThis as unknown as { tell: (what: string, rest: object) => Promise<T> }).tell(name, more),
      [what, rest] as const,
    );
  const call = (page: Page, ...words: (string | number)[]) => tell<unknown>(page, "call", { words });
  const ALWAYS = { dir: "data", config: { appendfsync: "always" } };

  /** The files of a closed tab are let go of a moment later. */
  const openAgain = (page: Page, options: object): Promise<void> =>
    expect
      .poll(() =>
        tell(page, "open", options).then(
          () => "open",
          (error: Error) => (error.message.includes("EBUSY") ? "busy" : error.message),
        ),
      )
      .toBe("open");

  /** Writes numbers in a tab that is gone after each round, and looks at what is there in the next. */
  function numbers(): { round: (context: BrowserContext, rewrite: boolean) => Promise<Page>; readonly last: number } {
    let last = 0;
    const heard = (n: number): void => {
      last = n;
    };
    return {
      get last() {
        return last;
      },
      async round(context, rewrite) {
        const page = await tab(context, heard);
        await openAgain(page, ALWAYS);
        const kept = Number((await call(page, "GET", "last")) ?? 0);
        expect(kept).toBeGreaterThanOrEqual(last);
        const all = (await call(page, "LRANGE", "all", 0, -1)) as string[];
        expect(all).toEqual(Array.from({ length: all.length }, (_, at) => String(at + 1)));
        expect(all.length).toBeGreaterThanOrEqual(last);
        if (rewrite) await call(page, "BGREWRITEAOF");
        const from = all.length + 1;
        void tell(page, "hammer", { from }).catch(() => {});
        await expect.poll(() => last).toBeGreaterThan(from);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 150));
        return page;
      },
    };
  }

  test(`has what it acknowledged, after ${ROUNDS} tabs that were closed while they wrote`, {
    timeout: 300_000,
  }, async () => {
    const context = await browser.newContext();
    const written = numbers();
    for (let round = 0; round < ROUNDS; round++) {
      const page = await written.round(context, round % 4 === 3);
      await page.close();
    }
    expect(written.last).toBeGreaterThan(ROUNDS);
    await context.close();
  });

  test(`has what it acknowledged, after ${KILLS} browsers that were killed while a tab wrote`, {
    timeout: 600_000,
  }, async () => {
    const profile = mkdtempSync(join(tmpdir(), "cinnabar-profile-"));
    const written = numbers();
    for (let round = 0; round < KILLS; round++) {
      const { context, kill } = await launchFrom(profile);
      await written.round(context, round % 4 === 3);
      await kill();
    }
    const { context } = await launchFrom(profile);
    const page = await written.round(context, false);
    expect(written.last).toBeGreaterThan(KILLS);
    await page.close();
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  });

  test("is one tab's at a time, and says so; in memory every tab has its own", async () => {
    const context = await browser.newContext();
    const [first, second] = [await tab(context), await tab(context)];
    await tell(first, "open", ALWAYS);
    await call(first, "SET", "k", "first");
    await expect(tell(second, "open", ALWAYS)).rejects.toThrow("EBUSY: another tab or worker has this store open");
    await tell(second, "open", {});
    expect(await call(second, "GET", "k")).toBeNull();
    await tell(first, "close");
    await openAgain(second, ALWAYS);
    expect(await call(second, "GET", "k")).toBe("first");
    await context.close();
  });

  test("refuses writes while there is no room, and goes on when there is", async () => {
    const context = await browser.newContext();
    const page = await tab(context);
    await tell(page, "open", ALWAYS);
    await call(page, "SET", "before", "x");
    await tell(page, "limit", { isFull: true });
    const refused = await call(page, "SET", "refused", "x").catch((error: Error) => error.message);
    expect(refused).toMatch(/MISCONF|ENOSPC|No space/i);
    expect(await call(page, "GET", "before")).toBe("x");
    await tell(page, "limit", { isFull: false });
    await expect.poll(() => call(page, "SET", "after", "y").catch(() => null)).toBe("OK");
    await tell(page, "close");
    await page.close();
    const again = await tab(context);
    await openAgain(again, ALWAYS);
    expect(await call(again, "MGET", "before", "after")).toEqual(["x", "y"]);
    await context.close();
  });

  test.skipIf(redisMissing() !== undefined)("writes files that redis-server loads", async () => {
    const context = await browser.newContext();
    const page = await tab(context);
    await tell(page, "open", ALWAYS);
    await call(page, "SET", "text", "é\u0080\u009f");
    await call(page, "HSET", "hash", "field", "value");
    await call(page, "ZADD", "zset", "1.5", "member");
    await call(page, "XADD", "stream", "1-1", "field", "value");
    await call(page, "RPUSH", "list", ...Array.from({ length: 300 }, (_, at) => at));
    await call(page, "BGREWRITEAOF");
    await expect.poll(() => call(page, "INFO", "persistence")).toContain("aof_rewrite_in_progress:0");
    await call(page, "EVAL", "return redis.call('SADD', KEYS[1], 'a', 'b')", "1", "set");
    await tell(page, "close");
    const files = await tell<[string, number[]][]>(page, "files", { pool: "cinnabar-data" });
    await context.close();
    const dir = mkdtempSync(join(tmpdir(), "cinnabar-from-browser-"));
    for (const [name, bytes] of files) {
      const path = join(dir, name.replace(/^\/data\//, ""));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, Buffer.from(bytes));
    }
    const redis = await startRedis(["--dir", dir, "--appendonly", "yes"]);
    const wire = await openWire(redis.port);
    try {
      expect((await wire.call("DBSIZE")).text).toBe("6");
      expect((await wire.call("GET", "text")).text).toBe(Buffer.from("é\u0080\u009f").toString("latin1"));
      expect((await wire.call("LLEN", "list")).text).toBe("300");
      expect((await wire.call("SCARD", "set")).text).toBe("2");
    } finally {
      await wire.close();
      await redis.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test("needs a worker, and says so", async () => {
    const context = await browser.newContext();
    const page = await tab(context);
    const said = page.evaluate(
      'import("/engine.js").then(({ Engine }) => Engine.open({ dir: "data" })).then(String, String)',
    );
    expect(await said).toContain("a store with a folder must be opened in a worker");
    await context.close();
  });
});
