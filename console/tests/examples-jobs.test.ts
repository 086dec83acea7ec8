/** The job board by its API on every kind of store, and its page. */
import { beforeAll, expect, test } from "vitest";
import { NARROW, shoot } from "./browser.ts";
import { as, describeExample, describeScreens, type Person, type Screen, sentBy } from "./examples.ts";

interface Match {
  readonly job: { readonly id: string; readonly data: { readonly title: string } };
  readonly missing: readonly { readonly skill: string }[];
  readonly qualified: boolean;
  readonly distanceKm: number | null;
}

const JOB = {
  title: "Baker",
  company: "Crumb",
  city: "Berlin",
  requires: [{ skill: "Bread", level: 2 }],
  optional: ["cake"],
};

describeExample("jobs", (served) => {
  const search = (person: Person, skills: unknown, more: object = {}) =>
    person.send("POST", "/jobs/search", { skills, missing: 1, ...more });

  test("a job is posted and found by who is qualified, in one script", async () => {
    const [ann, ben] = [await as(served(), "Ann"), await as(served(), "Ben")];
    const { id } = (await ann.send("POST", "/jobs/jobs", JOB)).body;
    const found = await search(ben, [{ skill: "bread", level: 3 }, { skill: "CAKE" }]);
    expect(found.body).toMatchObject({ qualified: 1, nearMisses: 0, complete: true });
    expect(found.body.items).toMatchObject([{ job: { id, data: { title: "Baker", by: "Ann" } }, bonus: ["cake"] }]);
    expect(sentBy(found.trace)).toEqual(["job-search.jobs"]);
    expect((await search(ben, [{ skill: "bread", level: 1 }])).body.qualified).toBe(0);
    expect((await ben.send("DELETE", `/jobs/jobs/${id}`)).body.code).toBe("NOT_YOURS");
    expect((await ann.send("DELETE", `/jobs/jobs/${id}`)).status).toBe(200);
    expect((await ann.send("DELETE", `/jobs/jobs/${id}`)).body.code).toBe("NO_JOB");
    expect((await search(ben, [{ skill: "bread", level: 3 }])).body.items).toEqual([]);
  });

  test("who saves their skills is found for a job, until they do not want to be", async () => {
    const [ann, ben] = [await as(served(), "Ann"), await as(served(), "Ben")];
    const { id } = (await ann.send("POST", "/jobs/jobs", JOB)).body;
    expect((await ben.get("/jobs/me")).body).toMatchObject({ isCandidate: false, skills: [], jobs: 1, candidates: 0 });
    await ben.send("POST", "/jobs/me", { skills: [{ skill: "Bread", level: 2, years: 1.5 }] });
    expect((await ben.get("/jobs/me")).body).toMatchObject({
      isCandidate: true,
      skills: [{ skill: "bread", level: 2, years: 1.5 }],
    });
    const { body } = await ann.get(`/jobs/jobs/${id}/candidates?missing=0`);
    expect(body.items).toMatchObject([{ candidate: { id: "Ben" }, qualified: true }]);
    await ben.send("POST", "/jobs/me", { skills: [] });
    expect((await ann.get(`/jobs/jobs/${id}/candidates`)).body.items).toEqual([]);
    expect((await ann.get("/jobs/jobs/none/candidates")).body.code).toBe("NO_JOB");
  });

  test("the sample is searched by place and distance, and paged", async () => {
    const ann = await as(served(), "Ann");
    await ann.send("POST", "/jobs/sample");
    await ann.send("POST", "/jobs/sample");
    expect((await ann.get("/jobs/me")).body).toMatchObject({ jobs: 60, candidates: 20 });
    const skills = ["typescript", "redis", "sql", "css", "linux"].map((skill) => ({ skill, level: 5, years: 9 }));
    const all: Match[] = [];
    let after: string | null = null;
    do {
      const { body } = await search(ann, skills, { missing: 2, ...(after !== null && { after }) });
      all.push(...body.items);
      after = body.cursor;
      if (after === null) expect(body.qualified + body.nearMisses).toBe(all.length);
    } while (after !== null);
    expect(new Set(all.map(({ job }) => job.id)).size).toBe(all.length);
    const lacking = all.map(({ missing }) => missing.length);
    expect(lacking).toEqual([...lacking].sort((a, b) => a - b));
    const near: Match[] = (await search(ann, skills, { city: "Berlin", radiusKm: 50 })).body.items;
    expect(near.length).toBeGreaterThan(0);
    expect(Math.max(...near.map(({ distanceKm }) => distanceKm!))).toBeLessThan(50);
    const remote = (await search(ann, skills, { place: "Remote" })).body.items as { job: { places: string[] } }[];
    expect(remote.length).toBeGreaterThan(0);
    expect(remote.every(({ job }) => job.places.includes("remote"))).toBe(true);
    expect((await search(ann, skills, { city: "Atlantis" })).body.code).toBe("CITY");
    expect((await search(ann, skills, { missing: 4 })).status).toBe(400);
    expect((await search(ann, [{ skill: "a", years: -1 }])).status).toBe(400);
    expect((await served().get("/api/examples/jobs/me")).body.code).toBe("NO_NAME");
  });
});

