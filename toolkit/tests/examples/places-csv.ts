import { Readable } from "node:stream";
import { open } from "cinnabar";
import { Places, ranges } from "cinnabar/places";

const db = await open(process.env.STORE ?? "memory:");
const places = new Places<{ country: string }>(db);

// A path or a stream: two addresses or a network to a line. `geoLite` reads GeoLite City's two files.
const csv = Readable.from(["2.16.0.0,2.16.255.255,IT\n", "nonsense\n", "2.17.0.0/16,FR\n", "2001:db8::/32,DE\n"]);
const report = await places.load(ranges<{ country: string }>(csv, { columns: ["country"] }), {
  onProgress: ({ rows, bad }) => console.log(rows, "rows,", bad, "bad"),
});
console.log(report.ranges, "ranges;", report.bad.examples[0]?.reason);
console.log((await places.get("2.17.0.1"))?.place);
await db.close();
