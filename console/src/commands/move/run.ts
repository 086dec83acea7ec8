/** The steps of `cinnabar move`, and what is put back when one of them fails. */
import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../options.ts";
import { counted, messageOf } from "../../values.ts";
import { CommandFailure, type Streams } from "../command.ts";
import type { Arguments } from "../flags.ts";
import { type Place, placeOf } from "../link/place.ts";
import { reach } from "../link/reach.ts";
import { infoOf, WholeStore } from "../link/stores.ts";
import { tlsFrom } from "../link/tls.ts";
import { Progress } from "../progress.ts";
import { compareAll, type DbMap, type Suspects, sizeOf, stillDifferent, surplus, suspect, tellOf } from "./compare.ts";
import { Copier } from "./copy.ts";
import { followerOf, offsetOf } from "./follow.ts";
import { holdWrites, isFenced, lowerFence, releaseWrites } from "./hold.ts";

interface Move {
  readonly from: WholeStore;
  readonly to: WholeStore;
  readonly toDb: DbMap;
  readonly progress: Progress;
  readonly holdMs: number;
  readonly verifies: boolean;
  readonly isResumed: boolean;
  readonly signal: AbortSignal | undefined;
}

interface Outcome {
  readonly by: "replication" | "copy";
  readonly keys: number;
  readonly heldMs: number;
}

const LOADING_POLL_MS = 50;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

export async function runMove(args: Arguments, streams: Streams): Promise<number> {
  const [fromText, toText, ...more] = args.positionals;
  if (fromText === undefined || toText === undefined || more.length > 0) {
    throw new UsageError("name two places: cinnabar move FROM TO");
  }
  const places = [placeOf(fromText, streams.env, "FROM_"), placeOf(toText, streams.env, "TO_")] as const;
  const tls = tlsFrom(args, places);
  const from = new WholeStore(await reach(places[0], { tls, mustExist: true }));
  const to = new WholeStore(await reach(places[1], { tls }));
  try {
    const move: Move = {
      from,
      to,
      toDb: dbMap(...places),
      progress: new Progress(streams),
      holdMs: args.duration("hold", 30_000),
      verifies: !args.has("no-verify"),
      isResumed: args.has("resume"),
      signal: streams.signal,
    };
    if (args.has("roll-back")) return await rollBack(move, streams);
    await prepare(move, args);
    const began = performance.now();
    const outcome = await moveBy(args.text("by") ?? "auto", move);
    const { keys, heldMs, by } = outcome;
    const checked = move.verifies ? "; every key was compared" : "";
    streams.stdout.write(
      `Moved ${counted(keys, "key")} from ${from.label} to ${to.label} by ${by} in ${seconds(performance.now() - began)}${checked}.\n`,
    );
    streams.stdout.write(`Writes were held for ${Math.ceil(heldMs)} ms.\n`);
    if (places[0].kind !== "folder") {
      streams.stdout.write(`${from.label} refuses writes now (NOREPLICAS): let its clients use ${to.label}.\n`);
      streams.stdout.write(`The way back: cinnabar move --roll-back ${from.label} ${to.label}\n`);
    }
    return 0;
  } finally {
    await from.close();
    await to.close();
  }
}

function dbMap(from: Place, to: Place): DbMap {
  if (to.kind === "folder" || !to.namesDb) return (db) => db;
  if (from.kind === "folder" || !from.namesDb) {
    throw new UsageError("TO names a database: FROM must name one too, for instance redis://127.0.0.1:6379/0");
  }
  return () => to.db;
}

/** A server that was following when a move was killed may still load what it has received. */
async function loaded(store: WholeStore, { progress, signal }: Move): Promise<void> {
  for (;;) {
    const info = await infoOf(await store.control(), "persistence");
    if (info.get("loading") !== "1") return;
    signal?.throwIfAborted();
    const [done, total] = [Number(info.get("loading_loaded_bytes")), Number(info.get("loading_total_bytes"))];
    progress.show(`${store.label} is loading`, done, total);
    await sleep(LOADING_POLL_MS);
  }
}

async function prepare(move: Move, args: Arguments): Promise<void> {
  const { from, to, isResumed } = move;
  for (const store of [from, to]) await loaded(store, move);
  const [source, target] = [await infoOf(await from.control(), "server"), await infoOf(await to.control(), "server")];
  if (source.get("run_id") === target.get("run_id")) throw new UsageError("FROM and TO are the same store");
  if (isResumed) return;
  if ((await infoOf(await to.control(), "replication")).get("role") === "slave") return;
  const count = await to.count();
  if (count > 0 && !args.has("replace")) {
    throw new CommandFailure(
      `${to.label} has ${counted(count, "key")}`,
      "--resume goes on with a move that was interrupted; --replace deletes what is there",
    );
  }
  if (count > 0) for (const primary of await to.primaries()) await primary.call("FLUSHALL");
}

async function moveBy(by: string, move: Move): Promise<Outcome> {
  const { from, to, progress } = move;
  const [source, target] = [from.reached.place, to.reached.place];
  const namesDb = [source, target].some((place) => place.kind !== "folder" && place.namesDb);
  const isSingle =
    !namesDb && typeof from.reached.endpoint === "object" && !(await from.isCluster()) && !(await to.isCluster());
  if (by === "replication" && !isSingle) {
    throw new UsageError(
      "replication is from one server, over TCP and as a whole, to one server or a folder: use --by copy",
    );
  }
  if (by === "copy" || !isSingle) return moveByCopy(move);
  try {
    return await moveByReplication(move);
  } catch (error) {
    if (by === "replication" || !(error instanceof CannotFollow)) throw error;
    progress.say(`${messageOf(error)}; copying instead.`);
    return moveByCopy({ ...move, isResumed: true });
  }
}

