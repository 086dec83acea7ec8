import { readFileSync } from "node:fs";
import { Engine } from "@cinnabar/engine";
import { open } from "cinnabar";

// A server that asks clients for a certificate of the same authority.
const engine = await Engine.open();
const { port } = await engine.listen({ port: 0, tls: { cert: "server.pem", key: "server.key", ca: "ca.pem" } });

const read = (file: string): string => readFileSync(file, "utf8");
const db = await open(`rediss://localhost:${port}`, {
  tls: { ca: read("ca.pem"), cert: read("client.pem"), key: read("client.key") },
});
await db.set("greeting", "hello");
console.log(await db.get("greeting"));

await db.close();
await engine.close();
