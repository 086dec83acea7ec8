import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "cinnabar";
import { type Batch, type Line, LogFiles } from "cinnabar/log-files";

const folder = mkdtempSync(join(tmpdir(), "logs-"));
writeFileSync(join(folder, "access.log"), "09:00:01 GET / 200\n09:00:02 GET /no 404\n09:00:0");

const db = await open(process.env.STORE ?? "memory:");
const logs = new LogFiles(db, "access");

// What a line does goes through the batch, and is committed in one step with how far the file is read.
const effects = ({ text }: Line, batch: Batch): void => {
  const [, , path = "?", status = "?"] = text.split(" ");
  batch.count(logs.key("by status"), status); // HINCRBY
  batch.score(logs.key("by path"), path); // ZINCRBY
  if (status === "404") batch.add(["LPUSH", logs.key("missing"), path]).add(["LTRIM", logs.key("missing"), 0, 99]);
};
console.log((await logs.process(folder, { effects })).lines);

// Killed here, or anywhere: the next run goes on from where this one was. So it does when files grow and are rotated.
appendFileSync(join(folder, "access.log"), "3 GET / 200\n");
renameSync(join(folder, "access.log"), join(folder, "access.log.1"));
writeFileSync(join(folder, "access.log"), "10:00:01 GET / 200\n");
const { lines, files } = await logs.process(folder, { effects });
console.log(
  lines,
  files.map(({ status }) => status),
);
console.log(await db.call("HGETALL", logs.key("by status")), await db.call("ZSCORE", logs.key("by path"), "/"));

// From now on, in as many processes as you like.
const loop = logs.follow(folder, { effects, everyMs: 1_000 }).start();
await loop.stop();
await db.close();
rmSync(folder, { recursive: true });
