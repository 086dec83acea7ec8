import { open } from "cinnabar";
import { Config, Connections, Maintenance } from "cinnabar/config";

interface Settings {
  readonly pageSize: number;
  readonly cacheUrl: string;
}

const db = await open(process.env.STORE ?? "memory:");
const settings = new Config<Settings>(db, "shop", {
  defaults: { pageSize: 20, cacheUrl: process.env.STORE ?? "memory:" },
  // Any function that throws on what is wrong will do: a schema's `parse`, for one.
  validate: (value) => {
    const { pageSize, cacheUrl } = value as Settings;
    if (!Number.isInteger(pageSize) || pageSize < 1) throw new TypeError("pageSize must be a positive integer");
    return { pageSize, cacheUrl: String(cacheUrl) };
  },
});
await settings.start();
console.log("page size", settings.value.pageSize);

// Every process that has started the same configuration hears of a change.
settings.on("change", ({ value, version }) => console.log("version", version, "page size", value.pageSize));
await settings.set({ ...settings.value, pageSize: 50 }, { by: "ann", note: "larger screens" });
await settings.update((now) => ({ ...now, pageSize: now.pageSize + 10 }), { by: "bob" });

// Only if nobody was faster.
console.log((await settings.set({ ...settings.value, pageSize: 1 }, { ifVersion: 1 })).status);
for (const { version, by, note } of await settings.history()) console.log("changed", version, by, note);

// Asked at every request, looked up once a second.
const maintenance = new Maintenance(db, "shop");
await maintenance.begin({ reason: "moving house", ttlMs: 3_600_000 });
console.log("closed for", (await maintenance.inspect()).reason);
await maintenance.end();

// Connections that follow the configuration: made when first used, made anew when their address changes.
const connections = new Connections(db, settings, ({ cacheUrl }) => ({ cache: cacheUrl }));
console.log("cache", await connections.use("cache", (cache) => cache.call("PING")));

await connections.close();
await db.close();
