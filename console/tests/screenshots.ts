/**
 * `npm run screenshots`: every page, 1280 and 390 pixels wide, light and dark, empty and filled, into `screenshots/` or the folder
 * that is given. Words after the folder choose the pages whose names begin with one of them: `-- shots kind- example-`.
 */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { open, type Store } from "cinnabar";
import { Cache } from "cinnabar/cache";
import { Chats } from "cinnabar/chats";
import { Counters } from "cinnabar/counters";
import { Locks } from "cinnabar/locks";
import { Logs } from "cinnabar/logs";
import { Queue, Worker } from "cinnabar/queues";
import { RateLimits } from "cinnabar/rate-limits";
import { SearchIndex } from "cinnabar/search";
import { Sessions } from "cinnabar/sessions";
import { ShardedSet } from "cinnabar/sharded";
import { Stats } from "cinnabar/stats";
import { DurableTopic } from "cinnabar/topics";
import { EXAMPLES } from "../src/examples/index.ts";
import { build, launch, NARROW, WIDE } from "./chromium.ts";
import { fillKinds, NAMED } from "./kinds.ts";
import { type Served, serve, temporaryFolder } from "./support.ts";

const PAGES: Readonly<Record<string, string>> = {
  overview: "",
  keys: "keys",
  key: "keys?key=user:7:profile",
  "key-json": "keys?key=config:features",
  "key-stream": "keys?key=events:orders",
  "keys-found": "keys?sizeFrom=100&select=on",
  "keys-rename": "keys?match=user:*&select=all&dialog=rename",
  analysis: "analysis",
  command: "command",
  slow: "slow",
  clients: "clients",
  config: "config",
  files: "files",
  scripts: "scripts",
  queues: "queues",
  queue: "queues?name=mails&shards=1",
  "queue-dead": "queues?name=mails&state=dead",
  "queue-schedules": "queues?name=mails&tab=schedules",
  "queue-workers": "queues?name=mails&tab=workers",
  "queue-add": "queues?name=mails&dialog=add",
  components: "components",
  kind: "components?kind=bloom-filters",
  ...Object.fromEntries(
    Object.entries(NAMED).map(([kind, [name, prefix]]) => [
      `kind-${kind}`,
      `components?${new URLSearchParams({ kind, name, prefix })}`,
    ]),
  ),
  topics: "topics",
  topic: "topics?name=orders",
  profiler: "profiler",
  pubsub: "pubsub",
  events: "events",
  commands: "commands",
  locks: "locks",
  sessions: "sessions",
  caches: "caches",
  limits: "limits",
  chats: "chats",
  timelines: "timelines",
  indexes: "indexes",
  shards: "shards",
  measures: "measures",
  examples: "examples",
  ...Object.fromEntries(EXAMPLES.map(({ name }) => [`example-${name}`, `examples/${name}`])),
  "not-found": "nowhere",
};

const [, , folderName = "screenshots", ...chosen] = process.argv;
const SHOT = Object.entries(PAGES).filter(
  ([name]) => chosen.length === 0 || chosen.some((word) => name.startsWith(word)),
);

