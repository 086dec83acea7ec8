/** The chat by its API on every kind of store, and its page with two people who talk. */
import { beforeAll, expect, test } from "vitest";
import { NARROW, shiftOf, shoot } from "./browser.ts";
import { as, describeExample, describeScreens, type Person, type Screen, sentBy } from "./examples.ts";

/** Machines may be busy. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 });

const LOUNGE = "/chat/rooms/Lounge";

/** How much the chat has moved under the reader. The drawer below it does, since what others do makes the page ask. */
const SHIFT_IN_CHAT = shiftOf(
  `({ hadRecentInput, sources }) => !hadRecentInput && sources.some(({ node }) => node?.parentElement?.closest(".chat"))`,
);

describeExample("chat", (served) => {
  const enter = (person: Person, room: string, from = "start") => person.send("POST", "/chat/rooms", { room, from });
  const say = (person: Person, text: string, id = `message-${text}`) =>
    person.send("POST", `${LOUNGE}/messages`, { id, text });
  const view = async (person: Person) => (await person.get("/chat/view")).body;

  test("people open rooms, talk, and leave; a message that is sent twice is there once", async () => {
    const [ann, ben] = [await as(served(), "Ann"), await as(served(), "Ben")];
    expect((await enter(ann, " Lounge ")).body).toEqual({ room: "Lounge", status: "joined" });
    expect((await enter(ann, "Lounge")).body.status).toBe("exists");
    await eventually(async () => (await view(ben)).others).toEqual([{ room: "Lounge", members: 1, messages: 0 }]);
    await enter(ben, "Lounge");
    const sent = await say(ann, "hello");
    expect(sent.body.repeated).toBe(false);
    expect(sentBy(sent.trace)[0]).toBe("chats.send");
    expect((await say(ann, "hello")).body).toEqual({ id: sent.body.id, repeated: true });
    const { messages, cursor } = (await ben.get(`${LOUNGE}/messages`)).body;
    expect([messages.length, messages[0].sender, messages[0].body.text, cursor]).toEqual([
      1,
      "Ann",
      "hello",
      sent.body.id,
    ]);
    expect((await view(ben)).mine).toMatchObject([{ room: "Lounge", unread: 1, missed: 0 }]);
    expect((await view(ann)).mine).toMatchObject([{ room: "Lounge", unread: 0 }]);
    expect((await ben.send("POST", `${LOUNGE}/seen`, { id: cursor })).body).toMatchObject({ unread: 0 });
    // Messages that all members have seen stay for members who join later.
    await enter(await as(served(), "Cid"), "Lounge");
    const { members } = (await ben.get(`${LOUNGE}/members`)).body;
    expect(members.map(({ member, unread }: { member: string; unread: number }) => [member, unread])).toEqual([
      ["Ann", 0],
      ["Ben", 0],
      ["Cid", 1],
    ]);
    expect((await ann.send("DELETE", LOUNGE)).body).toEqual({ status: "left" });
    expect((await ben.send("DELETE", LOUNGE)).body).toEqual({ status: "left" });
    expect((await (await as(served(), "Cid")).send("DELETE", LOUNGE)).body).toEqual({ status: "deleted" });
    expect(await view(ben)).toEqual({ mine: [], others: [] });
  });

  test("who is not in a room can neither read it nor write in it; what makes no sense is refused", async () => {
    const [ann, eve] = [await as(served(), "Ann"), await as(served(), "Eve")];
    await enter(ann, "Lounge");
    expect((await say(eve, "hello")).body.code).toBe("NOT_IN_IT");
    expect((await eve.get(`${LOUNGE}/messages`)).body.code).toBe("NOT_IN_IT");
    expect((await eve.get(`${LOUNGE}/members`)).body.code).toBe("NOT_IN_IT");
    expect((await eve.send("POST", `${LOUNGE}/seen`, { id: 1 })).body.code).toBe("NOT_IN_IT");
    expect((await eve.send("DELETE", LOUNGE)).body.code).toBe("NOT_IN_IT");
    expect((await eve.get(`${LOUNGE}/stream`)).status).toBe(404);
    expect((await say(ann, "  ", "only-spaces")).body.code).toBe("EMPTY");
    expect((await enter(ann, "  ")).body.code).toBe("NAME");
    for (const room of ["", "a{b}", "a\u0000", "x".repeat(41)]) expect((await enter(ann, room)).status, room).toBe(400);
    expect((await served().get("/api/examples/chat/view")).body.code).toBe("NO_NAME");
    expect((await served().get(`/api/examples${LOUNGE}/stream`)).body.code).toBe("NO_NAME");
  });

  test("messages come as events from the cursor on, until the member leaves", async () => {
    const [ann, ben] = [await as(served(), "Ann"), await as(served(), "Ben")];
    await enter(ann, "Lounge");
    await enter(ben, "Lounge");
    const first = (await say(ann, "1")).body.id;
    await say(ann, "2");
    const cookie = [...ben.cookies].map(([key, value]) => `${key}=${value}`).join("; ");
    const response = await fetch(`${served().url}/api/examples${LOUNGE}/stream?after=${first}`, {
      headers: { cookie, accept: "text/event-stream" },
    });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    let text = "";
    const until = async (what: string): Promise<void> => {
      for await (const chunk of response.body!.values({ preventCancel: true })) {
        text += Buffer.from(chunk as Uint8Array).toString("utf8");
        if (text.includes(what)) return;
      }
    };
    await until('"text":"2"');
    expect(text).not.toContain('"text":"1"');
    await say(ann, "3");
    await until('"text":"3"');
    await ben.send("DELETE", LOUNGE);
    await until("event: gone");
    expect(text).toContain("event: gone");
  });

  test("the sample is made once, and goes whole", async () => {
    const ann = await as(served(), "Ann");
    await ann.send("POST", "/chat/sample");
    await ann.send("POST", "/chat/sample");
    const rooms = async () =>
      (await view(ann)).others.map(({ room, messages }: { room: string; messages: number }) => [room, messages]);
    await eventually(rooms).toEqual([
      ["Café ☕", 4],
      ["Lounge", 7],
      ["Release 2.0", 6],
    ]);
    await enter(ann, "Lounge");
    expect((await view(ann)).mine).toMatchObject([{ room: "Lounge", unread: 7 }]);
    await ann.send("DELETE", "/chat/sample");
    expect(await view(ann)).toEqual({ mine: [], others: [] });
    await ann.send("POST", "/chat/sample");
    await eventually(async () => (await rooms()).length).toBe(3);
  });
});

