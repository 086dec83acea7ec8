/** Chats over real HTTP: long polls and server-sent events with one cursor. */
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { open } from "../../connection/open.ts";
import type { Store } from "../../connection/store.ts";
import { chatHandler, mailboxHandler } from "./http.ts";
import { Chats, Mailboxes, type Message } from "./index.ts";

/** Machines may be busy. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 });

let store: Store;
let chats: Chats<string>;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  store = await open();
  chats = new Chats<string>(store);
  await chats.joinMany("team", ["ann", "ben"]);
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await store.close();
});

const memberOf = ({ headers }: IncomingMessage): string | null => (headers["x-member"] as string | undefined) ?? null;
const handling = (options = {}) => chatHandler(chats, { chat: () => "team", member: memberOf, ...options });

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const as = (member: string, more: Record<string, string> = {}) => ({ headers: { "x-member": member, ...more } });

interface Event {
  readonly name: string;
  readonly id: string;
  readonly data: string;
}

/** Events as a browser would see them; comments are left out. */
async function* eventsOf(response: Response): AsyncGenerator<Event> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const fields = new Map<string, string>();
      for (const line of text.slice(0, end).split("\n")) {
        const at = line.indexOf(": ");
        if (at > 0) fields.set(line.slice(0, at), line.slice(at + 2));
      }
      text = text.slice(end + 2);
      if (!fields.has("data")) continue;
      yield { name: fields.get("event") ?? "message", id: fields.get("id") ?? "", data: fields.get("data")! };
    }
  }
}

const EVENTS = { accept: "text/event-stream" };
const parsed = ({ data }: Event): Message<string> => JSON.parse(data);

describe("long polls", () => {
  test("answer what there is, from the cursor or from what was acknowledged", async () => {
    const url = await serve(handling());
    const first = (await chats.send("team", "ann", "1"))!;
    await chats.send("team", "ann", "2");
    const page = await (await fetch(url, as("ben"))).json();
    expect(page).toMatchObject({ items: [{ body: "1" }, { body: "2" }], cursor: first.id + 1, missed: 0 });
    const rest = await (await fetch(`${url}?after=${first.id}&limit=1`, as("ben"))).json();
    expect(rest).toMatchObject({ items: [{ body: "2", sender: "ann" }] });
    const seen = await fetch(url, { ...as("ben"), method: "POST", body: JSON.stringify({ seen: first.id }) });
    expect(await seen.json()).toEqual({ seen: first.id, unread: 1, missed: 0 });
    expect(await (await fetch(url, as("ben"))).json()).toMatchObject({ items: [{ body: "2" }] });
  });

  test("wait for the next message, and end without one when the time is over", async () => {
    const url = await serve(handling({ maxWaitMs: 60_000 }));
    const waiting = fetch(`${url}?wait=60000`, as("ben"));
    await eventually(() => chats.present("team")).toEqual(["ben"]);
    await chats.send("team", "ann", "hello");
    expect(await (await waiting).json()).toMatchObject({ items: [{ body: "hello" }] });
    const capped = await serve(handling({ maxWaitMs: 10 }));
    const { lastId } = (await chats.inspect("team"))!;
    expect(await (await fetch(`${capped}?wait=60000&after=${lastId}`, as("ben"))).json()).toMatchObject({
      items: [],
    });
  });

  test("of clients that went away are given up", async () => {
    let ended = 0;
    const listener = handling();
    const url = await serve((request, response) => {
      response.once("close", () => ended++);
      listener(request as never, response);
    });
    const asking = httpRequest(`${url}?wait=20000`, as("ben")).on("error", () => {});
    asking.end();
    await eventually(() => chats.present("team")).toEqual(["ben"]);
    asking.destroy();
    await eventually(() => ended).toBe(1);
  });

  test("refuse who is unknown, who is not in it, and what makes no sense", async () => {
    const url = await serve(handling());
    const post = (body: string) => fetch(url, { ...as("ben"), method: "POST", body });
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, as("eve"))).status).toBe(404);
    expect((await fetch(url, as("eve", EVENTS))).status).toBe(404);
    expect((await fetch(`${url}?after=x`, as("ben"))).status).toBe(400);
    expect((await fetch(`${url}?limit=100000`, as("ben"))).status).toBe(400);
    expect((await fetch(url, as("ben", { ...EVENTS, "last-event-id": "x" }))).status).toBe(400);
    expect((await fetch(url, { ...as("ben"), method: "DELETE" })).status).toBe(405);
    for (const body of ["", "{}", "{", '{"seen":-1}', JSON.stringify({ seen: "x".repeat(2_000) })]) {
      const { status, headers } = await post(body);
      expect([status, headers.get("content-type")]).toEqual([400, "application/problem+json"]);
    }
  });
});

