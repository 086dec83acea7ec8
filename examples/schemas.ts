import { open, SchemaError } from "cinnabar";
import { Cache } from "cinnabar/cache";
import { Config } from "cinnabar/config";
import { Queue, Worker } from "cinnabar/queues";
import { Sessions } from "cinnabar/sessions";
import { z } from "zod"; // or valibot, arktype: anything that implements Standard Schema

const db = await open(process.env.STORE ?? "memory:");

// Job data and results: callers, handlers and readers have the types of the schemas.
const mails = new Queue(db, "mails", {
  schema: z.object({ to: z.email(), sendAt: z.coerce.date(), copies: z.number().int().default(1) }),
  resultSchema: z.object({ messageId: z.string() }),
});
const worker = new Worker(mails, ({ data }) => ({ messageId: `${data.sendAt.getUTCFullYear()}-${data.copies}` }));
worker.start();
console.log(await mails.addAndWait({ to: "ann@example.com", sendAt: "2026-01-02" }));
await mails.add({ to: "ann", sendAt: "2026-01-02" }).catch((error: SchemaError) => {
  console.log(error instanceof SchemaError, error.issues[0]?.path);
});

// Sessions: a schema for each piece of data.
const sessions = new Sessions(db, { schema: { theme: z.enum(["dark", "light"]), visits: z.number().int() } });
const session = await sessions.create({ data: { theme: "dark" } });
console.log(session.data.theme);

// Cache: a stored value of an older form is loaded anew.
await new Cache(db, "users").set("17", { fullName: "Ann Lee" });
const users = new Cache(db, "users", { schema: z.object({ name: z.string() }) });
console.log(await users.get("17", () => ({ name: "Ann Lee" })));

// Configuration: a value that does not match never becomes current.
const config = new Config(db, "shop", { schema: z.object({ maxItems: z.number() }), defaults: { maxItems: 10 } });
await config.start();
await config.set({ maxItems: 20 });
console.log(config.value.maxItems);

await config.stop();
await worker.stop();
await db.close();
