/**
 * The sandboxes of a worker for one file. A job takes one that is free, or starts one; a sandbox whose job came to an end is free
 * again, one that was killed or crashed is gone. There are as many as jobs run at once, and those that are being killed.
 */
import type { Clock, Timer } from "../../../base/clock.ts";
import { RetryLaterError, SandboxError, UnrecoverableError } from "../errors.ts";
import type { JobContext, RunningJob } from "../running.ts";
import type { Sandboxed } from "./index.ts";
import { type Asked, type FromSandbox, type PlainError, type PlainJob, plainError } from "./messages.ts";
import { type Runner, startRunner } from "./runner.ts";

const KILL_DELAY_MS = 1_000;
const IDLE_MS = 30_000;

/** Who hears of a sandbox while it runs a job. */
interface Listener {
  message(message: Exclude<FromSandbox, { kind: "crashed" }>): void;
  ended(reason: SandboxError): void;
}

interface Sandbox {
  readonly runner: Runner;
  isReady: boolean;
  /** It has ended, or is to. */
  isGone: boolean;
  jobs: number;
  listener: Listener | null;
  idle: Timer | null;
}

export class SandboxPool {
  readonly #sandboxed: Sandboxed;
  readonly #clock: Clock;
  readonly #all = new Set<Sandbox>();
  /** The one that was used last is at the end, and is taken first: the others may come to rest. */
  readonly #free: Sandbox[] = [];

  constructor(sandboxed: Sandboxed, clock: Clock) {
    this.#sandboxed = sandboxed;
    this.#clock = clock;
  }

  #start(): Sandbox {
    let sandbox: Sandbox | null = null;
    const runner = startRunner(this.#sandboxed, {
      message: (message) => {
        if (message.kind === "ready" && sandbox !== null) sandbox.isReady = true;
        sandbox?.listener?.message(message);
      },
      ended: (reason) => {
        if (sandbox === null) return;
        this.#forget(sandbox);
        sandbox.listener?.ended(reason);
      },
    });
    sandbox = { runner, isReady: false, isGone: false, jobs: 0, listener: null, idle: null };
    this.#all.add(sandbox);
    return sandbox;
  }

  #forget(sandbox: Sandbox): void {
    sandbox.isGone = true;
    sandbox.idle?.cancel();
    this.#all.delete(sandbox);
    const at = this.#free.indexOf(sandbox);
    if (at >= 0) this.#free.splice(at, 1);
  }

  async #kill(sandbox: Sandbox): Promise<void> {
    sandbox.isGone = true;
    sandbox.idle?.cancel();
    await sandbox.runner.kill();
    this.#forget(sandbox);
  }

  #release(sandbox: Sandbox): void {
    sandbox.listener = null;
    if (sandbox.isGone) return;
    const { maxJobs = Number.POSITIVE_INFINITY, idleMs = IDLE_MS } = this.#sandboxed.options;
    sandbox.runner.hold(false);
    if (sandbox.jobs >= maxJobs) {
      void this.#kill(sandbox);
      return;
    }
    this.#free.push(sandbox);
    sandbox.idle = this.#clock.after(idleMs, () => void this.#kill(sandbox));
  }

  /** Runs a job in a sandbox. */
  run<T, R>(job: RunningJob<T>, context: JobContext): Promise<R> {
    const sandbox = this.#free.pop() ?? this.#start();
    sandbox.idle?.cancel();
    sandbox.jobs++;
    sandbox.runner.hold(true);
    const { signal } = context;
    return new Promise<R>((resolve, reject) => {
      let killing: Timer | null = null;
      const settle = (end: () => void): void => {
        signal.removeEventListener("abort", onAbort);
        killing?.cancel();
        this.#release(sandbox);
        end();
      };
      const begin = (): void => {
        try {
          sandbox.runner.send({ kind: "run", job: plain(job), tag: context.tag, fence: context.lease.fence });
        } catch (error) {
          settle(() => reject(error));
        }
      };
      const onAbort = (): void => {
        const { killDelayMs = KILL_DELAY_MS } = this.#sandboxed.options;
        sandbox.runner.send({ kind: "abort", reason: plainError(signal.reason), isLost: context.lease.lost });
        const kill = (): void => void this.#kill(sandbox).then(() => settle(() => reject(signal.reason)));
        if (killDelayMs === 0) kill();
        else killing = this.#clock.after(killDelayMs, kill, { keepAlive: true });
      };
      sandbox.listener = {
        message: (message) => {
          if (message.kind === "ready") begin();
          else if (message.kind === "done") settle(() => resolve(message.result as R));
          else if (message.kind === "failed") settle(() => reject(errorFrom(message.error)));
          else if (message.kind === "call") void answer(sandbox, context, message);
          else {
            void this.#kill(sandbox);
            settle(() => reject(notStarted(this.#sandboxed.file, message.error)));
          }
        },
        ended: (reason) => settle(() => reject(signal.aborted ? signal.reason : reason)),
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort);
      if (sandbox.isReady) begin();
    });
  }

  /** Kills what still runs. */
  async close(): Promise<void> {
    await Promise.all([...this.#all].map((sandbox) => this.#kill(sandbox)));
  }
}

async function answer(
  { runner }: Sandbox,
  context: JobContext,
  { call, asked }: Extract<FromSandbox, { kind: "call" }>,
): Promise<void> {
  try {
    runner.send({ kind: "answer", call, value: await called(context, asked) });
  } catch (error) {
    runner.send({ kind: "refusal", call, error: plainError(error) });
  }
}

function called(context: JobContext, asked: Asked): unknown {
  if (asked.method === "progress") return context.progress(asked.value);
  if (asked.method === "log") return context.log(asked.line);
  if (asked.method === "children") return context.children();
  return context.effect(asked.command, asked.keys);
}

/** What a handler needs of a job, without the getters. */
function plain<T>(job: RunningJob<T>): PlainJob {
  const { id, name, data, attempt, attempts, stalls, createdAt, startedAt, priority, group, lastError } = job;
  return { id, name, data, attempt, attempts, stalls, createdAt, startedAt, priority, group, lastError };
}

/** As it was thrown; errors that say what is to become of the job say so again. */
function errorFrom({ name, message, stack, code, delayMs }: PlainError): Error {
  const error =
    code === "RETRY_LATER" && delayMs !== undefined
      ? new RetryLaterError(delayMs)
      : code === "UNRECOVERABLE"
        ? new UnrecoverableError(message)
        : Object.assign(new Error(message), { name, ...(code === undefined ? {} : { code }) });
  if (stack !== undefined) error.stack = stack;
  return error;
}

function notStarted(file: string, error: PlainError): SandboxError {
  const shown = file.length > 200 ? `${file.slice(0, 200)}…` : file;
  const why = `${error.name}: ${error.message}`;
  return new SandboxError("SANDBOX_NOT_STARTED", `the sandbox could not load ${shown}: ${why}`, {
    cause: errorFrom(error),
  });
}
