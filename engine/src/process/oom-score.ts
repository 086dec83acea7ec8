/**
 * oom-score-adj: tells the Linux kernel how readily to kill this process when memory runs out, by its role. `relative` adds
 * to what the process was started with, `absolute` does not; turned off, the process has its own score again.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { BadValue } from "../config/kinds.ts";
import type { Engine } from "../core/engine.ts";
import { messageOf } from "../lib/caught.ts";

const FILE = "/proc/self/oom_score_adj";

export class OomScore {
  readonly #engine: Engine;
  /** The process's own score, while ours is in its place. */
  #own: number | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
    engine.config.onChange(["oom-score-adj", "oom-score-adj-values"], () => {
      if (!this.apply()) throw new BadValue("Failed to apply new oom_score_adj configuration, check server logs.");
    });
    engine.replication.listeners.add((event) => {
      if (event.type === "role") this.apply();
    });
  }

  /** False if the kernel has refused it. */
  apply(): boolean {
    const { config, replication, log } = this.#engine;
    const mode = config.values["oom-score-adj"];
    try {
      if (mode === "no") {
        if (this.#own !== null) writeFileSync(FILE, `${this.#own}\n`);
        this.#own = null;
        return true;
      }
      this.#own ??= Number.parseInt(readFileSync(FILE, "latin1"), 10);
      const wanted = config.values["oom-score-adj-values"][replication.isReplica ? 1 : 0]!;
      const score = mode === "absolute" ? wanted : this.#own + wanted;
      writeFileSync(FILE, `${Math.min(1000, Math.max(-1000, score))}\n`);
      return true;
    } catch (error) {
      log("warning", `Unable to write oom_score_adj: ${messageOf(error)}`);
      return false;
    }
  }
}
