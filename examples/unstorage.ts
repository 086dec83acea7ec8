import { cinnabarDriver } from "cinnabar/unstorage";
import { createStorage } from "unstorage";

const storage = createStorage({ driver: cinnabarDriver({ store: process.env.STORE ?? "memory:", base: "app" }) });
await storage.setItem("users:17", { name: "Ann" }, { ttl: 60 });
console.log(await storage.getItem("users:17"), await storage.getKeys("users"));
await storage.clear();
console.log(await storage.getItem("users:17"));
await storage.dispose();
