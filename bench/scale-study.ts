/**
 * The study of docs/scale.md: a social network of a hundred million users, calculated from recorded costs.
 *
 *   node --conditions=source --import tsx bench/scale-study.ts            prints the tables
 *   node --conditions=source --import tsx bench/scale-study.ts --write    and writes them and the plots into docs/
 *
 * The same figures come out each time: costs are read from bench/social-costs.json and bench/scale-costs.json, which
 * bench/social-costs.ts and bench/scale-costs.ts measure, and chance comes from a seed.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ScaleCosts } from "./scale-costs.ts";
import { type Delays, simulateDelays } from "./scale-delay.ts";
import {
  ASSUMED,
  type Assumptions,
  DAY_S,
  deliveryUs,
  type Group,
  type Load,
  loadAt,
  type Memory,
  memoryOf,
  population,
  randomFrom,
} from "./scale-model.ts";
import { plotSvg } from "./scale-plot.ts";
import type { SocialCosts } from "./social-costs.ts";

const SEED = 7;
const SIMULATED_S = 60;
const EVERYBODY = 1e9;
const RECOMMENDED = 1_000_000;
const THRESHOLDS = [1_000, 10_000, 100_000, 1_000_000, EVERYBODY];

const recorded = <T>(name: string): T => JSON.parse(readFileSync(join(import.meta.dirname, name), "utf8")) as T;
const social = recorded<SocialCosts>("social-costs.json");
const costs = recorded<ScaleCosts>("scale-costs.json");

// ------------------------------------------------------------------------------------------------ figures as text

const whole = (value: number): string => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
const rounded = (value: number): string => (value >= 100 ? whole(value) : value.toPrecision(2).replace(/\.0$/, ""));
const tera = (bytes: number): string => (bytes / 1e12).toFixed(2);
const seconds = (ms: number): string => (ms / 1_000 < 0.1 ? (ms / 1_000).toFixed(3) : rounded(ms / 1_000));
const named = (threshold: number): string => (threshold === EVERYBODY ? "none: all delivered" : whole(threshold));
const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [
    `| ${heads.join(" | ")} |`,
    `| ${heads.map((_, at) => (at === 0 ? "---" : "---:")).join(" | ")} |`,
    ...rows.map((row) => `| ${row.join(" | ")} |`),
  ].join("\n");

// ------------------------------------------------------------------------------------------------ the model

const at = (threshold: number, groups: readonly Group[], assumed: Assumptions): Load =>
  loadAt(threshold, groups, assumed, costs, social);
const coresOf = ({ posting, delivering, reading, merging }: Load): number => posting + delivering + reading + merging;

/** Workers, as many as keep a part of their time free: for the deliveries, and for the work of each job. */
function workersFor(load: Load, assumed: Assumptions): number {
  const { post } = costs.cluster;
  const passes = load.postsPerSecond + load.deliveriesPerSecond / 1_000;
  return Math.ceil((load.workers + (passes * post.asking) / 1e6) / assumed.busy);
}

function delaysAt(threshold: number, groups: readonly Group[], assumed: Assumptions): Delays & { workers: number } {
  const workers = workersFor(at(threshold, groups, assumed), assumed);
  const { post, delivered } = costs.cluster;
  const inject = Math.round(Math.min(threshold, assumed.mostFollowers));
  const of = { seed: SEED, seconds: SIMULATED_S, threshold, inject };
  return {
    workers,
    ...simulateDelays(groups, assumed, { ...of, workers, jobUs: post.asking, followerUs: delivered.asking }),
  };
}

/** Posts a day up to which delivering costs the servers less than merging in; followers do not come into it. */
function breakEven(assumed: Assumptions): number {
  return (assumed.pagesPerDay * costs.cluster.merged.primaries) / deliveryUs(assumed, costs, social);
}

function totalBytes(memory: Memory, assumed: Assumptions, days: number): number {
  const { users, followers, following, timelines, statusesPerDay } = memory;
  return (users + followers + following + timelines + statusesPerDay * days) * assumed.fragmentation;
}

const nodesFor = (bytes: number, { nodeBytes, fill }: Assumptions): number => Math.ceil(bytes / (nodeBytes * fill));

/** Busy part of the one server thread that has the fan-out queue, at the peak. */
function queueBusy(load: Load): number {
  const { post, delivered } = costs.parts;
  return (load.postsPerSecond * post.queue + load.deliveriesPerSecond * delivered.queue) / 1e6;
}

