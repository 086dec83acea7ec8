import type { AddressInfo } from "node:net";
import { open } from "cinnabar";
import { expressSessionStore } from "cinnabar/express-session";
import express from "express";
import session from "express-session";

const db = await open(process.env.REDIS_URL ?? "memory:");
const SessionStore = expressSessionStore(session.Store);
const store = new SessionStore(db, { ttlMs: 3_600_000 });

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
  await db.close();
});
