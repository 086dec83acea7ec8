/** Autocomplete by its API on every kind of store, and its page: typing, choosing by the keyboard, two people. */
import { beforeAll, expect, test } from "vitest";
import { SAMPLE_MEMBERS } from "../src/examples/autocomplete-sample.ts";
import { NARROW, shoot } from "./browser.ts";
import {
  as,
  describeExample,
  describeScreens,
  eventually,
  type Person,
  type Screen,
  sentBy,
  shiftWhileLoading,
} from "./examples.ts";

describeExample("autocomplete", (served) => {
  const write = (person: Person, name: string) => person.send("POST", "/autocomplete/messages", { name });
  const complete = async (person: Person, beginning: string) =>
    (await person.get(`/autocomplete/complete?beginning=${encodeURIComponent(beginning)}`)).body;

  test("contacts are completed for each by their own, members for all, in any script", async () => {
    const [ann, ben] = [await as(served(), "Ann"), await as(served(), "Ben")];
    await ann.send("POST", "/autocomplete/sample");
    expect(new Set(SAMPLE_MEMBERS.map(({ name }) => name.toLowerCase())).size).toBe(SAMPLE_MEMBERS.length);
    const found = await ann.get("/autocomplete/complete?beginning=j%C3%BC");
    expect(found.body.contacts).toEqual([]);
    expect(found.body.members.length).toBe(7);
    expect(found.body.members.every((name: string) => name.startsWith("Jürgen"))).toBe(true);
    expect(sentBy(found.trace).sort()).toEqual(["autocomplete.recent", "ZREVRANGE"].sort());
    expect((await complete(ann, "ЮЛ")).members).toContain("Юлия Орлова");
    expect((await complete(ann, "王")).members).toEqual(["王芳"]);

    await write(ann, "Jürgen Černý");
    await write(ann, "Zoë Almqvist");
    expect((await complete(ann, "JÜRGEN Č")).contacts).toEqual(["Jürgen Černý"]);
    expect((await complete(ann, "")).contacts).toEqual(["Zoë Almqvist", "Jürgen Černý"]);
    expect((await complete(ben, "")).contacts).toEqual([]);
    expect((await ann.get("/autocomplete/contacts")).body.names).toEqual(["Zoë Almqvist", "Jürgen Černý"]);
    expect((await ann.send("DELETE", `/autocomplete/contacts/${encodeURIComponent("zoë almqvist")}`)).status).toBe(200);
    expect((await ann.send("DELETE", "/autocomplete/contacts/nobody")).status).toBe(404);
    expect((await complete(ann, "")).contacts).toEqual(["Jürgen Černý"]);
  });

  test("members join and leave, and who is written to most comes first", async () => {
    const ann = await as(served(), "Ann");
    const members = async (query: string) => (await ann.get(`/autocomplete/members?${query}`)).body;
    for (const name of ["Bea", "Ben", " Bert  B. "]) await ann.send("POST", "/autocomplete/members", { name });
    expect(await members("order=name&beginning=B")).toEqual({ names: ["Bea", "Ben", "Bert B."], exact: true, size: 3 });
    await write(ann, "Ben");
    expect((await members("order=weight&beginning=b")).names[0]).toBe("Ben");
    await ann.send("POST", "/autocomplete/members", { name: "Ben" });
    expect((await members("order=weight&beginning=b")).names[0]).toBe("Ben");
    expect((await ann.send("DELETE", "/autocomplete/members/BEN")).status).toBe(200);
    expect((await ann.send("DELETE", "/autocomplete/members/BEN")).body.code).toBe("NO_MEMBER");
    await write(ann, "Somebody else");
    expect((await members("order=name")).size).toBe(2);
    for (const name of ["", "   ", "a\u0000b", "x".repeat(61)]) {
      expect((await ann.send("POST", "/autocomplete/members", { name })).status).toBe(400);
    }
    expect((await ann.get("/autocomplete/members?order=sideways")).status).toBe(400);
    expect((await served().get("/api/examples/autocomplete/contacts")).body.code).toBe("NO_NAME");
  });
});

