import { open } from "cinnabar";
import { Places } from "cinnabar/places";

const db = await open(process.env.STORE ?? "memory:");
const places = new Places<{ country: string }>(db);

// In the order of their addresses, IPv4 and IPv6: any iterable of rows.
const rows = [
  { from: "2.16.0.0", to: "2.16.255.255", place: { country: "IT" } },
  { from: "2.17.0.0", to: "nonsense", place: { country: "FR" } },
  { from: "2.18.0.0", to: "2.18.255.255", place: { country: "FR" } },
  { from: "2001:db8::", to: "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", place: { country: "DE" } },
];
const report = await places.load(rows);
console.log(report.ranges, "ranges;", report.bad.examples[0]?.reason);

console.log(await places.get("2.16.4.4"));
console.log((await places.getMany(["2.18.0.1", "2001:db8::17", "9.9.9.9"])).map((found) => found?.place.country));
await db.close();
