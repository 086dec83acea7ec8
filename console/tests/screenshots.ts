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
import { build, launch, NARROW, type Page, WIDE } from "./chromium.ts";
import { fillKinds, NAMED } from "./kinds.ts";
import { type Served, serve, temporaryFolder } from "./support.ts";

const PAGES: Readonly<Record<string, string>> = {
  overview: "",
  keys: "keys",
  key: "keys?key=user:7:profile",
  "key-json": "keys?key=config:features",
  "key-stream": "keys?key=events:orders",
  "key-list": "keys?key=feed:latest",
  "key-set": "keys?key=tags:news",
  "key-zset": "keys?key=ranking:week",
  "key-edit": "keys?key=config:features&do=edit",
  "keys-found": "keys?sizeFrom=100&select=on",
  "keys-rename": "keys?match=user:*&select=all&dialog=rename",
  analysis: "analysis",
  command: "command",
  workbench: "workbench",
  slow: "slow",
  clients: "clients",
  config: "config",
  files: "files",
  audit: "audit",
  scripts: "scripts",
  queues: "queues",
  queue: "queues?name=mails&shards=1",
  "queue-dead": "queues?name=mails&state=dead",
  "queue-schedules": "queues?name=mails&tab=schedules",
  "queue-workers": "queues?name=mails&tab=workers",
  "queue-groups": "queues?name=mails&tab=groups",
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

/** What takes more than an address, by names that are chosen as those of pages are. Answers whether there is anything to see. */
const MOMENTS: Readonly<Record<string, (tab: Page, served: Served) => Promise<boolean>>> = {
  job: async (tab, { url, get }) => {
    const { body } = await get("/api/queues/mails/jobs?state=dead&shards=1");
    const [job] = body.items ?? body.jobs ?? [];
    if (job === undefined) return false;
    await tab.goto(`${url}/?job#/queues?${new URLSearchParams({ name: "mails", shards: "1", job: job.id })}`);
    await tab.getByRole("list", { name: "What happened" }).waitFor();
    return true;
  },
  palette: async (tab, { url }) => {
    await tab.goto(`${url}/?palette#/keys`);
    await tab.locator("main h1").waitFor();
    await tab.keyboard.press("Control+k");
    const found = tab.waitForResponse(/\/api\/keys\?match=/);
    await tab.getByLabel("Find pages, keys, queues and actions").fill("user:1");
    await found;
    const nothing = tab.getByText("Nothing has that in its name.");
    await tab.locator(".mantine-Spotlight-action").or(nothing).first().waitFor();
    return true;
  },
  "sign-in": async (tab, { page }) => {
    const own = await open();
    const locked = await serve(own, { page: page!, password: "pw" });
    await tab.goto(locked.url);
    await tab.getByRole("button", { name: "Sign in" }).waitFor();
    await locked.console.close();
    await own.close();
    return true;
  },
};

const [, , folderName = "screenshots", ...chosen] = process.argv;
const isChosen = ([name]: readonly [string, unknown]) =>
  chosen.length === 0 || chosen.some((word) => name.startsWith(word));
const SHOT = Object.entries(PAGES).filter(isChosen);
const SHOT_MOMENTS = Object.entries(MOMENTS).filter(isChosen);

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
  await store.call("SADD", "tags:news", "local", "politics", "sport", "weather");
  await store.call("ZADD", "ranking:week", 12, "ann", 9.5, "ben", 7, "cem");
  await store.call("XADD", "events:orders", "*", "order", "17", "state", "paid");
  await store.call("CONFIG", "SET", "slowlog-log-slower-than", 0);
  await store.call("SORT", "feed:latest", "ALPHA");
  // What the machine makes slow that takes the pictures is none of the store's.
  await store.call("CONFIG", "SET", "slowlog-log-slower-than", 1_000_000);
}

