/** Signing in and out, where a password or users are set, and what this console lets somebody do. */
import type { FastifyRequest } from "fastify";
import { ROLES, type User } from "./access/user.ts";
import { type Route, route } from "./route.ts";
import { boolean, nullable, object, oneOf, string } from "./schema.ts";
import type { Door } from "./security.ts";
import { DONE } from "./shapes.ts";
import { VERSION } from "./version.ts";

const group = "Session";

export interface DoorOptions {
  readonly door: Door;
  readonly readOnly: boolean;
  readonly examples: boolean;
  /** Another application decides who comes in: nobody signs in or out here. */
  readonly isMounted: boolean;
  userOf(request: FastifyRequest): User | null;
  /** Called with every attempt to sign in. */
  signedIn(request: FastifyRequest, name: string, user: User | null): void;
}

export function doorRoutes({ door, readOnly, examples, isMounted, userOf, signedIn }: DoorOptions): readonly Route[] {
  return [
    route({
      method: "GET",
      url: "/api/session",
      group,
      isOpen: true,
      summary: "Whether a password is asked for, who this browser has signed in as, and what they may do.",
      answers: "That, and the console's version.",
      answer: object({
        locked: boolean(),
        named: boolean("Whether a name is asked for besides the password."),
        signedIn: boolean(),
        user: nullable(object({ name: string(), role: oneOf(ROLES) })),
        readOnly: boolean("Whether nothing can be changed through this console."),
        examples: boolean("Whether the example applications are there."),
        version: string(),
      }),
      run: (_context, { request }) => {
        const user = userOf(request);
        return {
          locked: !isMounted && door.locked,
          named: door.hasNames,
          signedIn: user !== null,
          user: user === null ? null : { name: user.name, role: user.role },
          readOnly,
          examples,
          version: VERSION,
        };
      },
    }),
    route({
      method: "POST",
      url: "/api/login",
      group,
      isOpen: true,
      summary: "Signs in. Five attempts a minute.",
      body: object({ name: string({ maxLength: 64 }), password: string({ maxLength: 1_024 }) }, ["name"]),
      answers: "A cookie.",
      answer: DONE,
      run: async (_context, { request, reply, body }) => {
        const name = body.name ?? "";
        try {
          signedIn(request, name, await door.login(request, reply, body.name, body.password));
        } catch (error) {
          signedIn(request, name, null);
          throw error;
        }
      },
    }),
    route({
      method: "POST",
      url: "/api/logout",
      group,
      role: "viewer",
      summary: "Signs out.",
      answers: "The cookie is worth nothing any more.",
      answer: DONE,
      run: (_context, { request, reply }) => door.logout(request, reply),
    }),
  ];
}
