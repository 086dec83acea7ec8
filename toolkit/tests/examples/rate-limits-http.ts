import type { AddressInfo } from "node:net";
import { open } from "cinnabar";
import { RateLimits } from "cinnabar/rate-limits";
import { limited } from "cinnabar/rate-limits/http";
import express from "express";

const db = await open(process.env.STORE ?? "memory:");
// While the store cannot be reached, everybody is let through.
const limiter = new RateLimits(db, { name: "api", rules: { limit: 1, windowMs: 3_600_000 }, whenUnreachable: "allow" });
const app = express();
app.use(limited(limiter, { subject: ({ headers }) => String(headers["x-api-key"] ?? "nobody") }));
app.get("/", (_request, response) => {
  response.send("hello");
});

const server = app.listen(0, "127.0.0.1", async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const key of ["ann", "ann", "ben"]) {
    const { status, headers } = await fetch(url, { headers: { "x-api-key": key } });
    console.log(key, status, headers.get("ratelimit-remaining"), headers.get("retry-after"));
  }
  server.closeAllConnections();
  server.close();
  await db.close();
});
