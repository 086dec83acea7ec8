/** Signing in and out, where a password is set. */
import { type Route, route } from "./route.ts";
import { boolean, object, string } from "./schema.ts";
import type { Door } from "./security.ts";
import { DONE } from "./shapes.ts";
import { VERSION } from "./version.ts";

const group = "Session";

export function doorRoutes(door: Door, readOnly = false): readonly Route[] {
  return [
    route({
      method: "GET",
      url: "/api/session",
      group,
      isOpen: true,
      summary: "Whether a password is asked for, and whether this browser has given it.",
      answers: "That, and the console's version.",
      answer: object({
        locked: boolean(),
        signedIn: boolean(),
        readOnly: boolean("Whether nothing can be changed through this console."),
        version: string(),
      }),
      run: (_context, { request }) => ({
        locked: door.locked,
        signedIn: door.admits(request),
        readOnly,
        version: VERSION,
      }),
    }),
    route({
      method: "POST",
      url: "/api/login",
      group,
      isOpen: true,
      summary: "Signs in. Five attempts a minute.",
      body: object({ password: string({ maxLength: 1_024 }) }),
      answers: "A cookie.",
      answer: DONE,
      run: (_context, { request, reply, body }) => door.login(request, reply, body.password),
    }),
    route({
      method: "POST",
      url: "/api/logout",
      group,
      summary: "Signs out.",
      answers: "The cookie is worth nothing any more.",
      answer: DONE,
      run: (_context, { request, reply }) => door.logout(request, reply),
    }),
  ];
}
