/** What axe-core objects to. */
import axe from "axe-core";
import type { Frame, Page } from "playwright-core";

/** Rules that a view breaks, with where it does; axe-core runs outside of the page's security policy. */
export async function violations(page: Page | Frame): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + " at " + target.join(" ") + ": " + failureSummary)))`);
}
