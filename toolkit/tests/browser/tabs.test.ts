/** Several tabs with one store: they read and write at once, and lose nothing acknowledged when the one that has it is closed. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Browser, type BrowserContext, hasBrowser, launch, type Page } from "../../../console/tests/chromium.ts";
import { full } from "../../../scripts/full.ts";

/** Rounds in which the tab with the store is closed while two write. */
const ROUNDS = full ? 100 : 2;

/** Does what it is told, and answers. `hammer` goes on until the tab is gone, and tells what was acknowledged. */
const WORKER = `
  import { open } from "cinnabar";
  export { open };
  let db;
  const told = {
    async open({ options }) {
      db = await open("./data", options);
      return db.topology;
    },
    call: ({ words }) => db.call(...words),
    async hammer({ list, from }) {
      for (let n = from; ; ) {
        try {
          await db.call("HSET", list, n, n);
          postMessage({ acknowledged: n });
          n++;
        } catch (error) {
          // The tab with the store has gone: this is said again, and a hash does not mind.
          if (!["ConnectionError", "TimeoutError"].includes(error.name)) throw error;
        }
      }
    },
    close: () => db.close(),
  };
  onmessage = async ({ data: { id, what, ...rest } }) => {
    try {
      postMessage({ id, answer: await told[what](rest) });
    } catch (error) {
      postMessage({ id, error: error.name + " " + (error.code ?? "") + ": " + error.message });
    }
  };
`;

const PAGE = `<!doctype html><meta charset="utf-8"><title>Cinnabar</title><script>
  const worker = new Worker("/stdin.js", { type: "module" });
  const waiting = new Map();
  let ids = 0;
  worker.onmessage = ({ data }) => {
    if ("acknowledged" in data) return void acknowledged(data.acknowledged);
    const { resolve, reject } = waiting.get(data.id);
    if ("error" in data) reject(new Error(data.error));
    else resolve(data.answer);
  };
  window.tell = (what, rest = {}) => new Promise((resolve, reject) => {
    waiting.set(++ids, { resolve, reject });
    worker.postMessage({ id: ids, what, ...rest });
  });
</script>`;

