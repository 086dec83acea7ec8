/**
 * What the crash rounds kill: a server on a free port in the folder that is given, or an engine in this very process that
 * writes by itself and says what it was told is kept.
 *
 *   victim.ts server DIR APPENDFSYNC        prints `port N`
 *   victim.ts inside DIR APPENDFSYNC FROM   prints `kept N` for every number whose write was acknowledged
 */
import { writeSync } from "node:fs";
import { EmbeddedEngine } from "../../../src/embed/embedded.ts";

const [mode, dir, appendfsync, from] = process.argv.slice(2) as [string, string, string, string];
const engine = await EmbeddedEngine.open({ dir, config: { appendfsync, "auto-aof-rewrite-min-size": "64kb" } });

// Rewrites and snapshots all the time: the moment of the crash should fall into one now and then.
const client = engine.connect();
let turn = 0;
setInterval(() => {
  client.call(turn++ % 2 === 0 ? "BGSAVE" : "BGREWRITEAOF").catch(() => {});
}, 20);

/** Straight to the pipe: what was said before the kill has been said. A full pipe does not hear it, and need not. */
function say(line: string): void {
  try {
    writeSync(1, `${line}\n`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
  }
}

if (mode === "server") {
  const { port } = await engine.listen({ host: "127.0.0.1", port: 0 });
  say(`port ${port}`);
} else {
  say("ready");
  for (let i = Number(from); ; i += 8) {
    const batch = Array.from({ length: 8 }, (_, j) => client.call("SET", `inside:${i + j}`, String(i + j)));
    await Promise.all(batch);
    say(`kept ${i + 7}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
