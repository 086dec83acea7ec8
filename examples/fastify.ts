import { open } from "cinnabar";
import { rateLimitsPlugin, sessionsPlugin } from "cinnabar/fastify";
import { RateLimits } from "cinnabar/rate-limits";
import { Sessions } from "cinnabar/sessions";
import Fastify from "fastify";

const db = await open(process.env.STORE ?? "memory:");
const limits = new RateLimits(db, { name: "pages", rules: { limit: 100, windowMs: 60_000 } });
const app = Fastify();
await app.register(rateLimitsPlugin, { limits });
await app.register(sessionsPlugin, { sessions: new Sessions(db) });
app.addHook("onClose", () => db.close());

app.get("/", async ({ session }) => {
  const visits = Number(session.data.visits ?? 0) + 1;
  await session.set({ visits });
  return { user: session.user, visits };
});
app.post<{ Params: { user: string } }>("/sign-in/:user", async (request, reply) => {
  // Checking the password is yours.
  await request.session.signIn(request.params.user);
  return reply.code(204).send();
});
app.post("/sign-out", async (request, reply) => {
  await request.session.signOut();
  return reply.code(204).send();
});

console.log(await app.listen({ port: Number(process.env.PORT ?? 3000), host: "127.0.0.1" }));