/** The busiest node by reads of merged authors' profiles, when authors fall on nodes by chance. */
function hottestNode(groups: readonly Group[], assumed: Assumptions, threshold: number, nodes: number): number {
  const random = randomFrom(SEED);
  const load = new Float64Array(nodes);
  const perFollower = (assumed.pagesPerDay * assumed.peak * costs.cluster.merged.primaries) / DAY_S / 1e6;
  for (const { users, followers } of groups) {
    if (followers < threshold) break;
    for (let nth = 0; nth < users; nth++) {
      const node = Math.floor(random() * nodes);
      load[node] = load[node]! + followers * perFollower;
    }
  }
  return Math.max(...load);
}

// ------------------------------------------------------------------------------------------------ tables

function populationTable(groups: readonly Group[], assumed: Assumptions): string {
  const edges = assumed.users * assumed.meanFollowers;
  const deliveries = groups.reduce(
    (sum, { users, postsPerDay, followers }) => sum + users * postsPerDay * followers,
    0,
  );
  const rows = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000].map((least) => {
    const above = groups.filter(({ followers }) => followers >= least);
    const sum = (of: (group: Group) => number): number =>
      above.reduce((all, group) => all + group.users * of(group), 0);
    const posts = sum(({ postsPerDay }) => postsPerDay) / sum(() => 1);
    return [
      whole(least),
      whole(sum(() => 1)),
      `${rounded((sum(({ followers }) => followers) / edges) * 100)} %`,
      `${rounded((sum(({ followers, postsPerDay }) => followers * postsPerDay) / deliveries) * 100)} %`,
      rounded(posts),
    ];
  });
  return table(["followers, at least", "users", "of all edges", "of all deliveries", "posts a day, each"], rows);
}

function costTable(assumed: Assumptions): string {
  const { parts, cluster, stream } = costs;
  const sum = ({ asking: _, ...servers }: Record<string, number>): number =>
    Object.values(servers).reduce((a, b) => a + b, 0);
  const row = (name: string, act: keyof typeof parts): string[] => [
    name,
    rounded(cluster[act].primaries),
    rounded(sum(parts[act])),
    rounded(Math.max(parts[act].queue, 0)),
    rounded(cluster[act].asking),
  ];
  return [
    table(
      ["act, µs of processor", "servers, Cluster", "servers, by parts", "of that the queue", "who asks, Cluster"],
      [
        row("a status, without followers", "post"),
        row("and for each follower", "delivered"),
        row("a page of a home timeline", "homePage"),
        row("and for each author merged in", "merged"),
        row("a follow", "follow"),
        ["an event of the stream", "", rounded(stream.server), "", rounded(stream.asking)],
      ],
    ),
    "",
    `A follower whose timeline is not kept costs ${rounded((social.each.cold.cpuMicros / social.each.delivered.cpuMicros) * 100)} % of one whose is; with ${assumed.warm * 100} % kept, a delivery costs ${rounded(deliveryUs(assumed, costs, social))} µs on average.`,
    "",
    table(
      ["memory, bytes", "each"],
      [
        ["user", whole(social.memory.user)],
        ["status of 80 characters", whole(social.memory.status)],
        ["edge, one side, in a set of more than 128", whole(social.memory.follower)],
        ["edge, one side, in a smaller set", whole(social.memory.following)],
        ["entry of a full timeline", whole(social.memory.entry)],
      ],
    ),
  ].join("\n");
}

function memoryTable(memory: Memory, assumed: Assumptions): string {
  const with_ = (bytes: number): string => tera(bytes * assumed.fragmentation);
  const days = 365;
  const total = totalBytes(memory, assumed, days);
  const row = (name: string, bytes: number): string[] => [
    name,
    with_(bytes),
    `${rounded(((bytes * assumed.fragmentation) / total) * 100)} %`,
  ];
  const rows = [
    row("users", memory.users),
    row("followers", memory.followers),
    row("followed", memory.following),
    row(`timelines of ${whole(assumed.timelineSize)}`, memory.timelines),
    row("statuses of a year", memory.statusesPerDay * days),
    ["**all**", tera(total), ""],
  ];
  const nodes = [1_000, 500, 200].map((timelineSize) => {
    const smaller = memoryOf(groups, { ...assumed, timelineSize }, social);
    const bytes = totalBytes(smaller, assumed, days);
    return [whole(timelineSize), tera(bytes), whole(nodesFor(bytes, assumed)), whole(nodesFor(bytes, assumed) * 2)];
  });
  return [
    table(["what", "TB", "part"], rows),
    "",
    table(["entries in a timeline", "TB", "primaries of 64 GiB, 70 % full", "with a replica each"], nodes),
  ].join("\n");
}

