import type { AddressInfo } from "node:net";
import { open } from "cinnabar";
import { expressSessionStore } from "cinnabar/express-session";
import express from "express";
import session from "express-session";

const db = await open(process.env.STORE ?? "memory:");
const SessionStore = expressSessionStore(session.Store);
const app = express();
app.use(session({ store: new SessionStore(db), secret: "change me", resave: false, saveUninitialized: false }));
app.get("/", (request, response) => {
  const kept = request.session as unknown as { visits?: number };
  kept.visits = (kept.visits ?? 0) + 1;
  response.send(`visit ${kept.visits}`);
});

const server = app.listen(0, "127.0.0.1", async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const first = await fetch(url);
  console.log(await first.text());
  const cookie = (first.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  console.log(await (await fetch(url, { headers: { cookie } })).text());
  server.closeAllConnections();
  server.close();
  await db.close();
});
