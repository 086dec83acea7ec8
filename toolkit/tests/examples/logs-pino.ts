import { open } from "cinnabar";
import { Logs } from "cinnabar/logs";
import { pino } from "pino";

const db = await open(process.env.STORE ?? "memory:");
const logs = new Logs(db);

// A destination for pino, alone or beside others (pino.multistream).
const log = pino({ name: "web" }, logs.stream());
log.info({ user: "ann" }, "user 17 signed in");
log.error(new Error("out of paper"), "cannot print");
await logs.flush();

const [latest] = await logs.recent("web", "info");
console.log(latest?.message, latest?.fields);
const [failure] = await logs.recent("web", "error");
console.log(failure?.message, (failure?.fields?.err as { message: string } | undefined)?.message);
await db.close();
