/** `cinnabar doctor`: what is wrong with a store, for which component, and the command that mends it. */
import type { Command } from "../command.ts";
import { TLS_FLAGS } from "../link/tls.ts";

export const doctorCommand: Command = {
  name: "doctor",
  summary: "says what is wrong with a store, for which component, and what mends it",
  usage: "[URL|FOLDER] [options]",
  flags: [{ name: "json", summary: "print the findings as JSON" }, ...TLS_FLAGS],
  details: `Looks at: reachable, version, role, persistence, eviction policy and memory, latency, rights of the user. Of a Cluster every primary.
Changes nothing. Ends with 2 when there is a problem, with 0 when there are warnings at most. Without a place it is CINNABAR_URL, or
redis://127.0.0.1:6379. Credentials: CINNABAR_USERNAME and CINNABAR_PASSWORD.`,
  examples: ["cinnabar doctor redis://db.internal:6379"],
  async run(args, streams) {
    const { runDoctor } = await import("./run.ts");
    return runDoctor(args, streams);
  },
};
