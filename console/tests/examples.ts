/** What tests of the examples share: people with a name of their own, and answers taken out of their envelope. */
import { join } from "node:path";
import { open, type Store } from "cinnabar";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { full } from "../../scripts/full.ts";
import { type Backend, describeBackends } from "../../toolkit/tests/kit/index.ts";
import type { Trace } from "../src/trace.ts";
import { buildPage, hasBrowser, NARROW, openBrowser, PATIENCE_MS, shiftOf, WIDE, watch } from "./browser.ts";
import { type Answer, type Served, serve, temporaryFolder } from "./support.ts";

export interface TracedAnswer extends Answer {
  readonly trace: Trace;
}

export interface Person {
  readonly name: string;
  /** What the browser would send. */
  readonly cookies: Map<string, string>;
  get(path: string): Promise<TracedAnswer>;
  send(method: string, path: string, body?: unknown): Promise<TracedAnswer>;
}

/** Somebody with a browser of their own. Paths are those below /api/examples. */
export async function as(served: Served, name: string): Promise<Person> {
  const cookies = new Map<string, string>();
  const header = () => ({ cookie: [...cookies].map(([key, value]) => `${key}=${value}`).join("; ") });
  const taken = (answer: Answer): TracedAnswer => {
    for (const line of answer.headers.getSetCookie()) {
      const [, key, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (/max-age=0/i.test(line)) cookies.delete(key!);
      else cookies.set(key!, value!);
    }
    const { body, ...rest } = answer;
    return { ...rest, body: body?.trace && "answer" in body ? body.answer : body, trace: body?.trace };
  };
  const person: Person = {
    name,
    cookies,
    get: async (path) => taken(await served.get(`/api/examples${path}`, header())),
    send: async (method, path, body) => taken(await served.send(method, `/api/examples${path}`, body, header())),
  };
  await person.send("POST", "/visitor", { name });
  return person;
}

/** What a page sends, by names: of commands, and of scripts. */
export const sentBy = ({ trips }: Trace): string[] => trips.flatMap(({ commands }) => commands.map(({ name }) => name));

/** An example's API on our store, a real Redis, and a Cluster. */
export function describeExample(name: string, suite: (served: () => Served, backend: Backend) => void): void {
  describeBackends(`the example ${name}`, { backends: ["embedded", "redis", "cluster"], audit: false }, (backend) => {
    let served: Served | undefined;
    beforeEach(async () => {
      served = await serve(backend.store);
    });
    afterEach(async () => {
      await served?.console.close();
      served = undefined;
    });
    suite(() => served!, backend);
  });
}

/** What becomes true, sooner or later. */
export const eventually = <T>(read: () => T) => expect.poll(read, { timeout: PATIENCE_MS });

export interface Screen {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What no page may do. */
  readonly offences: string[];
}

/** A browser of one person: nothing of it is shared with another's. */
export async function screenOf(browser: Browser, url: string, name: string, size = WIDE): Promise<Screen> {
  const context = await browser.newContext({ viewport: size, baseURL: url });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const offences = watch(page, url);
  await page.goto(`${url}/#/examples`);
  await page.evaluate(
    (wanted) =>
      fetch("/api/examples/visitor", {
        method: "POST",
        headers: { "x-cinnabar": "1", "content-type": "application/json" },
        body: JSON.stringify({ name: wanted }),
      }),
    name,
  );
  return { context, page, offences };
}

export interface Screens {
  readonly served: Served;
  readonly browser: Browser;
  /** Two people at once: one at a desk, one with a telephone. */
  readonly ann: Screen;
  readonly ben: Screen;
}

/** Pages of examples that `npm test` opens; the full run opens all of them. */
const SHORT = /shop|chat|social|search/;

/** An example's page on our store, with two people; `screens` is there inside of tests and hooks. */
export function describeScreens(title: string, suite: (screens: () => Screens) => void, path?: string): void {
  describe.runIf(hasBrowser && (full || SHORT.test(title)))(title, () => {
    const folder = temporaryFolder();
    const built = join(folder.path, "ui");
    let store: Store | undefined;
    let screens: Screens | undefined;
    beforeAll(async () => {
      await buildPage(built);
      const browser = await openBrowser();
      store = await open();
      const served = await serve(store, { page: built });
      const ann = await screenOf(browser, served.url, "Ann");
      const ben = await screenOf(browser, served.url, "Ben", NARROW);
      screens = { served, browser, ann, ben };
      for (const { page } of path === undefined ? [] : [ann, ben]) await page.goto(`${served.url}/#/${path}`);
    });
    afterAll(async () => {
      expect([screens?.ann.offences, screens?.ben.offences]).toEqual([[], []]);
      await screens?.browser.close();
      await screens?.served.console.close();
      await store?.close();
      folder.remove();
    });
    suite(() => screens!);
  });
}

/** How much a page moves while it loads. With the drawer closed: that is a log, which grows from above. */
export async function shiftWhileLoading(page: Page, until: string): Promise<number> {
  const load = async (drawer: "open" | "closed") => {
    await page.evaluate(`localStorage.setItem("cinnabar.drawer", "${drawer}")`);
    await page.reload();
    await page.locator(until).first().waitFor();
  };
  await load("closed");
  const shift = (await page.evaluate(shiftOf())) as number;
  await load("open");
  return shift;
}
