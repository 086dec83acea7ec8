/** `npm run site:screenshots`: pages of the built site, 1280 and 390 pixels wide, light and dark, into screenshots/site or the given folder. */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { launch, NARROW, type Page, WIDE } from "../../console/tests/chromium.ts";
import { serveSite } from "./built.ts";

type Act = (page: Page) => Promise<unknown>;

const ran: Act = async (page) => {
  await page.locator("[data-live=program] .lab-run").first().click();
  await page.locator("[data-live=program][data-state=done]").first().waitFor();
  await page.locator("[data-live=program] [role=tab]").nth(1).first().click();
  await page.locator("[data-live=program]").first().scrollIntoViewIfNeeded();
};

const PAGES: Readonly<Record<string, readonly [path: string, act?: Act]>> = {
  home: [""],
  "locks-run": ["components/locks.html", ran],
  playground: [
    "playground.html",
    async (page) => {
      await page.locator("select").selectOption("shop");
      await page.locator(".key-list button").first().waitFor();
    },
  ],
  "playground-keys": [
    "playground.html",
    async (page) => {
      await page.locator("select").selectOption("shop");
      await page.locator(".key-list button").nth(1).click();
      await page.frameLocator(".key-browser").locator("td").first().waitFor();
    },
  ],
  "home-run": ["", ran],
  start: ["start.html"],
  locks: ["components/locks.html"],
  "locks-edit": ["components/locks.html", (page) => page.locator("[data-live=program] .lab-quiet").first().click()],
  "locks-drawing": ["components/locks.html", (page) => page.locator(".drawing").first().scrollIntoViewIfNeeded()],
  queue: ["components/queues.html", (page) => page.locator(".drawing").first().scrollIntoViewIfNeeded()],
  social: ["components/social.html", (page) => page.locator(".drawing").first().scrollIntoViewIfNeeded()],
  cluster: ["guide/cluster.html", (page) => page.locator(".drawing").first().scrollIntoViewIfNeeded()],
  operating: ["guide/operating.html", (page) => page.locator(".drawing").first().scrollIntoViewIfNeeded()],
  commands: [
    "commands/strings.html",
    async (page) => {
      const prompt = page.locator("[data-live=prompt]").first();
      await prompt.locator(".lab-run").click();
      await prompt.locator(".cli-own input").waitFor();
    },
  ],
  "commands-all": ["commands/index.html"],
  search: [
    "guide/toolkit.html",
    async (page) => {
      await page.locator(".search-button").click();
      await page.locator("dialog.site-search input").fill("fence");
      await page.locator("#search-hits a").first().waitFor();
    },
  ],
  benchmarks: ["guide/benchmarks.html"],
  zh: ["zh/index.html"],
  api: ["api/index.html"],
  "api-class": ["api/classes/cinnabar_locks.Locks.html"],
  absent: ["zh/guide/operating.html"],
};

const [given = "screenshots/site", only] = process.argv.slice(2);
const folder = resolve(given);
mkdirSync(folder, { recursive: true });
const site = await serveSite();
const browser = await launch();
const looks = [WIDE, NARROW].flatMap((viewport) =>
  (["light", "dark"] as const).map((colorScheme) => ({ viewport, colorScheme })),
);
const pages = await Promise.all(looks.map(async (look) => (await browser.newContext(look)).newPage()));
for (const [name, [path, act]] of Object.entries(PAGES)) {
  if (only !== undefined && !name.startsWith(only)) continue;
  for (const [nth, { viewport, colorScheme }] of looks.entries()) {
    const page = pages[nth]!;
    await page.goto(`${site.url}/${path}`, { waitUntil: "networkidle" });
    await act?.(page);
    await page.waitForLoadState("networkidle");
    await page.screenshot({ path: join(folder, `${name}-${viewport.width}-${colorScheme}.png`) });
  }
}
await browser.close();
await site.close();
