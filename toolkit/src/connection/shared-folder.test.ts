/** Several processes on one folder; most of them are stores of this process, which meet in the same way. */
import { type ChildProcess, fork, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { nodeWords } from "../../../scripts/program.ts";
import { ConnectionError, OpenError } from "../base/errors.ts";
import { open } from "./open.ts";
import type { Store } from "./store.ts";

let folder: string;
const stores: Store[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cinnabar-folder-"));
});

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function opened(dir = folder, options = {}): Promise<Store> {
  const store = await open(dir, options);
  stores.push(store);
  return store;
}

const failed = (opening: Promise<unknown>): Promise<Error> =>
  opening.then(
    () => expect.fail("it was opened"),
    (error) => error,
  );

const MEMBER = fileURLToPath(new URL("../../tests/faults/shared-folder/member.ts", import.meta.url));
const require = createRequire(import.meta.url);
const SOURCES = ["--conditions=source", "--import", "tsx"];

test("a second store joins the first, and takes over when that is closed", async () => {
  const [first, second, third] = [await opened(), await opened(), await opened()];
  expect([first.topology, second.topology, third.topology]).toEqual(["embedded", "single", "single"]);
  await first.set("a", "1");
  await second.incr("a");
  await third.incr("a");
  expect(await first.get("a")).toBe("3");
  const heard: string[] = [];
  await third.subscribe("news", (message) => void heard.push(String(message)));
  await first.close();
  // Repeated until somebody has taken over; what may run twice would not be.
  expect([await second.get("a"), await third.get("a")]).toEqual(["3", "3"]);
  expect(await second.incr("a")).toBe(4);
  expect(await third.incr("a")).toBe(5);
  await expect
    .poll(async () => {
      await second.publish("news", "hello");
      return heard.includes("hello");
    })
    .toBe(true);
  await second.close();
  expect(await third.get("a")).toBe("5");
  await third.close();
  expect(await (await opened()).get("a")).toBe("5");
});

test("two that open the folder at the same moment share it", async () => {
  const all = await Promise.all(Array.from({ length: 6 }, () => opened()));
  await Promise.all(all.map((store) => store.incr("n")));
  expect(await all[0]!.get("n")).toBe("6");
  expect(all.filter(({ topology }) => topology === "embedded")).toHaveLength(1);
});

test("while a guest is connected the system has a write before it is acknowledged, to the owner too", async () => {
  const owner = await opened();
  const guest = await opened();
  const kept = () => {
    const files = join(folder, "appendonlydir");
    const name = readdirSync(files).find((each) => each.endsWith(".incr.aof"))!;
    return readFileSync(join(files, name), "latin1");
  };
  const found: boolean[] = [];
  for (let n = 0; n < 50; n++) {
    // In the same turn as the acknowledgement.
    await owner.set("k", `owner-${n}`).then(() => found.push(kept().includes(`owner-${n}`)));
    await guest.set("k", `guest-${n}`).then(() => found.push(kept().includes(`guest-${n}`)));
  }
  expect(found).toEqual(found.map(() => true));
});

test("shared: false keeps others out, and refuses a folder that somebody has", async () => {
  const owner = await opened();
  const error = await failed(open(folder, { shared: false }));
  expect(error).toMatchObject({ name: "OpenError", code: "LOCKED", cause: { name: "DirectoryLocked" } });
  await owner.close();
  const alone = await opened(folder, { shared: false });
  expect(existsSync(join(folder, "cinnabar.shared/owner.json"))).toBe(false);
  expect(await failed(open(folder))).toMatchObject({ name: "OpenError", code: "LOCKED" });
  await alone.close();
});

test("only this user can reach the socket", async () => {
  await opened();
  const mode = (name: string) => (statSync(join(folder, name)).mode & 0o777).toString(8);
  expect(mode("cinnabar.shared")).toBe("700");
  expect(mode("cinnabar.shared/socket")).toBe("600");
  expect(mode("cinnabar.shared/owner.json")).toBe("600");
});

