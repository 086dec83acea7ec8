/**
 * One raw connection: words out, answers in. What the server sends unasked (messages, invalidations, MONITOR's lines) is
 * kept apart, in order, so that it can be compared on its own.
 */
import type { Duplex } from "node:stream";
import { type Answer, CLOSED, Decoder, ProtocolError, scalar, TIMEOUT } from "./answer.ts";

const UNASKED = new Set(["message", "pmessage", "smessage", "invalidate", "tracking-redir-broken"]);
const MONITOR_LINE = /^\d+\.\d+ \[(\d+) [^\]]*\]/;

/** What the harness's own pings carry, so that MONITOR's lines about them can be left out. */
export const BARRIER = "cinnabar-barrier";

/** A command as clients send it: an array of bulk strings. */
export function encodeWords(words: readonly string[]): string {
  let text = `*${words.length}\r\n`;
  for (const word of words) text += `$${word.length}\r\n${word}\r\n`;
  return text;
}

interface Waiter {
  readonly count: number;
  readonly resolve: (answers: Answer[]) => void;
}

export class Wire {
  /** Own end of the connection, as CLIENT LIST shows it (`127.0.0.1:50312`); empty where there is no socket. */
  readonly address: string;
  readonly #stream: Duplex;
  readonly #decoder = new Decoder();
  #replies: Answer[] = [];
  #inbox: Answer[] = [];
  #waiter: Waiter | undefined;
  #end: Answer | undefined;
  #subscribes = false;
  #monitors = false;

  constructor(stream: Duplex, address = "") {
    this.#stream = stream;
    this.address = address;
    stream.on("data", (chunk: Buffer) => this.#receive(chunk.latin1Slice()));
    stream.on("error", () => this.#finish(CLOSED));
    stream.on("close", () => this.#finish(CLOSED));
    stream.on("end", () => this.#finish(CLOSED));
  }

  send(words: readonly string[]): void {
    this.#noteMode(words);
    this.write(encodeWords(words));
  }

  /** Bytes as they are: inline commands, malformed requests. */
  write(bytes: string): void {
    if (this.#end === undefined) this.#stream.write(bytes, "latin1");
  }

  /** Sends and waits for one answer each. */
  async pipeline(commands: readonly (readonly string[])[], timeoutMs = 20_000): Promise<Answer[]> {
    let bytes = "";
    for (const words of commands) {
      this.#noteMode(words);
      bytes += encodeWords(words);
    }
    this.write(bytes);
    return this.receive(commands.length, timeoutMs);
  }

  async call(...words: string[]): Promise<Answer> {
    return (await this.pipeline([words]))[0]!;
  }

  /** The next `count` answers; CLOSED, TIMEOUT or the protocol error in place of those that do not come. */
  receive(count: number, timeoutMs = 20_000): Promise<Answer[]> {
    if (this.#waiter !== undefined) throw new Error("one wait at a time");
    if (this.#replies.length >= count || this.#end !== undefined) return Promise.resolve(this.#take(count, CLOSED));
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiter = undefined;
        resolve(this.#take(count, TIMEOUT));
      }, timeoutMs);
      this.#waiter = {
        count,
        resolve: (answers) => {
          clearTimeout(timer);
          resolve(answers);
        },
      };
    });
  }

  /** How many answers have arrived and have not been taken. */
  get arrived(): number {
    return this.#replies.length;
  }

  get closed(): boolean {
    return this.#end !== undefined;
  }

  /** What has arrived unasked since the last call, in order. */
  takeInbox(): Answer[] {
    const inbox = this.#inbox;
    this.#inbox = [];
    return inbox;
  }

  /** Returns when the server has closed its side too, so that it no longer counts this client. */
  close(): Promise<void> {
    const stream = this.#stream;
    if (stream.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => stream.destroy(), 1000);
      stream.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
      stream.end();
    });
  }

  #noteMode(words: readonly string[]): void {
    const name = words[0];
    if (name === undefined || name.length < 7 || name.length > 10) return;
    const lower = name.toLowerCase();
    if (lower.endsWith("subscribe")) this.#subscribes = true;
    else if (lower === "monitor") this.#monitors = true;
  }

  #receive(text: string): void {
    if (this.#end !== undefined) return;
    try {
      for (const answer of this.#decoder.push(text)) this.#sort(answer);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#finish(scalar("broken", error.message));
      this.#stream.destroy();
      return;
    }
    const waiter = this.#waiter;
    if (waiter !== undefined && this.#replies.length >= waiter.count) this.#settle(waiter, CLOSED);
  }

  /** A reply or something unasked? Confirmations of SUBSCRIBE and its kin are replies, also where RESP3 pushes them. */
  #sort(answer: Answer): void {
    const first = answer.items[0]?.text ?? "";
    if (answer.tag === ">") (UNASKED.has(first) ? this.#inbox : this.#replies).push(answer);
    else if (this.#subscribes && answer.tag === "*" && UNASKED.has(first)) this.#inbox.push(answer);
    else if (this.#monitors && answer.tag === "+" && MONITOR_LINE.test(answer.text)) {
      if (answer.text.includes(BARRIER)) return;
      this.#inbox.push(scalar("+", answer.text.replace(MONITOR_LINE, "<time> [$1 <address>]")));
    } else this.#replies.push(answer);
  }

  #finish(why: Answer): void {
    if (this.#end !== undefined) return;
    this.#end = why;
    if (why.tag === "broken") this.#replies.push(why);
    if (this.#waiter !== undefined) this.#settle(this.#waiter, CLOSED);
  }

  #settle(waiter: Waiter, filler: Answer): void {
    this.#waiter = undefined;
    waiter.resolve(this.#take(waiter.count, filler));
  }

  #take(count: number, filler: Answer): Answer[] {
    const taken = this.#replies.slice(0, count);
    this.#replies = this.#replies.slice(count);
    while (taken.length < count) taken.push(filler);
    return taken;
  }
}
