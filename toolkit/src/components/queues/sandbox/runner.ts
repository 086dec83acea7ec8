/**
 * One sandbox, seen from the worker: a thread or a process that runs one job at a time. It starts at once, says when it is ready, and
 * ends once, with the reason. far-side.ts is what runs in it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { errorOf } from "../../../base/errors.ts";
import { fromSource } from "../../../base/from-source.ts";
import { SandboxError } from "../errors.ts";
import type { FarData } from "./far-side.ts";
import { FAR_SIDE_SOURCE } from "./far-side-source.ts";
import type { Sandboxed } from "./index.ts";
import { type FromSandbox, IN_SANDBOX, type PlainError, type ToSandbox } from "./messages.ts";

/** What the worker hears of a sandbox. */
export interface Hearing {
  message(message: Exclude<FromSandbox, { kind: "crashed" }>): void;
  /** It runs no more. Once. */
  ended(reason: SandboxError): void;
}

/** A thread or a process. */
export interface Runner {
  send(message: ToSandbox): void;
  kill(): Promise<void>;
  /** Whether it keeps this process alive: while it runs a job. */
  hold(isHeld: boolean): void;
}

const MIB = 1 << 20;
/** How much of what a process wrote to its error stream before it ended is kept, for the reason. */
const TAIL = 2_000;

/** From its text where there is one, which works in a bundle too; otherwise from the file beside this one. */
function farSide(): string {
  if (FAR_SIDE_SOURCE !== null) return FAR_SIDE_SOURCE;
  // Some bundlers leave nothing of it.
  const here: string | undefined = import.meta.url;
  if (here === undefined)
    return `throw new Error("cinnabar was bundled from an incomplete build: sandboxes cannot start")`;
  if (here.endsWith(".ts")) return fromSource(new URL("./far-side.ts", here).href);
  return `import(${JSON.stringify(new URL("./far-side.js", here).href)})`;
}

export function startRunner(sandboxed: Sandboxed, hearing: Hearing): Runner {
  return sandboxed.options.kind === "process" ? startProcess(sandboxed, hearing) : startThread(sandboxed, hearing);
}

function described(error: PlainError): Error {
  const { name, message, stack } = error;
  return Object.assign(new Error(message), { name, ...(stack === undefined ? {} : { stack }) });
}

const crashed = (how: string, cause?: unknown): SandboxError =>
  new SandboxError("SANDBOX_CRASHED", `the sandbox ${how}`, cause === undefined ? {} : { cause });

const tooLarge = (how: string): SandboxError =>
  new SandboxError("SANDBOX_MEMORY", `the sandbox ran out of memory: ${how}`);

/** Passes on what comes first as the end, and nothing after it. */
function endingOnce(hearing: Hearing): (reason: SandboxError) => void {
  let isEnded = false;
  return (reason) => {
    if (isEnded) return;
    isEnded = true;
    hearing.ended(reason);
  };
}

// ------------------------------------------------------------------------------------------------ threads

function startThread({ file, options }: Sandboxed, hearing: Hearing): Runner {
  const { maxHeapBytes, execArgv } = options;
  const limits = maxHeapBytes === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: maxHeapBytes / MIB } };
  const workerData: FarData = { kind: "sandbox", file, maxResidentBytes: null };
  const worker = new Worker(farSide(), {
    eval: true,
    workerData,
    ...limits,
    ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
  });
  const end = endingOnce(hearing);
  worker.on("message", (message: FromSandbox) => {
    if (message.kind !== "crashed") hearing.message(message);
  });
  worker.on("error", (error) => {
    const problem = errorOf(error);
    const isMemory = "code" in problem && problem.code === "ERR_WORKER_OUT_OF_MEMORY";
    end(isMemory ? tooLarge(problem.message) : crashed(`crashed: ${problem.name}: ${problem.message}`, problem));
  });
  worker.on("exit", (code) => end(crashed(`ended with code ${code}`)));
  return {
    send: (message) => worker.postMessage(message),
    kill: async () => void (await worker.terminate()),
    hold: (isHeld) => (isHeld ? worker.ref() : worker.unref()),
  };
}

