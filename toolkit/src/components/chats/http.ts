/**
 * A chat over HTTP: long polls and server-sent events, for Node's own servers and whatever hands on (request, response).
 *
 *   const handler = chatHandler(chats, { chat: (request) => …, member: (request) => … });
 *
 * GET answers a page as JSON, when there is one: `?after=` an id, `&wait=` milliseconds, `&limit=`. With `Accept: text/event-stream`
 * it answers a stream of events, from `Last-Event-ID`, which browsers send by themselves when they reconnect, or from `?after=`.
 * Without any of them both go on from what the member has acknowledged: one cursor for both. POST of `{"seen": id}` acknowledges.
 *
 * Nothing is buffered for a client that reads slowly: the next message is taken when the socket has room, and meanwhile stays in
 * the log. What may be sent, and by whom, is the application's business; it calls `send`.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { onAbort } from "../../base/abort.ts";
import { systemClock, type Timer } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import { type Checks, callback, defineOptions, required, signal, whole } from "../../base/options.ts";
import type { Chats } from "./chats.ts";
import type { Mailboxes } from "./mailboxes.ts";
import type { Message } from "./message.ts";
import type { MessagesOptions, Position, ReadOptions } from "./options.ts";
import type { MessagePage } from "./room.ts";

interface ServingOptions {
  /** A longer `?wait=` counts as this. 25 s by default. */
  readonly maxWaitMs?: number;
  /** How often a quiet stream shows that it is alive. 15 s by default. */
  readonly heartbeatEveryMs?: number;
  /** Ends all streams and waits, when the server is to stop. None by default. */
  readonly signal?: AbortSignal;
}

type From<Request, T> = (request: Request) => T | Promise<T>;

/** How to serve chats over HTTP. */
export interface ChatHandlerOptions<Request> extends ServingOptions {
  /** Which chat a request is about. */
  readonly chat: From<Request, string>;
  /** Who asks; null: nobody that we know, which is answered with 401. */
  readonly member: From<Request, string | null>;
}

/** How to serve mailboxes over HTTP. */
export interface MailboxHandlerOptions<Request> extends ServingOptions {
  /** Whose mailbox to read: the user who asks. Null for an unknown user, which is answered with 401. */
  readonly owner: From<Request, string | null>;
}

/** Answers a request; for Node's own servers, Express and Connect. */
export type Handler<Request> = (request: Request, response: ServerResponse, next?: (error?: unknown) => void) => void;

/** A place to read at, as seen by one reader. */
interface Source<T> {
  read(options: ReadOptions): Promise<MessagePage<T> | null>;
  messages(options: MessagesOptions): AsyncIterable<Message<T>>;
  position(): Promise<Position | null>;
  acknowledge(id: number): Promise<Position | null>;
}

const serving: Checks<ServingOptions> = { maxWaitMs: whole(0, 86_400_000), heartbeatEveryMs: whole(10), signal };

const CHAT_HANDLER_OPTIONS = defineOptions<ChatHandlerOptions<never>>("chatHandler", {
  ...serving,
  chat: required(callback),
  member: required(callback),
});

const MAILBOX_HANDLER_OPTIONS = defineOptions<MailboxHandlerOptions<never>>("mailboxHandler", {
  ...serving,
  owner: required(callback),
});

/**
 * Serves chats over HTTP: pages as JSON, long polls (`?wait=`), server-sent events, and acknowledgements by POST. Sending is left
 * to the application.
 *
 * @example
 * import { createServer, type IncomingMessage } from "node:http";
 * const chats = new Chats<string>(db);
 * const member = ({ headers }: IncomingMessage) => headers.authorization ?? null;
 * const server = createServer(chatHandler(chats, { chat: ({ url }) => url!.split("/")[1]!, member }));
 * server.listening; // → false
 */