describe.skipIf(!hasBrowser)("tabs that share a store", () => {
  let browser: Browser;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    const files = await bundled();
    server = createServer(({ url: path = "" }, response) => {
      const script = files.get(path);
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

  /** The worker as a program's bundler makes it, with what it loads later. */
  async function bundled(): Promise<ReadonlyMap<string, string>> {
    const { outputFiles } = await build({
      stdin: { contents: WORKER, resolveDir: import.meta.dirname, loader: "ts" },
      outdir: "/",
      splitting: true,
      bundle: true,
      platform: "browser",
      format: "esm",
      target: "es2023",
      write: false,
      logLevel: "error",
    });
    return new Map(outputFiles.map(({ path, text }) => [path, text]));
  }

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
  const call = <T>(page: Page, ...words: (string | number)[]) => tell<T>(page, "call", { words });

  test("the second joins the first, and both see what either writes", async () => {
    const context = await browser.newContext();
    const [first, second] = [await tab(context), await tab(context)];
    expect(await tell(first, "open")).toBe("embedded");
    expect(await tell(second, "open")).toBe("single");
    await Promise.all([call(first, "SET", "a", "1"), call(second, "SET", "b", "2")]);
    expect(await call(first, "MGET", "a", "b")).toEqual(["1", "2"]);
    expect(await call(second, "MGET", "a", "b")).toEqual(["1", "2"]);
    await Promise.all(Array.from({ length: 50 }, () => [call(first, "INCR", "n"), call(second, "INCR", "n")]).flat());
    expect(await call(second, "GET", "n")).toBe("100");
    await context.close();
  });

  test("shared: false keeps others out, and is refused a store that another tab has", async () => {
    const context = await browser.newContext();
    const [first, second] = [await tab(context), await tab(context)];
    await tell(first, "open");
    await expect(tell(second, "open", { options: { shared: false } })).rejects.toThrow("OpenError LOCKED");
    await tell(first, "close");
    await expect
      .poll(() => tell(second, "open", { options: { shared: false } }).catch((error: Error) => error.message))
      .toBe("embedded");
    await expect(tell(first, "open")).rejects.toThrow("OpenError LOCKED");
    await context.close();
  });

  test("a guest goes on when the owner closes the store, and has all of it", async () => {
    const context = await browser.newContext();
    const [first, second] = [await tab(context), await tab(context)];
    await tell(first, "open");
    await tell(second, "open");
    await call(first, "SET", "greeting", "hello");
    await tell(first, "close");
    await expect.poll(() => call(second, "GET", "greeting").catch(() => null), { timeout: 10_000 }).toBe("hello");
    expect(await tell(first, "open")).toBe("single");
    expect(await call(first, "GET", "greeting")).toBe("hello");
    await context.close();
  });

  test("a page joins a store that a worker has, and goes on with the next", async () => {
    const context = await browser.newContext();
    const [first, second, third] = [await tab(context), await tab(context), await tab(context)];
    await tell(first, "open");
    await tell(second, "open");
    await call(first, "SET", "greeting", "hello");
    const joined = `import("/stdin.js").then(async ({ open }) => {
      globalThis.db = await open("./data");
      return [db.topology, await db.call("GET", "greeting")];
    })`;
    expect(await third.evaluate(joined)).toEqual(["single", "hello"]);
    await first.close();
    const asked = () => third.evaluate('db.call("APPEND", "greeting", "!").catch(() => null)');
    await expect.poll(asked, { timeout: 10_000 }).toBeGreaterThan("hello".length);
    expect(await call<string>(second, "GET", "greeting")).toMatch(/^hello!+$/);
    await context.close();
  });

  test("a guest that is gone no longer waits for elements", async () => {
    const context = await browser.newContext();
    const [first, second] = [await tab(context), await tab(context)];
    await tell(first, "open");
    await tell(second, "open");
    await call(second, "SET", "k", "v");
    const guests = async () => ((await call<string>(first, "CLIENT", "LIST")).match(/addr=port:/g) ?? []).length;
    expect(await guests()).toBeGreaterThan(0);
    await second.close();
    await expect.poll(guests).toBe(0);
    await context.close();
  });

  test(`nothing acknowledged is lost in ${ROUNDS} rounds in which the tab with the store is closed`, {
    timeout: ROUNDS * 60_000,
  }, async () => {
    const context = await browser.newContext();
    const acknowledged = { owner: 0, guest: 0 };
    const tellOwner = (n: number): void => {
      acknowledged.owner = n;
    };
    let owner = await tab(context, tellOwner);
    await tell(owner, "open");
    for (let round = 0; round < ROUNDS; round++) {
      acknowledged.owner = acknowledged.guest = 0;
      const guest = await context.newPage();
      await guest.exposeFunction("acknowledged", (n: number) => {
        acknowledged.guest = n;
      });
      await guest.goto(url);
      await tell(guest, "open");
      void tell(guest, "hammer", { list: `guest-${round}`, from: 1 }).catch(() => {});
      const writer = owner;
      void tell(writer, "hammer", { list: `owner-${round}`, from: 1 }).catch(() => {});
      await expect.poll(() => Math.min(acknowledged.owner, acknowledged.guest)).toBeGreaterThan(5);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
      await writer.close();
      const before = acknowledged.guest;
      await expect.poll(() => acknowledged.guest, { timeout: 10_000 }).toBeGreaterThan(before + 5);
      const reader = await tab(context, tellOwner);
      expect(await tell(reader, "open")).toBe("single");
      const kept = acknowledged.guest;
      expect(await call<number>(reader, "HLEN", `guest-${round}`)).toBeGreaterThanOrEqual(kept);
      expect(await call<number>(reader, "HLEN", `owner-${round}`)).toBeGreaterThanOrEqual(acknowledged.owner);
      await guest.close();
      await expect
        .poll(() => call<number>(reader, "HLEN", `guest-${round}`).catch(() => -1), { timeout: 10_000 })
        .toBeGreaterThanOrEqual(acknowledged.guest);
      owner = reader;
    }
    await context.close();
  });
});
