/** `cinnabar/express` alone: a request has a session of ours, and nothing else. */
import { type RequestSession, sessionOf } from "cinnabar/express";
import express from "express";

const app = express();
app.get("/", async (request, response) => {
  const session: RequestSession = request.session;
  const same: RequestSession = sessionOf(request);
  await session.signIn("ann");
  // @ts-expect-error: express-session has this, and is not part of this program.
  request.session.regenerate(() => {});
  // @ts-expect-error
  session.nonsense;
  response.json({ user: same.user });
});
