/**
 * The end of the server, by SHUTDOWN or a signal: replicas get what they lack, files what they are due, and then everything
 * is closed. A caller that asks while an end is under way waits for its outcome. A signal is acted upon by the next housekeeping,
 * so that SHUTDOWN ABORT can still call it off.
 */
import type { ShutdownWord } from "../config/special.ts";
import type { Engine } from "../core/engine.ts";
import type { ShutdownRequest } from "../core/ports.ts";
import type { EmbeddedEngine } from "../embed/embedded.ts";

export type EndSignal = "SIGTERM" | "SIGINT";

/** What a signal asks for, by shutdown-on-sigterm and its like. */
const requestOf = (words: readonly ShutdownWord[]): ShutdownRequest => ({
  save: words.includes("save") ? true : words.includes("nosave") ? false : undefined,
  now: words.includes("now"),
  force: words.includes("force"),
});

export class Shutdown {
  readonly #engine: EmbeddedEngine;
  readonly #core: Engine;
  /** What has to go when nothing can fail any more. */
  readonly #cleanUp: () => void;
  /** A signal that is yet to be acted upon, or whose end is under way. */
  #signal: EndSignal | null = null;
  #outcome: Promise<boolean> | null = null;
  #stopping = false;

  constructor(engine: EmbeddedEngine, cleanUp: () => void) {
    this.#engine = engine;
    this.#core = engine.core;
    this.#cleanUp = cleanUp;
    engine.core.onTick = () => this.#cron();
    engine.core.onShutdownAbort = () => this.#abort();
    engine.core.onShutdown = (request) => this.begin(request);
  }

  signal(signal: EndSignal): void {
    const { log, loading } = this.#core;
    if (this.#signal !== null && signal === "SIGINT") {
      log("warning", "You insist... exiting now.");
      this.#core.persistence.removeTemporaryFiles();
      process.exit(1);
    }
    if (loading) {
      log("warning", "Received shutdown signal during loading, exiting now.");
      this.#cleanUp();
      process.exit(0);
    }
    log("warning", `Received ${signal} scheduling shutdown...`);
    this.#signal = signal;
  }

  #cron(): void {
    if (this.#signal === null || this.#outcome !== null || this.#stopping) return;
    const { values } = this.#core.config;
    void this.begin(requestOf(values[this.#signal === "SIGINT" ? "shutdown-on-sigint" : "shutdown-on-sigterm"]));
  }

  /** True if the server is ending, false if it cannot; a promise where that takes time: for replicas, for a snapshot. */
  begin(request: ShutdownRequest): boolean | Promise<boolean> {
    const core = this.#core;
    if (this.#stopping) return true;
    if (this.#outcome !== null) return this.#outcome;
    // While a script holds the thread nothing would ever come to an end.
    if (core.scripts.running !== null) process.exit(0);
    core.log("warning", "User requested shutdown...");
    if (core.loading) {
      this.#cleanUp();
      process.exit(0);
    }
    const waiting = core.replication.handover.begin(request.now);
    if (waiting === null) return this.#finish(request);
    this.#outcome = waiting.then((outcome) => {
      this.#outcome = null;
      if (outcome !== "aborted") return this.#finish(request);
      this.#signal = null;
      return false;
    });
    return this.#outcome;
  }

  /** Brings everything to disk. A snapshot is written with the event loop alive, and with all commands put off. */
  #finish({ save, force }: ShutdownRequest): boolean | Promise<boolean> {
    const { persistence, pause, replication } = this.#core;
    replication.handover.report();
    if (!persistence.savesAtEnd(save)) return this.#close(persistence.shutdown(false, force));
    pause.begin(Number.POSITIVE_INFINITY, "all");
    this.#outcome = persistence.shutdownSlowly(save, force).then((ready) => {
      this.#outcome = null;
      if (!ready) pause.end();
      return this.#close(ready);
    });
    return this.#outcome;
  }

  /** Ends the server, or lets it go on where that was not possible. */
  #close(ready: boolean): boolean {
    const core = this.#core;
    if (!ready) {
      core.log("warning", "Errors trying to shut down the server. Check the logs for more information.");
      core.replication.handover.resume();
      this.#signal = null;
      return false;
    }
    this.#stopping = true;
    this.#cleanUp();
    void this.#engine.close().then(
      () => core.log("warning", "Cinnabar is now ready to exit, bye bye..."),
      (error: Error) => {
        core.log("warning", `Exiting with an error: ${error.message}`);
        process.exitCode = 1;
      },
    );
    return true;
  }

  #abort(): boolean {
    const { replication, log } = this.#core;
    if (this.#outcome === null && this.#signal === null) return false;
    this.#signal = null;
    if (!replication.handover.abort()) log("notice", "Shutdown manually aborted.");
    return true;
  }
}
