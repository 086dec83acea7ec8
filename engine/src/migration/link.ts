/**
 * A connection to another server, for MIGRATE: commands go out, one line comes back for each.
 *
 * The timeout is Redis's: not for the whole, but for any single step (connecting, 64 KB taken, a line answered). So a large
 * value on a slow line goes through as long as it gets on.
 */

import type { Wire } from "../core/dial.ts";
import type { Buffer } from "../platform/bytes.ts";
import type { FileError } from "../platform/files.ts";
import type { Dialed } from "../tls/contexts.ts";
import type { LinkFailure, LinkState, Stage, StepResult } from "./transfer.ts";

const PIECE = 64 * 1024;
/** Answers are a word or a sentence: more without an end is no Redis. */
const LONGEST_LINE = 64 * 1024;
/** Errors that Redis meets only when it writes, because its connecting does not wait for them. */
const WHILE_WRITING = new Set(["ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "EPIPE"]);

export class Link implements LinkState {
  db: string | null = null;
  /** When it was last used, by the engine's clock. */
  usedAt = 0;

  readonly #socket: Wire;
  #lines: string[] = [];
  #partial = "";
  #broken = false;
  /** Called when something has happened: a line, room to write, the end. */
  #wake: (() => void) | null = null;

  private constructor(socket: Wire) {
    this.#socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text: unknown) => this.#received(String(text)));
    socket.on("drain", () => this.#wake?.());
    for (const end of ["error", "end", "close"]) {
      socket.on(end, () => {
        this.#broken = true;
        socket.destroy();
        this.#wake?.();
      });
    }
  }

  /** `dial` throws where an address is none, or TLS is not configured. */
  static open(dial: () => Dialed, timeoutMs: number): Promise<Link | LinkFailure> {
    return new Promise((resolve) => {
      const fail = (stage: Stage, timedOut: boolean) => resolve({ stage, timedOut });
      let dialed: Dialed;
      try {
        dialed = dial();
      } catch {
        return fail("connecting", false);
      }
      const { socket, ready } = dialed;
      const timer = setTimeout(() => {
        socket.destroy();
        fail("connecting", true);
      }, timeoutMs);
      socket.once("error", (error: FileError) => {
        clearTimeout(timer);
        fail(WHILE_WRITING.has(error.code ?? "") ? "writing" : "connecting", false);
      });
      socket.once(ready, () => {
        clearTimeout(timer);
        socket.removeAllListeners("error");
        resolve(new Link(socket));
      });
    });
  }

  get isOpen(): boolean {
    return !this.#broken;
  }

  #received(text: string): void {
    const lines = (this.#partial + text).split("\r\n");
    this.#partial = lines.pop()!;
    for (const line of lines) this.#lines.push(line);
    // Something that nobody asked for, or no line at all: this is not the conversation that we think it is.
    if (this.#wake === null || this.#partial.length > LONGEST_LINE) this.close();
    this.#wake?.();
  }

  /** Sends commands as they are made, and waits for a line for each. */
  async exchange(commands: Iterable<Buffer>, timeoutMs: number): Promise<StepResult> {
    this.#lines = [];
    let failed = false;
    // Somebody is listening from the first byte on, not only while waiting.
    this.#wake = () => {};
    try {
      let count = 0;
      for (const command of commands) {
        count++;
        for (let at = 0; at < command.length; at += PIECE) {
          const taken = this.#broken || this.#socket.write(command.subarray(at, at + PIECE));
          if (!taken) failed = !(await this.#until(() => !this.#socket.writableNeedDrain, timeoutMs));
          if (failed || this.#broken) return this.#failure("writing", failed);
        }
      }
      while (this.#lines.length < count) {
        const before = this.#lines.length;
        failed = !(await this.#until(() => this.#lines.length > before, timeoutMs));
        if (failed || (this.#broken && this.#lines.length === before)) {
          return this.#failure(this.#socket.writableLength > 0 ? "writing" : "reading", failed);
        }
      }
      return { lines: this.#lines, failure: null };
    } finally {
      this.#wake = null;
    }
  }

  #failure(stage: Stage, timedOut: boolean): StepResult {
    this.close();
    return { lines: this.#lines, failure: { stage, timedOut } };
  }

  /** False if it does not come in time; the end of the connection counts as coming. */
  #until(come: () => boolean, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (inTime: boolean) => {
        clearTimeout(timer);
        this.#wake = () => {};
        resolve(inTime);
      };
      const timer = setTimeout(() => finish(false), timeoutMs);
      this.#wake = () => {
        if (this.#broken || come()) finish(true);
      };
      this.#wake();
    });
  }

  /** An idle link does not keep the process alive, one that is used does. */
  rest(): void {
    this.#socket.unref();
  }

  wake(): void {
    this.#socket.ref();
  }

  close(): void {
    this.#broken = true;
    this.#socket.destroy();
  }
}