test("a path that is too long for a socket works, too", async () => {
  const deep = join(folder, "x".repeat(90), "y".repeat(90));
  const owner = await opened(deep);
  const guest = await opened(deep);
  await owner.set("a", "1");
  expect(await guest.get("a")).toBe("1");
  const socket = () => JSON.parse(readFileSync(join(deep, "cinnabar.shared/owner.json"), "utf8")).socket as string;
  const first = socket();
  expect(first.startsWith(tmpdir())).toBe(true);
  await owner.close();
  expect(existsSync(first)).toBe(false);
  expect(await guest.get("a")).toBe("1");
  const second = socket();
  await guest.close();
  expect(existsSync(second)).toBe(false);
});

test("what a killed owner left behind is in nobody's way", async () => {
  const temporary = mkdtempSync(join(tmpdir(), "cinnabar-shared-"));
  mkdirSync(join(folder, "cinnabar.shared"));
  writeFileSync(join(folder, "cinnabar.shared/socket"), "");
  const left = { protocol: 1, pid: 999_999_999, socket: join(temporary, "socket"), config: "" };
  writeFileSync(join(folder, "cinnabar.shared/owner.json"), JSON.stringify(left));
  writeFileSync(join(folder, "cinnabar.lock"), "999999999 1 999999999 shared\n");
  writeFileSync(join(folder, "cinnabar.lock.takeover"), "999999998 1 999999998 shared\n");
  await opened();
  await (await opened()).set("a", "1");
  expect(existsSync(temporary)).toBe(false);
});

test("an owner of another version is refused with the reason", async () => {
  await opened();
  const path = join(folder, "cinnabar.shared/owner.json");
  const owner = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...owner, protocol: 99 }));
  const error = await failed(open(folder));
  expect(error).toBeInstanceOf(OpenError);
  expect(error.message).toMatch(/process \d+ shares it by protocol 99, and this process knows 1/);
});

test("a guest with another config is warned, and one with the password gets in", async () => {
  const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  try {
    await opened(folder, { config: { requirepass: "secret", maxmemory: "100mb" } });
    await opened(folder, { config: { requirepass: "secret", maxmemory: "100mb" } });
    expect(warned).not.toHaveBeenCalled();
    await opened(folder, { config: { requirepass: "secret", maxmemory: "200mb" } });
    expect(warned).toHaveBeenCalledWith(expect.stringContaining("is not the one that process"), expect.anything());
    expect(await failed(open(folder))).toMatchObject({ name: "ServerError", code: "NOAUTH" });
  } finally {
    warned.mockRestore();
  }
});

