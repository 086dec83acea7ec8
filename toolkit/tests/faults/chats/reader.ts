/** A process that reads as one member, and may be killed, or kill itself, at the worst moment. Ends on SIGTERM. */

import { ConnectionError } from "../../../src/base/errors.ts";
import { Chats } from "../../../src/components/chats/index.ts";
import { open } from "../../../src/connection/open.ts";
import { CHAT, type ReaderOrder, say } from "./lines.ts";
import { type Body, randomFrom } from "./record.ts";

const { url, member, seed, dieAfter } = JSON.parse(process.argv[2]!) as ReaderOrder;
const random = randomFrom(seed);
const store = await open(url);
const chats = new Chats<Body>(store, { pollMs: 200 });
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
say("ready");

let count = 0;
let after: number | undefined;
while (!stop.signal.aborted) {
  const how = {
    ...(after !== undefined && { cursor: after }),
    limit: 1 + random(50),
    waitMs: 1_000,
    signal: stop.signal,
  };
  const page = await chats.read(CHAT, member, how).catch((error: unknown) => {
    if (error instanceof ConnectionError || stop.signal.aborted) return undefined;
    throw error;
  });
  if (page === undefined) continue;
  if (page === null) throw new Error(`${member} is not a member`);
  for (const { id, body, missed } of page.items) {
    say({ kind: "got", id, body, missed });
    if (++count === dieAfter) process.kill(process.pid, "SIGKILL");
  }
  after = page.cursor;
  const last = page.items.at(-1)?.id;
  if (last === undefined || random(3) === 0) continue;
  say({ kind: "acknowledging", id: last });
  const answered = await chats.acknowledge(CHAT, member, last).catch((error: unknown) => {
    if (error instanceof ConnectionError) return null;
    throw error;
  });
  if (answered !== null) say({ kind: "acknowledged", id: last });
}
await store.close();
