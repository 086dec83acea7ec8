/**
 * `npm run console:load`: what an open console costs a store with a million keys.
 *
 * 1. The processor time of a store in a process of its own, with ten pages open in a browser and no scan under way, beside the same
 *    store with none. As a part of one core.
 * 2. The longest turns of the event loop of a process that has the store and the console in it: for so long other clients wait.
 *    In processor time, so that a busy machine does not add to it.
 *
 * `--seconds 60` sets how long each part is measured, `--keys 1000000` how many keys there are, `--embedded` leaves the first out.
 */
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync, readSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Engine } from "@cinnabar/engine";
import { open, type Store } from "cinnabar";
import type { Browser, Page } from "playwright-core";
import { build, launch, WIDE } from "./chromium.ts";
import { serve, temporaryFolder } from "./support.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "30" },
    keys: { type: "string", default: "1000000" },
    embedded: { type: "boolean", default: false },
    child: { type: "string" },
  },
});
const SECONDS = Number(values.seconds);
const KEYS = Number(values.keys);

const PAGES = ["", "keys", "clients", "slow", "queues", "locks", "sessions", "config", "files", "workbench"];

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Processor time of a process in milliseconds: user and system, at the kernel's hundred ticks a second. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function coreShare(pid: number, seconds: number): Promise<number> {
  const [begin, from] = [performance.now(), processorMs(pid)];
  await sleep(seconds * 1_000);
  return (processorMs(pid) - from) / (performance.now() - begin);
}

async function fill(store: Store): Promise<void> {
  await store.call("DEBUG", "POPULATE", KEYS, "user", 16);
}

async function openPages(browser: Browser, url: string): Promise<Page[]> {
  const context = await browser.newContext({ viewport: WIDE });
  const pages: Page[] = [];
  for (const path of PAGES) {
    const page = await context.newPage();
    await page.goto(`${url}/#/${path}`);
    await page.locator("main h1").waitFor({ timeout: 60_000 });
    pages.push(page);
  }
  return pages;
}

const percent = (share: number) => `${(share * 100).toFixed(2)} % of a core`;

async function measureServer(name: string, command: string, args: string[], browser: Browser, page: string) {
  const port = await freePort();
  const child = spawn(command, [...args, "--port", String(port), "--save", "", "--enable-debug-command", "yes"], {
    stdio: "ignore",
  });
  try {
    const store = await open(`redis://127.0.0.1:${port}`, { connectTimeoutMs: 30_000 });
    await fill(store);
    await sleep(3_000);
    const idle = await coreShare(child.pid!, SECONDS);
    const served = await serve(store, { page, examples: false });
    const alone = await coreShare(child.pid!, SECONDS);
    const pages = await openPages(browser, served.url);
    await sleep(5_000);
    const share = await coreShare(child.pid!, SECONDS);
    console.log(
      `${name}: ${percent(share)} with ten pages, ${percent(alone)} with the console alone, ${percent(idle)} without`,
    );
    console.log(`  the console's load: ${percent(Math.max(0, share - idle))}`);
    await pages[0]!.context().close();
    await served.console.close();
    await store.close();
  } finally {
    child.kill();
    await once(child, "exit");
  }
}

/** Processor time of this process's main thread in milliseconds, which other processes of a busy machine do not add to. */
function threadClock(): () => number {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const buffer = Buffer.alloc(64);
  return () => {
    const length = readSync(file, buffer, 0, buffer.length, 0);
    return Number.parseInt(buffer.toString("latin1", 0, length), 10) / 1e6;
  };
}

interface Turns {
  readonly count: number;
  /** The longest, in milliseconds of processor time. */
  readonly longest: readonly number[];
  readonly over10: number;
}

/** Measures every turn of the event loop until it is stopped: while one lasts, no other client is answered. */
function watchTurns(): () => Turns {
  const clock = threadClock();
  const longest: number[] = [];
  let [count, over10, last, isOn] = [0, 0, clock(), true];
  const look = () => {
    const now = clock();
    const took = now - last;
    last = now;
    count++;
    if (took > 10) over10++;
    if (took > 1) {
      longest.push(took);
      longest.sort((a, b) => b - a);
      longest.length = Math.min(longest.length, 5);
    }
    if (isOn) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    isOn = false;
    return { count, longest, over10 };
  };
}

/** The store and the console, in a process of their own: the browser's driver would be measured, too. */
async function embedded(page: string): Promise<void> {
  const engine = await Engine.open({ config: { "enable-debug-command": "yes" } });
  const store = await open(engine);
  await fill(store);
  const served = await serve(store, { page, examples: false });
  let stop: (() => Turns) | undefined;
  process.on("message", async (message) => {
    if (message === "begin") stop = watchTurns();
    else if (message === "end") process.send!(stop!());
    else {
      await served.console.close();
      await store.close();
      await engine.close();
      process.disconnect();
    }
  });
  process.send!(served.url);
}

const shown = ({ count, longest, over10 }: Turns) =>
  `longest turns ${longest.map((ms) => ms.toFixed(1)).join(", ")} ms; ${over10} of ${count} took over 10 ms`;

async function measureEmbedded(browser: Browser, page: string): Promise<void> {
  const args = ["--child", page, "--keys", String(KEYS)];
  const child = fork(fileURLToPath(import.meta.url), args, { execArgv: ["--conditions=source", "--import", "tsx"] });
  const heard = async () => (await once(child, "message"))[0];
  const measured = async (work: () => Promise<unknown>): Promise<Turns> => {
    child.send("begin");
    await work();
    child.send("end");
    return (await heard()) as Turns;
  };
  const url = (await heard()) as string;
  await sleep(3_000);
  console.log(`embedded, the console alone: ${shown(await measured(() => sleep(SECONDS * 1_000)))}`);
  let pages: Page[] = [];
  const opening = await measured(async () => {
    pages = await openPages(browser, url);
  });
  console.log(`embedded, while ten pages are opened: ${shown(opening)}`);
  await sleep(5_000);
  console.log(`embedded, with ten pages open: ${shown(await measured(() => sleep(SECONDS * 1_000)))}`);
  await pages[0]!.context().close();
  child.send("close");
  await once(child, "exit");
}

async function main(): Promise<void> {
  const folder = temporaryFolder();
  try {
    await build(folder.path);
    const browser = await launch();
    if (!values.embedded) await measureServer("redis-server", "redis-server", [], browser, folder.path);
    await measureEmbedded(browser, folder.path);
    await browser.close();
  } finally {
    folder.remove();
  }
}

await (values.child === undefined ? main() : embedded(values.child));
