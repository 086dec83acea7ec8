import type { AddressInfo } from "node:net";
import { open } from "cinnabar";
import { Cache } from "cinnabar/cache";
import { type CachedPage, cachedPages, pageCodec } from "cinnabar/cache/http";
import { Views } from "cinnabar/views";
import express from "express";

const db = await open(process.env.STORE ?? "memory:");
const pages = new Cache<CachedPage>(db, "pages", { freshMs: 300_000, codec: pageCodec });
const app = express();
app.use(
  "/products",
  cachedPages(pages, {
    tags: () => ["products"],
    views: new Views(db, "pages"), // only pages among the 10 000 most viewed
  }),
);
let rendered = 0;
app.get("/products/:id", (request, response) => {
  response.send(`product ${request.params.id}, rendered ${++rendered}`);
});

const server = app.listen(0, "127.0.0.1", async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/products/17`;
  const show = async () => {
    const response = await fetch(url);
    console.log(response.headers.get("x-cache"), await response.text());
  };
  await show();
  await show();
  await pages.invalidate("products");
  await show();
  server.closeAllConnections();
  server.close();
  await db.close();
});
