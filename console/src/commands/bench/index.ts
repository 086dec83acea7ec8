/** `cinnabar bench`: how fast a store answers, or two beside each other. */
import type { Command } from "../command.ts";
import { TLS_FLAGS } from "../link/tls.ts";
import { WORKLOADS } from "./names.ts";

export const benchCommand: Command = {
  name: "bench",
  summary: "measures how fast a store answers, or two stores beside each other",
  usage: "[URL|FOLDER] [options] [-- COMMAND [ARGUMENT …]]",
  flags: [
    {
      name: "workload",
      short: "w",
      value: "NAME",
      choices: WORKLOADS,
      summary: `what is sent (default set): ${WORKLOADS.join(", ")}`,
    },
    { name: "rate", short: "r", value: "N", summary: "open loop: so many requests a second, whatever becomes of them" },
    { name: "clients", short: "c", value: "N", summary: "connections (default 50)" },
    { name: "pipeline", short: "P", value: "N", summary: "closed loop: requests in flight on each (default 1)" },
    { name: "duration", short: "d", value: "TIME", summary: "how long to measure each store (default 10s)" },
    { name: "count", short: "n", value: "N", summary: "how many requests to send to each store, in place of a time" },
    { name: "warm-up", value: "TIME", summary: "how long to send before measuring (default 1s)" },
    { name: "value-bytes", value: "N", summary: "size of a value (default 64)" },
    { name: "keys", short: "k", value: "N", summary: "number of keys, chosen at random (default 10000)" },
    { name: "reads", value: "PERCENT", summary: "share of reads in the workload mixed (default 80)" },
    { name: "script", value: "FILE", isPath: true, summary: "Lua for the workload script: KEYS[1] and ARGV[1]" },
    { name: "compare", value: "URL", summary: "measure this store too, in turns with the first" },
    { name: "rounds", value: "N", summary: "turns of each store with --compare (default 10)" },
    { name: "seed", value: "N", summary: "the same seed sends the same requests (default 1)" },
    { name: "timeout", value: "TIME", summary: "give up when nothing is answered for so long (default 10s)" },
    { name: "any-key", summary: "let COMMAND write keys without __key__; they stay" },
    { name: "json", summary: "print the figures as JSON" },
    ...TLS_FLAGS,
  ],
  details: `A closed loop (without --rate) sends again when the last answers are there: how much the store can do. An open loop (--rate) sends
at fixed times, and counts latency from the time at which a request was due: how long users wait.

Workloads: list is LPUSH and RPOP in turn; script is a small one, or --script; lock, queue and cache are calls of the components
on one connection, with clients × pipeline calls in flight. In a command behind -- are replaced: __key__ by a key of the
benchmark's own, __rand__ and __rand:N__ by a random number (below --keys, below N), __rand_int__ by one of 12 digits, __seq__
by a running number, __data__ by a value.

Keys begin with cinnabar-bench: and are deleted at the end; nothing else is, and commands that would are refused. Ctrl-C prints what
was measured so far. Ends with 1 when a request failed. Credentials: CINNABAR_USERNAME and CINNABAR_PASSWORD; of the store behind
--compare CINNABAR_TO_USERNAME and CINNABAR_TO_PASSWORD.`,
  examples: [
    "cinnabar bench redis://127.0.0.1:6379 --workload get --pipeline 16",
    "cinnabar bench --rate 20000 --duration 30s --workload mixed --reads 95",
    "cinnabar bench ./data --compare redis://127.0.0.1:6379 --workload queue",
    "cinnabar bench -- ZRANGEBYSCORE leaders __rand__ +inf LIMIT 0 10",
  ],
  isInterruptible: true,
  async run(args, streams) {
    const { runBench } = await import("./run.ts");
    return runBench(args, streams);
  },
};
