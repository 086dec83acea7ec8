import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { open } from "cinnabar";
import { Chats } from "cinnabar/chats";
import { chatHandler } from "cinnabar/chats/http";

const db = await open(process.env.STORE ?? "memory:");
const chats = new Chats<string>(db);
await chats.joinMany("team", ["ann", "ben"]);

// Who somebody is comes from a session in real life. In a browser: new EventSource("/?me=ben").
const query = (url: string | undefined) => new URL(url ?? "/", "http://localhost").searchParams;
const handler = chatHandler(chats, { chat: () => "team", member: ({ url }) => query(url).get("me") });
const server = createServer((request, response) => handler(request, response));

server.listen(0, "127.0.0.1", async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await chats.send("team", "ann", "hello");

  const events = await fetch(`${url}/?me=ben`, { headers: { accept: "text/event-stream" } });
  let text = "";
  for await (const chunk of events.body!) {
    text += Buffer.from(chunk).toString();
    if (text.includes("data: ")) break;
  }
  console.log(/"sender":"\w+","body":"\w+"/.exec(text)?.[0]);

  const page = (await (await fetch(`${url}/?me=ben&wait=10000`)).json()) as { items: unknown[]; cursor: number };
  const seen = await fetch(`${url}/?me=ben`, { method: "POST", body: JSON.stringify({ seen: page.cursor }) });
  console.log(page.items.length, ((await seen.json()) as { unread: number }).unread);
  server.closeAllConnections();
  server.close();
  await db.close();
});
