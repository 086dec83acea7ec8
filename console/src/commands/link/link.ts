/**
 * One connection to one store with replies as the server sent them: what `cinnabar cli` prints, and what moves data. `open()` of the
 * toolkit gives replies of one shape whatever the protocol; here the difference is what is wanted.
 */
import { connect as connectSocket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { CommandFailure } from "../command.ts";
import type { Credentials, Endpoint } from "./place.ts";
import { encode, ProtocolError, type Reply, ReplyReader, textIn, type Word } from "./reply.ts";

/** The server answered with an error. */
export class ReplyFailure extends Error {
  /** Its first word. */
  readonly code: string;

  constructor(text: string) {
    super(text);
    this.code = /^[A-Z][A-Z0-9_]*/.exec(text)?.[0] ?? "ERR";
  }
}

/** No answer: the connection could not be made or was lost. */
export class LinkFailure extends CommandFailure {}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

export class Link {
  /** Where it leads, without credentials. */
  readonly label: string;
  readonly #stream: Duplex;
  readonly #waiting: Waiting[] = [];
  #head = 0;
  #error: Error | null = null;
  #closed: LinkFailure | null = null;
  readonly #onClose = new Set<(error: LinkFailure) => void>();
  /** Called with what no command asked for. */
  onPush: ((reply: Reply) => void) | null = null;

  constructor(stream: Duplex, label: string) {
    this.#stream = stream;
    this.label = label;
    const reader = new ReplyReader((reply) => this.#take(reply));
    stream.on("data", (chunk: Buffer) => {
      try {
        reader.feed(chunk);
      } catch (error) {
        this.#error = error as Error;
        stream.destroy();
      }
    });
    stream.on("error", (error: Error) => {
      this.#error ??= error;
    });
    stream.on("close", () => this.#end());
    stream.on("end", () => this.#end());
  }

  get isClosed(): boolean {
    return this.#closed !== null;
  }

  onClose(listener: (error: LinkFailure) => void): void {
    if (this.#closed === null) this.#onClose.add(listener);
    else listener(this.#closed);
  }

  /** A server's error is a reply. */
  send(words: readonly Word[]): Promise<Reply> {
    return this.sendMany([words])[0]!;
  }

  /** All in one write, each with its reply. */
  sendMany(commands: readonly (readonly Word[])[]): Promise<Reply>[] {
    const replies = commands.map(
      () =>
        new Promise<Reply>((resolve, reject) => {
          if (this.#closed !== null) reject(this.#closed);
          else this.#waiting.push({ resolve, reject });
        }),
    );
    if (this.#closed === null) this.#stream.write(encode(commands));
    return replies;
  }

  /** A server's error is thrown. */
  async call(...words: Word[]): Promise<Reply> {
    return checked(await this.send(words));
  }

  async text(...words: Word[]): Promise<string> {
    return textIn(await this.call(...words));
  }

  /** Replies in their order; the first error is thrown. */
  async callMany(commands: readonly (readonly Word[])[]): Promise<Reply[]> {
    return (await Promise.all(this.sendMany(commands))).map(checked);
  }

  /** Bytes as they are; what is answered comes to `onPush`. Settles when there is room for more. */
  write(bytes: Buffer): Promise<void> {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    if (this.#stream.write(bytes)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#stream.once("drain", resolve);
      this.onClose(reject);
    });
  }

  close(): void {
    this.#stream.destroy();
    this.#end();
  }

  #take(reply: Reply): void {
    const isAnswered = reply.type !== "push" || isConfirmation(reply);
    const waiting = isAnswered ? this.#waiting[this.#head] : undefined;
    if (waiting === undefined) {
      this.onPush?.(reply);
      return;
    }
    this.#head++;
    if (this.#head === this.#waiting.length) {
      this.#waiting.length = 0;
      this.#head = 0;
    } else if (this.#head > 4_096) {
      this.#waiting.splice(0, this.#head);
      this.#head = 0;
    }
    waiting.resolve(reply);
  }

  #end(): void {
    if (this.#closed !== null) return;
    const reason = this.#error instanceof ProtocolError ? `: ${this.#error.message}` : "";
    this.#closed = new LinkFailure(`the connection to ${this.label} was lost${reason}`, undefined, {
      cause: this.#error,
    });
    for (const { reject } of this.#waiting.splice(0).slice(this.#head)) reject(this.#closed);
    for (const listener of this.#onClose) listener(this.#closed);
  }
}

/** A confirmation of a subscription answers its command, in RESP3 too. */
function isConfirmation(reply: Reply): boolean {
  return /^[ps]?(un)?subscribe$/.test("items" in reply ? textIn(reply.items[0]) : "");
}

export function checked(reply: Reply): Reply {
  if (reply.type === "error") throw new ReplyFailure(textIn(reply));
  return reply;
}

export interface DialOptions {
  readonly tls?: object | undefined;
  readonly credentials?: Credentials;
  readonly db?: number;
  readonly protocol?: 2 | 3;
  readonly timeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 10_000;

export function labelOf(to: Endpoint | string): string {
  if (typeof to === "string") return to;
  return to.host.includes(":") ? `[${to.host}]:${to.port}` : `${to.host}:${to.port}`;
}

/** Connects to a host and port, or to the path of a unix socket. */
export async function dial(to: Endpoint | string, options: DialOptions = {}): Promise<Link> {
  const link = new Link(await connected(to, options), labelOf(to));
  await greet(link, options);
  return link;
}

function connected(to: Endpoint | string, { tls, timeoutMs = CONNECT_TIMEOUT_MS }: DialOptions): Promise<Duplex> {
  const target = typeof to === "string" ? { path: to } : { host: to.host, port: to.port };
  return new Promise((resolve, reject) => {
    const socket = tls === undefined ? connectSocket(target) : connectTls({ ...target, ...tls });
    const fail = (reason: string, cause?: Error): void => {
      socket.destroy();
      reject(new LinkFailure(`cannot reach ${labelOf(to)}: ${reason}`, adviceFor(cause, tls !== undefined), { cause }));
    };
    socket.setTimeout(timeoutMs, () => fail(`no answer within ${timeoutMs} ms`));
    socket.once("error", (error: NodeJS.ErrnoException) => fail(error.code ?? error.message, error));
    socket.once(tls === undefined ? "connect" : "secureConnect", () => {
      socket.removeAllListeners("error");
      socket.setTimeout(0);
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

function adviceFor(cause: (Error & { code?: string }) | undefined, isTls: boolean): string | undefined {
  if (cause?.code === "ECONNREFUSED") return "start the server, or check the host and the port";
  if (cause?.code === "ENOTFOUND") return "check the name of the host";
  if (cause?.code === "ENOENT") return "check the path of the socket";
  if (isTls) return "check that the server speaks TLS on this port, and name its authority with --cacert";
  return undefined;
}

/** Authenticates, chooses protocol and database. */
export async function greet(link: Link, { credentials = {}, db = 0, protocol = 2 }: DialOptions): Promise<void> {
  const { username, password } = credentials;
  try {
    if (password !== undefined) {
      const words = username === undefined ? ["AUTH", password] : ["AUTH", username, password];
      await link.call(...words);
    }
    if (protocol === 3) await link.call("HELLO", "3");
    if (db !== 0) await link.call("SELECT", String(db));
  } catch (error) {
    if (!(error instanceof ReplyFailure)) throw error;
    link.close();
    throw new CommandFailure(`${link.label} answered: ${error.message}`, REFUSALS[error.code]);
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  NOAUTH: "give the password in the URL, or in CINNABAR_PASSWORD",
  WRONGPASS: "check the user and the password",
  NOPERM: "use a user with the right to do this (ACL SETUSER)",
};
