/** A message, and the entry of the stream that it is: one field, the sender; `time offset own-id`, a line feed, and the body. */
import type { Codec } from "../../base/codec.ts";
import { asListOf, asTextOrBytes, asTuple } from "../../base/replies.ts";
import type { Reply } from "../../connection/port.ts";

/** One object for all readers in a process: to be read, not to be changed. */
export interface Message<T> {
  /** Grows by one from message to message in a chat. Also the cursor: a reader that has this message goes on after it. */
  readonly id: number;
  /** The name of the member who sent it. */
  readonly sender: string;
  /** What was sent, decoded. */
  readonly body: T;
  /** When it was stored, by the server's clock. */
  readonly sentAt: Date;
  /** The id that the sender gave it. */
  readonly ownId: string;
  /** How many messages before this one were dropped before this reader came to read them. 0 unless the reader was cut off. */
  readonly missed: number;
}

/** A message and what it takes in memory, about. */
export interface Sized<T> {
  readonly message: Message<T>;
  readonly bytes: number;
}

const LINE_FEED = 10;
const OVERHEAD_BYTES = 200;

export function decodeEntries<T>(entries: Reply, codec: Codec<T>): Sized<T>[] {
  return asListOf(asTuple(asTextOrBytes, asTuple(asTextOrBytes, asTextOrBytes)))(entries).map(
    ([id, [sender, value]]) => {
      const [head, body] = split(value);
      const time = head.indexOf(" ");
      const message: Message<T> = {
        id: Number.parseInt(String(id), 10),
        sender: String(sender),
        body: codec.decode(body),
        sentAt: new Date(Number(head.slice(0, time))),
        ownId: head.slice(head.indexOf(" ", time + 1) + 1),
        missed: 0,
      };
      return { message, bytes: value.length + OVERHEAD_BYTES };
    },
  );
}

function split(value: string | Buffer): [head: string, body: string | Buffer] {
  if (typeof value === "string") {
    const end = value.indexOf("\n");
    return [value.slice(0, end), value.slice(end + 1)];
  }
  const end = value.indexOf(LINE_FEED);
  return [value.toString("utf8", 0, end), value.subarray(end + 1)];
}
