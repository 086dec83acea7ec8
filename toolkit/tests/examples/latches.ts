import { open } from "cinnabar";
import { Latches } from "cinnabar/latches";

const db = await open(process.env.STORE ?? "memory:");
const latches = new Latches(db);

// The first process makes it; the others find it.
console.log(await latches.create("import:7", { count: 3 }), await latches.create("import:7", { count: 3 }));

const finished = latches.waitFor("import:7", { timeoutMs: 60_000 });

// Under an id, a part counts once, however often its process says so.
console.log(await latches.countDown("import:7", { id: "part 1" }), "left");
console.log(await latches.countDown("import:7", { id: "part 1" }), "left");
await latches.countDown("import:7", { id: "part 2" });
await latches.countDown("import:7", { id: "part 3" });
console.log((await finished).status);

// It stays open for late waiters.
console.log((await latches.waitFor("import:7")).status, (await latches.waitFor("import:8")).status);
await db.close();
