import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { open } from "cinnabar";
import { AccessTokens, StatusStream } from "cinnabar/streaming";
import { readStream, StreamEndpoint } from "cinnabar/streaming/http";

const db = await open(process.env.STORE ?? "memory:");
const stream = new StatusStream(db, "public");
const tokens = new AccessTokens(db);
const endpoint = new StreamEndpoint(stream, { tokens, limits: { connectionsPerUser: 2 } });
const server = createServer(endpoint.handler);
await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/stream`;

// Shown once; only a hash of it is stored.
const { token, id } = await tokens.issue("ann", { label: "laptop" });
console.log((await fetch(`${url}?track=redis`)).status);

await stream.publish({ kind: "status", id: "17", userId: "4", login: "ben", text: "Redis!", atMs: Date.now() });
// As `curl -N -H "Authorization: Bearer …" "$url?track=redis&after=oldest"` would, and back again after every fault.
for await (const message of readStream(url, { filter: { track: ["redis"] }, token, from: "oldest" })) {
  if (message.kind === "status") {
    console.log(message.login, "says", message.text);
    await tokens.revoke("ann", id);
  } else if (message.kind === "end") console.log(message.reason, "-", message.message);
}

await endpoint.close();
server.close();
await db.close();
