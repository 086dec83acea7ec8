/** `cinnabar/fastify` beside a plugin that declares a session, in the way that @fastify/session and @fastify/secure-session do. */
import { type RequestSession, sessionOf } from "cinnabar/fastify";
import Fastify from "fastify";

interface Theirs {
  readonly sessionId: string;
}

declare module "fastify" {
  interface FastifyInstance {
    decryptSession(sessionId: string): void;
  }
  interface FastifyRequest {
    session: Theirs;
  }
}

const app = Fastify();
app.get("/", async (request) => {
  const ours: RequestSession = sessionOf(request);
  // @ts-expect-error: ours has this, theirs does not.
  request.session.user;
  return { id: request.session.sessionId, user: ours.user };
});
