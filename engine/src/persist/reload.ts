/**
 * DEBUG RELOAD and DEBUG LOADAOF: what the files hold takes the place of what memory holds, while everybody waits. Nothing
 * of it is handed on: for the append-only file and the replicas the data is what it was.
 *
 * Two things that end a Redis are errors here: a key that is both in the file and in memory (RELOAD NOFLUSH without
 * MERGE), and LOADAOF where there are no files. And where there is nothing to load, nothing is dropped for it.
 */
import { existsSync } from "node:fs";
import type { Engine } from "../core/engine.ts";
import { ReplyError } from "../core/errors.ts";
import { loadRdbSync } from "./rdb/file.ts";

export interface ReloadOptions {
  readonly save: boolean;
  readonly flush: boolean;
  /** Keys and libraries of the file take the place of those that are there. */
  readonly merge: boolean;
}

function flush(engine: Engine): void {
  for (const db of engine.databases) db.clear();
  engine.functions.flush();
}

/** Runs a load while the engine counts as loading; false if it fails, with the reason in the log. */
function load(engine: Engine, what: string, run: () => void): boolean {
  engine.loading = true;
  try {
    run();
    return true;
  } catch (error) {
    engine.log(
      "warning",
      `Cannot load ${what}: ${error instanceof ReplyError ? error.text : (error as Error).message}`,
    );
    return false;
  } finally {
    engine.loading = false;
  }
}

/** `unsaved`: the file could not be written; `failed`: it could not be read. */
export function reloadRdb(engine: Engine, options: ReloadOptions): "done" | "unsaved" | "failed" {
  const { persistence } = engine;
  if (options.save && !persistence.save()) return "unsaved";
  if (!existsSync(persistence.path)) return "failed";
  if (options.flush) flush(engine);
  const loaded = load(engine, persistence.path, () => {
    const report = loadRdbSync(engine, persistence.path, {
      replaceKeys: options.merge,
      onFunction: (source) => engine.functions.restore([source], options.merge ? "replace" : "append"),
    });
    persistence.keysLoaded = report.keys;
    persistence.keysExpired = report.expired;
  });
  if (!loaded) return "failed";
  engine.log("warning", "DB reloaded by DEBUG RELOAD");
  return "done";
}

export function reloadAof(engine: Engine): boolean {
  const { persistence } = engine;
  const { aof } = persistence;
  if (aof.state === "on") aof.appender.flush(true);
  else if (!aof.hasManifest()) return false;
  flush(engine);
  const loaded = load(engine, "the append-only file", () => {
    const steps = aof.load(() => {});
    while (!steps.next().done);
  });
  // Replaying is no change.
  persistence.nothingChanged();
  if (loaded) engine.log("warning", "Append Only File loaded by DEBUG LOADAOF");
  return loaded;
}
