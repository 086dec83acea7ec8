/** `cinnabar move`: a live move of everything from one store to another. */
import type { Command } from "../command.ts";
import { TLS_FLAGS } from "../link/tls.ts";

export const moveCommand: Command = {
  name: "move",
  summary: "moves everything from one store to another while it is used",
  usage: "FROM TO [options]",
  flags: [
    {
      name: "by",
      value: "WAY",
      choices: ["auto", "replication", "copy"],
      summary: "how: replication where both sides can, else copy (auto, the default)",
    },
    { name: "resume", summary: "go on with a move that was interrupted: what is there is compared, not copied again" },
    { name: "replace", summary: "delete what is in TO first" },
    { name: "hold", value: "TIME", summary: "how long writes may be held at the switch (default 30s)" },
    { name: "no-verify", summary: "do not compare every key before the switch" },
    { name: "roll-back", summary: "let FROM take writes again after a move, if TO has not changed since" },
    ...TLS_FLAGS,
  ],
  details: `FROM and TO are folders or URLs. A folder that a program has open is moved by the program's redis:// URL. Users and passwords may
stand in CINNABAR_FROM_USERNAME, CINNABAR_FROM_PASSWORD, CINNABAR_TO_USERNAME and CINNABAR_TO_PASSWORD.

Everything is copied, then every key is compared while writes go on. At the switch writes to FROM wait for a moment; afterwards
FROM refuses them (NOREPLICAS), so that none is lost: let clients use TO then. If anything fails, FROM goes on as before. A move
that was killed is taken up with --resume, or undone with --roll-back.`,
  examples: [
    "cinnabar move ./data redis://db.internal:6379",
    "cinnabar move redis://127.0.0.1:6379 redis+cluster://10.0.0.1,10.0.0.2",
    "cinnabar move --by replication redis://old.internal ./data",
  ],
  isInterruptible: true,
  async run(args, streams) {
    const { runMove } = await import("./run.ts");
    return runMove(args, streams);
  },
};
