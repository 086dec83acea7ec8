import { open } from "cinnabar";
import { Chats } from "cinnabar/chats";

interface Line {
  readonly text: string;
}

const db = await open(process.env.STORE ?? "memory:");
const chats = new Chats<Line>(db, { keepSeen: 100 });

await chats.joinMany("team", ["ann", "ben"]);
// The id makes it safe to send again when no answer came.
const first = await chats.send("team", "ann", { text: "lunch?" }, { id: "ann-1" });
const again = await chats.send("team", "ann", { text: "lunch?" }, { id: "ann-1" });
console.log(again?.repeated, again?.id === first?.id);

// What the loop comes back from is acknowledged. A crash before that, and the message comes again.
for await (const { sender, body } of chats.messages("team", "ben")) {
  console.log(`${sender}: ${body.text}`);
  await chats.send("team", "ben", { text: "yes!" });
  if (body.text === "yes!") break;
}

// By hand: read, or wait for something, then acknowledge. Any id will do to go on from.
const page = await chats.read("team", "ann", { waitMs: 1_000 });
console.log(page?.items.map(({ body }) => body.text));
console.log((await chats.acknowledge("team", "ann", first!.id))?.unread, "unread");

await chats.join("team", "cid", { from: "start" });
for (const { chat, unread, missed } of await chats.unread("cid")) console.log(chat, unread, missed);
for (const member of ["cid", "ben", "ann"]) console.log((await chats.leave("team", member)).status);
await db.close();
