/**
 * Clients side by side on one Redis: ours (`open(url)`, its commands and scripts), ioredis with and without autopipelining,
 * node-redis, iovalkey and glide. So many callers at a time, each of which waits for its answer; calls a second, and the
 * processor time of this process for each call. Rounds in turn, medians; `spread` is half of what lies between the slowest and
 * the fastest round, in percent of the median.
 */
import { createHash } from "node:crypto";
import { defineScript, open } from "cinnabar";
import { median, startServer } from "./servers.ts";

export interface ClientRow {
  readonly test: string;
  readonly inFlight: number;
  /** By client; null for one that cannot. */
  readonly clients: Readonly<Record<string, ClientFigure>>;
}

interface ClientFigure {
  readonly calls: number;
  readonly micros: number;
  readonly spread: number;
}

interface Client {
  readonly name: string;
  get(key: string): Promise<unknown>;
  set(key: string, value: string): Promise<unknown>;
  hgetall(key: string): Promise<unknown>;
  mget(keys: string[]): Promise<unknown>;
  script(key: string): Promise<unknown>;
  close(): unknown;
}

const KEYS = 1_000;
const LUA = `
  local n = redis.call("INCRBY", KEYS[1], ARGV[1])
  if n == tonumber(ARGV[1]) then redis.call("PEXPIRE", KEYS[1], ARGV[2]) end
  return {n, redis.call("PTTL", KEYS[1])}
`;
const take = defineScript({
  name: "bench.take",
  keys: ["key"],
  args: ["by", "ttlMs"],
  lua: `
    local n = redis.call("INCRBY", key, by)
    if n == tonumber(by) then redis.call("PEXPIRE", key, ttlMs) end
    return {n, redis.call("PTTL", key)}
  `,
});

/** What ioredis, ioredis 6 and iovalkey have in common. */
interface IoredisLike {
  get(key: string): Promise<unknown>;
  set(key: string, value: string): Promise<unknown>;
  hgetall(key: string): Promise<unknown>;
  mget(...keys: string[]): Promise<unknown>;
  evalsha(...words: (string | number)[]): Promise<unknown>;
  script(...words: string[]): Promise<unknown>;
  disconnect(): void;
}

async function ioredisLike(name: string, client: IoredisLike): Promise<Client> {
  const sha = String(await client.script("LOAD", LUA));
  return {
    name,
    get: (key) => client.get(key),
    set: (key, value) => client.set(key, value),
    hgetall: (key) => client.hgetall(key),
    mget: (keys) => client.mget(...keys),
    script: (key) => client.evalsha(sha, 1, key, 1, 60_000),
    close: () => client.disconnect(),
  };
}

async function ours(port: number): Promise<Client> {
  const store = await open(`redis://127.0.0.1:${port}`);
  return {
    name: "cinnabar",
    get: (key) => store.call("GET", key),
    set: (key, value) => store.call("SET", key, value),
    hgetall: (key) => store.call("HGETALL", key),
    mget: (keys) => store.call("MGET", ...keys),
    script: (key) => store.run(take, { key, by: 1, ttlMs: 60_000 }),
    close: () => store.close(),
  };
}

async function nodeRedis(port: number): Promise<Client> {
  const { createClient } = await import("redis");
  const client = createClient({ socket: { port, host: "127.0.0.1" } });
  await client.connect();
  const sha = createHash("sha1").update(LUA).digest("hex");
  return {
    name: "node-redis 6",
    get: (key) => client.get(key),
    set: (key, value) => client.set(key, value),
    hgetall: (key) => client.hGetAll(key),
    mget: (keys) => client.mGet(keys),
    script: (key) => client.sendCommand(["EVALSHA", sha, "1", key, "1", "60000"]),
    close: () => client.destroy(),
  };
}

