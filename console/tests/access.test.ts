/** Users, roles, the audit log, connections and databases, cookies behind a proxy, a store that is down at the start. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Engine } from "@cinnabar/engine";
import { open, type Store } from "cinnabar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { Audit } from "../src/access/audit.ts";
import { leastRole } from "../src/access/roles.ts";
import { connectionTo } from "../src/access/routes.ts";
import { urlFor } from "../src/access/targets.ts";
import { ROLES } from "../src/access/user.ts";
import { hashPassword, type KnownUser, readUsers } from "../src/access/users.ts";
import { ROUTES } from "../src/routes.ts";
import { openConsole } from "../src/server.ts";
import { type Backend, backends, type Served, serve, temporaryFolder } from "./support.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

async function signIn(served: Served, name: string, password = `${name}'s own`): Promise<Record<string, string>> {
  const answer = await served.send("POST", "/api/login", { name, password });
  expect(answer.status).toBe(200);
  return { cookie: answer.headers.get("set-cookie")!.split(";")[0]! };
}

const acting = ROUTES.filter(({ method, url }) => method !== "GET" && !url.startsWith("/api/examples"));

describe.each(backends(installed("redis-server") ? startRedis : undefined))("roles on %s", (_name, start) => {
  let backend: Backend;
  let served: Served;
  const as: Record<string, Record<string, string>> = {};

  beforeAll(async () => {
    backend = await start();
    await backend.store.call("SET", "k", "v");
    const users: KnownUser[] = [];
    for (const role of ROLES) users.push({ name: role, role, password: await hashPassword(`${role}'s own`) });
    served = await serve(backend.store, { users });
    for (const role of ROLES) as[role] = await signIn(served, role);
  });
  afterAll(async () => {
    await served?.console.close();
    await backend?.stop();
  });

  const run = async (role: string, ...words: string[]) => {
    const { status, body } = await served.send("POST", "/api/command", { words, confirm: true }, as[role]);
    return status === 200 ? "runs" : `${status} ${body.code}`;
  };

  test("without a name and password there is nothing", async () => {
    expect(await served.get("/api/keys")).toMatchObject({ status: 401, body: { code: "SIGN_IN" } });
    for (const body of [
      { name: "viewer", password: "admin's own" },
      { name: "nobody", password: "x" },
      { password: "admin's own" },
    ]) {
      expect((await served.send("POST", "/api/login", body)).status).toBe(401);
    }
  });

  test("each is told who they are", async () => {
    for (const role of ROLES) {
      const { body } = await served.get("/api/session", as[role]);
      expect(body).toMatchObject({ signedIn: true, named: true, user: { name: role, role } });
    }
  });

  test("a viewer is refused by every route that acts, before its body is looked at", async () => {
    for (const { method, url } of acting.filter((route) => leastRole(route) !== "viewer")) {
      const answer = await served.send(method, url.replace(/:\w+/g, "1"), {}, as.viewer);
      expect(answer, `${method} ${url}`).toMatchObject({ status: 403, body: { code: "ROLE" } });
    }
    expect(await backend.store.call("GET", "k")).toBe("v");
  });

  test("an operator is refused by routes for admins, and by no other", async () => {
    for (const route of acting.filter(({ url }) => !url.startsWith("/api/persistence"))) {
      const { status, body } = await served.send(route.method, route.url.replace(/:\w+/g, "1"), {}, as.operator);
      const isRefused = status === 403 && body.code === "ROLE";
      expect(isRefused, `${route.method} ${route.url}`).toBe(leastRole(route) === "admin");
    }
    expect((await served.get("/api/audit", as.operator)).status).toBe(403);
  });

  test("commands ask for the role that they need", async () => {
    const table: [string[], string, string, string][] = [
      [["GET", "k"], "runs", "runs", "runs"],
      [["INFO", "server"], "runs", "runs", "runs"],
      [["SET", "k", "v"], "403 ROLE", "runs", "runs"],
      [["CONFIG", "SET", "maxmemory", "0"], "403 ROLE", "403 ROLE", "runs"],
      [["CLIENT", "KILL", "ID", "999999"], "403 ROLE", "403 ROLE", "runs"],
      [["FLUSHDB"], "403 ROLE", "403 ROLE", "runs"],
      [["EVAL", "return 1", "0"], "403 ROLE", "403 ROLE", "runs"],
      [["EVAL_RO", "return 1", "0"], "runs", "runs", "runs"],
      [["ACL", "LIST"], "403 ROLE", "403 ROLE", "runs"],
    ];
    for (const [words, ...expected] of table) {
      const seen = [];
      for (const role of ROLES) seen.push(await run(role, ...words));
      expect(seen, words.join(" ")).toEqual(expected);
    }
  });

  test("secrets of the configuration are for admins", async () => {
    await backend.store.call("CONFIG", "SET", "masterauth", "s3cret");
    const words = ["CONFIG", "GET", "master*"];
    const told = async (role: string) =>
      JSON.stringify((await served.send("POST", "/api/command", { words }, as[role])).body);
    expect(await told("viewer")).not.toContain("s3cret");
    expect(await told("admin")).toContain("s3cret");
    await backend.store.call("CONFIG", "SET", "masterauth", "");
  });

  test("what was done and what was refused is in the audit log, without values", async () => {
    const body = { key: "greeting", type: "string", value: "a secret value" };
    await served.send("POST", "/api/key", body, as.operator);
    await served.send("POST", "/api/key", body, as.viewer);
    await run("operator", "SET", "other", "another secret");
    await run("operator", "GET", "other");
    await run("admin", "CONFIG", "SET", "masterauth", "third secret");
    await run("admin", "CONFIG", "SET", "masterauth", "");
    const { body: log } = await served.get("/api/audit", as.admin);
    const text = JSON.stringify(log);
    expect(text).not.toMatch(/secret|'s own/);
    expect(text).not.toContain('"GET"');
    expect(log.entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ user: "operator", action: "POST /api/key", outcome: "done" }),
        expect.objectContaining({ user: "viewer", action: "POST /api/key", outcome: "refused", status: 403 }),
        expect.objectContaining({ user: "operator", action: "SET", target: 'keys=["other"]', store: "main:0" }),
        expect.objectContaining({ user: "admin", action: "CONFIG SET masterauth" }),
        expect.objectContaining({ user: "nobody", action: "sign in", outcome: "refused" }),
      ]),
    );
    const mine = await served.get("/api/audit?user=viewer&limit=1", as.admin);
    expect(mine.body.entries).toHaveLength(1);
  });
});

describe("the audit log's file", () => {
  test("is for its owner only, and is rotated", async () => {
    const file = join(folder.path, "audit.log");
    const audit = new Audit({ file, maxFileBytes: 2_000 });
    const entry = { at: "", user: "ann", role: "admin", address: "", store: "main:0", outcome: "done" } as const;
    for (let nth = 0; nth < 100; nth++) audit.note({ ...entry, action: `action ${nth}`, target: "", status: 200 });
    await audit.close();
    expect(statSync(file).mode & 0o077).toBe(0);
    const sizes = ["", ".1", ".2", ".3", ".4"].map((ending) => statSync(file + ending).size);
    for (const size of sizes) expect(size).toBeLessThan(2_500);
    expect(() => statSync(`${file}.5`)).toThrow();
    const last = readFileSync(file, "utf8").trim().split("\n").at(-1)!;
    expect(JSON.parse(last)).toMatchObject({ action: "action 99" });
    expect(audit.list({ limit: 2 }).map(({ action }) => action)).toEqual(["action 99", "action 98"]);
  });
});

describe("a file of users", () => {
  const write = (name: string, content: unknown, mode = 0o600) => {
    mkdirSync(folder.path, { recursive: true });
    const path = join(folder.path, name);
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content), { mode });
    return path;
  };

  test("has names, roles and passwords, and may have users of the store", () => {
    const users = [
      { name: "ann", role: "admin", password: "p" },
      { name: "ben", role: "viewer", password: "q", store: { username: "reader", password: "r" } },
    ];
    expect(readUsers(write("users.json", { users }))).toEqual(users);
  });

  test("is refused, without its content being told, where something is wrong", () => {
    const wrong: [unknown, RegExp][] = [
      ["{ secret", /is no JSON$/],
      [{ users: [] }, /has no list/],
      [{ users: [{ name: "a b", role: "admin", password: "secret" }] }, /name of user 1/],
      [{ users: [{ name: "ann", role: "root", password: "secret" }] }, /role of 'ann' is one of/],
      [{ users: [{ name: "ann", role: "admin" }] }, /no password/],
      [{ users: [{ name: "ann", role: "admin", password: "p", more: "secret" }] }, /unknown field 'more'/],
    ];
    for (const [nth, [content, message]] of wrong.entries()) {
      const path = write(`wrong-${nth}.json`, content);
      expect(() => readUsers(path)).toThrow(message);
      expect(() => readUsers(path)).not.toThrow(/secret/);
    }
    const { path } = { path: write("open.json", { users: [] }, 0o644) };
    expect(() => readUsers(path)).toThrow(/chmod 600/);
  });
});

describe.runIf(installed("redis-server"))("on a redis-server with an ACL", () => {
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let admin: Store;
  beforeAll(async () => {
    redis = await startRedis();
    admin = await open(redis.url);
    await admin.call("ACL", "SETUSER", "shop", "on", ">pw", "~shop:*", "+@all", "-@dangerous", "+info", "+config|get");
    await admin.call("SET", "shop:1", "a");
    await admin.call("SET", "secret:1", "b");
  });
  afterAll(async () => {
    await admin?.close();
    await redis?.stop();
  });

  test("a user acts with the rights of the store's own user", async () => {
    const users: KnownUser[] = [
      { name: "ann", role: "admin", password: "ann's own", store: { username: "shop", password: "pw" } },
      { name: "root", role: "admin", password: "root's own" },
    ];
    const served = await serveConnections([connectionTo("main", redis.url)], { users });
    const ann = await signIn(served, "ann");
    const root = await signIn(served, "root");
    const get = (key: string, who: Record<string, string>) =>
      served.send("POST", "/api/command", { words: ["GET", key] }, who);
    await expect.poll(async () => (await get("shop:1", ann)).body.value).toBe("a");
    expect((await get("secret:1", ann)).body).toMatchObject({ status: 422, code: "NOPERM" });
    await expect.poll(async () => (await get("secret:1", root)).body.value).toBe("b");
    await served.console.close();
  });

  test("databases are chosen in the address", async () => {
    const served = await serveConnections([connectionTo("main", redis.url)]);
    const run = (where: string, ...words: string[]) => served.send("POST", `/api/${where}command`, { words });
    await expect.poll(async () => (await run("@main:3/", "SET", "only", "in three")).status).toBe(200);
    expect((await run("@:3/", "GET", "only")).body.value).toBe("in three");
    await expect.poll(async () => (await run("", "EXISTS", "only")).body.value).toBe(0);
    expect((await served.get("/api/@main:3/keys")).body.keys).toHaveLength(1);
    const { body } = await served.get("/api/connections");
    expect(body.connections).toMatchObject([{ name: "main", databases: 16, canSwitch: true }]);
    expect((await served.get("/api/@other:0/keys")).body.code).toBe("NO_CONNECTION");
    expect((await served.get("/api/@main:99999/keys")).status).toBe(404);
    await served.console.close();
  });
});

async function serveConnections(
  connections: readonly [ReturnType<typeof connectionTo>, ...ReturnType<typeof connectionTo>[]],
  options: object = {},
): Promise<Served> {
  const store = await open();
  const served = await serve(store, { ...options, connections });
  const { close } = served.console;
  return { ...served, console: { ...served.console, close: () => close().then(() => store.close()) } };
}

describe("connections", () => {
  test("are told apart by the address, also while one is down, and never show credentials", async () => {
    const [one, two] = [await Engine.open(), await Engine.open()];
    const ports = [];
    for (const each of [one, two]) ports.push((await each.listen({ host: "127.0.0.1", port: 0 })).port);
    const served = await serveConnections([
      connectionTo("one", `redis://127.0.0.1:${ports[0]}`),
      connectionTo("two", `redis://default:s3cret@127.0.0.1:${ports[1]}`),
      connectionTo("down", "redis://user:s3cret@127.0.0.1:1"),
    ]);
    one.connect().call("SET", "who", "one");
    two.connect().call("SET", "who", "two");
    const get = async (where: string) =>
      (await served.send("POST", `/api/${where}command`, { words: ["GET", "who"] })).body.value;
    await expect.poll(() => get("")).toBe("one");
    await expect.poll(() => get("@two:0/")).toBe("two");
    await expect.poll(async () => (await served.get("/api/@down:0/keys")).body.detail).toContain("cannot be reached");
    expect(JSON.stringify((await served.get("/api/connections")).body)).not.toContain("s3cret");
    expect(JSON.stringify((await served.get("/api/@down:0/info")).body)).not.toContain("s3cret");
    await served.console.close();
    await one.close();
    await two.close();
  });

  test("are added by an admin only where that is allowed, and only if they answer", async () => {
    const engine = await Engine.open();
    const { port } = await engine.listen({ host: "127.0.0.1", port: 0 });
    const store = await open();
    const [closed, opened] = [await serve(store), await serve(store, { allowConnections: true })];
    const body = { name: "more", url: `redis://127.0.0.1:${port}` };
    expect((await closed.send("POST", "/api/connections", body)).body.code).toBe("NOT_ALLOWED");
    expect((await opened.send("POST", "/api/connections", body)).status).toBe(200);
    expect((await opened.send("POST", "/api/connections", body)).status).toBe(409);
    for (const url of ["http://127.0.0.1/", "file:///etc/passwd", "/etc/passwd"]) {
      expect((await opened.send("POST", "/api/connections", { name: "x", url })).status, url).toBe(400);
    }
    expect((await opened.send("POST", "/api/connections", { name: "x", url: "redis://127.0.0.1:1" })).status).toBe(503);
    expect((await opened.send("DELETE", "/api/connections/more")).status).toBe(200);
    expect((await opened.send("DELETE", "/api/connections/main")).status).toBe(409);
    await closed.console.close();
    await opened.console.close();
    await store.close();
    await engine.close();
  });

  test("addresses of other databases and users are made of the first", () => {
    const user = { username: "a:b", password: "c@d" };
    expect(urlFor("redis://h:1", { db: 2 })).toBe("redis://h:1/2");
    expect(urlFor("redis://u:p@h:1/0", { db: 2 })).toBe("redis://u:p@h:1/2");
    expect(urlFor("redis://u:p@h:1", { db: 0, credentials: user })).toBe("redis://a%3Ab:c%40d@h:1");
    expect(urlFor("unix:///tmp/s?db=1", { db: 2 })).toBe("unix:///tmp/s?db=2");
    expect(urlFor("redis+sentinel://a,b/main/0", { db: 2 })).toBe("redis+sentinel://a,b/main/2");
    expect(() => urlFor("redis+cluster://a,b", { db: 2 })).toThrow("only database 0");
  });
});

describe("a store that is down when the console starts", () => {
  test("is told by readyz and the API, and connected to when it is up", async () => {
    const first = await Engine.open();
    const { port } = await first.listen({ host: "127.0.0.1", port: 0 });
    await first.close();
    const served = await serveConnections([connectionTo("main", `redis://127.0.0.1:${port}`)]);
    expect((await served.get("/readyz")).status).toBe(503);
    expect((await served.get("/healthz")).status).toBe(200);
    expect((await served.get("/metrics")).status).toBe(200);
    expect(await served.get("/api/keys")).toMatchObject({ status: 503 });
    expect((await served.get("/api/session")).status).toBe(200);
    const second = await Engine.open();
    await second.listen({ host: "127.0.0.1", port });
    await expect.poll(async () => (await served.get("/readyz")).status, { timeout: 20_000 }).toBe(200);
    expect((await served.get("/api/keys")).status).toBe(200);
    await served.console.close();
    await second.close();
  });
});

describe("cookies", () => {
  const cookieOf = async (trustProxy: boolean) => {
    const store = await open();
    const served = await serve(store, { password: "pw", trustProxy });
    const headers = { "x-forwarded-proto": "https" };
    const answer = await served.send("POST", "/api/login", { password: "pw" }, headers);
    await served.console.close();
    await store.close();
    return answer.headers.get("set-cookie")!;
  };

  test("are Secure behind TLS, and a header alone does not make them so", async () => {
    expect(await cookieOf(true)).toMatch(/; Secure$/);
    expect(await cookieOf(false)).not.toContain("Secure");
  });

  test("attempts are counted for the address that the trusted proxy names, not for one that a client makes up", async () => {
    const store = await open();
    const served = await serve(store, { password: "pw", trustProxy: true });
    const statuses = [];
    for (let nth = 0; nth < 7; nth++) {
      const headers = { "x-forwarded-for": `10.0.0.${nth}, 192.0.2.1` };
      statuses.push((await served.send("POST", "/api/login", { password: "x" }, headers)).status);
    }
    expect(statuses.slice(-2)).toEqual([429, 429]);
    await served.console.close();
    await store.close();
  });
});

test("the examples can be left out", async () => {
  const store = await open();
  const served = await serve(store, { examples: false });
  expect((await served.get("/api/session")).body.examples).toBe(false);
  expect((await served.get("/api/examples")).status).toBe(404);
  expect((await served.send("POST", "/api/examples/news/sample")).status).toBe(404);
  expect(await store.call("DBSIZE")).toBe(0);
  await served.console.close();
  await store.close();
});

test("a console needs something to show", async () => {
  await expect(openConsole({})).rejects.toThrow("needs a store");
});
