import { open } from "cinnabar";
import { StatusStream } from "cinnabar/streaming";

const db = await open(process.env.STORE ?? "memory:");
const stream = new StatusStream(db, "public");

// Phrases: all words of one, in any order. @login: what they post, and where they are mentioned.
const listening = await stream.events({ track: ["redis", "big news"], follow: ["@ben"] });

const say = (id: string, login: string, text: string) =>
  stream.publish({ kind: "status", id, userId: `id of ${login}`, login, text, atMs: Date.now() });
await say("1", "ann", "News! Really BIG ones about #Redis");
await say("1", "ann", "News! Really BIG ones about #Redis"); // once for each id
await say("2", "ann", "nothing of interest");
await say("3", "cat", "hello, @Ben");

let cursor = "";
for await (const message of listening) {
  console.log(message.kind, message.kind === "status" || message.kind === "delete" ? message.id : "");
  cursor = message.cursor;
  if (message.kind === "status" && message.id === "3") break;
}

await stream.publish({ kind: "delete", id: "1", userId: "id of ann", atMs: Date.now() });
// Who comes back with the last cursor goes on where they were, as long as that is in the log.
for await (const message of await stream.events({ track: ["redis"] }, { from: cursor })) {
  console.log(message.kind, message.kind === "delete" && message.id);
  break;
}
console.log((await stream.inspect()).events, "events in the log");
await db.close();