describeScreens(
  "the page of autocomplete",
  (screens) => {
    let ann: Screen;
    let ben: Screen;
    beforeAll(() => {
      ({ ann, ben } = screens());
    });

    test("is useful when empty, and one click lets people in, for everybody who looks", async () => {
      await ben.page.getByText("The guild has no members.").waitFor();
      await ann.page.locator(".state").getByRole("button", { name: "Make sample data" }).click();
      for (const { page } of [ann, ben]) await page.getByText(`${SAMPLE_MEMBERS.length} members`).waitFor();
    });

    test("a name is completed and taken by the keyboard alone", async () => {
      const { page } = ann;
      await page.keyboard.press("/");
      await page.keyboard.type("JÜ");
      await page.getByRole("option").first().waitFor();
      await eventually(() => page.getByRole("option").allTextContents()).toHaveLength(7);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      const chosen = await page.getByRole("option", { selected: true }).textContent();
      expect(chosen).toMatch(/^Jürgen /);
      await shoot(page, "examples-autocomplete");
      await page.keyboard.press("Enter");
      await page.getByText(`You wrote to ${chosen}.`).waitFor();
      await page.getByLabel("Recent contacts").getByText(chosen!).waitFor();
      await page.keyboard.type("zo");
      await eventually(() => page.getByRole("option").first().textContent()).toMatch(/^Zoë /);
      await page.keyboard.press("Escape");
      await eventually(() => page.getByRole("option").count()).toBe(0);
      await page.getByRole("combobox", { name: "Write to" }).fill("<b>Nobody</b>");
      await page.keyboard.press("Enter");
      await page.getByLabel("Recent contacts").getByText("<b>Nobody</b>").waitFor();
      await page.getByRole("button", { name: "Forget <b>Nobody</b>" }).click();
      await eventually(() => page.getByLabel("Recent contacts").getByText("<b>Nobody</b>").count()).toBe(0);
      await page.locator(".request", { hasText: "/autocomplete/complete?beginning=" }).first().waitFor();
      expect(await shiftWhileLoading(page, ".complete-names li")).toBeLessThan(0.02);
    });

    test("who is written to by one is offered first to another; contacts are one's own", async () => {
      const { page } = ben;
      expect(await page.getByLabel("Recent contacts").locator("li").count()).toBe(0);
      for (let nth = 0; nth < 3; nth++) {
        await ann.page.getByRole("combobox", { name: "Write to" }).fill("Юлия Орлова");
        await ann.page.keyboard.press("Enter");
        await ann.page.getByText("You wrote to Юлия Орлова.").waitFor();
      }
      await page.getByLabel("Beginning of a name").fill("юлия о");
      await page.getByLabel("The guild").getByText("Юлия Орлова").waitFor();
      await page.getByLabel("Beginning of a name").fill("no such name");
      await page.getByText("Nobody's name begins like that.").waitFor();
      await page.getByLabel("Beginning of a name").fill("李");
      await page.getByLabel("The guild").getByText("李伟").waitFor();
      await page.getByLabel("Name of a new member").fill("李小龙");
      await page.getByRole("button", { name: "Join" }).click();
      await page.getByLabel("The guild").getByText("李小龙").waitFor();
      await page.getByRole("button", { name: "Remove 李小龙" }).click();
      await eventually(() => page.getByText("李小龙").count()).toBe(0);
    });

    test("is not wider than a telephone, and dark", async () => {
      const { page } = ben;
      await page.getByRole("combobox", { name: "Write to" }).fill("m");
      await page.getByRole("option").first().waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(NARROW.width);
      await shoot(page, "examples-autocomplete-narrow");
      await ann.page.getByRole("button", { name: "Dark" }).click();
      await shoot(ann.page, "examples-autocomplete-dark");
    });
  },
  "examples/autocomplete",
);