export function chatHandler<T, Request extends IncomingMessage = IncomingMessage>(
  chats: Chats<T>,
  options: ChatHandlerOptions<Request>,
): Handler<Request> {
  CHAT_HANDLER_OPTIONS.check(options);
  return handler(options, async (request) => {
    const member = await options.member(request);
    if (member === null) return null;
    const chat = await options.chat(request);
    return {
      read: (how) => chats.read(chat, member, { ...how, present: true }),
      messages: (how) => chats.messages(chat, member, how),
      position: () => chats.position(chat, member),
      acknowledge: (id) => chats.acknowledge(chat, member, id),
    };
  });
}

/**
 * Serves the mailbox of the user who asks over HTTP, as `chatHandler` serves chats.
 *
 * @example
 * import { createServer } from "node:http";
 * const mailboxes = new Mailboxes<string>(db);
 * const server = createServer(mailboxHandler(mailboxes, { owner: ({ headers }) => headers.authorization ?? null }));
 * server.listening; // → false
 */
export function mailboxHandler<T, Request extends IncomingMessage = IncomingMessage>(
  mailboxes: Mailboxes<T>,
  options: MailboxHandlerOptions<Request>,
): Handler<Request> {
  MAILBOX_HANDLER_OPTIONS.check(options);
  return handler(options, async (request) => {
    const owner = await options.owner(request);
    if (owner === null) return null;
    return {
      read: (how) => mailboxes.read(owner, how),
      messages: (how) => mailboxes.messages(owner, how),
      position: () => mailboxes.position(owner),
      acknowledge: (id) => mailboxes.acknowledge(owner, id),
    };
  });
}

function handler<T, Request extends IncomingMessage>(
  options: ServingOptions,
  sourceOf: (request: Request) => Promise<Source<T> | null>,
): Handler<Request> {
  return (request, response, next) => {
    const gone = new AbortController();
    const stop = (): void => gone.abort();
    response.once("close", stop);
    const stopListening = options.signal === undefined ? () => {} : onAbort(options.signal, stop);
    if (options.signal?.aborted === true) stop();
    answer({ request, response }, options, sourceOf, gone.signal)
      .catch((error: unknown) => {
        if (response.destroyed || gone.signal.aborted) response.end();
        else if (error instanceof InputError) refuse(response, 400, error.message);
        else if (next !== undefined && !response.headersSent) next(error);
        else if (response.headersSent) response.destroy();
        else refuse(response, 500, "The chat cannot be read right now.");
      })
      .finally(stopListening);
  };
}

async function answer<T, Request extends IncomingMessage>(
  { request, response }: { readonly request: Request; readonly response: ServerResponse },
  options: ServingOptions,
  sourceOf: (request: Request) => Promise<Source<T> | null>,
  signal: AbortSignal,
): Promise<void> {
  const { method = "GET" } = request;
  if (method !== "GET" && method !== "POST") {
    response.setHeader("Allow", "GET, POST");
    return refuse(response, 405, "Read with GET, acknowledge with POST.");
  }
  const source = await sourceOf(request);
  if (source === null) return refuse(response, 401, "It is not known who is reading.");
  if (method === "POST") return acknowledged(request, response, source);
  // Express takes the part off that a router stands at; the query is there all the same.
  const query = new URL(request.url ?? "/", "http://localhost").searchParams;
  if (/\btext\/event-stream\b/.test(request.headers.accept ?? "")) {
    return streamed(request, response, source, { query, signal, heartbeatEveryMs: options.heartbeatEveryMs ?? 15_000 });
  }
  const waitMs = Math.min(numberIn(query.get("wait"), "wait") ?? 0, options.maxWaitMs ?? 25_000);
  const limit = numberIn(query.get("limit"), "limit");
  const after = numberIn(query.get("after"), "after");
  const page = await source.read({
    waitMs,
    signal,
    ...(after !== undefined && { cursor: after }),
    ...(limit !== undefined && { limit }),
  });
  if (page === null) return refuse(response, 404, "There is no such chat, or you are not in it.");
  send(response, 200, page);
}

