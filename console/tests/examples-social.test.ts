/** The social network: by its API on every kind of store, with its stream; and the page, with two people at once. */
import { beforeAll, expect, test } from "vitest";
import { NARROW, shoot, WIDE } from "./browser.ts";
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
import type { Served } from "./support.ts";

const signUp = async (served: Served, name: string): Promise<Person> => {
  const person = await as(served, name);
  expect((await person.send("POST", "/social/me", { login: name, name: "" })).status).toBe(200);
  return person;
};
let posts = 0;
const post = (person: Person, text: string) =>
  person.send("POST", "/social/statuses", { id: `request-${posts++}`, text });
const home = async (person: Person): Promise<string[]> =>
  (await person.get("/social/home")).body.items.map(({ text }: { text: string }) => text);

describeExample("social", (served) => {
  test("people sign up, follow, post, repost and delete", async () => {
    const ann = await signUp(served(), "Ann");
    const ben = await signUp(served(), "Ben");
    const cat = await as(served(), "Cat");
    expect((await cat.send("POST", "/social/me", { login: "ANN", name: "" })).body.code).toBe("TAKEN");
    expect((await cat.send("POST", "/social/me", { login: "a b", name: "" })).status).toBe(400);
    expect((await cat.get("/social/home")).body.code).toBe("NO_ACCOUNT");
    expect((await ben.send("POST", "/social/people/ann/follow", { on: true })).body.status).toBe("followed");
    expect((await ben.send("POST", "/social/people/nobody/follow", { on: true })).body.code).toBe("NO_USER");

    const posted = await post(ann, "  hello  ");
    expect(sentBy(posted.trace)).toContain("social.statuses.post");
    expect((await post(ann, "   ")).body.code).toBe("EMPTY");
    expect(await home(ben)).toEqual(["hello"]);
    const { id } = posted.body;
    expect((await ben.send("POST", `/social/statuses/${id}/repost`)).status).toBe(200);
    expect((await ben.send("DELETE", `/social/statuses/${id}`)).body.code).toBe("NO_STATUS");
    const shown = await ben.get("/social/people/Ann");
    expect(shown.body).toMatchObject({ counts: { followers: 1, statuses: 1 }, isFollowed: true, mode: "push" });
    expect((await ann.send("DELETE", `/social/statuses/${id}`)).status).toBe(200);
    expect(await home(ben)).toEqual([]);

    expect((await ann.send("PUT", "/social/me", { login: "Anna" })).body.login).toBe("Anna");
    expect((await ben.get("/social/people")).body.people).toMatchObject([{ login: "Anna", isFollowed: true }]);
    expect((await ann.send("POST", "/social/people/ben/block", { on: true })).status).toBe(200);
    expect((await ben.send("POST", "/social/people/anna/follow", { on: true })).body.code).toBe("BLOCKED");
    expect((await ann.send("DELETE", "/social/me")).status).toBe(200);
    expect((await ann.get("/social/me")).body).toMatchObject({ user: null, total: 1 });
    expect((await ann.send("POST", "/social/me", { login: "again", name: "" })).body.code).toBe("EXISTS");
  });

  test("lists have members and a timeline, and are their owner's", async () => {
    const ann = await signUp(served(), "Ann");
    const ben = await signUp(served(), "Ben");
    expect((await ann.send("POST", "/social/lists", { id: "+list1234", name: "Friends" })).body.name).toBe("Friends");
    await post(ben, "from ben");
    expect((await ann.send("POST", "/social/lists/+list1234/members", { login: "BEN" })).body.status).toBe("added");
    const { body } = await ann.get("/social/lists/+list1234/statuses");
    expect(body.items).toMatchObject([{ text: "from ben", author: { login: "Ben" } }]);
    expect((await ben.get("/social/lists/+list1234")).body.code).toBe("NO_LIST");
    expect((await ben.send("POST", "/social/lists", { id: "+list1234", name: "Mine" })).status).toBe(409);
    expect((await ann.get("/social/me")).body.lists).toMatchObject([{ id: "+list1234", members: 1 }]);
    await ann.send("DELETE", "/social/lists/+list1234/members/ben");
    expect((await ann.get("/social/lists/+list1234")).body.members).toEqual([]);
    expect((await ann.send("DELETE", "/social/lists/+list1234")).status).toBe(200);
    expect((await ann.get("/social/me")).body.lists).toEqual([]);
  });

  test("the sample has people who follow each other, and what is posted is heard on the stream", async () => {
    const ann = await signUp(served(), "Ann");
    expect((await ann.send("POST", "/social/sample")).status).toBe(200);
    expect((await ann.send("POST", "/social/sample")).status).toBe(200);
    const { people } = (await ann.get("/social/people")).body;
    expect(people).toHaveLength(12);
    await eventually(async () => (await ann.get("/social/people/ada")).body.mode).toBe("pull");
    expect((await ann.get("/social/people/ada")).body.counts).toEqual({ followers: 11, following: 3, statuses: 4 });
    for (const login of ["ada", "grace", "ЮЛИЯ"]) {
      const followed = await ann.send("POST", `/social/people/${encodeURIComponent(login)}/follow`, { on: true });
      expect(followed.body.status).toBe("followed");
    }
    expect(await home(ann)).toHaveLength(12);
    await post(ann, "heard");
    const stop = new AbortController();
    const url = `${served().url}/api/examples/social/stream?all=true&format=ndjson&after=oldest`;
    const response = await fetch(url, { signal: stop.signal });
    expect(response.status).toBe(200);
    let heard = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      heard += chunk;
      if (heard.includes('"heard"')) break;
    }
    stop.abort();
    expect(heard).toContain('"login":"ada"');
  });
});

