/**
 * The data of an engine at a moment, to go back to it or to begin with it elsewhere in this process: for tests that all begin with
 * the same data.
 *
 * Keys are in tables of about a thousand, which are copied as arrays; values are shared and copied one by one, when somebody opens
 * one for a change (core/db.ts). So an image, and each store that begins with it, costs some microseconds for a thousand keys,
 * whatever their values hold.
 */
import type { DbImage } from "../core/db.ts";
import type { Engine } from "../core/engine.ts";

/**
 * The data of an engine at a moment: what `Engine.image` gives and `Engine.restore` takes. Its values are shared with the engine until they
 * change.
 */
export interface EngineImage {
  /** By the number of the database; null for one that is empty. */
  readonly databases: readonly (DbImage | null)[];
  /** The sources of the libraries of functions. */
  readonly libraries: readonly string[];
}

export function imageOf(engine: Engine): EngineImage {
  return {
    databases: engine.databases.map((db) => (db.size === 0 ? null : db.image())),
    libraries: engine.functions.sources(),
  };
}

export function restoreTo(engine: Engine, image: EngineImage | null): void {
  if (engine.persistence.active || engine.replication.isReplica) {
    throw new Error("an image is for a store in memory that follows nobody: files and replicas would not hear of it");
  }
  for (const [index, db] of engine.databases.entries()) db.restore(image?.databases[index] ?? null);
  const libraries = image?.libraries ?? [];
  if (libraries.length > 0) engine.functions.restore(libraries, "flush");
  else engine.functions.flush();
}
