import type { AddressInfo } from "node:net";
import { open } from "cinnabar";
import { limited, sessionMiddleware } from "cinnabar/express";
import { RateLimits } from "cinnabar/rate-limits";
import { Sessions } from "cinnabar/sessions";
import express from "express";

const db = await open(process.env.STORE ?? "memory:");
const app = express();
app.use(limited(new RateLimits(db, { name: "pages", rules: { limit: 100, windowMs: 60_000 } })));
app.use(sessionMiddleware(new Sessions(db)));

app.get("/", async (request, response) => {
  const visits = Number(request.session.data.visits ?? 0) + 1;
  await request.session.set({ visits });
  response.json({ user: request.session.user, visits });
});
app.post("/sign-in/:user", async (request, response) => {
  // Checking the password is yours.
  await request.session.signIn(request.params.user);
  response.sendStatus(204);
});
app.post("/sign-out", async (request, response) => {
  await request.session.signOut();
  response.sendStatus(204);
});

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
