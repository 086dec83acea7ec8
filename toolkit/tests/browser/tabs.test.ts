/** Several tabs with one store: they read and write at once, and lose nothing acknowledged when the one that has it is closed. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Browser, type BrowserContext, hasBrowser, launch, type Page } from "../../../console/tests/chromium.ts";
import { full } from "../../../scripts/full.ts";

/** Rounds in which the tab with the store is closed while two write. */
const ROUNDS = full ? 100 : 2;

/** Playwright waits without a limit for a tab that does not answer. Longer than any limit of the store. */
const STEP_MS = 30_000;
/** As many acknowledged writes of a tab may be unheard. */
const UNHEARD = 50;

/**
 * Does what it is told, and answers. `hammer` goes on until the tab is gone, and tells the witness what was acknowledged: what was said
 * in a channel is heard though the tab has gone. It waits for the witness now and then, which is not to fall behind.
 */
const WORKER = `
  import { open } from "cinnabar";
  export { open };
  const witness = new BroadcastChannel("acknowledged");
  let db;
  let heard;
  const errors = [];
  addEventListener("error", ({ message }) => errors.push(message));
  addEventListener("unhandledrejection", ({ reason }) => errors.push(String(reason)));
  witness.onmessage = ({ data }) => heard?.(data);
  const told = {
    async open({ options }) {
      db = await open("./data", options);
      return db.topology;
    },
    call: ({ words }) => db.call(...words),
    async hammer({ list }) {
      for (let n = 1; ; ) {
        try {
          await db.call("HSET", list, n, n);
          const isHeard =
            n % ${UNHEARD} === 0 && new Promise((resolve) => (heard = ({ heard: by }) => by === list && resolve()));
          witness.postMessage({ list, n });
          await isHeard;
          n++;
        } catch (error) {
          // The tab with the store has gone: this is said again, and a hash does not mind.
          if (!["ConnectionError", "TimeoutError"].includes(error.name)) throw error;
        }
      }
    },
    close: () => db.close(),
    errors: () => errors,
    // The files are opened by the tab that takes over.
    closeWhenTakingOver() {
      const files = FileSystemFileHandle.prototype;
      const { createSyncAccessHandle } = files;
      files.createSyncAccessHandle = async function () {
        files.createSyncAccessHandle = createSyncAccessHandle;
        await db.close();
        return createSyncAccessHandle.call(this);
      };
    },
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
    const { resolve, reject } = waiting.get(data.id);
    if ("error" in data) reject(new Error(data.error));
    else resolve(data.answer);
  };
  window.tell = (what, rest = {}) => new Promise((resolve, reject) => {
    waiting.set(++ids, { resolve, reject });
    worker.postMessage({ id: ids, what, ...rest });
  });
</script>`;

/** Outlives the others, and knows the last write of each list that was acknowledged. */
const WITNESS = `<!doctype html><meta charset="utf-8"><title>Witness</title><script>
  const channel = new BroadcastChannel("acknowledged");
  window.lists = {};
  channel.onmessage = ({ data: { list, n } }) => {
    if (list === undefined) return;
    lists[list] = n;
    if (n % ${UNHEARD} === 0) channel.postMessage({ heard: list });
  };
</script>`;

