/** What axe-core says of a page of the built site: at two widths, light and dark. */
import axe from "axe-core";
import { type Browser, NARROW, WIDE } from "../../console/tests/chromium.ts";

/** The pages that docs/site.md has figures of. */
export const PAGES: Readonly<Record<string, string>> = {
  "the start": "",
  "a component (locks)": "components/locks.html",
  "the playground": "playground.html",
};

/** The rules that a page breaks, with the elements that break them. */
export async function violations(browser: Browser, url: string): Promise<string[]> {
  const all: string[] = [];
  for (const viewport of [WIDE, NARROW]) {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await (await browser.newContext({ viewport, colorScheme, bypassCSP: true })).newPage();
      await page.goto(url, { waitUntil: "networkidle" });
      await page.evaluate(axe.source);
      const found: string[] = await page.evaluate(
        `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
          violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + " at " + target.join(" "))))`,
      );
      all.push(...found.map((each) => `${viewport.width} ${colorScheme}: ${each}`));
      await page.context().close();
    }
  }
  return all;
}
