/** The documentation under /docs: served as files, under policies of its own, or how to build it where there is none. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open, type Store } from "cinnabar";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docsHeaders } from "../src/docs.ts";
import { consoleFor } from "../src/mount.ts";
import { type Served, serve } from "./support.ts";

const root = mkdtempSync(join(tmpdir(), "cinnabar-docs-"));
let store: Store;
let served: Served;

beforeAll(async () => {
  mkdirSync(join(root, "run"));
  mkdirSync(join(root, "assets"));
  mkdirSync(join(root, "keys"));
  writeFileSync(join(root, "keys/index.html"), "<title>keys</title>");
  writeFileSync(join(root, "index.html"), "<title>start</title>");
  writeFileSync(join(root, "404.html"), "<title>absent</title>");
  writeFileSync(join(root, "run/worker.js"), "postMessage(1);");
  writeFileSync(join(root, "assets/app.Abcd1234.js"), "1;");
  store = await open();
  served = await serve(store, { docs: root, password: "secret" });
});
afterAll(async () => {
  await served.console.close();
  await store.close();
  rmSync(root, { recursive: true, force: true });
});

const directive = (headers: Headers, name: string): string | undefined =>
  headers
    .get("content-security-policy")
    ?.split("; ")
    .find((each) => each.startsWith(`${name} `))
    ?.slice(name.length + 1);

test("pages come without a password, and run no script that is not a file of this host", async () => {
  const page = await served.get("/docs/");
  expect([page.status, page.body]).toEqual([200, "<title>start</title>"]);
  expect(directive(page.headers, "script-src")).toBe("'self'");
  expect(directive(page.headers, "connect-src")).toBe(`127.0.0.1:${served.port}/docs/`);
  expect(page.headers.get("cache-control")).toBe("no-cache");
});

test("workers may compile and import what they have made, and reach the site's files only", async () => {
  const { headers } = await served.get("/docs/run/worker.js");
  expect(directive(headers, "script-src")).toBe(`127.0.0.1:${served.port}/docs/ blob: 'unsafe-eval'`);
  expect(directive(headers, "connect-src")).toBe(`127.0.0.1:${served.port}/docs/`);
});

test("the key browser may stand in a frame of this host, and asks nothing of it but its own files", async () => {
  const { headers } = await served.get("/docs/keys/index.html");
  expect(directive(headers, "frame-ancestors")).toBe("'self'");
  expect(headers.get("x-frame-options")).toBe("SAMEORIGIN");
  expect(directive(headers, "default-src")).toBe("'none'");
  expect(directive(headers, "script-src")).toBe(`127.0.0.1:${served.port}/docs/`);
  expect(directive(headers, "connect-src")).toBeUndefined();
  const page = await served.get("/docs/");
  expect(directive(page.headers, "frame-src")).toBe(`127.0.0.1:${served.port}/docs/`);
  expect(directive(page.headers, "frame-ancestors")).toBe("'none'");
  expect(page.headers.get("x-frame-options")).toBe("DENY");
});

test("an address of IPv6, which a policy cannot name, is this host", () => {
  expect(docsHeaders("/docs/run/worker.js", "[::1]:8080")["content-security-policy"]).toContain(
    "script-src 'self' blob: 'unsafe-eval'; connect-src 'self'",
  );
});

test("files with a hash in their names are kept, and the address without a slash leads on", async () => {
  const { headers } = await served.get("/docs/assets/app.Abcd1234.js");
  expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  const moved = await fetch(`${served.url}/docs`, { redirect: "manual" });
  expect([moved.status, moved.headers.get("location")]).toEqual([308, "/docs/"]);
});

test("what is absent is the site's own page for that, and the API goes on asking for a password", async () => {
  const absent = await served.get("/docs/nothing.html");
  expect([absent.status, absent.body]).toEqual([404, "<title>absent</title>"]);
  expect([403, 404]).toContain((await served.get("/docs/..%2fpackage.json")).status);
  expect((await served.get("/api/overview")).status).toBe(401);
});

test("a site that is not built says how to build it", async () => {
  const without = await serve(store, { docs: join(root, "nowhere") });
  const { status, body } = await without.get("/docs/guide/engine.html");
  expect(status).toBe(404);
  expect(body).toContain("npm run build && npm run site");
  await without.console.close();
});

test("a mounted console does not serve it", async () => {
  const mounted = await consoleFor(store, { basePath: "/admin", authorize: () => true });
  const response = await mounted.fetch(new Request("http://127.0.0.1/admin/docs/"));
  expect([response.status, await response.text()]).toEqual([404, expect.stringContaining("does not serve")]);
  await mounted.close();
});
