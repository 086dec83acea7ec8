/**
 * The far side of the thread that renews leases; thread.ts tells how the two share what they know. It has a store of its own
 * and runs nothing but renewals: each lease when a third of it has passed, those that are due together in one pipeline, and
 * what fails again soon, as long as the lease is valid.
 */
import { parentPort, workerData } from "node:worker_threads";
import { systemClock, threadsMicros } from "../base/clock.ts";
import { ServerError } from "../base/errors.ts";
import { defineScript, type Script, type ScriptCall } from "../base/script.ts";
import { Store } from "../connection/store.ts";
import { openUrl } from "../connection/url.ts";
import { Board, SLOTS } from "./board.ts";
import {
  type FromThread,
  type InSlot,
  LOOK_MS,
  LOOKS_PER_LEASE,
  type SlotText,
  type ThreadData,
  type ToThread,
} from "./thread.ts";

interface Lease {
  readonly id: number;
  readonly board: Board;
  readonly slot: number;
  readonly call: ScriptCall;
  readonly leaseMs: number;
  word: bigint;
  /** When it is renewed; Infinity while its renewal is under way. */
  dueMs: number;
  /** From when on it is renewed together with others that are due. After a failure not before `dueMs`: the loop needs to breathe. */
  joinsMs: number;
}

/** Of each lease this part is left unused, for clocks that run at different rates. */
const VALID_PART = 0.99;
/** Of each lease this part: so much earlier than it is due it is renewed together with others. */
const JOINS_PART = 1 / 20;
/** So many looks without a short lease, and it looks less often. */
const CALM_LOOKS = 20;

if (parentPort === null) throw new Error("this file is run by a worker thread");
const port = parentPort;
const { address, looking }: ThreadData = workerData;
const interval = new Int32Array(looking);
const boards: Board[] = [];
const scripts = new Map<string, Script<never, unknown>>();
/** Texts that were too long for a slot. */
const texts = new Map<number, string>();
/** By the number of the slot. */
const leases = new Map<number, Lease>();
const tell = (message: FromThread): void => port.postMessage(message);
const now = (): number => systemClock.monotonicMs();
let store: Store | null = null;
let timer: NodeJS.Timeout | undefined;
let calm = 0;

/** Takes over what is new on the boards, and forgets what is gone. Returns the shortest of the leases. */
function look(): number {
  let shortest = Number.POSITIVE_INFINITY;
  boards.forEach((board, nth) => {
    for (let slot = 0; slot < SLOTS; slot++) {
      const number = nth * SLOTS + slot;
      const known = leases.get(number);
      if (!board.inUse(slot)) {
        if (known !== undefined) forget(number, known);
        continue;
      }
      const lease = known?.word === board.word(slot) ? known : takeOver(board, slot, number);
      if (lease !== undefined) shortest = Math.min(shortest, lease.leaseMs);
    }
  });
  return shortest;
}

function forget(number: number, lease: Lease): void {
  leases.delete(number);
  texts.delete(lease.id);
}

function wholeText(written: InSlot): SlotText | undefined {
  if (written.length !== 1) return written;
  const text = texts.get(written[0]);
  return text === undefined ? undefined : JSON.parse(text);
}

function takeOver(board: Board, slot: number, number: number): Lease | undefined {
  const written = board.read(slot);
  if (written === null) return undefined;
  const parts = wholeText(JSON.parse(written.text));
  if (parts === undefined) return undefined;
  const [id, sha, leaseMs, keys, args] = parts;
  const script = scripts.get(sha);
  // Its message is on the way.
  if (script === undefined) return undefined;
  const words = args.map((word) => (typeof word === "object" ? Buffer.from(word.base64, "base64") : word));
  const call = { script, keys, args: words };
  const dueMs = now() + board.validForMs(slot) - (leaseMs * 2) / 3;
  const joinsMs = dueMs - leaseMs * JOINS_PART;
  const lease: Lease = { id, board, slot, call, leaseMs, word: written.word, dueMs, joinsMs };
  leases.set(number, lease);
  return lease;
}

