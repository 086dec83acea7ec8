/**
 * Handlers that run outside of the worker: in a thread or a process of their own, which is killed when a job takes too long, is
 * cancelled, or uses too much memory. The worker goes on, and the job has failed with the reason.
 *
 * A sandbox loads a file that exports `handler`, or `handlers` with one for each name, as a worker takes them; either may be its default
 * export. It runs one job after the other; a worker has as many sandboxes as it runs jobs at once, started when they are needed.
 */
import { fileURLToPath, pathToFileURL } from "node:url";
import { InputError } from "../../../base/errors.ts";
import { choice, defineOptions, listOf, text, whole } from "../../../base/options.ts";
import { MAX_MS } from "../options.ts";

/** How a handler in a file is run, and what it may use. */
export interface SandboxOptions {
  /**
   * thread (the default): starts in tens of milliseconds, and shares the process; native code that crashes ends the worker.
   * process: starts slower, takes some 50 MB, and may crash as it likes.
   */
  readonly kind?: "thread" | "process";
  /** How large its heap may grow: of the thread, or of the process. Node's own limit by default. */
  readonly maxHeapBytes?: number;
  /**
   * How much memory its process may have in all, with buffers and native code. Looked at every 100 ms. For processes only. No limit by
   * default.
   */
  readonly maxResidentBytes?: number;
  /** How long a job whose signal was aborted may take to end by itself, before the sandbox is killed. A second by default. */
  readonly killDelayMs?: number;
  /** A sandbox that had nothing to do for so long is stopped. 30 s by default. */
  readonly idleMs?: number;
  /** After so many jobs it is stopped, and another one takes its place. Never by default. */
  readonly maxJobs?: number;
  /** Options of Node for it; by default those of this process. */
  readonly execArgv?: readonly string[];
}

const MIB = 1 << 20;

const OPTIONS = defineOptions<SandboxOptions>("sandboxed", {
  kind: choice("thread", "process"),
  maxHeapBytes: whole(8 * MIB, 2 ** 45),
  maxResidentBytes: whole(64 * MIB, 2 ** 45),
  killDelayMs: whole(0, MAX_MS),
  idleMs: whole(0, MAX_MS),
  maxJobs: whole(1),
  execArgv: listOf(text),
});

/** A handler in a file, made by `sandboxed`. */
export class Sandboxed {
  /** The address of the file. @internal */
  readonly file: string;
  /** @internal */
  readonly options: SandboxOptions;

  /** @internal */
  constructor(file: string, options: SandboxOptions) {
    this.file = file;
    this.options = options;
  }
}

/**
 * The handler in a file: `new Worker(queue, sandboxed(new URL("./resize.js", import.meta.url)))`. A bundler does not follow the
 * address: make the file an entry of its own, or give its text as a `data:` address.
 * @example
 * const queue = new Queue<number, number>(db, "double");
 * const file = new URL("data:text/javascript,export const handler = ({ data }) => data * 2;");
 * const worker = new Worker(queue, sandboxed(file)).start();
 * await queue.addAndWait(21); // → { status: "done", result: 42 }
 * await worker.stop();
 */
export function sandboxed(file: URL | string, options: SandboxOptions = {}): Sandboxed {
  OPTIONS.check(options);
  if (options.maxResidentBytes !== undefined && options.kind !== "process") {
    throw new InputError("maxResidentBytes is for sandboxes that are processes: a thread has no memory of its own");
  }
  return new Sandboxed(addressOf(file), options);
}

function addressOf(file: URL | string): string {
  if (file instanceof URL) {
    if (file.protocol !== "file:" && file.protocol !== "data:") {
      throw new InputError(`the file of a sandbox must be a file: or data: address, not ${file.protocol}`);
    }
    // Throws for an address that is not a path here.
    if (file.protocol === "file:") fileURLToPath(file);
    return file.href;
  }
  if (typeof file !== "string" || file === "") throw new InputError("the file of a sandbox must be a path or a URL");
  return /^(file|data):/.test(file) ? file : pathToFileURL(file).href;
}
