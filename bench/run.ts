/**
 * Everything that is measured, side by side in one run: `npm run bench`.
 *
 *   npm run bench -- --only pipelined,process   some parts: plain pipelined loads tls scripts process memory latency files building locks queues web sharded social search chats distribution packed streaming ads failopen client thin cluster start trips share lists structures
 *   npm run bench -- --only ""                  nothing: writes the tables again
 *   npm run bench -- --quick                    fewer rounds and keys: to see that it runs
 *
 * Prints the ratios and writes them to bench/results.json, whose tables docs/benchmarks.md shows (between its bench markers).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type AdsRow, adsTable, compareAds } from "./ads.ts";
import { type BuildRow, buildTable, compareBuilding } from "./building.ts";
import { type ChatRow, chatTable, compareChats } from "./chats.ts";
import { type ClientRow, clientTable, compareClientCaches, compareClients } from "./client.ts";
import { compareShares, type ShareRow, shareTable } from "./client-share.ts";
import { type ClusterRow, clusterTable, compareClusters } from "./cluster.ts";
import { type FailOpenRow, failOpenTable, measureFailOpen } from "./fail-open.ts";
import { compareFiles, type FileRow } from "./files.ts";
import { compareDistribution, type DistributionRow, distributionTable } from "./files-distribution.ts";
import { compareInProcess, type ProcessRow } from "./in-process.ts";
import { compareLatency, type LatencyRow, latencyTable } from "./latency.ts";
import { compareLocks, type LockRow, lockTable } from "./locks.ts";
import { compareMemory, type MemoryRow, memoryTable } from "./memory.ts";
import { compareLists, type ListRow, listTable } from "./packed-lists.ts";
import { comparePacked, type PackedRow, packedTable } from "./packed-table.ts";
import { compareQueues, type QueueRow, queueTable } from "./queues.ts";
import { compareServers, type Row, type ServerOptions } from "./redis-benchmark.ts";
import { compareTrips, type TripRow, tripTable } from "./round-trips.ts";
import { compareScripts } from "./scripts.ts";
import { compareSearch, type SearchRow, searchTable } from "./search.ts";
import { type BenchServer, median, run, startServer } from "./servers.ts";
import { compareSharded, type ShardedResults, shardedTables } from "./sharded.ts";
import { compareSocial, type SocialRow, socialTable } from "./social.ts";
import { measureStart, type StartRow, startTable } from "./start.ts";
import { compareStreaming, type StreamResults, streamTables } from "./streaming.ts";
import { compareStructures, type StructureRow, structureTable } from "./structures.ts";
import { compareThin, type ThinRow, thinTable } from "./thin.ts";
import { compareTls } from "./tls.ts";
import { compareWeb, type WebResults, webTables } from "./web.ts";

interface Results {
  machine?: string;
  plain?: Row[];
  pipelined?: Row[];
  loads?: Row[];
  tls?: Row[];
  scripts?: Row[];
  process?: ProcessRow[];
  memory?: MemoryRow[];
  latency?: LatencyRow[];
  files?: FileRow[];
  building?: BuildRow[];
  locks?: LockRow[];
  queues?: QueueRow[];
  web?: WebResults;
  sharded?: ShardedResults;
  social?: SocialRow[];
  search?: SearchRow[];
  chats?: ChatRow[];
  distribution?: DistributionRow[];
  packed?: PackedRow[];
  streaming?: StreamResults;
  ads?: AdsRow[];
  failopen?: FailOpenRow[];
  client?: ClientRow[];
  clientCache?: ClientRow[];
  thin?: ThinRow[];
  cluster?: ClusterRow[];
  start?: StartRow[];
  trips?: TripRow[];
  share?: ShareRow[];
  lists?: ListRow[];
  structures?: StructureRow[];
}

const PARTS = [
  "plain",
  "pipelined",
  "loads",
  "tls",
  "scripts",
  "process",
  "memory",
  "latency",
  "files",
  "building",
  "locks",
  "queues",
  "web",
  "sharded",
  "social",
  "search",
  "chats",
  "distribution",
  "packed",
  "streaming",
  "ads",
  "failopen",
  "client",
  "thin",
  "cluster",
  "start",
  "trips",
  "share",
  "lists",
  "structures",
] as const;
type Part = (typeof PARTS)[number];

const { values: flags } = parseArgs({
  options: { only: { type: "string" }, quick: { type: "boolean", default: false } },
});
const parts = (flags.only?.split(",").filter((part) => part !== "") ?? [...PARTS]) as Part[];
const unknown = parts.filter((part) => !PARTS.includes(part));
if (unknown.length > 0) {
  console.error(`no such part: ${unknown.join(", ")} (there are ${PARTS.join(", ")})`);
  process.exit(1);
}

const round = (value: number) => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");

function serverTable(title: string, rows: readonly Row[]): string {
  const lines = rows.map(
    ({ test, ours, redis, ratio, low = ratio, high = ratio }) =>
      `| ${test} | ${round(ours)} | ${round(redis)} | ${ratio.toFixed(2)} | ${low.toFixed(2)}–${high.toFixed(2)} |`,
  );
  const middle = median(rows.map((row) => row.ratio)).toFixed(2);
  return [
    `**${title}**: median ratio ${middle}`,
    "",
    "| test | cinnabar, requests/s | redis, requests/s | ratio | of the rounds |",
    "| --- | ---: | ---: | ---: | ---: |",
    ...lines,
  ].join("\n");
}

function processTable(rows: readonly ProcessRow[]): string {
  const ours = rows[0]!;
  return [
    "**In process, one awaited call after the other**",
    "",
    "| store | SET/s | GET/s | EVAL/s | ours is faster by |",
    "| --- | ---: | ---: | ---: | ---: |",
    ...rows.map(
      ({ what, set, get, eval: evals }) =>
        `| ${what} | ${round(set)} | ${round(get)} | ${round(evals)} | ${(ours.set / set).toFixed(1)} × / ${(ours.get / get).toFixed(1)} × / ${(ours.eval / evals).toFixed(1)} × |`,
    ),
  ].join("\n");
}

function fileTable(rows: readonly FileRow[]): string {
  const figure = (value: number | undefined) =>
    value === undefined ? "" : value < 100 ? value.toFixed(1) : round(value);
  return [
    "**Files** (milliseconds: less is better; requests/s: more is)",
    "",
    "| what | unit | cinnabar | redis | ratio |",
    "| --- | --- | ---: | ---: | ---: |",
    ...rows.map(({ what, unit, ours, redis }) => {
      const ratio = redis === undefined ? "" : (ours / redis).toFixed(2);
      return `| ${what} | ${unit} | ${figure(ours)} | ${figure(redis)} | ${ratio} |`;
    }),
  ].join("\n");
}

/** Both servers, fresh, for as long as `compare` needs them. */
async function withServers(compare: (ours: BenchServer, redis: BenchServer) => Row[] | Promise<Row[]>): Promise<Row[]> {
  const ours = await startServer("cinnabar");
  const redis = await startServer("redis");
  const rows = await compare(ours, redis);
  await ours.stop();
  await redis.stop();
  return rows;
}

