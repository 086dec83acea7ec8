/** Chromium and the built page, for tests. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { build, hasBrowser, launch, MOVED_DATES, NARROW, WIDE } from "./chromium.ts";

/** How long a browser on a busy machine may take for one step. */
export const PATIENCE_MS = 30_000;

export { hasBrowser, NARROW, WIDE };

if (!hasBrowser) console.log("Skipped: the console's page, since chromium is not installed.");

export async function openBrowser(): Promise<Browser> {
  const browser = await launch();
  return MOVED_DATES === "" ? browser : withDatesMoved(browser);
}

/** For `npm run test:times`: Chromium itself has the system's clock. */
function withDatesMoved(browser: Browser): Browser {
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    await context.addInitScript(MOVED_DATES);
    return context;
  };
  return browser;
}

/** The page as it is now, in a folder. It is built once in a run, by the first test file; the others wait, and copy. */
export async function buildPage(outDir: string): Promise<void> {
  const run = process.env.CINNABAR_TEST_RUN;
  if (run === undefined) return build(outDir);
  const shared = join(run, "page");
  const [ui, done, failed] = [join(shared, "ui"), join(shared, "done"), join(shared, "failed")];
  if (mkdirSync(shared, { recursive: true }) !== undefined) {
    await build(ui).then(
      () => writeFileSync(done, ""),
      (error) => writeFileSync(failed, String(error)),
    );
  }
  while (!existsSync(done)) {
    if (existsSync(failed)) throw new Error(readFileSync(failed, "utf8"));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  cpSync(ui, outDir, { recursive: true });
}

const SCREENSHOTS = process.env.CINNABAR_SCREENSHOTS ?? join(tmpdir(), "cinnabar-screenshots");

export async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/**
 * Chromium's own measure of how much the page has moved under the reader; `counts` chooses entries. What is noted already comes with
 * the first picture after the question.
 */
export const shiftOf = (counts = "() => true"): string => `new Promise((resolve) => {
  const sum = (entries) => entries.filter(${counts}).reduce((total, { value }) => total + value, 0);
  let total = 0;
  const observer = new PerformanceObserver((list) => (total += sum(list.getEntries())));
  observer.observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(total + sum(observer.takeRecords())))));
})`;

/** What no page may do: ask another host, or break a rule of the security policy, or throw. */
export function watch(page: Page, origin: string): string[] {
  const offences: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith("data:"))
      offences.push(`asked ${request.url()}`);
  });
  page.on("pageerror", (error) => offences.push(`threw ${error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) offences.push(message.text());
  });
  return offences;
}