function thresholdTable(groups: readonly Group[], assumed: Assumptions): string {
  return table(
    [
      "threshold",
      "merged in",
      "merged on a page",
      "deliveries/s",
      "cores: deliver",
      "cores: merge",
      "cores: all",
      "nodes by that",
    ],
    THRESHOLDS.map((threshold) => {
      const load = at(threshold, groups, assumed);
      return [
        named(threshold),
        whole(load.merged.authors),
        rounded(load.merged.perPage),
        whole(load.deliveriesPerSecond),
        rounded(load.delivering),
        rounded(load.merging),
        rounded(coresOf(load)),
        whole(Math.ceil(coresOf(load) / assumed.busy)),
      ];
    }),
  );
}

function delayTable(all: ReadonlyMap<number, Delays & { workers: number }>): string {
  return table(
    [
      "threshold",
      "workers",
      "half of all, s",
      "99 %, s",
      "an author just below it, s",
      "worst with a small audience, s",
    ],
    THRESHOLDS.map((threshold) => {
      const { workers, medianMs, p99Ms, injectedMs, worstSmallMs } = all.get(threshold)!;
      return [named(threshold), whole(workers), ...[medianMs, p99Ms, injectedMs, worstSmallMs].map(seconds)];
    }),
  );
}

/** Everything that the recommended threshold needs at the peak. */
function needsTable(groups: readonly Group[], assumed: Assumptions, threshold: number): string {
  const load = at(threshold, groups, assumed);
  const { homePage, post } = costs.cluster;
  const byMemory = nodesFor(totalBytes(memoryOf(groups, assumed, social), assumed, 365), assumed);
  const byProcessor = Math.ceil(coresOf(load) / assumed.busy);
  const { acts, each } = social;
  const bytes = (of: { bytesIn: number; bytesOut: number }): number => of.bytesIn + of.bytesOut;
  const network =
    load.postsPerSecond * bytes(acts.post) +
    load.deliveriesPerSecond * bytes(each.delivered) +
    load.pagesPerSecond * bytes(acts.homePage) +
    load.merged.perSecond * bytes(each.merged);
  const asking = (load.postsPerSecond * post.asking + load.pagesPerSecond * homePage.asking) / 1e6;
  const merging = (load.merged.perSecond * costs.cluster.merged.asking) / 1e6;
  return table(
    ["what", "how much"],
    [
      ["posts a second; pages a second", `${whole(load.postsPerSecond)}; ${whole(load.pagesPerSecond)}`],
      ["primaries, by memory", whole(byMemory)],
      ["primaries, by processor", whole(byProcessor)],
      [
        "processor of a primary, if there are as many as memory wants",
        `${rounded((coresOf(load) / byMemory) * 100)} %`,
      ],
      ["network of the servers, both ways, MB/s", whole(network / 1e6)],
      ["worker processes", whole(workersFor(load, assumed))],
      ["application processes that post and read, half busy", whole((asking + merging) / assumed.busy)],
    ],
  );
}

function breaksTable(groups: readonly Group[], assumed: Assumptions, threshold: number): string {
  const load = at(threshold, groups, assumed);
  const nodes = nodesFor(totalBytes(memoryOf(groups, assumed, social), assumed, 365), assumed);
  const users = (part: number): string => `${rounded(assumed.users / part / 1e6)} M`;
  const queue = queueBusy(load);
  const stream = (load.postsPerSecond * costs.stream.server) / 1e6;
  const hottest = hottestNode(groups, assumed, threshold, nodes);
  const largest =
    (assumed.mostFollowers * social.memory.follower * assumed.fragmentation) / (assumed.nodeBytes * assumed.fill);
  return table(
    ["what cannot be spread", "busy or full at the peak", "ends at about"],
    [
      ["the fan-out queue: one slot, one thread", `${rounded(queue * 100)} %`, users(queue)],
      ["the largest set of followers: one key, one node's memory", `${rounded(largest * 100)} %`, users(largest)],
      [
        `profiles that are merged in, on the unluckiest of ${whole(nodes)} nodes`,
        `${rounded(hottest * 100)} %`,
        users(hottest),
      ],
      ["the log of the stream: one slot, one thread", `${rounded(stream * 100)} %`, users(stream)],
    ],
  );
}