describe.skipIf(!hasBrowser)("tabs that share a store", () => {
  let browser: Browser;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    const files = new Map([["/tab", PAGE], ["/witness", WITNESS], ...(await bundled())]);
    server = createServer(({ url: path = "" }, response) => {
      response.setHeader("content-type", path.endsWith(".js") ? "text/javascript" : "text/html").end(files.get(path));
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

  /** Fails with the step that does not end. */
  async function within<T>(step: string, promise: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${step} took longer than ${STEP_MS} ms`)), STEP_MS);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async function tab(context: BrowserContext, path = "tab"): Promise<Page> {
    const page = await within("opening a tab", context.newPage());
    await within("loading the page", page.goto(url + path));
    return page;
  }

  const close = (page: Page): Promise<void> => within("closing a tab", page.close());

  const evaluate = <T>(page: Page, code: string): Promise<T> => within(code, page.evaluate<T>(code));

  const tell = <T>(page: Page, what: string, rest: object = {}): Promise<T> =>
    evaluate(page, `tell(${JSON.stringify(what)}, ${JSON.stringify(rest)})`);
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
    expect(await evaluate(third, joined)).toEqual(["single", "hello"]);
    await close(first);
    const asked = () => evaluate(third, 'db.call("APPEND", "greeting", "!").catch(() => null)');
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
    await close(second);
    await expect.poll(guests).toBe(0);
    await context.close();
  });

  test("guests that go disturb neither the owner nor its end", async () => {
    const context = await browser.newContext();
    const [first, second, third] = [await tab(context), await tab(context), await tab(context)];
    await tell(first, "open");
    for (const guest of [second, third]) await tell(guest, "open");
    await tell(second, "close");
    await close(third);
    await expect.poll(() => call<string>(first, "CLIENT", "LIST")).not.toContain("addr=port:");
    await tell(first, "close");
    expect(await tell(first, "errors")).toEqual([]);
    await expect.poll(() => tell(second, "open", { options: { shared: false } }).catch(String)).toBe("embedded");
    await context.close();
  });

  test("a guest that is closed while it takes over lets go of the files", async () => {
    const context = await browser.newContext();
    const [first, second] = [await tab(context), await tab(context)];
    await tell(first, "open");
    await tell(second, "open");
    await tell(second, "closeWhenTakingOver");
    await tell(first, "close");
    await expect.poll(() => call(second, "PING").catch(String)).toMatch("closed");
    await expect.poll(() => tell(first, "open", { options: { shared: false } }).catch(String)).toBe("embedded");
    await context.close();
  });

  test(`nothing acknowledged is lost in ${ROUNDS} rounds in which the tab with the store is closed`, {
    timeout: ROUNDS * 60_000,
  }, async () => {
    const context = await browser.newContext();
    const witness = await tab(context, "witness");
    let failure: Error | undefined;
    /** Goes on until the tab is closed. */
    const hammer = (page: Page, list: string): void => {
      page.evaluate(`tell("hammer", { list: "${list}" })`).catch((error: Error) => {
        if (!error.message.includes("has been closed")) failure = error;
      });
    };
    const acknowledged = async (list: string): Promise<number> => {
      if (failure !== undefined) throw failure;
      return evaluate<number>(witness, `lists["${list}"] ?? 0`);
    };
    let owner = await tab(context);
    await tell(owner, "open");
    for (let round = 0; round < ROUNDS; round++) {
      const [ofOwner, ofGuest] = [`owner-${round}`, `guest-${round}`];
      const guest = await tab(context);
      await tell(guest, "open");
      hammer(guest, ofGuest);
      hammer(owner, ofOwner);
      for (const list of [ofOwner, ofGuest]) await expect.poll(() => acknowledged(list)).toBeGreaterThan(5);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
      await close(owner);
      const before = await acknowledged(ofGuest);
      await expect.poll(() => acknowledged(ofGuest)).toBeGreaterThan(before + 5);
      const reader = await tab(context);
      expect(await tell(reader, "open")).toBe("single");
      const kept = await acknowledged(ofGuest);
      expect(await call<number>(reader, "HLEN", ofGuest)).toBeGreaterThanOrEqual(kept);
      expect(await call<number>(reader, "HLEN", ofOwner)).toBeGreaterThanOrEqual(await acknowledged(ofOwner));
      await close(guest);
      await expect
        .poll(() => call<number>(reader, "HLEN", ofGuest).catch(() => -1))
        .toBeGreaterThanOrEqual(await acknowledged(ofGuest));
      owner = reader;
    }
    await context.close();
  });
});
