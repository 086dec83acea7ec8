import { open } from "cinnabar";
import { QuorumLocks } from "cinnabar/locks";

// Three independent servers: here, three stores in this process.
const servers = await Promise.all([open(), open(), open()]);
const locks = new QuorumLocks(servers);

// A caller that has to wait stands in the lines of all servers, and is next when the holder gives it back.
const first = await locks.acquire("order:17", { waitMs: 2_000 });
const waiting = locks.acquire("order:17", { waitMs: 2_000 });
await first?.release();
const second = await waiting;
console.log("next", (second?.fence ?? 0) > (first?.fence ?? 0));

// One server is lost: a majority is left.
await servers[0].close();
console.log("still held", second?.lost === false, await second?.release());

// Readers share; several names at once, all or none.
const readers = [await locks.acquire("report", { shared: true }), await locks.acquire("report", { shared: true })];
console.log("writer", await locks.acquire("report", { waitMs: 0 }));
for (const reader of readers) await reader?.release();
const both = await locks.acquireMany(["account:1", "account:2"], { waitMs: 2_000 });
console.log("both", await both?.release());

for (const server of servers) await server.close();
