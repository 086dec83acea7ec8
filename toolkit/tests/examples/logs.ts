import { open } from "cinnabar";
import { Logs } from "cinnabar/logs";

const db = await open(process.env.STORE ?? "memory:");
const logs = new Logs(db, { onError: (error, dropped) => console.error(dropped, "entries dropped:", error) });

// Never waits and never throws because of the store.
logs.write("web", "info", "user 17 signed in", { user: "ann" });
logs.write("web", "info", "user 18 signed in");
logs.write("web", "info", "user 19 signed in");
logs.write("web", "error", "cannot print", { reason: "out of paper" });
await logs.flush();

const [latest] = await logs.recent("web", "info", { limit: 1 });
console.log(latest?.message);
const { thisHour, lastHour } = await logs.common("web", "info");
console.log([...thisHour, ...lastHour]); // alike messages meet: numbers do not count
const [failure] = await logs.recent("web", "error");
console.log(failure?.message, failure?.fields?.reason);
await db.close();
