import type { AddressInfo } from "node:net";
import { open } from "cinnabar";
import { expressSessionStore } from "cinnabar/express-session";
import express from "express";
import session from "express-session";

const db = await open(process.env.STORE ?? "memory:");
const SessionStore = expressSessionStore(session.Store);
const store = new SessionStore(db, { ttlMs: 86_400_000 });
const app = express();
app.use(session({ store, secret: "change me", resave: false, saveUninitialized: false }));

app.get("/", (request, response) => {
  const kept = request.session as unknown as { visits?: number };
  kept.visits = (kept.visits ?? 0) + 1;
  response.json({ visits: kept.visits });
});
app.get("/count", (_request, response) => {
  store.length((error, count) => {
    if (error) response.sendStatus(500);
    else response.json({ count });
  });
});
app.post("/clear", (_request, response) => {
  store.clear((error) => response.sendStatus(error ? 500 : 204));
});

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
