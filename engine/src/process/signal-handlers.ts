/**
 * Handlers of signals that can be put out of force while the event loop stands still.
 *
 * Node runs a handler in a turn of the event loop, so while a script holds the thread SIGTERM would do nothing. Taking the
 * handlers away gives the signals back to the kernel, whose default action ends the process at once, whatever it is doing.
 * A signal that came before that has already been caught: libuv's handler has written it into a pipe of the process, where
 * it waits for the loop. So that pipe is read here, and what is found in it is carried out.
 */
import { readdirSync, readFileSync, readlinkSync, readSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { keysOf } from "../lib/keys-of.ts";

type Handlers = Readonly<Partial<Record<NodeJS.Signals, () => void>>>;

/** How libuv writes a signal: a pointer, and the number. */
const MESSAGE_BYTES = 16;
const NUMBER_AT = 8;

export class SignalHandlers {
  readonly #handlers: Handlers;
  readonly #pipes: readonly SignalPipe[];

  constructor(handlers: Handlers) {
    this.#handlers = handlers;
    this.resume();
    this.#pipes = signalPipes();
  }

  resume(): void {
    for (const [signal, run] of Object.entries(this.#handlers)) process.on(signal, run);
  }

  /** Until `resume`, the signals do what they do to a process without handlers; those that are waiting do it now. */
  suspend(): void {
    for (const [signal, run] of Object.entries(this.#handlers)) process.off(signal, run);
    const waiting = this.#pipes.flatMap(waitingIn);
    for (const signal of keysOf(this.#handlers)) {
      if (waiting.includes(constants.signals[signal])) process.kill(process.pid, signal);
    }
  }
}

/** A pipe through which libuv's signal handler talks to an event loop. */
interface SignalPipe {
  readonly readable: number;
  readonly writable: number;
}

/** The signals that wait in a pipe. They stay there. */
function waitingIn({ readable, writable }: SignalPipe): number[] {
  const bytes = Buffer.alloc(64 * MESSAGE_BYTES);
  let length = 0;
  try {
    length = readSync(readable, bytes, 0, bytes.length, null);
    writeSync(writable, bytes, 0, length);
  } catch {
    // Nothing is there: the pipe does not block.
  }
  const numbers: number[] = [];
  for (let at = 0; at + MESSAGE_BYTES <= length; at += MESSAGE_BYTES) numbers.push(bytes.readInt32LE(at + NUMBER_AT));
  return numbers;
}

const FOLDER = "/proc/self/fd";
const NON_BLOCKING = 0o4000;

/**
 * The pipes of this process of which it has both ends and which do not block. At the start of a server those are libuv's,
 * one for each event loop. Only Linux tells; elsewhere a signal that came before `suspend` waits until the script is over.
 */
function signalPipes(): SignalPipe[] {
  const ends = new Map<string, number[]>();
  try {
    for (const name of readdirSync(FOLDER)) {
      const pipe = nonBlockingPipe(name);
      if (pipe !== undefined) ends.set(pipe, [...(ends.get(pipe) ?? []), Number(name)]);
    }
  } catch {
    // No such folder on this system.
  }
  return [...ends.values()]
    .filter((both) => both.length === 2)
    .map((both) => ({ readable: Math.min(...both), writable: Math.max(...both) }));
}

function nonBlockingPipe(descriptor: string): string | undefined {
  try {
    const target = readlinkSync(`${FOLDER}/${descriptor}`);
    const flags = /flags:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1"))?.[1] ?? "0";
    const usable = target.startsWith("pipe:") && (Number.parseInt(flags, 8) & NON_BLOCKING) !== 0;
    return usable ? target : undefined;
  } catch {
    // Closed meanwhile: the descriptor that read the folder.
    return undefined;
  }
}
