/**
 * Who may talk to the console. It can do everything to the store, and a browser lets any page send requests to 127.0.0.1, so:
 *
 * - Host must be an address, `localhost`, or a name that was given: a foreign name that was made to point here (DNS rebinding) is
 *   refused, since its page would be of our origin.
 * - What acts (all but GET) needs a header that no other site can send without asking first, which nobody answers; and where
 *   the browser says where a request comes from (Sec-Fetch-Site, Origin), it must be this page. So must reads be.
 * - With a password or users: a session, whose token is in a cookie that scripts cannot read and that other sites' requests do not
 *   carry; over TLS it is never sent without. Attempts are limited, and passwords are compared in a time that tells nothing.
 * - Nothing that is shown may run: no inline script, no other host, no frame, no guessing of types.
 */
import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { open, type Store } from "cinnabar";
import { RateLimits } from "cinnabar/rate-limits";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ADMIN, type User } from "./access/user.ts";
import { type KnownUser, Users } from "./access/users.ts";
import { Problem } from "./route.ts";

export const ACT_HEADER = "x-cinnabar";
const SESSION_MS = 12 * 3_600_000;
const MOST_SESSIONS = 1_000;

const POLICY =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'";

/** Of every answer. `frames`: origins whose pages may show the console in a frame, besides `self` for its own. */
export function headersFor(frames: readonly string[] = []): Readonly<Record<string, string>> {
  const ancestors =
    frames.length === 0 ? "'none'" : frames.map((each) => (each === "self" ? "'self'" : each)).join(" ");
  return {
    "content-security-policy": `${POLICY}; frame-ancestors ${ancestors}`,
    "x-content-type-options": "nosniff",
    // Older browsers know this one only, and it cannot name other origins.
    ...(frames.length === 0 && { "x-frame-options": "DENY" }),
    ...(frames.length === 1 && frames[0] === "self" && { "x-frame-options": "SAMEORIGIN" }),
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
}

/** Other than these would end the header, or say something else in it. */
export const isFrameOrigin = (text: string): boolean =>
  text === "self" || /^https?:\/\/(?:\*\.)?[\w.-]+(?::\d{1,5})?$/.test(text);

/** The name in a Host header, without the port; undefined where there is no sensible one. */
export function hostName(header: string | undefined): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^:[\]/@\s]+)(?::\d{1,5})?$/i.exec(header ?? "");
  return match?.[1]?.replace(/^\[|\]$/g, "").toLowerCase();
}

export function checkHost(request: FastifyRequest, allowed: readonly string[]): void {
  const name = hostName(request.headers.host);
  const known = ["localhost", hostname().toLowerCase(), ...allowed.map((each) => each.toLowerCase())];
  if (name !== undefined && (isIP(name) !== 0 || known.includes(name))) return;
  throw new Problem(
    421,
    "HOST",
    "this console does not answer to that host name; use its address, localhost or --host",
  );
}

/** Refuses what another site has sent. */
export function checkSite(request: FastifyRequest): void {
  const { "sec-fetch-site": site, origin, host } = request.headers;
  const acts = request.method !== "GET" && request.method !== "HEAD";
  const foreign = site !== undefined && site !== "same-origin" && site !== "none";
  if (foreign || (origin !== undefined && !sameOrigin(origin, host))) {
    throw new Problem(403, "CROSS_SITE", "requests from other sites are refused");
  }
  if (acts && request.headers[ACT_HEADER] !== "1") {
    throw new Problem(403, "CROSS_SITE", `what acts needs the header ${ACT_HEADER}: 1`);
  }
}

function sameOrigin(origin: string, host: string | undefined): boolean {
  try {
    return new URL(origin).host === host;
  } catch {
    return false;
  }
}

interface Session {
  readonly user: User;
  readonly untilMs: number;
}

/** Who may sign in, and the sessions. They are kept in this process; nothing of them is written into the store. */
export class Door {
  readonly #users: Users;
  readonly #sessions = new Map<string, Session>();
  readonly #limiter: RateLimits;
  readonly #memory: Store;
  readonly #now: () => number;

