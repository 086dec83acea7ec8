/** SLOWLOG: the commands that took long. */

import { subcommandSyntax } from "../../core/errors.ts";
import { SLOWLOG_COUNT } from "../../core/rare-errors.ts";
import { OK, type Reply } from "../../core/reply.ts";
import type { SlowCommand } from "../../observe/slow-log.ts";
import type { Row } from "../../table/command.ts";
import { helpRow } from "../shared/help.ts";

const ADMIN = ["admin", "loading", "stale"] as const;

const show = ({ id, at, microseconds, argv, address, name }: SlowCommand): Reply => [
  id,
  at,
  microseconds,
  argv,
  address,
  name,
];

export const slowlog: Row = {
  name: "slowlog",
  arity: -2,
  flags: [],
  since: "2.2.12",
  summary: "Shows which commands took long.",
  syntax: "",
  complexity: "depends on the subcommand",
  subcommands: [
    {
      name: "get",
      arity: -2,
      flags: ADMIN,
      tips: ["request_policy:all_nodes", "nondeterministic_output"],
      since: "2.2.12",
      summary: "Shows the newest entries of the slow log.",
      syntax: "[count]",
      reply: "Reply[]",
      complexity: "O(N) with N entries shown",
      run({ engine }, args) {
        if (args.left > 1) throw subcommandSyntax(args.argv[1]!, "SLOWLOG");
        const count = args.more ? args.intBetween(-1, Number.MAX_SAFE_INTEGER, SLOWLOG_COUNT) : 10;
        const { entries } = engine.slowLog;
        return (count < 0 ? entries : entries.slice(0, count)).map(show);
      },
    },
    helpRow("slowlog", "6.2.0", [
      [
        "GET [<count>]",
        "The newest entries (10 unless said otherwise, -1 for all): id, time, microseconds, words, client.",
      ],
      ["LEN", "How many entries there are."],
      ["RESET", "Removes all entries."],
    ]),
    {
      name: "len",
      arity: 2,
      flags: ADMIN,
      tips: ["request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"],
      since: "2.2.12",
      summary: "Counts the entries of the slow log.",
      syntax: "",
      reply: "number",
      complexity: "O(1)",
      run: ({ engine }) => engine.slowLog.entries.length,
    },
    {
      name: "reset",
      arity: 2,
      flags: ADMIN,
      tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
      since: "2.2.12",
      summary: "Empties the slow log.",
      syntax: "",
      reply: '"OK"',
      complexity: "O(N) with N entries",
      run({ engine }) {
        engine.slowLog.reset();
        return OK;
      },
    },
  ],
};
