/**
 * DEBUG RELOAD and DEBUG LOADAOF: what the files hold takes the place of what memory holds, while everybody waits. Nothing
 * of it is handed on: for the append-only file and the replicas the data is what it was.
 *
 * Two things that end a Redis are errors here: a key that is both in the file and in memory (RELOAD NOFLUSH without
 * MERGE), and LOADAOF where there are no files. And where there is nothing to load, nothing is dropped for it.
 */

import { ReplyError } from "../core/errors.ts";
import { messageOf } from "../lib/caught.ts";
import { existsSync } from "../platform/files.ts";
import type { PersistHost } from "./host.ts";
import type { Persistence } from "./persistence.ts";
import { loadRdbSync, type RdbLoadHost } from "./rdb/file.ts";

export interface ReloadOptions {
  readonly save: boolean;
  readonly flush: boolean;
  /** Keys and libraries of the file take the place of those that are there. */
  readonly merge: boolean;
}

/** What reloading needs of the store around it. */
type ReloadHost = RdbLoadHost & Pick<PersistHost, "functions" | "loading"> & { readonly persistence: Persistence };

function flush(host: ReloadHost): void {
  for (const db of host.databases) db.clear();
  host.functions.flush();
}

/** Runs a load while the engine counts as loading; false if it fails, with the reason in the log. */
function load(host: ReloadHost, what: string, run: () => void): boolean {
  host.loading = true;
  try {
    run();
    return true;
  } catch (error) {
    host.log("warning", `Cannot load ${what}: ${error instanceof ReplyError ? error.text : messageOf(error)}`);
    return false;
  } finally {
    host.loading = false;
  }
}

/** `unsaved`: the file could not be written; `failed`: it could not be read. */
export function reloadRdb(host: ReloadHost, options: ReloadOptions): "done" | "unsaved" | "failed" {
  const { persistence } = host;
  if (options.save && !persistence.save()) return "unsaved";
  if (!existsSync(persistence.path)) return "failed";
  if (options.flush) flush(host);
  const loaded = load(host, persistence.path, () => {
    const report = loadRdbSync(host, persistence.path, {
      replaceKeys: options.merge,
      onFunction: (source) => host.functions.restore([source], options.merge ? "replace" : "append"),
    });
    persistence.keysLoaded = report.keys;
    persistence.keysExpired = report.expired;
  });
  if (!loaded) return "failed";
  host.log("warning", "DB reloaded by DEBUG RELOAD");
  return "done";
}

export function reloadAof(host: ReloadHost): boolean {
  const { persistence } = host;
  const { aof } = persistence;
  if (aof.state === "on") aof.appender.flush(true);
  else if (!aof.hasManifest()) return false;
  flush(host);
  const loaded = load(host, "the append-only file", () => {
    const steps = aof.load(() => {});
    while (!steps.next().done);
  });
  // Replaying is no change.
  persistence.nothingChanged();
  if (loaded) host.log("warning", "Append Only File loaded by DEBUG LOADAOF");
  return loaded;
}