/** Sample data of the examples that are shot. */
async function fillExamples({ send, get }: Served): Promise<void> {
  for (const { name } of EXAMPLES.filter((each) => SHOT.some(([page]) => page === `example-${each.name}`))) {
    await send("POST", `/api/examples/${name}/sample`);
    const state = async () =>
      (await get("/api/examples")).body.examples.find((each: { name: string }) => each.name === name).sample.state;
    while ((await state()) !== "present") await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function fillKeys(store: Store): Promise<void> {
  for (let nth = 1; nth <= 24; nth++) {
    await store.call("HSET", `user:${nth}:profile`, "name", `Person ${nth}`, "mail", `person${nth}@example.org`);
    await store.call("SET", `user:${nth}:token`, `t-${nth}`, "EX", 3_600 * nth);
  }
  await store.call("SET", "config:features", JSON.stringify({ beta: true, limit: 12, plans: ["free", "team"] }));
  await store.call("RPUSH", "feed:latest", "first", "second", "third");
  await store.call("ZADD", "ranking:week", 12, "ann", 9.5, "ben", 7, "cem");
  await store.call("XADD", "events:orders", "*", "order", "17", "state", "paid");
  await store.call("CONFIG", "SET", "slowlog-log-slower-than", 0);
  await store.call("SORT", "feed:latest", "ALPHA");
  await store.call("CONFIG", "SET", "slowlog-log-slower-than", 10_000);
}

async function fillQueue(store: Store): Promise<void> {
  const queue = new Queue<unknown, unknown>(store, "mails", { defaults: { attempts: 1 } });
  await queue.configure({ keepDone: 100 });
  await queue.schedule("digest", { cron: "0 7 * * 1-5", timeZone: "Europe/Rome" }, { to: "all" });
  const worker = new Worker(queue, async ({ data }) => {
    if ((data as { to: string }).to.startsWith("nobody")) throw new Error("550 no such mailbox");
    return { sent: true };
  }).start();
  const jobs = [];
  for (const to of ["ann", "ben", "cem", "nobody", "nobody else"]) jobs.push(await queue.add({ to, subject: "Hello" }));
  for (const { id } of jobs) await queue.waitFor(id, { timeoutMs: 30_000 });
  await worker.stop();
  for (let nth = 0; nth < 6; nth++) await queue.add({ to: `person${nth}`, subject: "Weekly" });
  await queue.add({ to: "ann", subject: "Later" }, { delayMs: 3_600_000 });
}

async function fillComponents(store: Store): Promise<void> {
  await new Locks(store).acquire("order:17", { leaseMs: 600_000 });
  await new Counters(store).add("hits", 512);
  const logs = new Logs(store);
  logs.write("web", "error", "upstream timed out", { path: "/checkout", status: 504 });
  await logs.flush();
  await new Stats(store).record("checkout", "items", [1, 2, 3, 5, 8]);
  const sessions = new Sessions(store);
  for (const user of ["ann", "ben", "cem"]) await sessions.create({ user });
  const pages = new Cache<string>(store, "pages", { shards: 4 });
  for (let nth = 0; nth < 9; nth++) await pages.get(`page ${nth % 3}`, () => "made", { tags: ["news"] });
  const orders = new DurableTopic(store, "orders");
  await orders.createGroup("billing", { from: "start" });
  for (let nth = 1; nth <= 5; nth++) await orders.publish({ order: nth, state: "paid" });
  const limits = new RateLimits(store, { name: "api", rules: [{ limit: 5, windowMs: 3_600_000 }] });
  for (let nth = 0; nth < 7; nth++) await limits.take("10.0.0.2");
  const chats = new Chats<string>(store);
  await chats.joinMany("team", ["ann", "ben"]);
  await chats.send("team", "ann", "hello");
  await new ShardedSet(store, "visitors", { tags: 2 }).addMany(Array.from({ length: 200 }, (_, at) => `visitor ${at}`));
  const books = new SearchIndex(store, "books", { fields: { title: { type: "text" }, year: { type: "number" } } });
  await books.set("sand", { title: "The walking dunes", year: 1998 });
}

async function shootAll(label: string, fill: (store: Store) => Promise<void>, page: string, into: string) {
  const store = await open();
  await fill(store);
  const served = await serve(store, { page });
  const browser = await launch();
  try {
    if (label === "filled") await fillExamples(served);
    for (const [size, viewport] of [
      [1_280, WIDE],
      [390, NARROW],
    ] as const) {
      for (const colorScheme of ["light", "dark"] as const) {
        const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
        const tab = await context.newPage();
        for (const [name, path] of SHOT) {
          await tab.goto(`${served.url}/?${name}#/${path}`);
          await tab.locator("main h1, main .name, main .state").first().waitFor({ state: "attached" });
          await tab.locator(".loading").first().waitFor({ state: "detached" });
          // Charts need two points to draw a line.
          if (path === "") await tab.locator(".chart output", { hasText: /\d/ }).first().waitFor();
          await tab.screenshot({ path: join(into, `${name}-${label}-${size}-${colorScheme}.png`) });
        }
        await context.close();
      }
    }
  } finally {
    await browser.close();
    await served.console.close();
    await store.close();
  }
}

const into = resolve(folderName);
mkdirSync(into, { recursive: true });
const folder = temporaryFolder();
const page = join(folder.path, "ui");
try {
  await build(page);
  await shootAll("empty", async () => {}, page, into);
  await shootAll(
    "filled",
    async (store) => {
      await fillKeys(store);
      await fillQueue(store);
      await fillComponents(store);
      await fillKinds(store);
    },
    page,
    into,
  );
  console.log(`Screenshots are in ${into}.`);
} finally {
  folder.remove();
}