// ------------------------------------------------------------------------------------------------ processes

/** Options of this process, without those that would start something else or listen on its port. */
function inherited(): string[] {
  const kept: string[] = [];
  const options = process.execArgv.values();
  for (const option of options) {
    // The program comes behind it.
    if (/^(-e|-p|-pe|--eval|--print)$/.test(option)) options.next();
    else if (!/^(-i|--interactive|--(input-type|eval|print|inspect|test|watch)\b.*)$/.test(option)) kept.push(option);
  }
  return kept;
}

function startProcess({ file, options }: Sandboxed, hearing: Hearing): Runner {
  const { maxHeapBytes, maxResidentBytes, execArgv } = options;
  const start: FarData = { kind: "sandbox", file, maxResidentBytes: maxResidentBytes ?? null };
  const flags = [...(execArgv ?? inherited())];
  if (maxHeapBytes !== undefined) flags.push(`--max-old-space-size=${Math.floor(maxHeapBytes / MIB)}`);
  const child = spawn(process.execPath, [...flags, "-e", farSide()], {
    // The fifth stream is for the one that watches over its memory.
    stdio: ["ignore", "inherit", "pipe", "ipc", "pipe"],
    serialization: "advanced",
    env: { ...process.env, [IN_SANDBOX]: "1" },
  });
  child.send(start, () => {});
  const ends = endsOf(child);
  const end = endingOnce(hearing);
  let thrown: PlainError | null = null;
  child.on("message", (message) => {
    const said = message as FromSandbox;
    if (said.kind === "crashed") thrown = said.error;
    else hearing.message(said);
  });
  child.on("error", (error) => end(crashed(`could not be started: ${error.message}`, error)));
  // When all of its streams are at their end, too.
  child.on("close", (code, signal) => end(reasonOf({ code, signal, thrown, ...ends() })));
  hold(child, false);
  return {
    // A process that has just ended hears nothing; its end is told.
    send: (message) => void (child.connected && child.send(message, () => {})),
    kill: () => killed(child),
    hold: (isHeld) => hold(child, isHeld),
  };
}

/** What a process leaves behind: the end of its error stream, which is passed on, and what its watch says. */
function endsOf(child: ChildProcess): () => { readonly tail: string; readonly watch: string } {
  let tail = "";
  let watch = "";
  child.stderr?.on("data", (data: Buffer) => {
    process.stderr.write(data);
    tail = (tail + data.toString("utf8")).slice(-TAIL);
  });
  const fifth = child.stdio[4];
  if (fifth instanceof Socket) {
    fifth.setEncoding("utf8").on("data", (text: string) => {
      watch += text;
    });
  }
  return () => ({ tail, watch });
}

interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly thrown: PlainError | null;
  readonly tail: string;
  readonly watch: string;
}

function reasonOf({ code, signal, thrown, tail, watch }: ProcessEnd): SandboxError {
  if (watch.startsWith("memory ")) return tooLarge(`its process had ${watch.slice("memory ".length)} bytes`);
  if (/heap limit|heap out of memory/i.test(tail)) return tooLarge("its heap reached its limit");
  if (thrown !== null) return crashed(`crashed: ${thrown.name}: ${thrown.message}`, described(thrown));
  const last = tail.trim() === "" ? "" : `; it wrote: ${tail.trim()}`;
  return crashed(`${signal === null ? `ended with code ${code}` : `was ended by ${signal}`}${last}`);
}

function hold(child: ChildProcess, isHeld: boolean): void {
  const change = isHeld ? "ref" : "unref";
  child[change]();
  child.channel?.[change]();
  // Both are sockets, whatever their types say.
  for (const stream of [child.stderr, child.stdio[4]]) if (stream instanceof Socket) stream[change]();
}

function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  hold(child, true);
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
    child.kill("SIGKILL");
  });
}
