import type { AddressInfo } from "node:net";
import { open } from "cinnabar";
import { RateLimitStore } from "cinnabar/express-rate-limit";
import express from "express";
import { rateLimit } from "express-rate-limit";

const db = await open(process.env.STORE ?? "memory:");
const app = express();
app.use(rateLimit({ windowMs: 60_000, limit: 2, standardHeaders: "draft-6", store: new RateLimitStore(db) }));
app.get("/", (_request, response) => {
  response.send("hello");
});

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
