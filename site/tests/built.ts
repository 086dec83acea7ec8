/** The built site, served by a console as people get it, for tests, figures and screenshots. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { open } from "cinnabar";
import { type Served, serve } from "../../console/tests/support.ts";
import { SITE } from "../pages/stage.ts";

export const DIST = join(SITE, "dist");

export interface ServedSite {
  /** Of the site: ends with `/docs`. */
  readonly url: string;
  readonly served: Served;
  close(): Promise<void>;
}

export async function serveSite(): Promise<ServedSite> {
  if (!existsSync(join(DIST, "index.html"))) throw new Error("the site is not built: npm run build && npm run site");
  const store = await open();
  const served = await serve(store, { docs: DIST });
  return {
    url: `${served.url}/docs`,
    served,
    close: async () => {
      await served.console.close();
      await store.close();
    },
  };
}