describeScreens(
  "the page of the chat",
  (screens) => {
    let ann: Screen;
    let ben: Screen;
    beforeAll(() => {
      ({ ann, ben } = screens());
    });

    const log = ({ page }: Screen) => page.getByRole("list", { name: "Messages" });
    const said = (screen: Screen, text: string) => log(screen).getByText(text, { exact: true });
    const say = async ({ page }: Screen, room: string, text: string) => {
      await page.getByLabel(`Message to ${room}`).fill(text);
      await page.keyboard.press("Enter");
    };
    const member = ({ page }: Screen, name: string) => page.locator(".chat-members li", { hasText: name });

    test("is useful when empty: one opens a room, another sees it and joins", async () => {
      await ben.page.getByText("There is no room yet.").waitFor();
      await ann.page.getByLabel("Name of a room").fill("<b>Den</b>");
      await ann.page.getByRole("button", { name: "Open" }).click();
      await ann.page.getByText("Nobody has said anything yet.").waitFor();
      await ben.page.getByRole("button", { name: "Join <b>Den</b>" }).click();
      await ben.page.getByText("Nobody has said anything yet.").waitFor();
      await member(ann, "Ben").waitFor();
    });

    test("what one says the other reads at once, in order, as text; and it shows that they have", async () => {
      await say(ann, "<b>Den</b>", "<img src=x onerror='window.ran = 1'>");
      await said(ben, "<img src=x onerror='window.ran = 1'>").waitFor();
      for (let nth = 1; nth <= 5; nth++) {
        await say(nth % 2 === 0 ? ann : ben, "<b>Den</b>", `line ${nth}`);
        await Promise.all([ann, ben].map((screen) => said(screen, `line ${nth}`).waitFor()));
      }
      for (const screen of [ann, ben]) {
        const lines = await log(screen).locator(".chat-text").allTextContents();
        expect(lines.slice(1)).toEqual(["line 1", "line 2", "line 3", "line 4", "line 5"]);
        expect(await screen.page.evaluate("window.ran")).toBeUndefined();
      }
      for (const name of ["Ann", "Ben"]) await eventually(() => member(ann, name).textContent()).toContain("✓");
      await eventually(() => member(ann, "Ben").textContent()).toContain("is here");
      await ann.page.locator(".request", { hasText: "/messages" }).first().waitFor();
      expect(await ann.page.locator(".drawer").textContent()).toContain("chats.send");
    });

    test("what is said in another room is counted, and marked when it is opened", async () => {
      const { page } = ann;
      await page.getByRole("button", { name: "Make sample data" }).click();
      await page.getByRole("button", { name: "Join Lounge" }).click();
      await said(ann, "Did it halt?").waitFor();
      await shoot(page, "examples-chat");
      await say(ben, "<b>Den</b>", "are you there?");
      const badge = page.getByRole("link", { name: "<b>Den</b>" }).locator(".chat-unread");
      await eventually(() => badge.textContent()).toContain("1");
      await eventually(() => member(ben, "Ann").textContent()).toContain("1 behind");
      await page.getByRole("link", { name: "<b>Den</b>" }).click();
      await said(ann, "are you there?").waitFor();
      await log(ann).getByText("New", { exact: true }).waitFor();
      await eventually(() => badge.count()).toBe(0);
      await eventually(() => member(ben, "Ann").textContent()).toContain("✓");
      expect(await page.evaluate(SHIFT_IN_CHAT)).toBeLessThan(0.05);
    });

    test("who goes to another room at once has seen what was shown", async () => {
      const { page } = ann;
      await say(ben, "<b>Den</b>", "a glance");
      await said(ann, "a glance").waitFor();
      await page.getByRole("link", { name: "Lounge" }).click();
      const unread = () =>
        page.evaluate<number>(
          `fetch("/api/examples/chat/view").then((got) => got.json())
            .then(({ answer }) => answer.mine.find(({ room }) => room === "<b>Den</b>").unread)`,
        );
      await eventually(unread).toBe(0);
      await page.getByRole("link", { name: "<b>Den</b>" }).click();
      await said(ann, "a glance").waitFor();
    });

    test("what is said before the answer to the last message has come is a message of its own", async () => {
      let answer = () => {};
      const held = new Promise<void>((resolve) => {
        answer = resolve;
      });
      await ann.page.route("**/messages", async (route) => {
        const response = await route.fetch();
        if (route.request().postData()?.includes("the first") === true) await held;
        await route.fulfill({ response });
      });
      await say(ann, "<b>Den</b>", "the first");
      await said(ann, "the first").waitFor();
      await say(ann, "<b>Den</b>", "the second");
      await said(ann, "the second").waitFor();
      answer();
      await ann.page.unrouteAll({ behavior: "wait" });
    });

    test("a browser that was offline for a while has everything when it is back, once", async () => {
      await ben.context.setOffline(true);
      for (const text of ["while", "you were", "away"]) {
        await say(ann, "<b>Den</b>", text);
        await said(ann, text).waitFor();
      }
      await ben.context.setOffline(false);
      // Its stream may have outlasted that; then it is cut, as a proxy would.
      await ben.page.reload();
      await said(ben, "away").waitFor();
      const lines = await log(ben).locator(".chat-text").allTextContents();
      expect(lines.slice(-5)).toEqual(["the first", "the second", "while", "you were", "away"]);
      expect(new Set(lines).size).toBe(lines.length);
    });

    test("who leaves is gone for the others, and reads no more", async () => {
      await ben.page.getByRole("button", { name: "Leave" }).click();
      await ben.page.locator("[role=dialog]").getByRole("button", { name: "Leave" }).click();
      await ben.page.getByText("Choose a room.").waitFor();
      await member(ann, "Ben").waitFor({ state: "detached" });
      await say(ann, "<b>Den</b>", "alone at last");
      await said(ann, "alone at last").waitFor();
      expect(await ben.page.getByText("alone at last").count()).toBe(0);
    });

    test("is not wider than a telephone, and dark", async () => {
      await ben.page.getByRole("button", { name: "Join Lounge" }).click();
      await said(ben, "Did it halt?").waitFor();
      expect(await ben.page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(NARROW.width);
      await shoot(ben.page, "examples-chat-narrow");
      await ann.page.getByRole("button", { name: "Dark" }).click();
      await shoot(ann.page, "examples-chat-dark");
    });
  },
  "examples/chat",
);