// ---------------------------------------------------------------------------------------------- events

/** Readers of one process share messages, and so share what they look like on the wire. */
const frames = new WeakMap<object, string>();

function frameOf<T>(message: Message<T>): string {
  let frame = frames.get(message);
  if (frame === undefined) {
    const missed = message.missed > 0 ? `event: missed\ndata: ${JSON.stringify({ count: message.missed })}\n\n` : "";
    frame = `${missed}id: ${message.id}\ndata: ${JSON.stringify(message)}\n\n`;
    frames.set(message, frame);
  }
  return frame;
}

async function streamed<T>(
  request: IncomingMessage,
  response: ServerResponse,
  source: Source<T>,
  how: { readonly query: URLSearchParams; readonly signal: AbortSignal; readonly heartbeatEveryMs: number },
): Promise<void> {
  const { query, signal, heartbeatEveryMs } = how;
  const lastId = request.headers["last-event-id"];
  const after = numberIn(typeof lastId === "string" ? lastId : query.get("after"), "after");
  // Before the first line is sent, so that a browser is told by a status, and does not come again and again.
  if ((await source.position()) === null) return refuse(response, 404, "There is no such chat, or you are not in it.");
  response.writeHead(200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
  });
  response.write(": open\n\n");
  let timer: Timer | undefined;
  const beat = (): void => {
    timer?.cancel();
    timer = systemClock.after(heartbeatEveryMs, () => {
      response.write(": alive\n\n");
      beat();
    });
  };
  beat();
  try {
    for await (const message of source.messages({
      signal,
      acknowledge: false,
      ...(after !== undefined && { from: after }),
    })) {
      if (!response.write(frameOf(message))) await room(response, signal);
      beat();
    }
    // It also ends with the store, which says nothing about the member.
    if (!signal.aborted && (await source.position()) === null) response.write("event: gone\ndata: {}\n\n");
  } finally {
    timer?.cancel();
    response.end();
  }
}

/** Until the socket takes more, or nobody is there any more. */
function room(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      response.off("drain", done);
      forget();
      resolve();
    };
    const forget = onAbort(signal, done);
    response.once("drain", done);
  });
}

// ---------------------------------------------------------------------------------------------- requests and answers

const MAX_BODY_BYTES = 1_024;

async function acknowledged<T>(request: IncomingMessage, response: ServerResponse, source: Source<T>): Promise<void> {
  const position = await source.acknowledge(await seenIn(request));
  if (position === null) return refuse(response, 404, "There is no such chat, or you are not in it.");
  send(response, 200, position);
}

async function seenIn(request: IncomingMessage): Promise<number> {
  // A framework may have read it already.
  let body = "body" in request ? request.body : undefined;
  if (body === undefined) {
    const chunks: Buffer[] = [];
    let size = 0;
    const parts: AsyncIterable<Buffer> = request;
    for await (const chunk of parts) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) throw new InputError("the body is too large");
      chunks.push(chunk);
    }
    try {
      body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    } catch {
      throw new InputError("the body must be JSON");
    }
  }
  const seen = typeof body === "object" && body !== null && "seen" in body ? body.seen : undefined;
  if (typeof seen !== "number") throw new InputError('the body must be {"seen": id}');
  return seen;
}

function numberIn(text: string | null, what: string): number | undefined {
  if (text === null || text === "") return undefined;
  if (!/^\d{1,16}$/.test(text)) throw new InputError(`${what} must be a whole number`);
  return Number(text);
}

function send(response: ServerResponse, status: number, body: unknown, type = "application/json"): void {
  response.statusCode = status;
  response.setHeader("Content-Type", type);
  response.setHeader("Cache-Control", "no-store");
  response.end(JSON.stringify(body));
}

function refuse(response: ServerResponse, status: number, detail: string): void {
  const title = { 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed" }[status];
  const problem = { type: "about:blank", title: title ?? "Internal Server Error", status, detail };
  send(response, status, problem, "application/problem+json");
}
