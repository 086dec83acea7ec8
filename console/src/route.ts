/**
 * A route is one value: where, what goes in, what it is for, what it does. server.ts serves the list, openapi.ts describes it;
 * nothing is written twice.
 */
import type { Store } from "cinnabar";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Role, User } from "./access/user.ts";
import type { Live } from "./live.ts";
import type { Schema } from "./schema.ts";

/** What every handler may use. */
export interface Context {
  readonly store: Store;
  readonly live: Live;
  /** How the console names its backend to people; without credentials. */
  readonly backend: string;
  /** Who asks. */
  readonly user: User;
}

export interface Input<Q, B, P> {
  readonly query: Q;
  readonly body: B;
  readonly params: P;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export interface Route<Q = unknown, B = unknown, P = unknown> {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Parameters as Fastify writes them: `/api/queues/:name`. */
  readonly url: string;
  readonly group: string;
  readonly summary: string;
  readonly query?: Schema<Q>;
  readonly body?: Schema<B>;
  readonly params?: Schema<P>;
  /** The type of the body, if it is not JSON: the handler reads it as a stream. */
  readonly bodyMedia?: string;
  /** What is answered, in words. */
  readonly answers: string;
  /** And in a schema. */
  readonly answer?: Schema;
  /** The type of the answer, if it is not JSON. */
  readonly media?: string;
  /** Also for visitors without the password. */
  readonly isOpen?: true;
  /** The least role that may ask; by default a viewer for GET and an operator for what acts (access/roles.ts). */
  readonly role?: Role;
  /** It changes nothing although its method is not GET: what it asks for does not fit into an address. */
  readonly reads?: true;
  /** The commands in a body, where it has any: each is held against the role of who asks, and noted if it changes something. */
  commandsOf?(body: B): readonly (readonly string[])[];
  /** What the audit log says of a body that does not say by itself what it is about. */
  tells?(body: B): Readonly<Record<string, unknown>>;
  run(context: Context, input: Input<Q, B, P>): unknown;
}

/** Keeps the types of the parts together while the list of routes forgets them. */
export function route<Q = unknown, B = unknown, P = unknown>(of: Route<Q, B, P>): Route {
  return of;
}

/** An error that the caller is to see, as problem+json. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}
