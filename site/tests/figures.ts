/** `npm run site:figures`: weight, first paint and accessibility of three pages of the built site, into docs/site.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Browser, launch, type Page, WIDE } from "../../console/tests/chromium.ts";
import { ROOT } from "../pages/routes.ts";
import { PAGES, violations } from "./accessibility.ts";
import { serveSite } from "./built.ts";

const ROUNDS = 5;

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;
const kB = (bytes: number): string => (bytes / 1_000).toFixed(0);

/** The sum of everything that a page loads, as gzip would send it. */
function weigh(page: Page, what = /./): { total(): Promise<number> } {
  const pending: Promise<number>[] = [];
  page.on("response", (response) => {
    if (response.status() === 200 && what.test(response.url()))
      pending.push(
        response.body().then(
          (body) => gzipSync(body).length,
          () => 0,
        ),
      );
  });
  return { total: async () => (await Promise.all(pending)).reduce((sum, each) => sum + each, 0) };
}

async function first(browser: Browser, url: string): Promise<{ bytes: number; paintMs: number }> {
  const page = await (await browser.newContext({ viewport: WIDE })).newPage();
  const weight = weigh(page);
  await page.goto(url, { waitUntil: "networkidle" });
  const paintMs: number = await page.evaluate(
    `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN`,
  );
  const bytes = await weight.total();
  await page.context().close();
  return { bytes, paintMs };
}

/** What the first run of a program adds. */
async function run(browser: Browser, url: string): Promise<{ bytes: number; ms: number }> {
  const page = await (await browser.newContext({ viewport: WIDE })).newPage();
  await page.goto(url, { waitUntil: "networkidle" });
  const weight = weigh(page);
  const begin = performance.now();
  await page.locator("[data-live=program] .lab-run").first().click();
  await page.locator("[data-live=program][data-state=done]").first().waitFor();
  const ms = performance.now() - begin;
  const bytes = await weight.total();
  await page.context().close();
  return { bytes, ms };
}

/** What the key browser adds: its view, and the routes that answer it. */
async function browse(browser: Browser, url: string): Promise<{ bytes: number; view: number; routes: number }> {
  const page = await (await browser.newContext({ viewport: WIDE })).newPage();
  await page.goto(url, { waitUntil: "networkidle" });
  await page.locator(".cli-own input").fill("SET a 1");
  await page.locator(".cli-own input").press("Enter");
  await page.locator(".key-list button").waitFor();
  const [weight, view, routes] = [weigh(page), weigh(page, /\/keys\//), weigh(page, /\/keys-server\.js$/)];
  await page.getByRole("button", { name: "Browse and edit keys" }).click();
  await page.frameLocator(".key-browser").getByRole("link", { name: "a" }).waitFor();
  const [bytes, ofView, ofRoutes] = await Promise.all([weight.total(), view.total(), routes.total()]);
  await page.context().close();
  return { bytes, view: ofView, routes: ofRoutes };
}

const site = await serveSite();
const browser = await launch();
const rows: string[] = [];
for (const [name, path] of Object.entries(PAGES)) {
  const url = `${site.url}/${path}`;
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await first(browser, url));
  const paint = median(rounds.map(({ paintMs }) => paintMs));
  const broken = await violations(browser, url);
  for (const each of broken) console.log(`${url} ${each}`);
  rows.push(`| ${name} | ${kB(median(rounds.map(({ bytes }) => bytes)))} | ${paint.toFixed(0)} | ${broken.length} |`);
}
const ran = await run(browser, `${site.url}/components/locks.html`);
const keys = await browse(browser, `${site.url}/playground.html`);
await browser.close();
await site.close();

const table = [
  "",
  "| page | weight, kB (gzip) | first paint, ms | rules of axe-core that it breaks |",
  "| --- | ---: | ---: | ---: |",
  ...rows,
  "",
  `The first program that runs loads ${kB(ran.bytes)} kB more (the worker, the engine, the component), and is over ${ran.ms.toFixed(0)} ms after the button. The key browser of the playground loads ${kB(keys.bytes)} kB when it is opened: ${kB(keys.view)} kB are the view, ${kB(keys.routes)} kB the routes, the rest is the toolkit below them. Accessibility is the sum of 1280 and 390 pixels, light and dark.`,
  "",
].join("\n");
const file = join(ROOT, "docs/site.md");
const text = readFileSync(file, "utf8");
writeFileSync(file, text.replace(/(<!-- figures -->\n)[\s\S]*(<!-- \/figures -->)/, `$1${table}$2`));
console.log(table);
