/** Only the console's own page, and visitors who were let in, can make it do anything. */
import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { open, type Store } from "cinnabar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hostName } from "../src/security.ts";
import { type Served, serve, temporaryFolder } from "./support.ts";

const folder = temporaryFolder();
let store: Store;
let open_: Served;
let locked: Served;

/** A request with any Host and any path, as fetch would not send it. */
function raw(
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, headers }, (response) => {
      let body = "";
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode!, body }));
    });
    asked.once("error", reject);
    asked.end();
  });
}

beforeAll(async () => {
  const page = join(folder.path, "ui");
  mkdirSync(page);
  writeFileSync(join(page, "index.html"), "<!doctype html><title>page</title>");
  writeFileSync(join(page, ".hidden"), "secret");
  writeFileSync(join(folder.path, "secret.txt"), "secret");
  store = await open();
  open_ = await serve(store, { page, hosts: ["cinnabar.test"] });
  locked = await serve(store, { page, password: "correct horse" });
});

afterAll(async () => {
  await open_?.console.close();
  await locked?.console.close();
  await store?.close();
  folder.remove();
});

describe("other sites", () => {
  const act = { words: ["SET", "owned", "1"] };

  test("cannot act without the console's header", async () => {
    const answer = await open_.send("POST", "/api/command", act, { "x-cinnabar": "" });
    expect(answer).toMatchObject({ status: 403, body: { code: "CROSS_SITE" } });
    expect(await store.call("GET", "owned")).toBeNull();
  });

  test("cannot act where the browser says that they are others", async () => {
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://evil.example" },
      { origin: "null" },
    ]) {
      expect(await open_.send("POST", "/api/command", act, headers as Record<string, string>)).toMatchObject({
        status: 403,
      });
    }
    expect(await store.call("GET", "owned")).toBeNull();
  });

  test("cannot read either", async () => {
    expect((await open_.get("/api/info", { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await open_.get("/api/info")).headers.get("access-control-allow-origin")).toBeNull();
  });

  test("cannot send a form or plain text", async () => {
    const init = {
      method: "POST",
      headers: { "x-cinnabar": "1", "content-type": "text/plain" },
      body: JSON.stringify(act),
    };
    expect((await fetch(`${open_.url}/api/command`, init)).status).toBe(415);
    expect(await store.call("GET", "owned")).toBeNull();
  });

  test("get no permission when they ask for it", async () => {
    const headers = {
      origin: "https://evil.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-cinnabar",
    };
    const answer = await fetch(`${open_.url}/api/command`, { method: "OPTIONS", headers });
    expect(answer.ok).toBe(false);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("the page itself may act", async () => {
    const own = { "sec-fetch-site": "same-origin", origin: open_.url };
    expect((await open_.send("POST", "/api/command", { words: ["SET", "mine", "1"] }, own)).status).toBe(200);
    expect(await store.call("GET", "mine")).toBe("1");
  });
});

describe("a host name that was made to point here", () => {
  test("is refused, for the page and for the API", async () => {
    for (const path of ["/", "/api/info"])
      expect((await raw(open_.port, path, { host: "evil.example" })).status).toBe(421);
    expect((await raw(open_.port, "/api/info", { host: `evil.example:${open_.port}` })).status).toBe(421);
  });

  test("addresses, localhost and names that were given are taken", async () => {
    for (const host of ["127.0.0.1", "localhost:80", "[::1]:8080", "192.168.1.7:8080", "cinnabar.test:9"]) {
      expect((await raw(open_.port, "/api/info", { host })).status, host).toBe(200);
    }
  });

  test("odd headers have no name", () => {
    for (const odd of [undefined, "", "a b", "user@127.0.0.1", "127.0.0.1:8080:1", "[::1", "a/b"])
      expect(hostName(odd)).toBeUndefined();
  });
});

describe("headers", () => {
  test("forbid inline script, frames, other hosts and guessing, on every answer", async () => {
    for (const path of ["/", "/api/info", "/nothing"]) {
      const { headers } = await open_.get(path);
      const policy = headers.get("content-security-policy")!;
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
    expect((await open_.get("/api/info")).headers.get("cache-control")).toBe("no-store");
  });
});

describe("paths", () => {
  test("do not lead out of the page's folder", async () => {
    expect((await raw(open_.port, "/index.html")).body).toContain("<title>page</title>");
    for (const path of [
      "/../secret.txt",
      "/%2e%2e/secret.txt",
      "/..%2fsecret.txt",
      "/%2e%2e%2fsecret.txt",
      "/..\\secret.txt",
      "//secret.txt",
      "/.hidden",
      "/%00/../secret.txt",
    ]) {
      const answer = await raw(open_.port, path);
      expect(answer.body, path).not.toContain('"secret"');
      expect(answer.body, path).not.toBe("secret");
      expect(answer.status, path).toBeGreaterThanOrEqual(400);
    }
  });
});

describe("the password", () => {
  const signIn = (password: string) => locked.send("POST", "/api/login", { password });

  test("is asked for by everything but the page and the way in", async () => {
    expect((await locked.get("/")).status).toBe(200);
    expect((await locked.get("/api/session")).body).toMatchObject({ locked: true, signedIn: false });
    for (const path of ["/api/info", "/api/live", "/api/keys", "/api/openapi.json"]) {
      expect(await locked.get(path), path).toMatchObject({ status: 401, body: { code: "SIGN_IN" } });
    }
    expect((await locked.send("POST", "/api/command", { words: ["PING"] })).status).toBe(401);
  });

  test("opens a session, which ends when one leaves", async () => {
    const answer = await signIn("correct horse");
    expect(answer.status).toBe(200);
    const set = answer.headers.get("set-cookie")!;
    expect(set).toMatch(/HttpOnly; SameSite=Strict/);
    const cookie = set.split(";")[0]!;
    expect((await locked.get("/api/info", { cookie })).status).toBe(200);
    expect((await locked.get("/api/info", { cookie: `${cookie}x` })).status).toBe(401);
    expect((await locked.send("POST", "/api/logout", undefined, { cookie })).status).toBe(200);
    expect((await locked.get("/api/info", { cookie })).status).toBe(401);
  });

  test("can be guessed only a few times, the right one then included", async () => {
    const answers: number[] = [];
    for (let nth = 0; nth < 7; nth++) answers.push((await signIn(`guess ${nth}`)).status);
    expect(answers.slice(0, 5)).toEqual([401, 401, 401, 401, 401]);
    expect(answers.slice(5)).toEqual([429, 429]);
    const refused = await signIn("correct horse");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});
