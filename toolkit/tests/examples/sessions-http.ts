import type { AddressInfo } from "node:net";
import { open } from "cinnabar";
import { Sessions } from "cinnabar/sessions";
import { sessionMiddleware, type WithSession } from "cinnabar/sessions/http";
import express from "express";

const db = await open(process.env.STORE ?? "memory:");
const app = express();
app.use(sessionMiddleware(new Sessions(db), { viewed: ({ url }) => (url?.startsWith("/item/") ? url : undefined) }));
app.post("/sign-in/:user", async (request, response) => {
  // Checking the password is yours.
  await (request as unknown as WithSession).session.signIn(request.params.user);
  response.end();
});
app.get("/", (request, response) => {
  response.send((request as unknown as WithSession).session.user ?? "somebody");
});
app.post("/sign-out", async (request, response) => {
  await (request as unknown as WithSession).session.signOutEverywhere();
  response.end();
});

const server = app.listen(0, "127.0.0.1", async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(await (await fetch(url)).text());
  const { headers } = await fetch(`${url}/sign-in/ann`, { method: "POST" });
  const [cookie = "", ...attributes] = (headers.get("set-cookie") ?? "").split("; ");
  console.log(attributes.join("; "));
  console.log(await (await fetch(url, { headers: { cookie } })).text());
  await fetch(`${url}/sign-out`, { method: "POST", headers: { cookie } });
  console.log(await (await fetch(url, { headers: { cookie } })).text());
  server.closeAllConnections();
  server.close();
  await db.close();
});