async function fillQueue(store: Store): Promise<void> {
  const queue = new Queue<unknown, unknown>(store, "mails", { defaults: { attempts: 2, backoff: 1 } });
  await queue.configure({ keepDone: 100 });
  await queue.schedule("digest", { cron: "0 7 * * 1-5", timeZone: "Europe/Rome" }, { to: "all" });
  const worker = new Worker(
    queue,
    async ({ data, attempt }, { log, progress }) => {
      const { to } = data as { to: string };
      await log(`attempt ${attempt}: connecting to mx.example.org`);
      await progress({ percent: 40 });
      if (to.startsWith("nobody")) throw new Error(`550 no such mailbox: ${to}@example.org`);
      return { sent: true };
    },
    { name: "mailer-1" },
  ).start();
  const jobs = [];
  for (const to of ["ann", "ben", "cem", "nobody", "nobody else"]) jobs.push(await queue.add({ to, subject: "Hello" }));
  for (const { id } of jobs) await queue.waitFor(id, { timeoutMs: 30_000 });
  await worker.stop();
  for (let nth = 0; nth < 6; nth++) await queue.add({ to: `person${nth}`, subject: "Weekly" });
  await queue.add({ to: "ann", subject: "Later" }, { delayMs: 3_600_000 });
  for (const group of ["acme", "acme", "globex"]) await queue.add({ to: group, subject: "Invoice" }, { group });
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

/** Changes by somebody, for the audit log. */
async function changeThings({ send }: Served): Promise<void> {
  await send("PUT", "/api/key", { key: "config:features", action: "set", value: '{"beta":false,"limit":12}' });
  await send("POST", "/api/key/ttl", { key: "feed:latest", ttlMs: 86_400_000 });
  await send("PUT", "/api/config/maxmemory-policy", { value: "nonsense" });
  await send("POST", "/api/key", { key: "config:features", type: "string", value: "" });
}

const LEAST_POINTS = 45;

/** Something goes on in the store, so that the charts of the overview have something to show. Answers what ends it. */
function keepBusy(store: Store): () => Promise<void> {
  let isOver = false;
  const work = (async () => {
    for (let nth = 0; !isOver; nth++) {
      const many = Math.round(150 + 100 * Math.sin(nth / 25) + 60 * Math.random());
      const commands = Array.from({ length: many }, (_, at) =>
        at % 3 === 0
          ? ["SET", `visit:${at % 60}`, "x".repeat(200 + at), "EX", 600]
          : ["GET", `visit:${(at * 3 + nth) % 66}`],
      );
      await store.pipeline(commands);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  return () => {
    isOver = true;
    return work;
  };
}

async function shootAll(label: string, fill: (store: Store) => Promise<void>, page: string, into: string) {
  const store = await open();
  await fill(store);
  const served = await serve(store, { page });
  const browser = await launch();
  const isFilled = label === "filled";
  const rest = isFilled && SHOT.some(([, path]) => path === "") ? keepBusy(store) : async () => {};
  try {
    if (isFilled) {
      await fillExamples(served);
      await changeThings(served);
    }
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
          // Charts need two points to draw a line, and more of them to be worth a look.
          if (path === "") {
            await tab.locator(".chart output", { hasText: /\d/ }).first().waitFor();
            const least = isFilled ? LEAST_POINTS : 2;
            while (served.console.live.history(1).length < least)
              await new Promise((resolve) => setTimeout(resolve, 500));
            await tab.reload();
            await tab.locator(".chart canvas").first().waitFor();
            await tab.locator(".facts").waitFor();
          }
          await tab.screenshot({ path: join(into, `${name}-${label}-${size}-${colorScheme}.png`) });
        }
        for (const [name, arrange] of SHOT_MOMENTS) {
          if (!(await arrange(tab, served))) continue;
          await tab.screenshot({ path: join(into, `${name}-${label}-${size}-${colorScheme}.png`) });
        }
        await context.close();
      }
    }
  } finally {
    await rest();
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
