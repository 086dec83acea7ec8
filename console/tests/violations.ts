/** What axe-core objects to. */
import axe from "axe-core";
import type { Frame, Page } from "playwright-core";

/** Rules that a view breaks, with where it does; axe-core runs outside of the page's security policy. */
export async function violations(page: Page | Frame): Promise<string[]> {
  await page.evaluate(axe.source);
  // Colours that are on their way from one theme to the other are nobody's.
  await page.evaluate(`Promise.allSettled(document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity).map(({ finished }) => finished))`);
  return page.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + " at " + target.join(" ") + ": " + failureSummary)))`);
}
