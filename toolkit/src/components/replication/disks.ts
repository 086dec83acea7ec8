/**
 * Whether replicas have something on their disks, asked of themselves: for servers that do not have WAITAOF.
 *
 * A replica tells how far it has come (`slave_repl_offset`), what is not yet handed to its disk (`aof_buffer_length`), and how
 * many syncs are under way (`aof_pending_bio_fsync`). That no sync is under way does not mean that there has been one, which is
 * where simple versions of this go wrong: with `appendfsync everysec` the next one may be a second off. So two looks are needed.
 * At the first, everything is written and no sync is under way; then a sync of it begins within a second (two, with a slow
 * server's cron). If at a look after that none is under way and none has failed, it is over.
 */

import { onAbort } from "../../base/abort.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { asText, asTexts } from "../../base/replies.ts";
import { open } from "../../connection/open.ts";
import type { WorkerAddress } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { formatUrl, parseUrl } from "../../connection/url.ts";

const SYNC_BEGINS_MS = 2_000;
const POLL_MS = 25;

/** Where a replica says that it is reached. */
export interface Replica {
  /** Its name or address. */
  readonly host: string;
  /** Its port. */
  readonly port: number;
}

/** The replicas that follow, out of INFO replication. */
export function replicasOf(info: string): Replica[] {
  return [...info.matchAll(/^slave\d+:ip=([^,]+),port=(\d+),state=online/gm)].flatMap(([, host, port]) =>
    host === undefined ? [] : [{ host, port: Number(port) }],
  );
}

export function field(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:([^\\r\\n]*)`, "m").exec(info)?.[1];
}

/** The replica's own address, with the credentials that lead to its primary. */
export function urlOf({ host, port }: Replica, primary: WorkerAddress | null): string {
  const { tls, username, password } = primary === null ? { tls: false } : parseUrl(primary.url);
  return formatUrl({
    kind: "single",
    tls,
    endpoints: [{ host, port }],
    db: 0,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  });
}

export interface Wanted {
  readonly count: number;
  /** The primary's offset that they must have reached. */
  readonly offset: number;
  readonly deadlineMs: number;
  readonly urls: readonly string[];
  readonly address: WorkerAddress | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** How many replicas have it on disk; settles when enough have, or at the deadline. */
export async function onDisks(wanted: Wanted): Promise<number> {
  const { count, urls, clock, deadlineMs, signal } = wanted;
  const ending = new AbortController();
  const end = AbortSignal.any([ending.signal, signal]);
  let found = 0;
  const deadline = clock.after(deadlineMs - clock.monotonicMs(), () => ending.abort(), { keepAlive: true });
  try {
    await Promise.all(
      urls.map(async (url) => {
        if (!(await isOnDisk(url, wanted, end))) return;
        if (++found >= count) ending.abort();
      }),
    );
  } finally {
    deadline.cancel();
  }
  return found;
}

/** False when it cannot be told, or not in time. */
async function isOnDisk(
  url: string,
  { offset, deadlineMs, address, clock }: Wanted,
  end: AbortSignal,
): Promise<boolean> {
  let store: Store | undefined;
  const connectTimeoutMs = Math.max(1, deadlineMs - clock.monotonicMs());
  const opening = open(url, { ...address?.options, connectTimeoutMs, retryMs: 0, clientName: "cinnabar-disks" });
  try {
    store = await orEnd(opening, end);
    const policy = await orEnd(setting(store, "appendfsync"), end);
    const skips = (await orEnd(setting(store, "no-appendfsync-on-rewrite"), end)) === "yes";
    let writtenMs: number | undefined;
    for (;;) {
      const look = await orEnd(inspect(store, offset), end);
      if (!look.appends || policy === "no") return false;
      const isQuiet = look.ok && !(skips && look.forked);
      const isWritten = isQuiet && look.arrived && look.written;
      if (isWritten && policy === "always") return true;
      if (!isQuiet) writtenMs = undefined;
      else if (look.syncs === 0) {
        if (isWritten) writtenMs ??= clock.monotonicMs();
        if (writtenMs !== undefined && clock.monotonicMs() - writtenMs >= SYNC_BEGINS_MS) return true;
      }
      await sleep(clock, POLL_MS, end);
    }
  } catch {
    return false;
  } finally {
    if (store === undefined) void opening.then((late) => late.close()).catch(() => {});
    else void store.close();
  }
}

async function setting(store: Store, name: string): Promise<string | undefined> {
  return asTexts(await store.call("CONFIG", "GET", name))[1];
}

async function inspect(store: Store, offset: number) {
  const info = await store.pipeline([
    ["INFO", "replication"],
    ["INFO", "persistence"],
  ]);
  const [replication, persistence] = [asText(info[0]), asText(info[1])];
  const of = (name: string): string | undefined => field(persistence, name);
  return {
    arrived: Number(field(replication, "slave_repl_offset") ?? -1) >= offset,
    appends: of("aof_enabled") === "1",
    written: of("aof_buffer_length") === "0",
    syncs: Number(of("aof_pending_bio_fsync") ?? 0),
    ok: of("aof_last_write_status") === "ok",
    forked: of("aof_rewrite_in_progress") === "1" || of("rdb_bgsave_in_progress") === "1",
  };
}

/** Rejects when the end comes first: a replica that stands still answers nothing. */
function orEnd<T>(promise: Promise<T>, end: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (end.aborted) return reject(end.reason);
    const forget = onAbort(end, () => reject(end.reason));
    promise.then(resolve, reject).finally(forget);
  });
}
