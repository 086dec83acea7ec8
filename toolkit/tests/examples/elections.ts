import { open } from "cinnabar";
import { Elections } from "cinnabar/elections";

const db = await open(process.env.STORE ?? "memory:");
const elections = new Elections(db, { leaseMs: 10_000 });

// Leads whenever it is this process's turn, until it is stopped. The signal is aborted when leadership is lost: stop then.
const candidate = elections.candidate("indexer", { id: "host-1" }, async (term, signal) => {
  console.log(term.id, "leads", term.fence > 0);
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
});
candidate.start();
while (candidate.term === null) await new Promise(setImmediate);

// Another process waits in line. Everybody can see who leads, and who is next.
const successor = elections.campaign("indexer", { id: "host-2" });
const inLine = async () => (await elections.inspect("indexer")).candidates;
while ((await inLine()).length === 0) await new Promise(setImmediate);
console.log((await elections.get("indexer"))?.id, "leads,", (await inLine()).join(), "waits");

// Before a deployment, the leader hands over to a process that stays.
while ((await candidate.term?.handOver("host-2"))?.status === "not-found") await new Promise(setImmediate);
const term = await successor;
console.log(term?.id, "leads", (await elections.get("indexer"))?.fence === term?.fence);

await candidate.stop();
await term?.resign();
console.log("nobody leads:", await elections.get("indexer"));
await db.close();
