/** MEMORY: what keys take and where memory goes. The figures are the engine's own accounts, not an allocator's. */

import type { Client } from "../../core/client.ts";
import { SYNTAX } from "../../core/errors.ts";
import { BASE_BYTES } from "../../core/eviction.ts";
import { collectGarbage } from "../../core/garbage.ts";
import { Double, MapReply, OK, type Reply, Verbatim } from "../../core/reply.ts";
import { memoryFigures } from "../../observe/memory-figures.ts";
import { processMemory } from "../../platform/memory.ts";
import { key, type Row } from "../../table/command.ts";
import { sizeOfKey } from "../../types/kind.ts";
import { helpRow } from "../shared/help.ts";

const SPECIAL = ["nondeterministic_output", "request_policy:all_shards", "response_policy:special"];

function stats({ engine }: Client): Reply {
  const figures = memoryFigures(engine);
  const replicas = engine.replication.bytes();
  const flat: Reply[] = [
    "peak.allocated",
    figures.peak,
    "total.allocated",
    figures.used,
    "startup.allocated",
    BASE_BYTES,
    "replication.backlog",
    replicas.backlog,
    "clients.slaves",
    replicas.replicas,
    "clients.normal",
    figures.clients,
    "cluster.links",
    0,
    "aof.buffer",
    engine.persistence.aof.appender.bufferedBytes,
    "lua.caches",
    engine.scripts.sizeBytes,
    "functions.caches",
    0,
  ];
  for (const db of engine.databases) {
    if (db.size === 0) continue;
    const tables = new MapReply([
      "overhead.hashtable.main",
      db.keyspace.sizeBytes,
      "overhead.hashtable.expires",
      db.expires.size === 0 ? 0 : db.expires.sizeBytes,
      "overhead.hashtable.slot-to-keys",
      0,
    ]);
    flat.push(`db.${db.index}`, tables);
  }
  const keys = engine.databases.reduce((sum, db) => sum + db.size, 0);
  flat.push(
    "overhead.total",
    figures.overhead,
    "keys.count",
    keys,
    "keys.bytes-per-key",
    keys === 0 ? 0 : Math.floor((figures.used - BASE_BYTES) / keys),
    "dataset.bytes",
    figures.dataset,
    "dataset.percentage",
    new Double(figures.datasetPercent),
    "peak.percentage",
    new Double(figures.peakPercent),
    "allocator.allocated",
    figures.heapUsed,
    "allocator.active",
    figures.heapTotal,
    "allocator.resident",
    figures.rss,
    "allocator-fragmentation.ratio",
    new Double(figures.heapTotal / figures.heapUsed),
    "allocator-fragmentation.bytes",
    figures.heapTotal - figures.heapUsed,
    "allocator-rss.ratio",
    new Double(figures.rss / figures.heapTotal),
    "allocator-rss.bytes",
    figures.rss - figures.heapTotal,
    "rss-overhead.ratio",
    new Double(1),
    "rss-overhead.bytes",
    0,
    "fragmentation",
    new Double(figures.fragmentation),
    "fragmentation.bytes",
    figures.rss - figures.used,
  );
  return new MapReply(flat);
}

/** Says what about memory is worth a look, in plain words. */
function doctor({ engine }: Client): Reply {
  const { used, peak, rss, heapUsed } = memoryFigures(engine);
  if (used < 5 * 1024 * 1024) return new Verbatim("There is too little data here for a diagnosis.");
  const findings: string[] = [];
  if (peak > used * 1.5) {
    findings.push(
      "Peak: the data once took much more than now. The heap may stay large until the collector gives it back.",
    );
  }
  if (rss > heapUsed * 2 && rss - heapUsed > 100 * 1024 * 1024) {
    findings.push("Heap: the process holds at least twice the memory that is in use.");
  }
  const { limit } = engine.eviction;
  if (limit > 0 && used > limit * 0.95) findings.push("Limit: the data takes more than 95 % of maxmemory.");
  return new Verbatim(findings.length === 0 ? "No problem found." : findings.map((text) => `* ${text}`).join("\n"));
}

export const memory: Row = {
  name: "memory",
  arity: -2,
  flags: [],
  since: "4.0.0",
  summary: "Tells what keys take and where memory goes.",
  syntax: "",
  complexity: "depends on the subcommand",
  subcommands: [
    {
      name: "doctor",
      arity: 2,
      flags: [],
      tips: SPECIAL,
      since: "4.0.0",
      summary: "Looks for problems with memory.",
      syntax: "",
      reply: "string",
      complexity: "O(1)",
      run: doctor,
    },
    helpRow("memory", "4.0.0", [
      ["DOCTOR", "Looks for problems with memory."],
      ["MALLOC-STATS", "The heap's figures."],
      ["PURGE", "Asks for memory to be given back, where that is possible."],
      ["STATS", "Where memory goes."],
      ["USAGE <key> [SAMPLES <count>]", "What a key and its value take, in bytes."],
    ]),
    {
      name: "malloc-stats",
      arity: 2,
      flags: [],
      tips: SPECIAL,
      since: "4.0.0",
      summary: "Shows the heap's figures.",
      syntax: "",
      reply: "string",
      complexity: "O(1)",
      run() {
        const figures = Object.entries(processMemory());
        return new Verbatim(figures.map(([name, bytes]) => `${name}: ${bytes}`).join("\n"));
      },
    },
    {
      name: "purge",
      arity: 2,
      flags: [],
      tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
      since: "4.0.0",
      summary: "Asks for memory to be given back, where that is possible.",
      syntax: "",
      reply: '"OK"',
      complexity: "O(N) with the size of the heap",
      run() {
        collectGarbage();
        return OK;
      },
    },
    {
      name: "stats",
      arity: 2,
      flags: [],
      tips: SPECIAL,
      since: "4.0.0",
      summary: "Tells where memory goes.",
      syntax: "",
      reply: "Map<string, Reply>",
      complexity: "O(1)",
      run: stats,
    },
    {
      name: "usage",
      arity: -3,
      flags: ["readonly"],
      keys: [key(["RO"], 2)],
      since: "4.0.0",
      summary: "Tells what a key and its value take, in bytes.",
      syntax: "key [SAMPLES count]",
      reply: "number | null",
      complexity: "O(1)",
      run({ db }, args) {
        const name = args.next();
        while (args.more) {
          // Sizes are kept up to date, so there is nothing to sample; the option is only checked.
          if (args.option() !== "samples" || !args.more) throw SYNTAX;
          if (args.int() < 0) throw SYNTAX;
        }
        const value = db.peek(name);
        return value === undefined ? null : sizeOfKey(name, value);
      },
    },
  ],
};