type Load = Omit<ServerOptions, "rounds">;

function compareOverTcp(...loads: readonly (Load & { readonly label?: string })[]): Promise<Row[]> {
  const rounds = flags.quick ? 1 : 3;
  return withServers((ours, redis) =>
    loads.flatMap(({ label, ...load }) => {
      const requests = flags.quick ? load.requests / 10 : load.requests;
      const rows = compareServers(ours, redis, { ...load, requests, rounds });
      return label === undefined ? rows : rows.map((row) => ({ ...row, test: `${row.test}, ${label}` }));
    }),
  );
}

const FEW = ["-t", "set,get,incr,lpush,sadd,hset,zadd"];
const TWO = ["-t", "set,get"];

const file = join(import.meta.dirname, "results.json");
const results: Results = JSON.parse(readFileSync(file, "utf8"));
if (parts.length > 0)
  results.machine = `${cpus().length} cores (${cpus()[0]!.model}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ${run("redis-server", ["--version"]).split(" ").slice(0, 3).join(" ")}`;
if (parts.includes("plain")) results.plain = await compareOverTcp({ pipeline: 1, requests: 100_000 });
if (parts.includes("pipelined")) results.pipelined = await compareOverTcp({ pipeline: 16, requests: 300_000 });
if (parts.includes("loads")) {
  results.loads = await compareOverTcp(
    { label: "one hot key", hot: true, pipeline: 1, requests: 100_000, extra: FEW },
    { label: "one hot key, pipeline of 16", hot: true, pipeline: 16, requests: 300_000, extra: FEW },
    { label: "100 clients", clients: 100, pipeline: 1, requests: 100_000, extra: TWO },
    { label: "1 000 clients", clients: 1_000, pipeline: 1, requests: 100_000, extra: TWO },
    { label: "values of 1 KB", pipeline: 16, requests: 200_000, extra: [...TWO, "-d", "1024"] },
    {
      label: "values of 16 KB",
      pipeline: 16,
      requests: 30_000,
      extra: ["-t", "set,get", "-d", "16384", "-r", "20000"],
    },
  );
}
if (parts.includes("tls")) results.tls = await compareTls(flags.quick);
if (parts.includes("scripts")) {
  results.scripts = await withServers((ours, redis) => compareScripts(ours, redis, flags.quick));
}
if (parts.includes("process")) results.process = await compareInProcess(flags.quick ? 1 : 3);
if (parts.includes("memory")) results.memory = await compareMemory(flags.quick ? 0.05 : 1);
if (parts.includes("latency")) results.latency = await compareLatency(flags.quick);
if (parts.includes("files")) results.files = await compareFiles(flags.quick);
if (parts.includes("building")) results.building = await compareBuilding(flags.quick);
if (parts.includes("locks")) results.locks = await compareLocks(flags.quick);
if (parts.includes("queues")) results.queues = await compareQueues(flags.quick);
if (parts.includes("web")) results.web = await compareWeb(flags.quick);
if (parts.includes("sharded")) results.sharded = await compareSharded(flags.quick);
if (parts.includes("social")) results.social = await compareSocial(flags.quick);
if (parts.includes("search")) results.search = await compareSearch(flags.quick);
if (parts.includes("chats")) results.chats = await compareChats(flags.quick);
if (parts.includes("distribution")) results.distribution = await compareDistribution(flags.quick);
if (parts.includes("packed")) results.packed = await comparePacked(flags.quick);
if (parts.includes("streaming")) results.streaming = await compareStreaming(flags.quick);
if (parts.includes("ads")) results.ads = await compareAds(flags.quick);
if (parts.includes("failopen")) results.failopen = await measureFailOpen(flags.quick);
if (parts.includes("client")) {
  results.client = await compareClients(flags.quick);
  results.clientCache = await compareClientCaches(flags.quick);
}
if (parts.includes("thin")) results.thin = await compareThin(flags.quick);
if (parts.includes("cluster")) results.cluster = await compareClusters(flags.quick);
if (parts.includes("start")) results.start = await measureStart(flags.quick);
if (parts.includes("trips")) results.trips = await compareTrips(flags.quick);
if (parts.includes("share")) results.share = await compareShares(flags.quick);
if (parts.includes("lists")) results.lists = await compareLists(flags.quick);
if (parts.includes("structures")) results.structures = await compareStructures(flags.quick);

