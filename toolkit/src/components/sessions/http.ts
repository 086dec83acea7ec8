/**
 * Sessions in an HTTP application: Express and anything else with (request, response, next), and Fastify.
 *
 *   app.use(sessionMiddleware(sessions));
 *   app.get("/", async (request, response) => {
 *     const { session } = request as WithSession;
 *     await session.set({ visits: ((session.data.visits as number) ?? 0) + 1 });
 *     response.send(session.user ?? "somebody");
 *   });
 *
 * A visitor without a session costs nothing: one begins with the first `set` or `signIn`, which also sets the cookie, so both
 * have to come before the answer is sent.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { CinnabarError } from "../../base/errors.ts";
import { callback, defineOptions, flag, within } from "../../base/options.ts";
import { COOKIE_OPTIONS, type CookieOptions, DEFAULT_COOKIE, readCookie, writeCookie } from "./cookies.ts";
import type { Session, SessionData, Sessions } from "./index.ts";

export interface SessionHttpOptions {
  readonly cookie?: CookieOptions;
  /** What of a request is noted as viewed; nothing by default. */
  readonly viewed?: (request: IncomingMessage) => string | undefined;
}

const OPTIONS = defineOptions<SessionHttpOptions>("sessionMiddleware", {
  cookie: within(COOKIE_OPTIONS),
  viewed: callback,
});

export interface WithSession {
  readonly session: RequestSession;
}

/** Sends a Set-Cookie header, in whatever way the framework does that. */
type SetCookie = (header: string) => void;

const SIGN_OUT_OPTIONS = defineOptions<{ readonly keepThis?: boolean }>("RequestSession.signOutEverywhere", {
  keepThis: flag,
});

/** The session of one request. */
export class RequestSession {
  readonly #sessions: Sessions;
  readonly #cookie: CookieOptions;
  readonly #overTls: boolean;
  readonly #setCookie: SetCookie;
  #session: Session | null;

  constructor(
    sessions: Sessions,
    session: Session | null,
    context: { readonly cookie: CookieOptions; readonly overTls: boolean; readonly setCookie: SetCookie },
  ) {
    this.#sessions = sessions;
    this.#session = session;
    this.#cookie = context.cookie;
    this.#overTls = context.overTls;
    this.#setCookie = context.setCookie;
  }

  /** Null while there is none. */
  get current(): Session | null {
    return this.#session;
  }

  get user(): string | null {
    return this.#session?.user ?? null;
  }

  get data(): SessionData {
    return this.#session?.data ?? {};
  }

  /** Changes pieces of the data; begins a session if there is none. */
  async set(changes: Readonly<Record<string, unknown>>): Promise<void> {
    if (this.#session !== null) {
      const changed = await this.#sessions.update(this.#session.token, changes);
      if (changed !== null && changed !== "conflict") {
        this.#session = changed;
        return;
      }
    }
    this.#begin(await this.#sessions.create({ data: changes }));
  }

  /** Signs a user in, with a new token. */
  async signIn(user: string): Promise<Session> {
    const session = await this.#sessions.signIn(this.#session?.token ?? null, user);
    this.#begin(session);
    return session;
  }

  async signOut(): Promise<void> {
    if (this.#session !== null) await this.#sessions.signOut(this.#session.token);
    this.#session = null;
    this.#setCookie(writeCookie(this.#cookie, "", 0, this.#overTls));
  }

  /** Signs the user out on every device; with `keepThis`, on every other. */
  async signOutEverywhere(options: { readonly keepThis?: boolean } = {}): Promise<number> {
    SIGN_OUT_OPTIONS.check(options);
    const { user, token } = this.#session ?? { user: null, token: "" };
    if (user === null) return 0;
    const ended = await this.#sessions.signOutEverywhere(user, options.keepThis === true ? { except: token } : {});
    if (options.keepThis !== true) await this.signOut();
    return ended;
  }

  #begin(session: Session): void {
    this.#session = session;
    this.#setCookie(writeCookie(this.#cookie, session.token, this.#sessions.idleMs, this.#overTls));
  }
}

/** Middleware for Express, Connect and plain Node servers: puts a `RequestSession` at `request.session`. */
export function sessionMiddleware(
  sessions: Sessions,
  options: SessionHttpOptions = {},
): (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void {
  OPTIONS.check(options);
  const { cookie = {} } = options;
  return (request, response, next) => {
    const setCookie: SetCookie = (header) => {
      if (response.headersSent) throw tooLate();
      replaceCookie(response, cookie.name ?? DEFAULT_COOKIE, header);
    };
    findSession(sessions, options, request).then((session) => {
      const context = { cookie, overTls: isOverTls(request), setCookie };
      Object.defineProperty(request, "session", {
        value: new RequestSession(sessions, session, context),
        enumerable: true,
      });
      next();
    }, next);
  };
}

/** The parts of Fastify that are used, so that Fastify itself need not be installed. */
interface FastifyRequest {
  readonly raw: IncomingMessage;
  readonly protocol?: string;
}
interface FastifyReply {
  readonly sent: boolean;
  readonly raw: ServerResponse;
  header(name: string, value: string): unknown;
}
interface FastifyInstance {
  decorateRequest(name: string, value: unknown): unknown;
  addHook(name: "onRequest", hook: (request: never, reply: never) => Promise<void>): unknown;
}

/** For Fastify: `sessionsForFastify(fastify, sessions)` gives every request a `session`. */
export function sessionsForFastify(
  fastify: FastifyInstance,
  sessions: Sessions,
  options: SessionHttpOptions = {},
): void {
  OPTIONS.check(options);
  const { cookie = {} } = options;
  fastify.decorateRequest("session", null);
  const hook = async (request: FastifyRequest & { session: RequestSession }, reply: FastifyReply): Promise<void> => {
    const session = await findSession(sessions, options, request.raw);
    const setCookie: SetCookie = (header) => {
      if (reply.sent) throw tooLate();
      reply.header("set-cookie", header);
    };
    const overTls = request.protocol === "https" || isOverTls(request.raw);
    request.session = new RequestSession(sessions, session, { cookie, overTls, setCookie });
  };
  fastify.addHook("onRequest", hook as never);
}

async function findSession(
  sessions: Sessions,
  options: SessionHttpOptions,
  request: IncomingMessage,
): Promise<Session | null> {
  const token = readCookie(request.headers.cookie, options.cookie?.name ?? DEFAULT_COOKIE);
  if (token === null) return null;
  const viewed = options.viewed?.(request);
  return sessions.load(token, viewed === undefined ? {} : { viewed });
}

/** `secure` is what Express makes of it with its trust-proxy setting. */
function isOverTls(request: IncomingMessage): boolean {
  const { secure, socket } = request as { secure?: boolean; socket?: { encrypted?: boolean } };
  return secure === true || socket?.encrypted === true;
}

/** One cookie of ours in an answer, the last one set; others' stay. */
function replaceCookie(response: ServerResponse, name: string, header: string): void {
  const before = response.getHeader("Set-Cookie") ?? [];
  const others = (Array.isArray(before) ? before : [String(before)]).filter((each) => !each.startsWith(`${name}=`));
  response.setHeader("Set-Cookie", [...others, header]);
}

function tooLate(): CinnabarError {
  return new CinnabarError("TOO_LATE", "the session's cookie cannot be set: the answer has been sent already");
}
