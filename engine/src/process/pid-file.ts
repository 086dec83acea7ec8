/** pidfile: there while the server runs, so that scripts find it. A file that cannot be written is no reason not to start. */
import { rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Engine } from "../core/engine.ts";
import { messageOf } from "../lib/caught.ts";

/** Where Redis puts it when it becomes a daemon and nobody has said where. */
const DAEMON_FILE = "/var/run/redis.pid";

/** Writes the file; answers what removes it. */
export function writePidFile({ config, log }: Engine): () => void {
  const { pidfile, daemonize } = config.values;
  const path = pidfile === "" && daemonize ? DAEMON_FILE : pidfile;
  if (path === "") return () => {};
  const file = resolve(path);
  try {
    writeFileSync(file, `${process.pid}\n`);
  } catch (error) {
    log("warning", `Failed to write PID file: ${messageOf(error)}`);
    return () => {};
  }
  return () => {
    log("notice", "Removing the pid file.");
    rmSync(file, { force: true });
  };
}
