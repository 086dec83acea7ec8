/**
 * Sessions in an HTTP application: anything with (request, response, next). `cinnabar/express`, `cinnabar/fastify`, `cinnabar/hono`,
 * `cinnabar/koa`, `cinnabar/nestjs` and `cinnabar/next` are built on it.
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
import type { RequestData, Session, Sessions } from "./index.ts";

export type { CookieOptions } from "./cookies.ts";

/** How sessions and requests meet. */
export interface SessionHttpOptions<Request = IncomingMessage> {
  /** The name and the attributes of the session's cookie. `sid` by default, for the whole site. */
  readonly cookie?: CookieOptions;
  /** What of a request is noted as viewed; nothing by default. */
  readonly viewed?: (request: Request) => string | undefined;
}

/** Checked by each of the adapters. @internal */
export const SESSION_HTTP_OPTIONS = defineOptions<SessionHttpOptions<never>>("sessionMiddleware", {
  cookie: within(COOKIE_OPTIONS),
  viewed: callback,
});

/** A request that has passed the middleware. */
export interface WithSession {
  /** The session of this request. */
  readonly session: RequestSession<RequestData>;
}

/** Sends a Set-Cookie header, in whatever way the framework does that. */
type SetCookie = (header: string) => void;

const SIGN_OUT_OPTIONS = defineOptions<{ readonly keepThis?: boolean }>("RequestSession.signOutEverywhere", {
  keepThis: flag,
});

/** Sessions with whatever pieces of data. */
export type AnySessions = Pick<Sessions, "idleMs" | "signOut" | "signOutEverywhere" | "tagOf"> & {
  load(token: string, options?: { readonly viewed?: string }): Promise<Session<object> | null>;
};

/** What a `RequestSession` calls, with one type for what is given and what comes back. */
type SessionsOf<D> = AnySessions & {
  create(options: { readonly data: Changes<D> }): Promise<Session<D>>;
  update(token: string, changes: Changes<D>): Promise<Session<D> | "conflict" | null>;
  signIn(token: string | null, user: string): Promise<Session<D>>;
};

type Changes<D> = { readonly [name in keyof D]?: D[name] | undefined };

/**
 * The session of one request.
 *
 * @example
 * const context = { cookie: {}, overTls: true, setCookie: (header: string) => console.log("Set-Cookie:", header) };
 * const session = new RequestSession(new Sessions(db), null, context); // As the middleware makes it.
 * await session.set({ theme: "dark" });
 * await session.signIn("ann");
 * [session.user, session.data]; // → ["ann", { theme: "dark" }]
 * @example
 * const context = { cookie: {}, overTls: true, setCookie: (header: string) => console.log("Set-Cookie:", header) };
 * const session = new RequestSession(new Sessions(db), null, context);
 * await session.signIn("ann");
 * await session.signOutEverywhere({ keepThis: true }); // → 0
 * await session.signOut();
 */
export class RequestSession<D extends object = RequestData> {
  readonly #sessions: SessionsOf<D>;
  readonly #cookie: CookieOptions;
  readonly #overTls: boolean;
  readonly #setCookie: SetCookie;
  #session: Session<D> | null;

  constructor(
    sessions: AnySessions,
    session: Session<object> | null,
    context: { readonly cookie: CookieOptions; readonly overTls: boolean; readonly setCookie: SetCookie },
  ) {
    this.#sessions = sessions as unknown as SessionsOf<D>;
    this.#session = session as Session<D> | null;
    this.#cookie = context.cookie;
    this.#overTls = context.overTls;
    this.#setCookie = context.setCookie;
  }

  /** Null while there is none. */
  get current(): Session<D> | null {
    return this.#session;
  }

  /** Who has signed in; null for nobody. */
  get user(): string | null {
    return this.#session?.user ?? null;
  }

  /** The session's data; empty while there is none. */
  get data(): Readonly<Partial<D>> {
    return this.#session?.data ?? ({} as Partial<D>);
  }

  /** Changes pieces of the data; begins a session if there is none. */
  async set(changes: Changes<D>): Promise<void> {
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
  async signIn(user: string): Promise<Session<D>> {
    const session = await this.#sessions.signIn(this.#session?.token ?? null, user);
    this.#begin(session);
    return session;
  }

  /** Ends the session and removes the cookie. */
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

  #begin(session: Session<D>): void {
    this.#session = session;
    this.#setCookie(writeCookie(this.#cookie, session.token, this.#sessions.idleMs, this.#overTls));
  }
}

/**
 * Middleware for Connect and plain Node servers: puts a `RequestSession` at `request.session`. A visitor without a session costs nothing:
 * one begins with the first `set` or `signIn`, before the answer is sent.
 *
 * @example
 * const { default: express } = await import("express");
 * const app = express().use(sessionMiddleware(new Sessions(db), { cookie: { name: "shop" } }));
 * app.get("/", (request, response) => {
 *   response.send((request as unknown as WithSession).session.user ?? "somebody");
 * });
 */
export function sessionMiddleware(
  sessions: AnySessions,
  options: SessionHttpOptions = {},
): (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void {
  SESSION_HTTP_OPTIONS.check(options);
  return (request, response, next) => {
    const setCookie: SetCookie = (header) => {
      if (response.headersSent) throw tooLate();
      const before = response.getHeader("Set-Cookie") ?? [];
      const set = Array.isArray(before) ? before : [String(before)];
      response.setHeader("Set-Cookie", withCookie(set, options.cookie, header));
    };
    const context = { request, cookies: request.headers.cookie, overTls: isOverTls(request), setCookie };
    sessionOf(sessions, options, context).then((session) => {
      Object.defineProperty(request, "session", { value: session, enumerable: true });
      next();
    }, next);
  };
}

/** A request, in whatever way a framework has it. @internal */
export interface RequestContext<Request> {
  readonly request: Request;
  /** The Cookie header. */
  readonly cookies: string | undefined;
  readonly overTls: boolean;
  readonly setCookie: SetCookie;
}

/** The session of a request. @internal */
export async function sessionOf<Request>(
  sessions: AnySessions,
  options: SessionHttpOptions<Request>,
  { request, cookies, overTls, setCookie }: RequestContext<Request>,
): Promise<RequestSession> {
  const { cookie = {} } = options;
  const token = readCookie(cookies, cookie.name ?? DEFAULT_COOKIE);
  const viewed = token === null ? undefined : options.viewed?.(request);
  const session = token === null ? null : await sessions.load(token, viewed === undefined ? {} : { viewed });
  return new RequestSession(sessions, session, { cookie, overTls, setCookie });
}

/** `secure` is what Express makes of it with its trust-proxy setting. @internal */
export function isOverTls(request: IncomingMessage): boolean {
  if ("secure" in request && request.secure === true) return true;
  // Requests that a test makes have none.
  const socket: object | null | undefined = request.socket;
  return typeof socket === "object" && socket !== null && "encrypted" in socket && socket.encrypted === true;
}

/** One cookie of ours in an answer, the last one set; others' stay. @internal */
export function withCookie(set: readonly string[], cookie: CookieOptions | undefined, header: string): string[] {
  return [...set.filter((each) => !each.startsWith(`${cookie?.name ?? DEFAULT_COOKIE}=`)), header];
}

/** @internal */
export function tooLate(): CinnabarError {
  return new CinnabarError("TOO_LATE", "the session's cookie cannot be set: the answer has been sent already");
}
