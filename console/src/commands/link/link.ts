/**
 * One connection to one store with replies as the server sent them: what `cinnabar cli` prints, and what moves data. `open()` of the
 * toolkit gives replies of one shape whatever the protocol; here the difference is what is wanted.
 */
import { connect as connectSocket, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { errorOf } from "../../values.ts";
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
  readonly #isTls: boolean;
  readonly #waiting: Waiting[] = [];
  #head = 0;
  #error: Error | null = null;
  #hasHeard = false;
  #closed: LinkFailure | null = null;
  readonly #onClose = new Set<(error: LinkFailure) => void>();
  /** Called with what no command asked for. */
  onPush: ((reply: Reply) => void) | null = null;

  constructor(stream: Duplex, label: string, isTls = false) {
    this.#stream = stream;
    this.#isTls = isTls;
    this.label = label;
    const reader = new ReplyReader((reply) => this.#take(reply));
    stream.on("data", (chunk: Buffer) => {
      this.#hasHeard = true;
      try {
        reader.feed(chunk);
      } catch (error) {
        this.#error = errorOf(error);
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

  /** Gives the stream to the caller, who reads and writes it from now on; nothing may be waiting for an answer. */
  release(): Duplex {
    this.#stream.removeAllListeners();
    this.#closed = new LinkFailure(`the connection to ${this.label} was given away`);
    return this.#stream;
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
    // A server that ends it before it has said anything most often expects something else.
    const advice = this.#hasHeard ? undefined : silentEndAdvice(this.#error, this.#isTls);
    this.#closed = new LinkFailure(`the connection to ${this.label} was lost${reason}`, advice, { cause: this.#error });
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
  const link = new Link(await connected(to, options), labelOf(to), options.tls !== undefined);
  await greet(link, options);
  return link;
}

function connected(to: Endpoint | string, { tls, timeoutMs = CONNECT_TIMEOUT_MS }: DialOptions): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = socketTo(to, tls);
    const fail = (reason: string, advice: string | undefined, cause?: Error): void => {
      socket.destroy();
      reject(new LinkFailure(`cannot reach ${labelOf(to)}: ${reason}`, advice, { cause }));
    };
    socket.setTimeout(timeoutMs, () => {
      // A server without TLS waits for the end of a line that never comes.
      const isSilent = tls !== undefined && !socket.connecting;
      fail(`no answer${isSilent ? " to TLS" : ""} within ${timeoutMs} ms`, isSilent ? NOT_TLS : undefined);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => fail(reasonOf(error), adviceFor(error, tls), error));
    socket.once(tls === undefined ? "connect" : "secureConnect", () => {
      socket.removeAllListeners("error");
      socket.setTimeout(0);
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

/** A socket on its way to a server. */
export function socketTo(to: Endpoint | string, tls: object | undefined): Socket {
  const target = typeof to === "string" ? { path: to } : { host: to.host, port: to.port };
  return tls === undefined ? connectSocket(target) : connectTls({ ...target, ...tls });
}

/** What OpenSSL says names a place in its sources: `0A…:error:0A00010B:SSL routines:where:wrong version number:file.c:355:`. */
const OPENSSL = /[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):[^:]*:\d+:[^\n]*\n?/;

/** The system's codes are known by heart; those of TLS are not. */
function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  return code !== undefined && /^E[A-Z]+$/.test(code) ? code : message.replace(OPENSSL, "$1").trim();
}

const ADVICE: readonly (readonly [code: RegExp, advice: string])[] = [
  [/^ECONNREFUSED$/, "start the server, or check the host and the port"],
  [/^ENOTFOUND$/, "check the name of the host"],
  [/^ENOENT$/, "check the path of the socket"],
];

const NOT_TLS = "if the server does not use TLS on this port, connect with redis://, or to its TLS port";
const WANTS_CERTIFICATE = "the server asks for a certificate of the client: --cert and --key";
const TLS_ADVICE: readonly (readonly [code: RegExp, advice: string])[] = [
  [
    /^(ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNKNOWN_PROTOCOL|RECORD_LAYER_FAILURE)|ECONNRESET)$/,
    NOT_TLS,
  ],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "if that is the server that is meant, give its name with --sni"],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/, "renew the server's certificate, and check the clocks"],
  [/ALERT_(CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE)$/, WANTS_CERTIFICATE],
  [/ALERT_UNKNOWN_CA$/, "the server does not trust the authority of --cert"],
  [/ALERT_PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL$/, "the server and this command share no version of TLS"],
];

function adviceFor({ code = "" }: NodeJS.ErrnoException, tls: object | undefined): string | undefined {
  const known = [...ADVICE, ...(tls === undefined ? [] : TLS_ADVICE)].find(([pattern]) => pattern.test(code));
  if (known !== undefined) return known[1];
  if (tls === undefined || !/^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_)/.test(code)) return undefined;
  return "ca" in tls
    ? "the authority in --cacert has not signed the server's certificate: name the one that has"
    : "name the certificate of its authority with --cacert";
}

function silentEndAdvice(error: NodeJS.ErrnoException | null, isTls: boolean): string | undefined {
  if (!isTls) return "if the server takes TLS on this port, connect with rediss://";
  const known = TLS_ADVICE.find(([pattern]) => pattern.test(error?.code ?? ""));
  return error?.code === "ECONNRESET" ? WANTS_CERTIFICATE : (known?.[1] ?? WANTS_CERTIFICATE);
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