const tables = [
  `Measured on ${results.machine}; both sides in one run, rounds in turn, medians.`,
  results.plain && serverTable("redis-benchmark, 50 clients, random keys, no pipelining", results.plain),
  results.pipelined && serverTable("redis-benchmark, 50 clients, random keys, pipeline of 16", results.pipelined),
  results.loads && serverTable("redis-benchmark, other loads (50 clients and random keys unless said)", results.loads),
  results.tls && serverTable("redis-benchmark --tls, 50 clients, TLS 1.3", results.tls),
  results.scripts && serverTable("EVALSHA, pipeline of 16", results.scripts),
  results.process && processTable(results.process),
  results.memory && memoryTable(results.memory),
  results.latency && latencyTable(results.latency),
  results.files && fileTable(results.files),
  results.building && buildTable(results.building),
  results.locks && lockTable(results.locks),
  results.queues && queueTable(results.queues),
  results.web && webTables(results.web),
  results.sharded && shardedTables(results.sharded),
  results.social && socialTable(results.social),
  results.search && searchTable(results.search),
  results.chats && chatTable(results.chats),
  results.distribution && distributionTable(results.distribution),
  results.packed && packedTable(results.packed),
  results.streaming && streamTables(results.streaming),
  results.ads && adsTable(results.ads),
  results.failopen && failOpenTable(results.failopen),
  results.client && clientTable("Clients on one Redis", results.client),
  results.clientCache && clientTable("Client caches: 1 000 hot keys, one in 1 000 calls writes", results.clientCache),
  results.thin && thinTable(results.thin),
  results.cluster && clusterTable(results.cluster),
  results.start && startTable(results.start),
  results.trips && tripTable(results.trips),
  results.share && shareTable(results.share),
  results.lists && listTable(results.lists),
  results.structures && structureTable(results.structures),
].filter((table) => table !== undefined);
const text = tables.join("\n\n");
console.log(text);
if (!flags.quick) {
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  const page = join(import.meta.dirname, "../docs/benchmarks.md");
  const marked = /(<!-- bench -->\n)[\s\S]*?(\n<!-- \/bench -->)/;
  writeFileSync(
    page,
    readFileSync(page, "utf8").replace(marked, (_all, a, b) => `${a}\n${text}\n${b}`),
  );
}