class CannotFollow extends CommandFailure {}

async function moveByReplication(move: Move): Promise<Outcome> {
  const { from, to, progress } = move;
  const follower = followerOf(to, from, progress);
  try {
    await follower.start();
  } catch (error) {
    await undone([() => follower.promote(), () => follower.tidy()]);
    throw new CannotFollow(messageOf(error), error instanceof CommandFailure ? error.advice : undefined, {
      cause: error,
    });
  }
  progress.say(`${to.label} follows ${from.label}.`);
  const caughtUp = async (): Promise<void> => {
    const wanted = await offsetOf(from);
    while ((await follower.offset()) < wanted) {
      move.signal?.throwIfAborted();
      await sleep(1);
    }
  };
  const undo = [() => follower.promote(), () => follower.tidy()];
  return switchOver(move, "replication", {
    catchUp: caughtUp,
    changed: () => 0,
    repair: async () => {},
    promote: () => follower.promote(),
    finish: () => follower.tidy(),
    undo,
  });
}

async function moveByCopy(move: Move): Promise<Outcome> {
  const { from, to, toDb, progress, isResumed, signal } = move;
  const copier = new Copier(from, to, toDb, progress);
  await copier.listen();
  await copier.copyAll(isResumed);
  // Under writes it never ends: a small rest is for the moment in which they are held.
  for (let round = 0; round < 20 && (await copier.catchUp()) > 100; round++) signal?.throwIfAborted();
  const stop = async (): Promise<void> => copier.stop();
  return switchOver(move, "copy", {
    catchUp: async () => void (await copier.catchUp()),
    changed: () => copier.pending,
    repair: (suspects) => copier.repair(suspects),
    promote: async () => {},
    finish: stop,
    undo: [stop],
  });
}

/** What differs between the two ways. */
interface Way {
  /** Brings the new store to where the old one is now. */
  catchUp(): Promise<void>;
  changed(): number;
  repair(suspects: Suspects): Promise<void>;
  promote(): Promise<void>;
  finish(): Promise<void>;
  readonly undo: readonly (() => Promise<void>)[];
}

/** Compares while writes go on, holds them, compares what was in doubt, and switches. Whatever fails, the old store goes on. */
async function switchOver(move: Move, by: Outcome["by"], way: Way): Promise<Outcome> {
  const { from, to, toDb, progress, holdMs, verifies, signal } = move;
  const isAlone = from.reached.place.kind === "folder";
  let began = performance.now();
  try {
    const { suspects } = verifies ? await compareAll(from, to, toDb, progress) : { suspects: new Map() };
    await way.catchUp();
    signal?.throwIfAborted();
    began = isAlone ? performance.now() : await holdWrites(from, holdMs);
    await way.catchUp();
    const left = await verifiedAtLast(move, way, suspects);
    if (sizeOf(left) > 0)
      throw new CommandFailure(
        tellOf(left, "key differs", "keys differ"),
        "nothing was switched; try again, and report it if it stays",
      );
    await way.promote();
  } catch (error) {
    progress.say("Rolling back: the old store goes on as before.");
    const release = isAlone ? [] : [() => lowerFence(from), () => releaseWrites(from)];
    await undone([...release, ...way.undo]);
    throw error;
  }
  const keys = await to.count();
  if (!isAlone) await releaseWrites(from);
  const heldMs = isAlone ? 0 : performance.now() - began;
  await way.finish();
  return { by, keys, heldMs };
}

/** While writes are held: what was in doubt, and whether both have as many keys. */
async function verifiedAtLast({ from, to, toDb, verifies }: Move, way: Way, suspects: Suspects): Promise<Suspects> {
  if (!verifies) return new Map();
  let left = await stillDifferent(from, to, toDb, suspects);
  if (sizeOf(left) > 0) {
    await way.repair(left);
    left = await stillDifferent(from, to, toDb, left);
  }
  if ((await from.count()) === (await to.count())) return left;
  const more = await surplus(from, to, toDb);
  for (const [db, names] of await stillDifferent(from, to, toDb, more)) suspect(left, db, names);
  return left;
}

async function undone(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  // Each is tried whatever becomes of the others.
  for (const step of steps) await step().catch(() => {});
}

/** Lets the old store go on, if nothing would be lost by it. */
async function rollBack({ from, to, toDb, progress }: Move, { stdout }: Streams): Promise<number> {
  if (!(await isFenced(from)))
    throw new CommandFailure(`${from.label} takes writes already: there is nothing to roll back`);
  const isReplica = (await infoOf(await to.control(), "replication")).get("role") === "slave";
  if (!isReplica) {
    const { suspects } = await compareAll(from, to, toDb, progress);
    for (const [db, names] of await surplus(from, to, toDb)) suspect(suspects, db, names);
    if (sizeOf(suspects) > 0) {
      throw new CommandFailure(
        `${to.label} has changed since: ${tellOf(suspects, "key differs", "keys differ")}`,
        `move its data back: cinnabar move --replace ${to.label} ${from.label} (after CONFIG SET min-replicas-to-write 0 on ${from.label})`,
      );
    }
  } else await (await to.control()).call("REPLICAOF", "NO", "ONE");
  await lowerFence(from);
  await releaseWrites(from);
  stdout.write(`${from.label} takes writes again. ${to.label} keeps its copy.\n`);
  return 0;
}