test("an owner that is stopped keeps the folder, and goes on when it is continued", async () => {
  const words = [...nodeWords(MEMBER), folder, "m", join(folder, "acks")];
  const child = spawn(process.execPath, words, { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  try {
    await new Promise((resolve) => child.once("message", resolve));
    const guest = await opened(folder, { commandTimeoutMs: 300, retryMs: 0 });
    await guest.set("a", "1");
    child.kill("SIGSTOP");
    const late = await failed(guest.set("a", "2"));
    expect(late).toBeInstanceOf(ConnectionError);
    expect((late as ConnectionError).maybeExecuted).toBe(true);
    const error = await failed(open(folder, { connectTimeoutMs: 300 }));
    expect(error).toMatchObject({ name: "OpenError", code: "LOCKED" });
    expect(error.message).toContain(`process ${child.pid} that has it does not answer`);
    child.kill("SIGCONT");
    await expect.poll(() => guest.get("a").catch(() => null), { timeout: 30_000 }).not.toBeNull();
  } finally {
    child.kill("SIGCONT");
    child.kill("SIGKILL");
  }
}, 90_000);

/** A thread that opens the folder, and does what it is told. */
function threadOn(dir: string): Worker {
  const program = `
    import { parentPort } from "node:worker_threads";
    import { register } from ${JSON.stringify(pathToFileURL(require.resolve("tsx/esm/api").replace(/cjs$/, "mjs")).href)};
    register();
    const { open } = await import(${JSON.stringify(new URL("../index.ts", import.meta.url).href)});
    const db = await open(${JSON.stringify(dir)});
    await db.incr("threads");
    parentPort.on("message", () => {}); // and stays
    parentPort.postMessage(db.topology);
  `;
  const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
  return new Worker(url, { execArgv: ["--conditions=source"] });
}

test("threads of one process share a folder, and one that is terminated is outlived", async () => {
  const said = (thread: Worker) =>
    new Promise((resolve, reject) => {
      thread.once("message", resolve);
      thread.once("error", reject);
    });
  const first = threadOn(folder);
  expect(await said(first)).toBe("embedded");
  const guest = await opened();
  expect(guest.topology).toBe("single");
  await first.terminate();
  expect(await guest.get("threads")).toBe("1");
  const second = threadOn(folder);
  expect(await said(second)).toBe("single");
  expect(await guest.get("threads")).toBe("2");
  await second.terminate();
}, 90_000);

/** What a worker of a cluster tells: its topology, and what the counter was after its write. */
interface Told {
  readonly pid: number;
  readonly topology: string;
  readonly count: number;
}

/**
 * A primary of `node:cluster` that keeps three workers alive, as PM2 does; each opens the folder, and counts when it is asked. They
 * run what is shipped, which starts faster than the sources.
 */
function clusterOn(dir: string): ChildProcess {
  const program = `
    import cluster from "node:cluster";
    if (cluster.isPrimary) {
      for (let n = 0; n < 3; n++) cluster.fork();
      cluster.on("message", (worker, told) => process.send({ pid: worker.process.pid, ...told }));
      cluster.on("exit", (_worker, _code, signal) => signal === "SIGKILL" && cluster.fork());
      process.on("message", () => Object.values(cluster.workers).forEach((worker) => worker.send("count")));
    } else {
      const { open } = await import(${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)});
      const db = await open(${JSON.stringify(dir)});
      const count = async () => process.send({ topology: db.topology, count: await db.incr("count") });
      process.on("message", count);
      await count();
    }
  `;
  const path = join(dir, "cluster.mjs");
  writeFileSync(path, program);
  return fork(path, { execArgv: [] });
}

test("workers of node:cluster share a folder, and the one that has it is killed and started anew", async () => {
  const primary = clusterOn(folder);
  const told: Told[] = [];
  primary.on("message", (message: Told) => told.push(message));
  const from = (first: number) => new Map(told.slice(first).map((each) => [each.pid, each]));
  try {
    await expect.poll(() => told.length, { timeout: 60_000 }).toBe(3);
    expect(told.map(({ count }) => count).sort()).toEqual([1, 2, 3]);
    expect(told.map(({ topology }) => topology).sort()).toEqual(["embedded", "single", "single"]);
    for (let round = 1; round <= 3; round++) {
      const seen = told.length;
      const { pid } = JSON.parse(readFileSync(join(folder, "cinnabar.shared/owner.json"), "utf8")) as { pid: number };
      process.kill(pid, "SIGKILL");
      // One worker starts in its place and counts; then all three count.
      await expect.poll(() => told.length, { timeout: 60_000 }).toBe(seen + 1);
      primary.send("count");
      await expect.poll(() => told.length, { timeout: 60_000 }).toBe(seen + 4);
      expect([...from(seen).keys()]).toHaveLength(3);
      expect(from(seen).has(pid)).toBe(false);
      expect(Math.max(...told.map(({ count }) => count))).toBe(told.length);
    }
    const guest = await opened();
    expect([guest.topology, await guest.get("count")]).toEqual(["single", String(told.length)]);
  } finally {
    primary.kill("SIGKILL");
    for (const pid of from(0).keys()) killed(pid);
  }
}, 180_000);

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

test("an idle guest does not keep its process alive, and one that waits for an answer does", async () => {
  await opened();
  const program = `
    const { open } = await import(${JSON.stringify(new URL("../index.ts", import.meta.url).href)});
    const db = await open(${JSON.stringify(folder)});
    await db.subscribe("channel", () => {});
    await db.set("guest", await db.echo("was here"));
  `;
  const path = join(folder, "guest.mjs");
  writeFileSync(path, program);
  const child = fork(path, { execArgv: SOURCES });
  child.disconnect();
  expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
  expect(await stores[0]!.get("guest")).toBe("was here");
}, 90_000);