/** How often to look, given the shortest lease. */
function adjust(shortest: number): void {
  const wanted = Math.min(LOOK_MS, Math.max(5, Math.floor(shortest / LOOKS_PER_LEASE)));
  const current = Atomics.load(interval, 0);
  calm = wanted > current ? calm + 1 : 0;
  if (wanted < current) Atomics.store(interval, 0, wanted);
  if (calm < CALM_LOOKS) return;
  calm = 0;
  Atomics.store(interval, 0, wanted);
  // Somebody may have read the old number while it was changed.
  const again = Math.max(5, Math.floor(look() / LOOKS_PER_LEASE));
  if (again < wanted) Atomics.store(interval, 0, again);
}

function tick(): void {
  clearTimeout(timer);
  adjust(look());
  const at = now();
  const due: Lease[] = [];
  let nextMs = at + Atomics.load(interval, 0);
  for (const lease of leases.values()) {
    if (lease.joinsMs <= at) due.push(lease);
    else nextMs = Math.min(nextMs, lease.dueMs);
  }
  if (due.length > 0) void renew(due);
  timer = setTimeout(tick, Math.max(1, nextMs - at));
}

function plan(lease: Lease, dueMs: number, earlierMs: number): void {
  lease.dueMs = dueMs;
  lease.joinsMs = dueMs - earlierMs;
}

async function renew(due: readonly Lease[]): Promise<void> {
  for (const lease of due) plan(lease, Number.POSITIVE_INFINITY, 0);
  const sentMicros = threadsMicros();
  const sentMs = now();
  const answers = await answersTo(due);
  const lost: number[] = [];
  due.forEach((lease, at) => {
    const answer = answers[at];
    if (answer === undefined) {
      plan(lease, now() + Math.min(lease.leaseMs / 10, 500), 0);
    } else if (Number(answer) > 0) {
      lease.word = lease.board.renewed(lease.slot, lease.word, sentMicros, lease.leaseMs * VALID_PART) ?? lease.word;
      plan(lease, sentMs + lease.leaseMs / 3, lease.leaseMs * JOINS_PART);
    } else {
      lost.push(lease.id);
    }
  });
  if (lost.length > 0) tell({ kind: "lost", ids: lost });
  tick();
}

/** The answers, undefined where none came. Waits no longer than the shortest of the leases allows for another attempt. */
async function answersTo(due: readonly Lease[]): Promise<readonly unknown[]> {
  const none = due.map(() => undefined);
  if (store === null) return none;
  const patienceMs = Math.max(
    50,
    due.reduce((shortest, { leaseMs }) => Math.min(shortest, leaseMs), Number.POSITIVE_INFINITY) / 4,
  );
  let impatient: NodeJS.Timeout | undefined;
  const late = new Promise<readonly unknown[]>((resolve) => {
    impatient = setTimeout(() => resolve(none), patienceMs);
  });
  try {
    const answers = store.pipeline(due.map(({ call }) => call));
    answers.catch(() => {});
    return (await Promise.race([answers, late])).map((answer) => (answer instanceof ServerError ? undefined : answer));
  } catch {
    return none;
  } finally {
    clearTimeout(impatient);
  }
}

/** Its keys and arguments have their names in the text already. */
function scriptOf(source: string): Script<never, unknown> {
  return defineScript({
    name: "leases.renew",
    keys: [],
    lua: source,
    reply: Number,
    repeatable: true,
    // Renewals run while their slot is being moved, so they have one text for all topologies.
    whileMoving: true,
  });
}

async function stop(): Promise<void> {
  clearTimeout(timer);
  port.close();
  await store?.close();
  process.exit(0);
}

async function connect(): Promise<void> {
  for (let waitMs = 50; store === null; waitMs = Math.min(waitMs * 2, 1_000)) {
    try {
      // Not `open`, which would bring the engine along. Renewals are tried again here, so nothing else may hold them up.
      const options = { ...address.options, retryMs: 0, breaker: false, clientName: "cinnabar-leases" } as const;
      store = new Store(await openUrl(address.url, options), options);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
  tick();
  tell({ kind: "ready" });
}

port.on("message", (message: ToThread) => {
  switch (message.kind) {
    case "board":
      boards.push(new Board(message.memory));
      break;
    case "script":
      scripts.set(message.sha, scriptOf(message.source));
      break;
    case "text":
      texts.set(message.id, message.text);
      break;
    case "look":
      tick();
      break;
    case "stop":
      void stop();
  }
});
void connect();
