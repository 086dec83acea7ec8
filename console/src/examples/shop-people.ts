/**
 * Who is in the shop: sessions in a cookie (`cinnabar/sessions`), accounts with passwords, and attempts limited
 * (`cinnabar/rate-limits`). A name that is new becomes an account with the password that came with it.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import type { Store } from "cinnabar";
import { RateLimits } from "cinnabar/rate-limits";
import { type Session, Sessions } from "cinnabar/sessions";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../route.ts";
import { secret } from "../trace.ts";
import { prefixOf } from "./example.ts";
import { cookieName, cookieOf, giveCookie } from "./visitor.ts";

const ACCOUNTS = prefixOf("shop", "accounts");
const hash = promisify<string, string, number, Buffer>(scrypt);

export interface Asked {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export class ShopPeople {
  readonly sessions: Sessions;
  readonly #store: Store;
  readonly #limiter: RateLimits;

  constructor(store: Store) {
    this.#store = store;
    this.sessions = new Sessions(store, { prefix: prefixOf("shop", "sessions"), idleMs: 86_400_000, viewed: 8 });
    this.#limiter = new RateLimits(store, {
      name: "sign-in",
      rules: [{ limit: 10, windowMs: 60_000 }],
      prefix: prefixOf("shop", "attempts"),
    });
  }

  /** The session of a request, noted as used; null where there is none. */
  async session({ request }: Asked, viewed?: string): Promise<Session | null> {
    const token = cookieOf(request, cookieName(request, "shop"));
    if (token === undefined) return null;
    secret(token);
    return this.sessions.load(token, viewed === undefined ? {} : { viewed });
  }

  /** The session of a request; a new one, of nobody in particular, for who comes for the first time. */
  async greet(asked: Asked): Promise<Session> {
    const session = await this.session(asked);
    if (session !== null) return session;
    const made = await this.sessions.create();
    this.#give(asked, made.token);
    return made;
  }

  /** Signs in, or registers who is new. The session before it is worth nothing then; what it held goes along. */
  async signIn(
    asked: Asked,
    user: string,
    password: string,
  ): Promise<{ before: Session; session: Session; isNew: boolean }> {
    secret(password);
    const verdict = await this.#limiter.take(user);
    if (!verdict.allowed) {
      const seconds = Math.max(1, Math.ceil(verdict.retryAfterMs / 1_000));
      asked.reply.header("retry-after", seconds);
      throw new Problem(429, "TOO_MANY_ATTEMPTS", `too many attempts; try again in ${seconds} s`);
    }
    const isNew = await this.#admit(user, password);
    const before = await this.greet(asked);
    const session = await this.sessions.signIn(before.token, user);
    this.#give(asked, session.token);
    return { before, session, isNew };
  }

  async signOut(asked: Asked): Promise<void> {
    const session = await this.session(asked);
    if (session !== null) await this.sessions.signOut(session.token);
    this.#give(asked, "", 0);
  }

  /** Whether the account is new; throws when the password is not that of the account. */
  async #admit(user: string, password: string): Promise<boolean> {
    const known = await this.#store.call("HGET", ACCOUNTS, user);
    if (known === null) {
      const salt = randomBytes(12).toString("base64url");
      const made = `${salt}.${(await hash(password, salt, 32)).toString("base64url")}`;
      secret(made);
      if ((await this.#store.call("HSETNX", ACCOUNTS, user, made)) === 1) return true;
      return this.#admit(user, password);
    }
    const [salt = "", kept = ""] = String(known).split(".");
    const given = await hash(password, salt, 32);
    if (!timingSafeEqual(given, Buffer.from(kept, "base64url"))) {
      throw new Problem(401, "PASSWORD", `that is not the password of ${user}`);
    }
    return false;
  }

  #give({ request, reply }: Asked, token: string, seconds = this.sessions.idleMs / 1_000): void {
    giveCookie(reply, cookieName(request, "shop"), token, seconds);
  }
}
