/**
 * A bound for the memory of one process, as containers have it: a control group of Linux, which ends a process that takes more.
 * Only root may make one.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = "/sys/fs/cgroup";

export class Container {
  readonly megabytes: number;
  readonly #folder: string;

  /** Throws where control groups cannot be made. */
  constructor(megabytes: number) {
    this.megabytes = megabytes;
    const first = existsSync(join(ROOT, "memory/cgroup.procs"));
    this.#folder = join(ROOT, first ? "memory" : "", `cinnabar-${process.pid}`);
    mkdirSync(this.#folder);
    const limit = join(this.#folder, first ? "memory.limit_in_bytes" : "memory.max");
    if (!existsSync(limit)) throw new Error(`${this.#folder} has no controller for memory`);
    writeFileSync(limit, String(megabytes * 1024 * 1024));
  }

  /** The words that start a program inside. */
  words(program: string, args: readonly string[]): [string, string[]] {
    const enter = `echo $$ > "${this.#folder}/cgroup.procs" && exec "$@"`;
    return ["/bin/sh", ["-c", enter, "sh", program, ...args]];
  }

  /** How often a process inside was ended because it took too much. */
  get kills(): number {
    for (const file of ["memory.oom_control", "memory.events"]) {
      const path = join(this.#folder, file);
      const found = existsSync(path) ? /^oom_kill (\d+)$/m.exec(readFileSync(path, "utf8")) : null;
      if (found !== null) return Number(found[1]);
    }
    return 0;
  }

  /** Once everything inside has ended. */
  remove(): void {
    rmdirSync(this.#folder);
  }
}
