/** `cinnabar/fastify` alone, then beside what @fastify/session declares. */
import { type RequestSession, sessionOf } from "cinnabar/fastify";
import Fastify from "fastify";

const app = Fastify();
app.get("/", async (request) => {
  const session: RequestSession = request.session;
  const same: RequestSession = sessionOf(request);
  // @ts-expect-error
  session.nonsense;
  return { user: same.user };
});
