/**
 * The far side of a sandbox: loads the file of the handler, and runs one job after the other. It needs nothing of this package, so
 * that it starts quickly; runner.ts is the near side.
 *
 * In a process, a thread of its own watches over it: it ends the process when that has outgrown its memory, and when its parent is
 * gone, however busy the handler is.
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { Word } from "../../../connection/port.ts";
import { type Asked, type FromSandbox, IN_SANDBOX, type PlainJob, plainError, type ToSandbox } from "./messages.ts";

/** What the near side says at the start. */
export interface FarData {
  readonly kind: "sandbox";
  readonly file: string;
  readonly maxResidentBytes: number | null;
}

type AnyHandler = (job: PlainJob, context: object) => unknown;

function say(message: FromSandbox, then: () => void = () => {}): void {
  if (parentPort === null) {
    process.send?.(message, undefined, undefined, then);
  } else {
    parentPort.postMessage(message);
    then();
  }
}

const calls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
let lastCall = 0;
let running: { readonly abort: AbortController; isLost: boolean } | null = null;

function ask(asked: Asked): Promise<unknown> {
  const call = ++lastCall;
  return new Promise((resolve, reject) => {
    calls.set(call, { resolve, reject });
    try {
      say({ kind: "call", call, asked });
    } catch (error) {
      calls.delete(call);
      reject(error);
    }
  });
}

function errorFrom({ name, message, stack, code }: ReturnType<typeof plainError>): Error {
  const error = new Error(message);
  return Object.assign(error, {
    name,
    ...(stack === undefined ? {} : { stack }),
    ...(code === undefined ? {} : { code }),
  });
}

async function run(
  handlerOf: (name: string | null) => AnyHandler,
  { job, tag, fence }: Extract<ToSandbox, { kind: "run" }>,
): Promise<void> {
  const own = { abort: new AbortController(), isLost: false };
  running = own;
  /** Effects are declared without waiting; the job ends when all of them have arrived. */
  const effects: Promise<unknown>[] = [];
  const context = {
    signal: own.abort.signal,
    tag,
    lease: {
      fence,
      get lost() {
        return own.isLost;
      },
    },
    progress: (value: unknown) => ask({ method: "progress", value }),
    log: (line: unknown) => ask({ method: "log", line: String(line) }),
    children: () => ask({ method: "children" }),
    effect: (command: readonly Word[], keys: readonly string[]) => {
      const told = ask({ method: "effect", command, keys });
      told.catch(() => {});
      effects.push(told);
    },
  };
  try {
    const result = await handlerOf(job.name)(job, context);
    await Promise.all(effects);
    say({ kind: "done", result });
  } catch (error) {
    say({ kind: "failed", error: plainError(error) });
  } finally {
    if (running === own) running = null;
  }
}

/** `handler` or `handlers`, by name or as what is exported by default; a CommonJS module may have it there once more. */
function exportOf(loaded: unknown, isInner = false): unknown {
  if (typeof loaded !== "object" || loaded === null) return loaded;
  const handler = "handler" in loaded ? loaded.handler : undefined;
  const own = handler ?? ("handlers" in loaded ? loaded.handlers : undefined);
  if (own !== undefined) return own;
  const inner = "default" in loaded ? loaded.default : undefined;
  return inner === undefined ? (isInner ? loaded : undefined) : exportOf(inner, true);
}

function handlersIn(exported: unknown): (name: string | null) => AnyHandler {
  if (typeof exported === "function") return () => (job, context) => exported(job, context);
  if (typeof exported !== "object" || exported === null) {
    throw new TypeError("a sandbox must export `handler`, or `handlers` with one for each name");
  }
  const handlers = new Map(Object.entries(exported));
  return (name) => {
    const handler: unknown = (name === null ? undefined : handlers.get(name)) ?? handlers.get("*");
    if (typeof handler === "function") return (job, context) => handler(job, context);
    const which = name === null ? "without a name" : `named "${name}"`;
    throw Object.assign(new Error(`the sandbox has no handler for jobs ${which}`), {
      name: "NoHandlerError",
      code: "NO_HANDLER",
    });
  };
}

function hear(message: ToSandbox, handlerOf: (name: string | null) => AnyHandler): void {
  if (message.kind === "run") {
    void run(handlerOf, message);
  } else if (message.kind === "abort") {
    if (running === null) return;
    running.isLost = message.isLost;
    running.abort.abort(errorFrom(message.reason));
  } else {
    const waiting = calls.get(message.call);
    calls.delete(message.call);
    if (message.kind === "answer") waiting?.resolve(message.value);
    else waiting?.reject(errorFrom(message.error));
  }
}

/** Runs in a thread of its own: the main one may be busy for ever. Says why on the fifth stream, since nothing else gets out. */
const WATCH = `
  const { writeSync } = require("node:fs");
  const { workerData: { parent, most } } = require("node:worker_threads");
  setInterval(() => {
    const used = most === null ? 0 : process.memoryUsage.rss();
    if (process.ppid === parent && (most === null || used <= most)) return;
    if (process.ppid === parent) writeSync(4, "memory " + used);
    process.kill(process.pid, "SIGKILL");
  }, 100);
`;

/** A process is told by its first message, a thread when it is made. */
function told(): Promise<FarData> {
  if (!isMainThread) return Promise.resolve<FarData>(workerData);
  return new Promise((resolve) => process.once("message", (message) => resolve(message as FarData)));
}

async function main(): Promise<void> {
  const start = await told();
  if (isMainThread) {
    process.once("disconnect", () => process.exit());
    process.on("uncaughtException", (error) =>
      say({ kind: "crashed", error: plainError(error) }, () => process.exit(70)),
    );
    const watch = { parent: process.ppid, most: start.maxResidentBytes };
    // What the process was started with is not for it.
    new Worker(WATCH, { eval: true, workerData: watch, execArgv: [], env: {} }).unref();
  }
  const handlerOf = handlersIn(exportOf(await import(start.file)));
  const onMessage = (message: unknown): void => hear(message as ToSandbox, handlerOf);
  if (parentPort === null) process.on("message", onMessage);
  else parentPort.on("message", onMessage);
  say({ kind: "ready" });
}

/** Only where a runner has started it: who just loads this file is no sandbox. */
function isSandbox(): boolean {
  if (!isMainThread) return workerData?.kind === "sandbox";
  const isOne = process.env[IN_SANDBOX] === "1";
  // Processes that a handler starts are none.
  delete process.env[IN_SANDBOX];
  return isOne;
}

if (isSandbox()) main().catch((error) => say({ kind: "not-started", error: plainError(error) }));
