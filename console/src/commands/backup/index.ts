/** `cinnabar backup`: snapshots on a schedule, verified and restored. */
import type { Command } from "../command.ts";
import { TLS_FLAGS } from "../link/tls.ts";

export const backupCommand: Command = {
  name: "backup",
  summary: "takes snapshots, once or on a schedule, verifies and restores them",
  usage: "take URL|FOLDER INTO | list FOLDER | verify FILE|FOLDER | restore FILE|FOLDER TO",
  flags: [
    { name: "every", value: "TIME", summary: "take one after the other, so far apart: 1h, 1d" },
    { name: "keep", value: "N", summary: "delete all but the newest N" },
    { name: "keep-for", value: "TIME", summary: "delete what is older: 30d; the newest always stays" },
    { name: "times", value: "N", summary: "end after N, with --every" },
    { name: "replace", summary: "restore: delete what is in TO first" },
    ...TLS_FLAGS,
  ],
  words: ["take", "list", "verify", "restore"],
  details: `A backup is an RDB file, which Redis loads too, with a JSON file beside it: when, where from, how many keys, and the SHA-256 of
the snapshot. Each is loaded once before it counts. A server is read by replication, so that it goes on serving. A file that was
changed since is refused. Of a folder, verify and restore take the newest. Credentials: CINNABAR_USERNAME and CINNABAR_PASSWORD.`,
  examples: [
    "cinnabar backup take redis://127.0.0.1:6379 ./backups --every 6h --keep 28",
    "cinnabar backup verify ./backups",
    "cinnabar backup restore ./backups redis://127.0.0.1:6380",
  ],
  isInterruptible: true,
  async run(args, streams) {
    const { runBackup } = await import("./run.ts");
    return runBackup(args, streams);
  },
};