describe("server-sent events", () => {
  test("carry messages as they come; their ids are the cursor", async () => {
    const url = await serve(handling());
    const first = (await chats.send("team", "ann", "1"))!;
    const response = await fetch(url, as("ben", EVENTS));
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const events = eventsOf(response);
    const one = (await events.next()).value!;
    expect([one.name, one.id, parsed(one).body]).toEqual(["message", String(first.id), "1"]);
    await chats.send("team", "ann", "Zoë\n2");
    expect(parsed((await events.next()).value!)).toMatchObject({ sender: "ann", body: "Zoë\n2", missed: 0 });
    await events.return(undefined);
    // A browser that comes back has nothing twice; one that says nothing gets what was not acknowledged.
    const again = eventsOf(await fetch(url, as("ben", { ...EVENTS, "last-event-id": one.id })));
    expect(parsed((await again.next()).value!).body).toBe("Zoë\n2");
    await again.return(undefined);
    const anew = eventsOf(await fetch(url, as("ben", EVENTS)));
    expect(parsed((await anew.next()).value!).body).toBe("1");
    await anew.return(undefined);
  });

  test("tell a client that was cut off, and one that is no longer in it", async () => {
    chats = new Chats<string>(store, { maxMessages: 2 });
    const url = await serve(handling());
    for (const body of ["1", "2", "3", "4", "5"]) await chats.send("team", "ann", body);
    const events = eventsOf(await fetch(url, as("ben", EVENTS)));
    const missed = (await events.next()).value!;
    expect([missed.name, missed.data]).toEqual(["missed", '{"count":3}']);
    expect(parsed((await events.next()).value!)).toMatchObject({ body: "4", missed: 3 });
    expect(parsed((await events.next()).value!)).toMatchObject({ body: "5", missed: 0 });
    await chats.leave("team", "ben");
    expect((await events.next()).value!.name).toBe("gone");
    expect((await events.next()).done).toBe(true);
  });

  test("to many clients at once are one and the same", async () => {
    const url = await serve(handling());
    const members = Array.from({ length: 50 }, (_, nth) => `member ${nth}`);
    await chats.joinMany("team", members);
    const all = await Promise.all(members.map(async (member) => eventsOf(await fetch(url, as(member, EVENTS)))));
    for (let nth = 0; nth < 20; nth++) await chats.send("team", "ann", String(nth));
    for (const events of all) {
      const got: string[] = [];
      while (got.length < 20) got.push(parsed((await events.next()).value!).body);
      expect(got).toEqual(Array.from({ length: 20 }, (_, nth) => String(nth)));
      await events.return(undefined);
    }
  });

  test("are not read ahead for a client that does not read, and end with it", async () => {
    const listener = handling();
    let served: ServerResponse | undefined;
    const url = await serve((request, response) => {
      served = response;
      listener(request as never, response);
    });
    const asking = httpRequest(url, as("ben", EVENTS)).on("error", () => {});
    const response = await new Promise<IncomingMessage>((resolve) => void asking.on("response", resolve).end());
    response.pause();
    const body = "x".repeat(60_000);
    const count = 200;
    const ids: number[] = [];
    for (let nth = 0; nth < count; nth++) ids.push((await chats.send("team", "ann", body))!.id);
    // What the system's own buffers hold is gone; of the rest, what the stream takes before it asks to wait, and one message.
    expect(served!.writableLength).toBeLessThan(served!.writableHighWaterMark + 1.1 * body.length);
    let text = "";
    response.setEncoding("latin1").on("data", (chunk: string) => {
      text += chunk;
    });
    response.resume();
    await eventually(() => text.match(/^id: \d+$/gm)?.length).toBe(count);
    expect(text.match(/^id: \d+$/gm)).toEqual(ids.map((id) => `id: ${id}`));
    response.destroy();
  });

  test("show that they are alive, and end when the server is to stop", async () => {
    const stop = new AbortController();
    const url = await serve(handling({ heartbeatEveryMs: 10, signal: stop.signal }));
    const reader = (await fetch(url, as("ben", EVENTS))).body!.getReader();
    let text = "";
    while (!text.includes(": alive")) text += Buffer.from((await reader.read()).value!).toString("utf8");
    stop.abort();
    for (;;) if ((await reader.read()).done) break;
  });

  test("end with the store, which does not mean that the member is out", async () => {
    const url = await serve(handling());
    const events = eventsOf(await fetch(url, as("ben", EVENTS)));
    await chats.send("team", "ann", "1");
    expect(parsed((await events.next()).value!).body).toBe("1");
    await store.close();
    // Cut off or ended in order, as it comes; but no event says "gone".
    expect(await events.next().catch(() => ({ done: true }))).toMatchObject({ done: true });
  });

  test("are served behind Express, and a store that fails is its error", async () => {
    const app = express();
    app.use(express.json());
    app.use("/chats/team", handling() as never);
    const url = await serve(app as never);
    await chats.send("team", "ann", "hello");
    const events = eventsOf(await fetch(`${url}chats/team`, as("ben", EVENTS)));
    const { id } = (await events.next()).value!;
    await events.return(undefined);
    const headers = { "x-member": "ben", "content-type": "application/json" };
    const seen = await fetch(`${url}chats/team`, {
      method: "POST",
      headers,
      body: JSON.stringify({ seen: Number(id) }),
    });
    expect(await seen.json()).toMatchObject({ unread: 0 });
    const { write } = process.stderr;
    await store.close();
    process.stderr.write = (() => true) as typeof write;
    try {
      expect((await fetch(`${url}chats/team`, as("ben"))).status).toBe(500);
    } finally {
      process.stderr.write = write;
    }
  });
});

test("a mailbox is read the same way", async () => {
  const mailboxes = new Mailboxes<string>(store);
  const url = await serve(mailboxHandler(mailboxes, { owner: memberOf }));
  expect((await fetch(url)).status).toBe(401);
  const events = eventsOf(await fetch(url, as("zoe", EVENTS)));
  await mailboxes.send("zoe", "ann", "hello");
  const event = (await events.next()).value!;
  expect(parsed(event)).toMatchObject({ sender: "ann", body: "hello" });
  await events.return(undefined);
  expect(await (await fetch(url, as("zoe"))).json()).toMatchObject({ items: [{ body: "hello" }] });
  const body = JSON.stringify({ seen: Number(event.id) });
  expect(await (await fetch(url, { ...as("zoe"), method: "POST", body })).json()).toMatchObject({ unread: 0 });
});
