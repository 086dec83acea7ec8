/**
 * A program with a store in its own process and other things in its heap, for heap.test.ts: fills the store until it is
 * refused, lets go of its own things, and writes on. Says how many writes were taken each time.
 */
import { EmbeddedEngine } from "../../../src/embed/embedded.ts";

const value = "x".repeat(1000);
const engine = await EmbeddedEngine.open();
const client = engine.connect();
let number = 0;

/** Writes until it is refused; how many times it was not. */
async function fill(): Promise<number> {
  const from = number;
  for (;;) {
    const replies = await Promise.allSettled(
      Array.from({ length: 100 }, () => client.call("SET", `key:${number++}`, value + number)),
    );
    const refused = replies.filter(({ status }) => status === "rejected").length;
    if (refused > 0) return number - from - refused;
  }
}

let own: string[] = Array.from({ length: 60_000 }, (_, i) => Buffer.alloc(1000, i).latin1Slice());
const first = await fill();
console.log(`${first} beside ${own.length}`);
own = [];
// The store cannot know that there is room now before somebody has collected the garbage.
let second = 0;
while (second < 10_000) {
  second += await fill();
  await new Promise((resolve) => setImmediate(resolve));
}
console.log(`${second} more`);
await engine.close();