async function glide(port: number): Promise<Client> {
  const { GlideClient, Script } = await import("@valkey/valkey-glide");
  const client = await GlideClient.createClient({ addresses: [{ host: "127.0.0.1", port }], requestTimeout: 10_000 });
  const script = new Script(LUA);
  return {
    name: "valkey-glide 2",
    get: (key) => client.get(key),
    set: (key, value) => client.set(key, value),
    hgetall: (key) => client.hgetall(key),
    mget: (keys) => client.mget(keys),
    script: (key) => client.invokeScript(script, { keys: [key], args: ["1", "60000"] }),
    close: () => client.close(),
  };
}

async function clientsOf(port: number): Promise<Client[]> {
  const [{ Redis: Redis5 }, { Redis: Redis6 }, { Redis: Valkey }] = await Promise.all([
    import("ioredis5"),
    import("ioredis6"),
    import("iovalkey"),
  ]);
  const to = { port, host: "127.0.0.1" };
  return [
    await ours(port),
    await ioredisLike("ioredis 5", new Redis5(to) as unknown as IoredisLike),
    await ioredisLike(
      "ioredis 5, autopipelining",
      new Redis5({ ...to, enableAutoPipelining: true }) as unknown as IoredisLike,
    ),
    await ioredisLike("ioredis 6", new Redis6(to) as unknown as IoredisLike),
    await ioredisLike("iovalkey", new Valkey(to) as unknown as IoredisLike),
    await nodeRedis(port),
    await glide(port),
  ];
}

async function rate(calls: number, inFlight: number, call: (nth: number) => Promise<unknown>) {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < calls) await call(next++);
  };
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: inFlight }, caller));
  const { user, system } = process.cpuUsage(before);
  return { calls: calls / ((performance.now() - startedAt) / 1_000), micros: (user + system) / calls };
}

interface Test {
  readonly test: string;
  /** How many calls a round has, at 1 in flight; more in flight, eight times as many. */
  readonly calls: number;
  run(client: Client, nth: number): Promise<unknown>;
}

const name = (kind: string, nth: number): string => `${kind}:${(nth * 7_919) % KEYS}`;

const TESTS: readonly Test[] = [
  ...[16, 1_024, 65_536].flatMap((bytes): Test[] => {
    const value = "v".repeat(bytes);
    const size = bytes < 1_024 ? `${bytes} B` : `${bytes / 1_024} KB`;
    const calls = bytes > 10_000 ? 1_000 : 5_000;
    return [
      { test: `SET ${size}`, calls, run: (client, nth) => client.set(name(`s${bytes}`, nth), value) },
      { test: `GET ${size}`, calls, run: (client, nth) => client.get(name(`s${bytes}`, nth)) },
    ];
  }),
  { test: "HGETALL of 10 fields", calls: 4_000, run: (client, nth) => client.hgetall(name("h", nth)) },
  {
    test: "MGET of 100",
    calls: 600,
    run: (client, nth) => client.mget(Array.from({ length: 100 }, (_, at) => name("s16", nth + at))),
  },
  { test: "EVALSHA", calls: 4_000, run: (client, nth) => client.script(name("n", nth)) },
];

export async function compareClients(quick: boolean): Promise<ClientRow[]> {
  const server = await startServer("redis");
  const clients = await clientsOf(server.port);
  const rounds = quick ? 1 : 5;
  await fill(clients[0]!, server.port);
  const rows: ClientRow[] = [];
  for (const { test, calls, run } of TESTS) {
    for (const inFlight of [1, 50, 500]) {
      const count = Math.round((inFlight === 1 ? calls : calls * 8) / (quick ? 10 : 1));
      const figures = new Map(clients.map((client) => [client.name, [] as { calls: number; micros: number }[]]));
      // The first round warms up, and does not count.
      for (let round = 0; round <= rounds; round++) {
        const order = round % 2 === 0 ? clients : [...clients].reverse();
        for (const client of order) {
          const figure = await rate(count, inFlight, (nth) => run(client, nth));
          if (round > 0) figures.get(client.name)?.push(figure);
        }
      }
      rows.push({ test, inFlight, clients: Object.fromEntries([...figures].map(([who, all]) => [who, summary(all)])) });
    }
  }
  for (const client of clients) await client.close();
  await server.stop();
  return rows;
}

