/** What sessions are given and what they answer. */
import type { InferInput, InferOutput, StandardSchema } from "../../base/schema.ts";

/** A schema for each piece of data, by its name (Standard Schema: zod, valibot, arktype …). */
export type SessionSchemas = Readonly<Record<string, StandardSchema>>;

/** What a session with such pieces holds: each of them may be missing. */
export type SessionDataOf<S extends SessionSchemas> = string extends keyof S
  ? SessionData
  : { readonly [name in keyof S]?: InferOutput<S[name]> };

/** What may be set of it; `undefined` removes a piece. */
export type SessionChangesOf<S extends SessionSchemas> = string extends keyof S
  ? SessionData
  : { readonly [name in keyof S]?: InferInput<S[name]> | undefined };

/** What `Sessions` may be given. */
export interface SessionsOptions<S extends SessionSchemas = SessionSchemas> {
  /** How all keys begin (default "session"). */
  readonly prefix?: string;
  /**
   * A session that is not used for this long is over. A process notes once a minute (or twentieth of this, if that is less) that a session
   * is in use, so it may live so much longer. 14 days by default.
   */
  readonly idleMs?: number;
  /** A session is over this long after it began, however much it is used. 90 days by default. */
  readonly ttlMs?: number;
  /** The least recently used sessions of a user beyond this many end when a new one begins. By default 100. */
  readonly maxPerUser?: number;
  /** The cleaner ends the least recently used sessions beyond this many, of all users together. By default 10 000 000. */
  readonly maxLive?: number;
  /** How many viewed items are kept (default 25). */
  readonly viewed?: number;
  /** The largest piece of data, encoded; a larger one is an InputError (default 64 KiB). */
  readonly maxValueBytes?: number;
  /** How long one call to the store may take in all; 5 000 by default, since a page waits for it. */
  readonly timeoutMs?: number;
  /**
   * Checks pieces of data, when they are set and when they are read. There are no pieces but these. A stored piece that its schema refuses
   * is left out. By default pieces of any name and any JSON.
   */
  readonly schema?: S;
}

/** Pieces of data by their names, as a session without a schema has them. */
export type SessionData = Readonly<Record<string, unknown>>;

/** A session, as the program that holds its token sees it. */
export interface Session<D = SessionData> {
  /** What the client holds. The store does not know it. */
  readonly token: string;
  /** Names it among the sessions of its user, for `revoke`. No secret. */
  readonly id: string;
  /** Null for somebody who has not signed in. */
  readonly user: string | null;
  /** When it began, by the server's clock. */
  readonly createdAt: Date;
  /** When it was last noted to be in use: within a minute. */
  readonly seenAt: Date;
  /** When it ends even if it is used. */
  readonly endsAt: Date;
  /** Grows with every change of the data. */
  readonly version: number;
  /** What is kept for the user, piece by piece. */
  readonly data: D;
}

/** A session as its user sees it in a list. */
export interface SessionInfo {
  /** For `revoke`. */
  readonly id: string;
  /** When it began. */
  readonly createdAt: Date;
  /** When it was last noted to be in use: within a minute. */
  readonly seenAt: Date;
  /** When it ends even if it is used. */
  readonly endsAt: Date;
  /** It is the one whose token was given. */
  readonly current: boolean;
}

/** A session as those see it who look after the service: never its token, which only the client has. */
export interface LiveSession {
  /** For `end`. */
  readonly handle: string;
  /** Null for somebody who has not signed in. */
  readonly user: string | null;
  /** When it began. */
  readonly createdAt: Date;
  /** When it was last noted to be in use: within a minute. */
  readonly seenAt: Date;
  /** When it ends even if it is used. */
  readonly endsAt: Date;
}

export interface LoadOptions {
  readonly touch?: boolean;
  readonly viewed?: string;
}

/** Where a session is, for keys that are bound to it. */
export interface SessionBinding {
  /** What is in braces in the session's keys, and in those of the other sessions of its user: all are in one slot. */
  readonly tag: string;
  /** The id of the session. */
  readonly id: string;
  /** There while the session lives; its time to live is the session's. */
  readonly session: string;
  /** Set: the keys that are bound to it. */
  readonly bound: string;
}
