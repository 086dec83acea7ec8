import { open } from "cinnabar";
import { Logs } from "cinnabar/logs";
import { pino } from "pino";

const db = await open(process.env.STORE ?? "memory:");
const logs = new Logs(db, { onError: (error, dropped) => console.error(dropped, "entries dropped:", error) });

// A destination for pino, alone or beside others (pino.multistream).
const log = pino({ name: "web" }, logs.stream());
log.info({ user: "ann" }, "user 17 signed in");
log.info("user 18 signed in");
log.error(new Error("out of paper"), "cannot print");

// Or by hand. Never waits and never throws because of the store.
logs.write("web", "info", "user 19 signed in");
await logs.flush();

const [latest] = await logs.recent("web", "info", { limit: 1 });
console.log(latest?.message);
const { thisHour, lastHour } = await logs.common("web", "info");
console.log([...thisHour, ...lastHour]); // alike messages meet: numbers do not count
const [failure] = await logs.recent("web", "error");
console.log(failure?.message, (failure?.fields?.err as { message: string } | undefined)?.message);
await db.close();