  private constructor(users: Users, memory: Store, now: () => number) {
    this.#users = users;
    this.#memory = memory;
    this.#now = now;
    this.#limiter = new RateLimits(memory, {
      name: "login",
      rules: [
        { limit: 5, windowMs: 60_000 },
        { limit: 50, windowMs: 86_400_000 },
      ],
    });
  }

  /** The limiter counts in a store of its own, so that it works whatever becomes of the one that is looked at. */
  static async open(
    password: string | undefined,
    users?: readonly KnownUser[],
    now: () => number = Date.now,
  ): Promise<Door> {
    return new Door(new Users(users, password), await open(), now);
  }

  get locked(): boolean {
    return this.#users.isLocked;
  }

  /** Whether people say their names besides the password. */
  get hasNames(): boolean {
    return this.#users.hasNames;
  }

  async login(request: FastifyRequest, reply: FastifyReply, name: string | undefined, password: string): Promise<User> {
    if (!this.locked) return ADMIN;
    const verdict = await this.#limiter.take(request.ip);
    if (!verdict.allowed) {
      const seconds = Math.max(1, Math.ceil(verdict.retryAfterMs / 1_000));
      reply.header("retry-after", seconds);
      throw new Problem(429, "TOO_MANY_ATTEMPTS", `too many attempts; try again in ${seconds} s`);
    }
    const user = await this.#users.find(name, password);
    if (user === null) {
      throw new Problem(
        401,
        "PASSWORD",
        this.hasNames ? "that is not the name and password of a user" : "that is not the password",
      );
    }
    await this.#limiter.reset(request.ip);
    const token = randomBytes(32).toString("base64url");
    if (this.#sessions.size >= MOST_SESSIONS) this.#sessions.delete(this.#sessions.keys().next().value!);
    this.#sessions.set(token, { user, untilMs: this.#now() + SESSION_MS });
    reply.header("set-cookie", cookie(request, token, SESSION_MS / 1_000));
    return user;
  }

  logout(request: FastifyRequest, reply: FastifyReply): void {
    this.#sessions.delete(tokenOf(request) ?? "");
    reply.header("set-cookie", cookie(request, "", 0));
  }

  /** Who a request is from; null for somebody who has not signed in. */
  userOf(request: FastifyRequest): User | null {
    if (!this.locked) return ADMIN;
    const token = tokenOf(request);
    const session = token === undefined ? undefined : this.#sessions.get(token);
    if (session === undefined) return null;
    if (session.untilMs > this.#now()) return session.user;
    this.#sessions.delete(token!);
    return null;
  }

  /** Whether a request brings a password itself, as programs do: basic authentication. Wrong ones count as attempts. */
  async knows(request: FastifyRequest): Promise<boolean> {
    const [, encoded] = /^Basic ([\w+/=]{1,4096})$/i.exec(request.headers.authorization ?? "") ?? [];
    if (!this.locked || encoded === undefined) return !this.locked;
    const given = Buffer.from(encoded, "base64").toString("utf8");
    const at = given.indexOf(":");
    if (!(await this.#limiter.take(request.ip)).allowed) return false;
    if ((await this.#users.find(given.slice(0, Math.max(0, at)), given.slice(at + 1))) === null) return false;
    await this.#limiter.reset(request.ip);
    return true;
  }

  close(): Promise<void> {
    return this.#memory.close();
  }
}

/** Cookies do not tell ports apart: each console of a machine has a name of its own. */
const cookieName = (request: FastifyRequest): string => `cinnabar-${request.socket.localPort ?? 0}`;

/** Over TLS, here or at a proxy that is trusted, the browser must never send it without. */
export const secureFlag = (request: FastifyRequest): string => (request.protocol === "https" ? "; Secure" : "");

function cookie(request: FastifyRequest, token: string, seconds: number): string {
  return `${cookieName(request)}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secureFlag(request)}`;
}

function tokenOf(request: FastifyRequest): string | undefined {
  const name = `${cookieName(request)}=`;
  const found = (request.headers.cookie ?? "").split(/;\s*/).find((part) => part.startsWith(name));
  return found?.slice(name.length);
}
