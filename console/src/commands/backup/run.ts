/** `cinnabar backup`: takes, verifies, lists and restores snapshots. */
import { mkdirSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../options.ts";
import { counted, messageOf } from "../../values.ts";
import { CommandFailure, type Streams } from "../command.ts";
import type { Arguments } from "../flags.ts";
import { type Place, placeOf } from "../link/place.ts";
import { loadRdb, writeRdb } from "../link/rdb.ts";
import { reach } from "../link/reach.ts";
import { WholeStore } from "../link/stores.ts";
import { type TlsSettings, tlsFrom } from "../link/tls.ts";
import { compareAll, sizeOf, tellOf } from "../move/compare.ts";
import { Copier } from "../move/copy.ts";
import { didYouMean } from "../nearest.ts";
import { Progress } from "../progress.ts";
import { type Backup, backupsIn, checkedManifest, deleteBackup, newBackup, sha256Of, writeManifest } from "./files.ts";

export const ACTIONS = ["take", "list", "verify", "restore"] as const;

type Action = (args: Arguments, rest: readonly string[], streams: Streams) => Promise<number>;

export async function runBackup(args: Arguments, streams: Streams): Promise<number> {
  const [action = "", ...rest] = args.positionals;
  const run = ACTIONS_BY_NAME[action];
  if (run !== undefined) return run(args, rest, streams);
  if (action === "") throw new UsageError(`say what to do: cinnabar backup ${ACTIONS.join("|")}`);
  throw new UsageError(`backup does not know '${action}'${didYouMean(action, ACTIONS)} (${ACTIONS.join(", ")})`);
}

function two(rest: readonly string[], what: string): [string, string] {
  const [first, second, ...more] = rest;
  if (first === undefined || second === undefined || more.length > 0) throw new UsageError(`cinnabar backup ${what}`);
  return [first, second];
}

async function take(args: Arguments, rest: readonly string[], streams: Streams): Promise<number> {
  const [source, folder] = two(rest, "take URL|FOLDER INTO");
  const everyMs = args.has("every") ? Math.max(1_000, args.duration("every", 0)) : null;
  const keep = args.whole("keep", 0, 1, 100_000);
  const keepMs = args.duration("keep-for", 0);
  const place = placeOf(source, streams.env);
  const tls = tlsFrom(args, [place]);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let count = 1; ; count++) {
    try {
      await takeOne(place, tls, folder, streams);
      // Only what a good one replaces is deleted.
      retain(folder, keep, keepMs, streams);
    } catch (error) {
      if (everyMs === null) throw error;
      streams.stderr.write(`cinnabar backup: ${messageOf(error)}; trying again in ${everyMs / 1_000} s\n`);
    }
    if (everyMs === null || count === args.whole("times", 0, 1)) return 0;
    const isOver = await sleep(everyMs, false, streams.signal === undefined ? {} : { signal: streams.signal }).catch(
      () => true,
    );
    if (isOver) return 0;
  }
}

async function takeOne(place: Place, tls: TlsSettings, folder: string, { stdout }: Streams): Promise<void> {
  const reached = await reach(place, { tls, mustExist: true });
  const takenAt = new Date();
  const backup = newBackup(folder, takenAt);
  try {
    await writeRdb(reached, backup.file);
  } finally {
    await reached.close();
  }
  try {
    // What does not load is no backup.
    const keys = await keysIn(backup.file);
    const sha256 = await sha256Of(backup.file);
    writeManifest(backup.file, { takenAt: takenAt.toISOString(), source: reached.label, keys, sha256 });
    stdout.write(`${backup.file}: ${counted(keys, "key")} of ${reached.label}, verified by loading\n`);
  } catch (error) {
    rmSync(backup.file, { force: true });
    throw error;
  }
}

async function keysIn(file: string): Promise<number> {
  const store = new WholeStore(await loadRdb(file));
  try {
    return await store.count();
  } finally {
    await store.close();
  }
}

/** Deletes what is more than asked for; the newest always stays. */
function retain(folder: string, keep: number, keepMs: number, { stdout }: Streams): void {
  const backups = backupsIn(folder);
  const newest = backups.at(-1);
  const tooMany = keep === 0 ? [] : backups.slice(0, -keep);
  const oldest = keepMs === 0 ? "" : newBackup(folder, new Date(Date.now() - keepMs)).name;
  const tooOld = backups.filter(({ name }) => keepMs > 0 && name < oldest);
  for (const each of new Set<Backup>([...tooMany, ...tooOld])) {
    if (each === newest) continue;
    deleteBackup(each);
    stdout.write(`${each.file}: deleted, as --keep and --keep-for say\n`);
  }
}

async function list(_args: Arguments, rest: readonly string[], { stdout }: Streams): Promise<number> {
  const [folder, ...more] = rest;
  if (folder === undefined || more.length > 0) throw new UsageError("cinnabar backup list FOLDER");
  let code = 0;
  for (const { file } of backupsIn(folder)) {
    try {
      const { takenAt, keys, source } = await checkedManifest(file);
      stdout.write(`${file}  ${takenAt}  ${counted(keys, "key")} of ${source}\n`);
    } catch (error) {
      stdout.write(`${messageOf(error)}\n`);
      code = 2;
    }
  }
  return code;
}

/** The backup that is named, or the newest of a folder. */
function fileIn(path: string): string {
  if (path.endsWith(".rdb")) return path;
  const newest = backupsIn(path).at(-1);
  if (newest === undefined) throw new CommandFailure(`there are no backups in ${path}`);
  return newest.file;
}

async function verify(_args: Arguments, rest: readonly string[], { stdout }: Streams): Promise<number> {
  const [path, ...more] = rest;
  if (path === undefined || more.length > 0) throw new UsageError("cinnabar backup verify FILE|FOLDER");
  const file = fileIn(path);
  const manifest = await checkedManifest(file);
  const keys = await keysIn(file);
  stdout.write(`${file}: sound, ${counted(keys, "key")} of ${manifest.source}, taken ${manifest.takenAt}\n`);
  return 0;
}

async function restore(args: Arguments, rest: readonly string[], streams: Streams): Promise<number> {
  const [path, target] = two(rest, "restore FILE|FOLDER TO");
  const file = fileIn(path);
  await checkedManifest(file);
  const place = placeOf(target, streams.env);
  const tls = tlsFrom(args, [place]);
  const from = new WholeStore(await loadRdb(file));
  try {
    const to = new WholeStore(await reach(place, { tls }));
    try {
      return await restored(from, to, args.has("replace"), streams);
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

async function restored(from: WholeStore, to: WholeStore, replaces: boolean, streams: Streams): Promise<number> {
  const count = await to.count();
  if (count > 0 && !replaces)
    throw new CommandFailure(`${to.label} has ${counted(count, "key")}`, "--replace deletes them first");
  if (count > 0) for (const primary of await to.primaries()) await primary.call("FLUSHALL");
  const progress = new Progress(streams);
  const copier = new Copier(from, to, (db) => db, progress);
  await copier.copyAll(false);
  const { keys, suspects } = await compareAll(from, to, (db) => db, progress);
  if (sizeOf(suspects) > 0) {
    throw new CommandFailure(
      tellOf(suspects, "key is not as in the backup", "keys are not as in the backup"),
      "does something else write there?",
    );
  }
  streams.stdout.write(`Restored ${counted(keys, "key")} from ${from.label} to ${to.label}; every key was compared.\n`);
  return 0;
}

const ACTIONS_BY_NAME: Readonly<Record<string, Action>> = { take, list, verify, restore };
