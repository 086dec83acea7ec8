/** The page for timelines: on our store, a real Redis and a Cluster by its API; in a browser on our store. */
import { join } from "node:path";
import { open, type Store } from "cinnabar";
import { Social } from "cinnabar/social";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeBackends } from "../../toolkit/tests/kit/index.ts";
import { buildPage, hasBrowser, openBrowser, PATIENCE_MS, shoot, WIDE, watch } from "./browser.ts";
import { eventually } from "./examples.ts";
import { type Served, serve, temporaryFolder } from "./support.ts";

/** Ann has posted, Ben follows her and has read his timeline. */
async function small(store: Store, options: { readonly queueShards?: number } = {}): Promise<Social> {
  const social = new Social(store, options);
  for (const id of ["ann", "ben"]) await social.users.join(id, { id, name: `${id} <b>` });
  await social.follows.follow("ben", "ann");
  await social.lists.create("ben", "List", { id: "+list" });
  const worker = social.worker().start();
  await social.timelines.home("ben");
  await social.statuses.post("ann", "hello");
  await eventually(() => social.inspectTimeline("ben")).toMatchObject({ size: 1, state: "warm" });
  await worker.stop();
  return social;
}

describeBackends("timelines", { backends: ["embedded", "redis", "cluster"], audit: false }, (backend) => {
  test.each([1, 4])("are found by login and id, with a queue of %i parts, and can be dropped", async (queueShards) => {
    const served = await serve(backend.store);
    try {
      const networks = async () => (await served.get("/api/timelines")).body.networks;
      await eventually(networks).toEqual([]);
      expect((await served.get("/api/timelines/look?network=social&who=ann")).status).toBe(404);
      const social = await small(backend.store, { queueShards });
      await eventually(networks).toMatchObject([{ prefix: "social", jobs: { dead: 0 } }]);
      const look = (who: string) => served.get(`/api/timelines/look?network=social&who=${encodeURIComponent(who)}`);
      expect((await look("BEN")).body).toMatchObject({
        subject: "ben",
        counts: { following: 1 },
        author: { mode: "push" },
        timeline: { state: "warm", size: 1, isComplete: true },
      });
      expect((await look("@ann")).body).toMatchObject({ counts: { followers: 1 }, timeline: { state: "cold" } });
      expect((await look("+list")).body).toMatchObject({ list: { name: "List" }, timeline: { state: "cold" } });
      expect((await look("nobody")).body.code).toBe("NOBODY");
      expect((await look("+nobody")).body.code).toBe("NOBODY");
      const drop = { network: "social", subject: "ben" };
      expect((await served.send("POST", "/api/timelines/drop", drop)).body).toEqual({ dropped: true });
      expect((await social.inspectTimeline("ben")).state).toBe("cold");
      expect((await served.send("POST", "/api/timelines/retry", { network: "social" })).body).toEqual({ retried: 0 });
      expect((await served.send("POST", "/api/timelines/drop", { ...drop, subject: "{}" })).status).toBe(400);
    } finally {
      await served.console.close();
    }
  });
});

const folder = temporaryFolder();
const built = join(folder.path, "ui");

describe.runIf(hasBrowser)("the page for timelines", () => {
  let browser: Browser;
  let store: Store;
  let served: Served;
  let page: Page;
  let offences: string[];

  beforeAll(async () => {
    await buildPage(built);
    browser = await openBrowser();
    store = await open();
    served = await serve(store, { page: built });
    page = await browser.newPage({ viewport: WIDE });
    page.setDefaultTimeout(PATIENCE_MS);
    offences = watch(page, served.url);
  });
  afterAll(async () => {
    expect(offences).toEqual([]);
    await browser?.close();
    await served?.console.close();
    await store?.close();
    folder.remove();
  });

  test("says what to do while there is nothing, and shows networks and timelines", async () => {
    await page.goto(`${served.url}/#/timelines`);
    await page.getByText("No social network was used here.").waitFor();
    const social = await small(store);
    await page.getByRole("link", { name: "social", exact: true }).click();
    await page.getByText("Whose timeline?").waitFor();
    await page.getByRole("searchbox").fill("Ben");
    await page.keyboard.press("Enter");
    await page.locator("tr", { hasText: "Timeline" }).getByText("warm").waitFor();
    await page.getByText("ben <b>").waitFor();
    await shoot(page, "timelines");
    await page.getByRole("button", { name: "Drop timeline" }).click();
    await page.locator("[role=dialog]").getByRole("button", { name: "Drop timeline" }).click();
    await page.locator("tr", { hasText: "Timeline" }).getByText("cold").waitFor();
    expect((await social.inspectTimeline("ben")).state).toBe("cold");
    await page.getByRole("searchbox").fill("nobody");
    await page.keyboard.press("Enter");
    await page.getByText("there is nobody with the login or the id nobody").waitFor();
  });
});
