import { open } from "cinnabar";
import { Mailboxes } from "cinnabar/chats";

const db = await open(process.env.STORE ?? "memory:");
const mailboxes = new Mailboxes<string>(db);

// Anybody sends, whether the owner has ever been here or not.
await mailboxes.send("ann", "ben", "your parcel is here");
await mailboxes.send("ann", "cid", "so is mine");
console.log((await mailboxes.position("ann")).unread);

const stop = new AbortController();
for await (const { sender, body } of mailboxes.messages("ann", { signal: stop.signal })) {
  console.log(sender, body);
  if (sender === "cid") stop.abort();
}
console.log(await mailboxes.inspect("ann").then((box) => box?.messages));
await db.close();
