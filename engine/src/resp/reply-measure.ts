/** How long the replies of a transaction are that still runs: they are sent, and encoded, when it is over. */
import type { Reply } from "../core/reply.ts";
import { encode, type Protocol } from "./encode.ts";
import { Output } from "./output.ts";

export class ReplyMeasure {
  #of: readonly Reply[] | null = null;
  #count = 0;
  #bytes = 0;

  /** The bytes of an array of `length` elements as far as its elements are there. What was measured before is not measured again. */
  of(replies: readonly Reply[], length: number, protocol: Protocol): number {
    if (this.#of !== replies) {
      this.#of = replies;
      this.#count = 0;
      this.#bytes = `*${length}\r\n`.length;
    }
    for (; this.#count < replies.length; this.#count++) {
      const output = new Output();
      encode(replies[this.#count]!, protocol, output);
      this.#bytes += output.length;
    }
    return this.#bytes;
  }
}
