/** The test kit in projects of their own, one with vitest and one with Jest, against the packages as they are built. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const require = createRequire(import.meta.url);
let folder: string;

/** The same test in both; `timers` has the names of the runner's fake timers. */
const program = (imports: string, timers: string, fake: string) => `
${imports}
import { Redis } from "ioredis";
import { createClient } from "redis";
import { Locks } from "cinnabar/locks";
import { TestClock, TestStore } from "cinnabar/testing";

let seeded, store;
beforeAll(async () => {
  seeded = await TestStore.open({
    clock: new TestClock({ follows: "timers" }),
    fill: (db) => db.hset("user:1", { name: "Ann" }),
  });
});
beforeEach(async () => {
  store = await seeded.fork();
});
afterEach(async () => {
  ${timers}.useRealTimers();
  await store.close();
});
afterAll(() => seeded.close());

test.each([1, 2, 3])("each test has its own store: %i", async () => {
  expect(await store.db.hget("user:1", "name")).toBe("Ann");
  await store.db.hset("user:1", { name: "Bob" });
  expect(await store.db.incr("count")).toBe(1);
});

test("fake timers move expiry and leases", async () => {
  ${fake}
  await store.db.set("code", "1234", "PX", 60_000);
  const locks = new Locks(store.db);
  expect(await locks.acquire("door", { leaseMs: 30_000, renew: false })).not.toBeNull();
  await ${timers}.advanceTimersByTimeAsync(29_000);
  expect(await locks.acquire("door", { waitMs: 0 })).toBeNull();
  await ${timers}.advanceTimersByTimeAsync(32_000);
  expect(await locks.acquire("door", { waitMs: 0 })).not.toBeNull();
  expect(await store.db.get("code")).toBeNull();
});

test("ioredis and node-redis without a socket", async () => {
  const redis = new Redis(store.ioredis());
  const client = createClient(store.nodeRedis());
  await client.connect();
  await redis.set("a", "1");
  expect(await client.incr("a")).toBe(2);
  await redis.quit();
  await client.close();
});
`;

/** Code of an application, which is not changed for its tests. */
const SHOP = `
import { Redis } from "ioredis";

const redis = new Redis("redis://redis.internal:6379");
export const sell = (item) => redis.incr("sold:" + item);
export const close = () => redis.quit();
`;

/** What docs/testing.md says to write in place of ioredis-mock and redis-memory-server. */
const replacements = (imports: string, mock: string) => `
${imports}
import * as kit from "cinnabar/testing";
import { flushInProcess, inProcess } from "cinnabar/testing";
import { RedisMemoryServer } from "redis-memory-server";

${mock}
const { close, sell } = await import("./shop.mjs");
afterAll(close);

test.each([1, 2])("in the place of ioredis-mock: the application's own client, emptied between tests: %i", async () => {
  expect([await sell("tea"), await sell("tea")]).toEqual([1, 2]);
  await flushInProcess();
});

test("in the place of redis-memory-server: the import is mapped", async () => {
  const server = await RedisMemoryServer.create({ instance: { args: ["--maxmemory", "50mb"] } });
  expect([server.constructor, await server.getHost()]).toEqual([kit.RedisMemoryServer, "127.0.0.1"]);
  await server.stop();
});
`;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "cinnabar-projects-"));
  for (const args of [["node_modules/typescript/bin/tsc", "--build", "engine", "toolkit"], ["scripts/bundle.js"]]) {
    const built = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
    expect(built.stderr.replace(/^npm warn.*\n/gm, "")).toBe("");
  }
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A project that has these packages, and nothing else of this repository. */
function project(name: string, packages: readonly string[], files: Readonly<Record<string, string>>): string {
  const root = join(folder, name);
  mkdirSync(join(root, "node_modules/@cinnabar"), { recursive: true });
  for (const each of packages) symlinkSync(join(ROOT, "node_modules", each), join(root, "node_modules", each));
  symlinkSync(join(ROOT, "engine"), join(root, "node_modules/@cinnabar/engine"));
  symlinkSync(join(ROOT, "toolkit"), join(root, "node_modules/cinnabar"));
  writeFileSync(join(root, "package.json"), JSON.stringify({ name, private: true, type: "module" }));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(root, file), text);
  return root;
}

function passes(root: string, args: readonly string[], tests: number): void {
  // Nothing of the runner that this test runs in.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VITEST|JEST|NODE_ENV|TEST)/.test(name)),
  );
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, env, encoding: "utf8" });
  expect(`${stdout}${stderr}`).toMatch(new RegExp(`${tests} passed`));
  expect(status).toBe(0);
}

test("vitest", () => {
  const imports = 'import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";';
  const root = project("with-vitest", ["vitest", "ioredis", "redis"], {
    "kit.test.js": program(imports, "vi", "vi.useFakeTimers();"),
    "shop.mjs": SHOP,
    "replaced.test.js": replacements(imports, 'vi.mock("ioredis", async (original) => inProcess(await original()));'),
    "vitest.config.js": 'export default { resolve: { alias: { "redis-memory-server": "cinnabar/testing" } } };',
  });
  passes(root, [join(dirname(require.resolve("vitest/package.json")), "vitest.mjs"), "run", "--root", root], 8);
}, 120_000);

test("Jest", () => {
  const imports = 'import { jest } from "@jest/globals";';
  const fake = 'jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });';
  const root = project("with-jest", ["jest", "@jest", "ioredis", "redis"], {
    "kit.test.mjs": program(imports, "jest", fake),
    "shop.mjs": SHOP,
    "replaced.test.mjs": replacements(
      imports,
      `const real = await import("ioredis");
jest.unstable_mockModule("ioredis", () => inProcess(real));`,
    ),
    "jest.config.mjs": `export default {
      testMatch: ["**/*.test.mjs"], testEnvironment: "node",
      moduleNameMapper: { "^redis-memory-server$": "cinnabar/testing" },
    };`,
  });
  const jest = join(dirname(require.resolve("jest/package.json")), "bin/jest.js");
  passes(root, ["--experimental-vm-modules", jest, "--rootDir", root], 8);
}, 120_000);
