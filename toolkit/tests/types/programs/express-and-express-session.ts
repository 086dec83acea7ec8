/** `cinnabar/express` and express-session in one program, as while moving from one to the other. */

import type { Store } from "cinnabar";
import { sessionMiddleware, sessionOf } from "cinnabar/express";
import { expressSessionStore } from "cinnabar/express-session";
import { Sessions } from "cinnabar/sessions";
import express from "express";
import session from "express-session";

declare const db: Store;
const [before, after] = [express(), express()];

const Kept = expressSessionStore(session.Store);
before.use(session({ store: new Kept(db), secret: "s", resave: false, saveUninitialized: false }));
before.get("/", (request, response) => {
  request.session.cookie.maxAge = 60_000;
  request.session.regenerate(() => response.json({ id: request.sessionID }));
  // @ts-expect-error: ours has this, theirs does not.
  request.session.user;
});

after.use(sessionMiddleware(new Sessions(db)));
after.get("/", async (request, response) => {
  await sessionOf(request).signIn("ann");
  const user: string | null = sessionOf(request).user;
  response.json({ user });
});
