/** Stores in a private window: kept until the last of these windows closes, seen by no other window, and refused with a reason. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Browser, type BrowserContext, hasBrowser, launch, type Page } from "../../../console/tests/chromium.ts";
import { bundle } from "./target.ts";

/** One store after the other; `refuse` makes the browser's answer to who asks for files. */
const WORKER = `
  import { Engine } from "/engine.js";
  let engine, client;
  const told = {
    async open() {
      engine = await Engine.open({ dir: "data", config: { appendfsync: "always" } });
      client = engine.connect();
    },
    call: ({ words }) => client.call(...words),
    close: () => engine.close(),
    refuse({ name, of }) {
      const refused = async () => {
        throw new DOMException("Not in a private window", name);
      };
      if (of === "folder") StorageManager.prototype.getDirectory = refused;
      else FileSystemFileHandle.prototype.createSyncAccessHandle = refused;
    },
  };
  onmessage = async ({ data: { what, rest }, ports: [port] }) => {
    try {
      port.postMessage({ answer: await told[what](rest) });
    } catch (error) {
      port.postMessage({ error: String(error) });
    }
  };
`;

const PAGE = `<!doctype html><meta charset="utf-8"><title>Cinnabar</title><script>
  const worker = new Worker("/worker.js", { type: "module" });
  window.tell = (what, rest = {}) => new Promise((resolve, reject) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => ("error" in data ? reject(new Error(data.error)) : resolve(data.answer));
    worker.postMessage({ what, rest }, [port2]);
  });
</script>`;

describe.skipIf(!hasBrowser)("a store in a private window", () => {
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

  /** Each context of a browser that Playwright starts is a private one, with a profile in memory. */
  async function tab(context: BrowserContext): Promise<Page> {
    const page = await context.newPage();
    await page.goto(url);
    return page;
  }

  const tell = <T>(page: Page, what: string, rest: object = {}): Promise<T> =>
    page.evaluate(
      ([name, more]) =>
        (globalThis as unknown as { tell: (what: string, rest: object) => Promise<T> }).tell(name, more),
      [what, rest] as const,
    );
  /** Files that are let go of are free a moment later. */
  const openAgain = (page: Page): Promise<void> =>
    expect
      .poll(() =>
        tell(page, "open").then(
          () => "open",
          (error: Error) => (error.message.includes("EBUSY") ? "busy" : error.message),
        ),
      )
      .toBe("open");
  const call = (page: Page, ...words: string[]) => tell<unknown>(page, "call", { words });

  test("is there again for the tabs of this window, and not for another window", async () => {
    const [window, other] = [await browser.newContext(), await browser.newContext()];
    const [first, elsewhere] = [await tab(window), await tab(other)];
    await tell(first, "open");
    await call(first, "SET", "k", "kept");
    // A store that is open in one window does not keep the other from its own.
    await tell(elsewhere, "open");
    expect(await call(elsewhere, "DBSIZE")).toBe(0);
    await tell(first, "close");
    await openAgain(first);
    expect(await call(first, "GET", "k")).toBe("kept");
    await tell(first, "close");
    const second = await tab(window);
    await openAgain(second);
    expect(await call(second, "GET", "k")).toBe("kept");
    await Promise.all([window.close(), other.close()]);
  });

  test("is gone with the window", async () => {
    const window = await browser.newContext();
    const page = await tab(window);
    await tell(page, "open");
    await call(page, "SET", "k", "gone");
    await tell(page, "close");
    await window.close();
    const next = await browser.newContext();
    const again = await tab(next);
    await tell(again, "open");
    expect(await call(again, "DBSIZE")).toBe(0);
    await next.close();
  });

  const REFUSED =
    "ENOTSUP: this browser keeps no files for this page, as in some private windows (Not in a private window): a store without a folder is in memory";

  // Other browsers refuse the folder: Firefox has a SecurityError for that, Safari an UnknownError. Chromium does not, so it is made here.
  test.each([
    ["SecurityError", "folder", REFUSED],
    ["UnknownError", "folder", REFUSED],
    ["QuotaExceededError", "files", "ENOSPC: this browser has no room left"],
  ])("says why a browser refuses it: %s for the %s", async (name, of, message) => {
    const window = await browser.newContext();
    const page = await tab(window);
    await tell(page, "refuse", { name, of });
    await expect(tell(page, "open")).rejects.toThrow(message);
    await window.close();
  });
});
