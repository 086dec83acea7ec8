/** RDB files: made from any store, and loaded by the engine in this process, which is also how they are verified. */
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Engine } from "@cinnabar/engine";
import { messageOf } from "../../values.ts";
import { CommandFailure } from "../command.ts";
import { greet, Link } from "./link.ts";
import type { Reached } from "./reach.ts";

const CONFIG = { appendonly: "no", save: "", dbfilename: "dump.rdb" };

const temporary = (near: string): string => mkdtempSync(join(near, ".cinnabar-rdb-"));

/** Writes a snapshot of a store as it is at one moment; the file is there as a whole or not at all. */
export async function writeRdb(reached: Reached, file: string): Promise<void> {
  const folder = temporary(dirname(file));
  try {
    const made = reached.engine === undefined ? await followed(reached, folder) : await saved(reached.engine, folder);
    renameSync(made, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** By replication: the engine fetches a snapshot and what is written meanwhile, and stops at a moment. */
async function followed(reached: Reached, folder: string): Promise<string> {
  const { place } = reached;
  if (place.kind === "folder") throw new Error(`${reached.label} is a folder: there is no server to follow`);
  if (place.kind === "cluster") {
    throw new CommandFailure(
      `${reached.label} is a Cluster: a snapshot is of one server`,
      "take it from each primary by its own URL, or use `cinnabar export --format jsonl`",
    );
  }
  const { credentials } = place;
  const auth = {
    ...(credentials.password === undefined ? {} : { masterauth: credentials.password }),
    ...(credentials.username === undefined ? {} : { masteruser: credentials.username }),
  };
  // A server that cannot be used says why at once; replication would try for ever.
  const probe = await reached.connect();
  await probe.call("PING");
  probe.close();
  const engine = await Engine.open({ dir: folder, config: { ...CONFIG, ...auth } });
  try {
    await reached.replicate!(engine, { timeoutMs: 600_000 });
    engine.promote();
    return await saved(engine, folder);
  } finally {
    await engine.close();
  }
}

/** The engine's own snapshot, as SAVE writes it; one that the folder had before is newer now, and one that it had not is gone again. */
async function saved(engine: Engine, folder: string): Promise<string> {
  const client = engine.connect();
  const setting = async (name: string): Promise<string> => {
    const found = await client.call("CONFIG", "GET", name);
    return Array.isArray(found) ? String(found[1]) : "";
  };
  const own = join(await setting("dir"), await setting("dbfilename"));
  const had = existsSync(own);
  await client.call("SAVE");
  client.close();
  const made = join(folder, "made.rdb");
  copyFileSync(own, made);
  if (!had) rmSync(own);
  return made;
}

/** The store in an RDB file, in memory; the file is not changed. */
export async function loadRdb(file: string): Promise<Reached> {
  const folder = mkdtempSync(join(tmpdir(), "cinnabar-load-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    copyFileSync(file, join(folder, "dump.rdb"));
    const engine = await Engine.open({ dir: folder, config: CONFIG });
    const connect: Reached["connect"] = async (options = {}) => {
      const link = new Link(engine.stream(), file);
      await greet(link, options);
      return link;
    };
    const close = async (): Promise<void> => {
      await engine.close();
      remove();
    };
    const place = { kind: "folder", label: file, dir: folder } as const;
    return { place, label: file, engine, connect, connectTo: (_, options) => connect(options), close };
  } catch (error) {
    remove();
    throw new CommandFailure(
      `${file} cannot be loaded: ${messageOf(error)}`,
      `cinnabar-check-rdb ${file} shows where it is damaged`,
    );
  }
}
