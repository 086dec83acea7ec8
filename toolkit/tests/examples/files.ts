import { open } from "cinnabar";
import { Files } from "cinnabar/files";

const db = await open(process.env.STORE ?? "memory:");
const logs = new Files(db, "logs", { budgetBytes: 16 * 2 ** 20 });

// Every file is for every reader: this one, and one that has not come yet.
const reader = await logs.join("counter");
await logs.invite("archive", { leaseMs: 60_000 });

// Bytes, a stream or a path; it waits while the budget is used up. Begun and broken off, it goes on where it was.
console.log(await logs.send("monday.log", Buffer.from("GET /\nGET /about\nPOST /\n")));
console.log(await logs.send("monday.log", Buffer.from("GET /\nGET /about\nPOST /\n")));

// A file that grows.
const writer = await logs.write("today.log");
await writer?.append("GET /\n");
await writer?.flush();
await writer?.close();

for await (const file of reader.files()) {
  for await (const line of file.lines()) {
    // Committed in one step with how far the file is read: killed anywhere, no line counts twice or not at all.
    file.count("methods", line.text.split(" ")[0] ?? "?");
  }
  console.log(file.name, file.lineCount, "lines", file.position, "bytes");
}
console.log(await logs.totals("methods"));

// Kept until the archive has it too.
console.log((await logs.list()).items.map(({ name, kept, readers }) => [name, kept, readers]));
const archive = await logs.join("archive");
for await (const file of archive.files()) for await (const block of file.blocks()) console.log(block.length);
console.log((await logs.list()).items, (await logs.inspect()).bytes);
await db.close();
