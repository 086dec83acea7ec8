/**
 * A process that shares a folder with others: `member.ts folder name acks`. It writes some hundred times a second, and notes what was
 * acknowledged in a file the moment it is; listens to a channel; waits for elements of its own list. Over IPC it tells what it
 * hears, and does what it is asked.
 */
import { openSync, writeSync } from "node:fs";
import { ConnectionError, open } from "../../../src/index.ts";

const CONCURRENCY = 8;
/** Between two writes of one loop: faster ones would make loading, and not taking over, what the rounds take. */
const PACE_MS = 15;

const [dir = "", name = "", acks = ""] = process.argv.slice(2);
const file = openSync(acks, "a");
const db = await open(dir);
const seen = { written: 0, refused: 0, unknown: 0 };
let isOver = false;

async function write(nth: number): Promise<void> {
  for (let n = 0; !isOver; n++) {
    const id = `${nth}-${n}`;
    try {
      // Not repeatable: where nobody knows whether it ran, the caller is told.
      const [count] = await db.multi([
        ["INCR", `count:${name}`],
        ["SADD", `written:${name}`, id],
      ]);
      writeSync(file, `${id}\n`);
      seen.written = Math.max(seen.written, Number(count));
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      if (error.maybeExecuted) seen.unknown++;
      else seen.refused++;
    }
    await new Promise<void>((resolve) => void setTimeout(resolve, PACE_MS));
  }
}

async function pop(): Promise<void> {
  const waiting = db.blocking();
  while (!isOver) {
    try {
      const item = await waiting.call(["BLPOP", `inbox:${name}`, "1"], { timeoutMs: 1_000 });
      if (Array.isArray(item)) process.send?.({ popped: Number(item[1]) });
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
    }
  }
  waiting.close();
}

process.on("message", (message: { round?: number; members?: string[]; end?: true }) => {
  if (message.end === true) isOver = true;
  else void tell(message.round!, message.members!);
});

/** A round as others should hear of it; sent again by the runner until they have. */
async function tell(round: number, members: readonly string[]): Promise<void> {
  await db.call("PUBLISH", "rounds", round).catch(() => {});
  for (const member of members) await db.call("RPUSH", `inbox:${member}`, round).catch(() => {});
}

await db.subscribe("rounds", (message) => void process.send?.({ heard: Number(String(message)) }));
const work = [pop(), ...Array.from({ length: CONCURRENCY }, (_, nth) => write(nth))];
process.send?.({ ready: db.topology });
await Promise.all(work);
await db.close();
process.send?.({ done: seen });
process.disconnect();