describeScreens("the page of the social network", (screens) => {
  let served: Served;
  let ann: Screen;
  let ben: Screen;
  beforeAll(() => {
    ({ served, ann, ben } = screens());
  });

  const open_ = ({ page }: Screen, query = "") => page.goto(`${served.url}/#/examples/social${query}`);

  test("is useful when empty: one signs up, or takes the sample", async () => {
    const { page } = ann;
    await open_(ann);
    await page.getByText("Nobody is here yet.").waitFor();
    await shoot(page, "examples-social-empty");
    await page.locator(".state").getByRole("button", { name: "Make sample data" }).click();
    await page.getByText("12 accounts").waitFor();
    await page.getByLabel("Login").fill("ADA");
    await page.getByRole("button", { name: "Sign up" }).click();
    await page.getByText("somebody is called ADA already").waitFor();
    await page.getByLabel("Login").fill("Ann");
    await page.getByRole("button", { name: "Sign up" }).click();
    await page.getByText("Nothing yet.").waitFor();
  });

  test("people are followed, and what they posted is there", async () => {
    const { page } = ann;
    await page.getByRole("link", { name: "People" }).click();
    for (const login of ["ada", "grace", "hedy"]) {
      await page.getByRole("button", { name: `Follow ${login}`, exact: true }).click();
      await page.getByRole("button", { name: `Unfollow ${login}`, exact: true }).waitFor();
    }
    await shoot(page, "examples-social-people");
    await page.getByRole("link", { name: "Home" }).click();
    await eventually(() => page.locator(".social-status").count()).toBe(12);
    await page.locator(".request").first().getByText("social.timelines.read").waitFor();
    await shoot(page, "examples-social");
    expect(await shiftWhileLoading(page, ".social-status")).toBeLessThan(0.05);
  });

  test("two people see each other's statuses live, follow, repost, and what is deleted is gone for both", async () => {
    await open_(ben);
    await ben.page.getByRole("button", { name: "Sign up" }).click();
    await ben.page.getByLabel("Status", { exact: true }).waitFor();
    await open_(ben, "?person=ann");
    await ben.page.locator(".social-person").getByRole("button", { name: "Follow", exact: true }).click();
    await ben.page.locator(".social-person").getByRole("button", { name: "Following" }).waitFor();
    await open_(ben);
    await ben.page.locator(".social-dot.on").waitFor();
    const text = "<b>live</b> & well";
    await ann.page.getByLabel("Status", { exact: true }).fill(text);
    await ann.page.keyboard.press("Control+Enter");
    await ann.page.locator(".social-status", { hasText: text }).waitFor();
    await ben.page.locator(".social-live").getByText(text).waitFor();
    await ben.page.getByRole("button", { name: "Show 1 new" }).click();
    await ben.page.locator(".social-status", { hasText: text }).waitFor();
    await shoot(ben.page, "examples-social-narrow");
    await ben.page.getByRole("button", { name: `Repost Ann: ${text}` }).click();
    await ben.page.locator(".social-status", { hasText: "@Ben" }).waitFor();
    await ann.page.getByRole("button", { name: `Delete: ${text}` }).click();
    await ann.page.getByRole("button", { name: "Delete it" }).click();
    await eventually(() => ben.page.locator(".social-status", { hasText: text }).count()).toBe(0);
    await eventually(() => ben.page.locator(".social-live").getByText(text).count()).toBe(0);
  });

  test("a list is made, filled and removed", async () => {
    const { page } = ann;
    await page.getByRole("button", { name: "+ List" }).click();
    await page.locator("[role=dialog]").getByLabel("Name").fill("Navy");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByText("Nobody is in it.").waitFor();
    await open_(ann, "?person=grace");
    await page.getByLabel("Add to a list").selectOption({ label: "Navy" });
    await page.getByRole("link", { name: "Navy" }).click();
    await eventually(() => page.locator(".social-status").count()).toBe(4);
    await shoot(page, "examples-social-list");
    await page.getByRole("button", { name: "Take grace out of the list" }).click();
    await page.getByText("Its members have posted nothing.").waitFor();
    await page.getByRole("button", { name: "Remove list" }).click();
    await page.locator("[role=dialog]").getByRole("button", { name: "Remove list" }).click();
    await eventually(() => page.getByRole("link", { name: "Navy" }).count()).toBe(0);
  });

  test("somebody is muted and blocked, and an account is changed and removed", async () => {
    const { page } = ann;
    await open_(ann, "?person=hedy");
    const person = page.locator(".social-person");
    await person.getByRole("button", { name: "Mute" }).click();
    await person.getByRole("button", { name: "Muted" }).waitFor();
    await page.getByRole("link", { name: "Home" }).click();
    await eventually(() => page.locator(".social-status", { hasText: "@hedy" }).count()).toBe(0);
    await open_(ann, "?person=ben");
    await person.getByRole("button", { name: "Block" }).click();
    await person.getByRole("button", { name: "Blocked" }).waitFor();
    await page.getByRole("button", { name: "Change" }).click();
    await page.locator("[role=dialog]").getByLabel("Login").fill("ben");
    await page.locator("[role=dialog]").getByRole("button", { name: "Change" }).click();
    await page.getByText("somebody is called ben already").waitFor();
    await page.locator("[role=dialog]").getByLabel("Login").fill("anna");
    await page.locator("[role=dialog]").getByRole("button", { name: "Change" }).click();
    await page.locator(".social-you").getByText("@anna").waitFor();
    await page.getByRole("button", { name: "Remove account" }).click();
    await page.locator("[role=dialog]").getByRole("button", { name: "Remove account" }).click();
    await page.getByRole("heading", { name: "Sign up" }).waitFor();
  });

  test("is not wider than a telephone, and dark", async () => {
    const { page } = ben;
    await open_(ben);
    await page.getByLabel("Status", { exact: true }).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(NARROW.width);
    await page.setViewportSize(WIDE);
    await open_(ben, "?person=ada");
    await page.locator(".social-status").first().waitFor();
    await page.getByRole("button", { name: "Dark" }).click();
    await shoot(page, "examples-social-dark");
  });
});
