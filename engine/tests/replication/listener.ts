/**
 * A replica that only listens: it takes a server's snapshot, drops it, and keeps the commands of the stream that follows.
 * What a server tells its replicas can then be compared word by word with what another one does.
 */
import { connect, type Socket } from "node:net";
import { ReplyError } from "../../src/core/errors.ts";
import { RequestParser } from "../../src/resp/parser.ts";
import { encodeWords } from "../conformance/wire.ts";
import { stopLater, until } from "./servers.ts";

/** The primary's own signs of life. */
const NOISE = new Set(["ping", "replconf"]);

export class Listener {
  /** The stream so far, without the primary's signs of life. */
  readonly commands: string[][] = [];
  readonly #socket: Socket;
  readonly #parser = new RequestParser({ maxWordBytes: Number.POSITIVE_INFINITY, unauthenticated: false });
  /** What stands before the stream, until it is complete. */
  #before = Buffer.alloc(0);
  #streaming = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("error", () => {});
  }

  static async to(port: number): Promise<Listener> {
    const listener = stopLater(new Listener(connect(port, "127.0.0.1")));
    // Without any capability: the snapshot's length is told beforehand.
    listener.#socket.write(encodeWords(["PSYNC", "?", "-1"]));
    await until("the stream begins", () => listener.#streaming);
    return listener;
  }

  #take(chunk: Buffer): void {
    if (!this.#streaming) {
      this.#before = Buffer.concat([this.#before, chunk]);
      const header = /^\n*\+FULLRESYNC [^\r]*\r\n\n*\$(\d+)\r\n/.exec(this.#before.subarray(0, 1000).latin1Slice());
      if (header === null) return;
      const end = header[0].length + Number(header[1]);
      if (this.#before.length < end) return;
      this.#streaming = true;
      this.#parser.feed(this.#before.subarray(end));
    } else this.#parser.feed(chunk);
    for (let argv = this.#parser.next(); argv !== undefined; argv = this.#parser.next()) {
      if (argv instanceof ReplyError) throw new Error(`the stream cannot be read: ${argv.text}`);
      if (!NOISE.has(argv[0]!.toLowerCase())) this.commands.push([...argv]);
    }
  }

  /** Takes the commands up to the one whose first argument is this. */
  async upTo(mark: string): Promise<string[][]> {
    const isMark = (argv: readonly string[]) => argv[1] === mark;
    await until(`${mark} has come`, () => this.commands.some(isMark));
    return this.commands.splice(0, this.commands.findIndex(isMark) + 1).slice(0, -1);
  }

  async stop(): Promise<void> {
    this.#socket.destroy();
  }
}
