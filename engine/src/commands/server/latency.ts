/** LATENCY: spikes of named events, and histograms per command. */
import type { Client } from "../../core/client.ts";
import { noLatencySamples } from "../../core/rare-errors.ts";
import { MapReply, type Reply, Verbatim } from "../../core/reply.ts";
import type { LatencyEvent, Spike } from "../../observe/latency.ts";
import type { Row } from "../../table/command.ts";
import type { Command } from "../../table/command-table.ts";
import { helpRow } from "../shared/help.ts";

const ADMIN = ["admin", "noscript", "loading", "stale"] as const;
const SPECIAL = ["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"];
const GRAPH_ROWS = 4;
/** How a column ends within a row: low, half, high. */
const TIPS = "_o#";

const latest = ([name, { maxMs, samples }]: [string, LatencyEvent]): Reply => {
  const last = samples.at(-1)!;
  return [name, last.at, last.ms, maxMs];
};

/** A time span in at most three characters: 5s, 12m, 3h, 9d. */
function shortAge(seconds: number): string {
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86400)}d`;
}

/** A column per spike, the newest at the right, with its age written downwards below. */
function graph(name: string, { samples, maxMs }: LatencyEvent, now: number): string {
  const high = Math.max(...samples.map(({ ms }) => ms));
  const low = Math.min(...samples.map(({ ms }) => ms));
  const steps = TIPS.length * GRAPH_ROWS;
  const levelOf = ({ ms }: Spike) => Math.min(steps - 1, Math.floor(((ms - low) * steps) / Math.max(1, high - low)));
  const lines: string[] = [`${name} - high ${high} ms, low ${low} ms (all time high ${maxMs} ms)`, "-".repeat(80)];
  for (let row = GRAPH_ROWS - 1; row >= 0; row--) {
    const cells = samples.map((sample) => {
      const level = levelOf(sample) - row * TIPS.length;
      return level < 0 ? " " : (TIPS[level] ?? "|");
    });
    lines.push(cells.join(""));
  }
  const ages = samples.map(({ at }) => shortAge(now - at));
  for (let i = 0; i < 3; i++) lines.push(ages.map((age) => age[i] ?? " ").join(""));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

function doctor({ engine }: Client): Reply {
  const { events, threshold } = engine.latency;
  if (threshold === 0) {
    return new Verbatim(
      "The latency monitor is off. CONFIG SET latency-monitor-threshold <milliseconds> turns it on for events that take at least that long.",
    );
  }
  if (events.size === 0) return new Verbatim(`No event has taken ${threshold} ms or more since the monitor is on.`);
  const lines = ["Events that were slow:"];
  for (const [name, { samples, maxMs }] of events) {
    const mean = samples.reduce((sum, { ms }) => sum + ms, 0) / samples.length;
    lines.push(`* ${name}: ${samples.length} in the record, ${mean.toFixed(0)} ms on average, ${maxMs} ms at most.`);
  }
  if (events.has("command")) {
    lines.push("SLOWLOG shows which commands they were. Commands that look at whole collections are the usual ones.");
  }
  return new Verbatim(lines.join("\n"));
}

function histogramOf(engine: Client["engine"], command: Command): Reply[] {
  const stats = engine.stats.perCommand[command.index];
  stats?.settle(engine.latency.tracking);
  const histogram = stats?.histogram;
  if (histogram === undefined || histogram === null || histogram.total === 0) return [];
  const steps = histogram.doublings().flatMap(({ microseconds, calls }) => [microseconds, calls]);
  return [command.name, new MapReply(["calls", histogram.total, "histogram_usec", new MapReply(steps)])];
}

/** The histograms of these commands, or all; a container stands for its subcommands. */
function histogram({ engine }: Client, names: readonly string[]): Reply {
  const commands =
    names.length === 0 ? [...engine.commands.commands.values()] : names.flatMap((name) => commandNamed(engine, name));
  return new MapReply(
    commands.flatMap((command) => [
      ...histogramOf(engine, command),
      ...[...(command.subcommands?.values() ?? [])].flatMap((sub) => histogramOf(engine, sub)),
    ]),
  );
}

function commandNamed(engine: Client["engine"], name: string): Command[] {
  const bar = name.indexOf("|");
  const container = engine.commands.get(bar < 0 ? name : name.slice(0, bar));
  if (container === undefined || bar < 0) return container === undefined ? [] : [container];
  const sub = container.subcommands?.get(name.slice(bar + 1).toLowerCase());
  return sub === undefined ? [] : [sub];
}

export const latency: Row = {
  name: "latency",
  arity: -2,
  flags: [],
  since: "2.8.13",
  summary: "Shows what was slow, and when.",
  syntax: "",
  complexity: "depends on the subcommand",
  subcommands: [
    {
      name: "doctor",
      arity: 2,
      flags: ADMIN,
      tips: SPECIAL,
      since: "2.8.13",
      summary: "Says in words what was slow.",
      syntax: "",
      reply: "string",
      complexity: "O(1)",
      run: doctor,
    },
    {
      name: "graph",
      arity: 3,
      flags: ADMIN,
      tips: SPECIAL,
      since: "2.8.13",
      summary: "Draws an event's spikes.",
      syntax: "event",
      reply: "string",
      complexity: "O(1)",
      run({ engine }, args) {
        const name = args.next();
        const event = engine.latency.events.get(name);
        if (event === undefined) throw noLatencySamples(name);
        return new Verbatim(graph(name, event, Math.floor(engine.clock.now() / 1000)));
      },
    },
    helpRow("latency", "2.8.13", [
      ["DOCTOR", "Says in words what was slow."],
      ["GRAPH <event>", "Draws an event's spikes."],
      ["HISTORY <event>", "An event's spikes: time and milliseconds."],
      ["LATEST", "Every event's last spike, and its highest."],
      ["RESET [<event> ...]", "Forgets the spikes of these events, or all."],
      ["HISTOGRAM [<command> ...]", "How many calls took how long, for these commands, or all."],
    ]),
    {
      name: "histogram",
      arity: -2,
      flags: ADMIN,
      tips: SPECIAL,
      since: "7.0.0",
      summary: "Counts how many calls of commands took how long.",
      syntax: "[command [command ...]]",
      reply: "Map<string, Reply>",
      complexity: "O(N) with N commands shown",
      run: (client, args) => histogram(client, args.rest()),
    },
    {
      name: "history",
      arity: 3,
      flags: ADMIN,
      tips: SPECIAL,
      since: "2.8.13",
      summary: "Lists an event's spikes.",
      syntax: "event",
      reply: "[number, number][]",
      complexity: "O(1)",
      run: ({ engine }, args) =>
        (engine.latency.events.get(args.next())?.samples ?? []).map(({ at, ms }): Reply => [at, ms]),
    },
    {
      name: "latest",
      arity: 2,
      flags: ADMIN,
      tips: SPECIAL,
      since: "2.8.13",
      summary: "Lists every event's last spike.",
      syntax: "",
      reply: "[string, number, number, number][]",
      complexity: "O(1)",
      run: ({ engine }) => [...engine.latency.events].map(latest),
    },
    {
      name: "reset",
      arity: -2,
      flags: ADMIN,
      tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
      since: "2.8.13",
      summary: "Forgets spikes.",
      syntax: "[event [event ...]]",
      reply: "number",
      complexity: "O(1)",
      run: ({ engine }, args) => engine.latency.reset(args.rest()),
    },
  ],
};