describeScreens(
  "the page of jobs",
  (screens) => {
    let ann: Screen;
    let ben: Screen;
    beforeAll(() => {
      ({ ann, ben } = screens());
    });

    const addSkill = async (screen: Screen, skill: string, level: string, years: string, within = ".jobs-side") => {
      const form = screen.page.locator(`${within} .jobs-skill`);
      await form.getByLabel("Skill").fill(skill);
      await form.getByLabel("Level").selectOption({ label: level });
      await form.getByLabel("Years").fill(years);
      await form.getByRole("button", { name: "Add" }).click();
      await screen.page.locator(`${within} .jobs-mine`, { hasText: skill.toLowerCase() }).waitFor();
    };

    test("is useful when empty: a job is posted, and another sees what they lack for it", async () => {
      await ben.page.getByText("Nobody is looking for anybody.").waitFor();
      await ann.page.getByRole("button", { name: "Post a job" }).click();
      await addSkill(ann, "Bread", "very good", "2", "[role=dialog]");
      await addSkill(ann, "Cake", "any level", "", "[role=dialog]");
      await ann.page.getByLabel("Title").fill("<i>Baker</i>");
      await ann.page.getByLabel("Company").fill("Crumb");
      await ann.page.getByRole("button", { name: "Post job", exact: true }).click();
      await addSkill(ben, "Cake", "good", "1");
      const card = ben.page.locator(".jobs-card", { hasText: "<i>Baker</i>" });
      await card.getByText("1 missing").waitFor();
      await addSkill(ben, "Bread", "good", "3");
      await card.locator(".jobs-missing", { hasText: "(only good, 3 y)" }).waitFor();
      await addSkill(ben, "Bread", "expert", "3");
      await card.getByText("You are qualified").waitFor();
      await ben.page.getByRole("button", { name: "Save, and be found" }).click();
      await ben.page.getByText("Who posts a job finds you.").waitFor();
    });

    test("who posted a job sees who fits; and what is filtered follows at once", async () => {
      const { page } = ann;
      await addSkill(ann, "TypeScript", "expert", "6");
      await addSkill(ann, "Redis", "good", "4");
      await addSkill(ann, "Bread", "expert", "9");
      await page.getByRole("button", { name: "Who fits <i>Baker</i>" }).click();
      await page.locator("[role=dialog]").getByText("1 qualified, 0 nearly").waitFor();
      await page.locator("[role=dialog] li", { hasText: "Ben" }).waitFor();
      await page.locator("[role=dialog]").getByRole("button", { name: "Close" }).click();
      await page.getByRole("button", { name: "Make sample data" }).first().click();
      await page.locator(".jobs-card", { hasText: "engineer" }).first().waitFor();
      await addSkill(ann, "SQL", "very good", "0");
      await addSkill(ann, "CSS", "very good", "0");
      await page.getByLabel("What may be missing").selectOption("0");
      await page.getByText(/[1-9]\d* qualified, 0 nearly/).waitFor();
      await shoot(page, "examples-jobs");
      const filters = await page.locator(".jobs-filters").boundingBox();
      await page.getByLabel("Near").selectOption("Berlin");
      await page.getByLabel("Distance").selectOption("300");
      await page.locator(".jobs-card", { hasText: " km " }).first().waitFor();
      await page.getByLabel("Place").fill("nowhere");
      await page.getByText("Nothing fits.").waitFor();
      // Results come and go; what one works with stays where it is.
      expect(await page.locator(".jobs-filters").boundingBox()).toEqual(filters);
      await page.getByLabel("Place").fill("");
      await page.getByLabel("Near").selectOption("");
      await page.getByLabel("What may be missing").selectOption("3");
      await page.getByRole("button", { name: "Next" }).click();
      await expect.poll(() => page.getByRole("button", { name: "Previous" }).isEnabled()).toBe(true);
      await shoot(page, "examples-jobs-near");
    });

    test("is not wider than a telephone, and dark", async () => {
      expect(await ben.page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(NARROW.width);
      await shoot(ben.page, "examples-jobs-narrow");
      await ann.page.getByRole("button", { name: "Dark" }).click();
      await shoot(ann.page, "examples-jobs-dark");
    });
  },
  "examples/jobs",
);