function variations(assumed: Assumptions): string {
  const cases: [string, Partial<Assumptions>][] = [
    ["as assumed", {}],
    ["followers less unequal (0.8)", { tail: 0.8 }],
    ["more unequal (1.0)", { tail: 1 }],
    ["a third of the pages", { pagesPerDay: 2 }],
    ["three times the pages", { pagesPerDay: 18 }],
    ["a third of the posts", { postsPerDay: 0.1 }],
    ["three times the posts", { postsPerDay: 0.9 }],
    ["all post alike", { postsGrow: 0 }],
    ["the followed post much more", { postsGrow: 0.5 }],
    ["half as many follows", { meanFollowers: 100 }],
  ];
  return table(
    [
      "",
      "posts a day, break-even",
      "cheapest threshold",
      "cores there",
      "cores at 10 000",
      "at 1 000 000",
      "queue busy, 1 000 000",
    ],
    cases.map(([name, change]) => {
      const varied = { ...assumed, ...change };
      const of = population(varied);
      const cores = (threshold: number): number => coresOf(at(threshold, of, varied));
      const best = THRESHOLDS.reduce((a, b) => (cores(b) < cores(a) ? b : a));
      return [
        name,
        rounded(breakEven(varied)),
        named(best),
        rounded(cores(best)),
        rounded(cores(10_000)),
        rounded(cores(1_000_000)),
        `${rounded(queueBusy(at(1_000_000, of, varied)) * 100)} %`,
      ];
    }),
  );
}

// ------------------------------------------------------------------------------------------------ the study

const groups = population(ASSUMED);
const memory = memoryOf(groups, ASSUMED, social);
const delays = new Map(THRESHOLDS.map((threshold) => [threshold, delaysAt(threshold, groups, ASSUMED)]));
const sections: Record<string, string> = {
  costs: costTable(ASSUMED),
  population: populationTable(groups, ASSUMED),
  memory: memoryTable(memory, ASSUMED),
  thresholds: thresholdTable(groups, ASSUMED),
  delays: delayTable(delays),
  needs: needsTable(groups, ASSUMED, RECOMMENDED),
  breaks: breaksTable(groups, ASSUMED, RECOMMENDED),
  variations: variations(ASSUMED),
};

const FINE = Array.from({ length: 17 }, (_, nth) => 10 ** (3 + nth / 4));
const fine = FINE.map((x) => ({ x, load: at(x, groups, ASSUMED), delays: delaysAt(x, groups, ASSUMED) }));
const plots: Record<string, string> = {
  "scale-cores.svg": plotSvg({
    title: "Busy server cores at the peak",
    x: "threshold, followers",
    y: "cores",
    lines: [
      { name: "delivering", points: fine.map(({ x, load }) => [x, load.delivering]) },
      { name: "merging", points: fine.map(({ x, load }) => [x, load.merging]) },
      { name: "all, with reading", points: fine.map(({ x, load }) => [x, coresOf(load)]) },
    ],
  }),
  "scale-delay.svg": plotSvg({
    title: "Until the last follower has it",
    x: "threshold, followers",
    y: "milliseconds",
    lines: [
      { name: "just below it", points: fine.map(({ x, delays: of }) => [x, of.injectedMs]) },
      { name: "worst small one", points: fine.map(({ x, delays: of }) => [x, of.worstSmallMs]) },
      { name: "half of all", points: fine.map(({ x, delays: of }) => [x, of.medianMs]) },
    ],
  }),
};

for (const [name, text] of Object.entries(sections)) console.log(`\n# ${name}\n\n${text}`);
console.log(`\nbreak-even: ${breakEven(ASSUMED).toFixed(2)} posts a day`);
if (process.argv.includes("--write")) {
  const docs = join(import.meta.dirname, "../docs");
  let document = readFileSync(join(docs, "scale.md"), "utf8");
  for (const [name, text] of Object.entries(sections)) {
    const marked = new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!marked.test(document)) throw new Error(`docs/scale.md has no place for ${name}`);
    document = document.replace(marked, (_all, begin, end) => `${begin}\n${text}\n\n${end}`);
  }
  writeFileSync(join(docs, "scale.md"), document);
  for (const [name, svg] of Object.entries(plots)) writeFileSync(join(docs, name), svg);
}
