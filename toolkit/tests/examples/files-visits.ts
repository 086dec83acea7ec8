import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { open } from "cinnabar";
import { Files } from "cinnabar/files";
import { Places, ranges } from "cinnabar/places";

const db = await open(process.env.STORE ?? "memory:");
const places = new Places<{ country: string }>(db);
const table = Readable.from(["2.16.0.0,2.16.255.255,IT\n", "2.17.0.0/16,FR\n", "2001:db8::/32,DE\n"]);
await places.load(ranges<{ country: string }>(table, { columns: ["country"] }));

// The servers' side: each sends its logs, packed as they are.
const logs = new Files(db, "access");
await logs.invite("visits");
const log = (...visits: string[]): Buffer =>
  gzipSync(visits.map((visit) => `${visit} "GET / HTTP/1.1" 200\n`).join(""));
await logs.send("web1.log.gz", log("2.16.0.9 - [14/Nov/2026:23:59:58]", "2.17.3.4 - [15/Nov/2026:00:00:01]"));
await logs.send("web2.log.gz", log("2.16.8.8 - [15/Nov/2026:10:00:00]", "9.9.9.9 - [15/Nov/2026:10:00:01]"));

// The counting side: visits per country and day. Killed anywhere, the next process under this name goes on, and counts nothing twice.
const reader = await logs.join("visits");
for await (const file of reader.files()) {
  for await (const lines of file.lineBatches()) {
    const visits = lines.map(({ text }) => /^(\S+) .*?\[([^:]+):/.exec(text));
    const found = await places.getMany(visits.map((visit) => visit?.[1] ?? "0.0.0.0"));
    visits.forEach((visit, nth) => {
      file.count("visits", `${visit?.[2] ?? "unknown"} ${found[nth]?.place.country ?? "unknown"}`);
    });
  }
}
console.log(await logs.totals("visits"));
await db.close();