async function fill(client: Client, port: number): Promise<void> {
  const store = await open(`redis://127.0.0.1:${port}`);
  for (let nth = 0; nth < KEYS; nth++) {
    await client.set(`s16:${nth}`, "v".repeat(16));
    await client.set(`s1024:${nth}`, "v".repeat(1_024));
    await client.set(`s65536:${nth}`, "v".repeat(65_536));
    const fields = Array.from({ length: 10 }, (_, at) => [`field:${at}`, `value:${at}`]).flat();
    await store.call("HSET", `h:${nth}`, ...fields);
  }
  await store.close();
}

function summary(all: readonly { calls: number; micros: number }[]): ClientFigure {
  const rates = all.map(({ calls }) => calls);
  const middle = median(rates);
  return {
    calls: middle,
    micros: median(all.map(({ micros }) => micros)),
    spread: ((Math.max(...rates) - Math.min(...rates)) / 2 / middle) * 100,
  };
}

/** Reads that are answered from memory: ours, and node-redis's. One call in a thousand writes, so that keys become outdated. */
export async function compareClientCaches(quick: boolean): Promise<ClientRow[]> {
  const server = await startServer("redis");
  const store = await open(`redis://127.0.0.1:${server.port}`, { clientCache: { prefixes: ["s16:"] } });
  const { createClient } = await import("redis");
  const client = createClient({
    RESP: 3,
    socket: { port: server.port, host: "127.0.0.1" },
    clientSideCache: { ttl: 0, maxEntries: 0 },
  });
  await client.connect();
  await Promise.all(Array.from({ length: KEYS }, (_, nth) => store.set(`s16:${nth}`, "v".repeat(16))));
  const subjects: Record<string, (nth: number) => Promise<unknown>> = {
    cinnabar: (nth) =>
      nth % 1_000 === 999 ? store.set(name("s16", nth), "w".repeat(16)) : store.get(name("s16", nth)),
    "node-redis 6": (nth) =>
      nth % 1_000 === 999 ? client.set(name("s16", nth), "w".repeat(16)) : client.get(name("s16", nth)),
  };
  const rows: ClientRow[] = [];
  for (const inFlight of [1, 50]) {
    const figures = new Map(Object.keys(subjects).map((who) => [who, [] as { calls: number; micros: number }[]]));
    for (let round = 0; round <= (quick ? 1 : 5); round++) {
      for (const who of round % 2 === 0 ? Object.keys(subjects) : Object.keys(subjects).reverse()) {
        const figure = await rate(quick ? 20_000 : 200_000, inFlight, subjects[who]!);
        if (round > 0) figures.get(who)?.push(figure);
      }
    }
    const clients = Object.fromEntries([...figures].map(([who, all]) => [who, summary(all)]));
    rows.push({ test: "GET 16 B, client cache", inFlight, clients });
  }
  await store.close();
  client.destroy();
  await server.stop();
  return rows;
}

export function clientTable(title: string, rows: readonly ClientRow[]): string {
  const names = Object.keys(rows[0]?.clients ?? {});
  const thousands = (value: number): string => `${(value / 1_000).toFixed(value < 100_000 ? 1 : 0)} k`;
  return [
    `**${title}**: calls a second (µs of processor time for each, ± spread), and ours over theirs`,
    "",
    `| test, in flight | ${names.join(" | ")} |`,
    `| --- | ${names.map(() => "---:").join(" | ")} |`,
    ...rows.map(({ test, inFlight, clients }) => {
      const base = clients[names[0]!]!.calls;
      const cells = names.map((who, at) => {
        const { calls, micros, spread } = clients[who]!;
        const ratio = at === 0 ? "" : ` ${(base / calls).toFixed(2)} ×`;
        return `${thousands(calls)} (${micros.toFixed(1)}, ±${spread.toFixed(0)} %)${ratio}`;
      });
      return `| ${test}, ${inFlight} | ${cells.join(" | ")} |`;
    }),
  ].join("\n");
}
