/** A process that sends numbers one after the other, each until it is answered. Ends on SIGTERM. */

import { ConnectionError } from "../../../src/base/errors.ts";
import { Chats } from "../../../src/components/chats/index.ts";
import { open } from "../../../src/connection/open.ts";
import { CHAT, type SenderOrder, say } from "./lines.ts";
import type { Body } from "./record.ts";

const { url, sender, from } = JSON.parse(process.argv[2]!) as SenderOrder;
const store = await open(url);
const chats = new Chats<Body>(store);
let isStopped = false;
process.once("SIGTERM", () => {
  isStopped = true;
});
say("ready");

for (let number = from; !isStopped; number++) {
  say({ kind: "sending", number });
  for (let isSent = false; !isSent; ) {
    const sent = await chats
      .send(CHAT, sender, { sender, number }, { id: String(number), markSeen: true })
      .catch((error: unknown) => {
        if (error instanceof ConnectionError) return undefined;
        throw error;
      });
    if (sent === null) throw new Error(`${sender} is not a member`);
    isSent = sent !== undefined;
  }
  say({ kind: "sent", number });
  // The others are to get some of the processor too.
  await new Promise((resolve) => setImmediate(resolve));
}
await store.close();
