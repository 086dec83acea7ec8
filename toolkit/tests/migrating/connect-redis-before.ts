import type { AddressInfo } from "node:net";
import { RedisStore } from "connect-redis";
import express from "express";
import session from "express-session";
import { createClient } from "redis";

const client = createClient({ url: process.env.REDIS_URL ?? "redis://localhost:6379" });
await client.connect();
const store = new RedisStore({ client, ttl: 3_600 });

type Kept = session.Session & { visits?: number };

const app = express();
app.use(session({ store, secret: "change me", resave: false, saveUninitialized: false }));
app.get("/", (request, response) => {
  const kept = request.session as unknown as Kept;
  kept.visits = (kept.visits ?? 0) + 1;
  response.send(`visit ${kept.visits}`);
});
app.get("/leave", (request, response) => {
  const kept = request.session as unknown as Kept;
  kept.destroy(() => response.send("bye"));
});

const server = app.listen(0, "127.0.0.1", async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const first = await fetch(url);
  console.log(await first.text());
  const headers = { cookie: (first.headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
  for (const path of ["/", "/leave", "/"]) console.log(await (await fetch(`${url}${path}`, { headers })).text());
  server.closeAllConnections();
  server.close();
  await client.close();
});
