import { open } from "cinnabar";
import { LocalMap } from "cinnabar/local-map";

const db = await open(process.env.STORE ?? "memory:");
const flags = new LocalMap<{ share: number }>(db, "flags");
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

await flags.set("dark-mode", { share: 0.1 });
console.log(await flags.get("dark-mode"), await flags.get("none"));

// Once it listens, it answers from memory, until somebody changes the entry.
while (flags.stats().hits < 3) {
  await flags.get("dark-mode");
  await pause(10);
}
const elsewhere = new LocalMap<{ share: number }>(db, "flags"); // in another process
await elsewhere.set("dark-mode", { share: 0.5 });
while ((await flags.get("dark-mode"))?.share !== 0.5) await pause(10);
console.log(await flags.get("dark-mode"), flags.stats().invalidated > 0);

await flags.close();
await db.close();
