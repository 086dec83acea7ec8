import { serve } from "@hono/node-server";
import { open } from "cinnabar";
import { limited, type SessionEnv, sessionMiddleware } from "cinnabar/hono";
import { RateLimits } from "cinnabar/rate-limits";
import { Sessions } from "cinnabar/sessions";
import { Hono } from "hono";

const db = await open(process.env.STORE ?? "memory:");
const app = new Hono<SessionEnv>();
app.use(limited(new RateLimits(db, { name: "pages", rules: { limit: 100, windowMs: 60_000 } })));
app.use(sessionMiddleware(new Sessions(db)));

app.get("/", async (c) => {
  const { session } = c.var;
  const visits = Number(session.data.visits ?? 0) + 1;
  await session.set({ visits });
  return c.json({ user: session.user, visits });
});
app.post("/sign-in/:user", async (c) => {
  // Checking the password is yours.
  await c.var.session.signIn(c.req.param("user"));
  return c.body(null, 204);
});
app.post("/sign-out", async (c) => {
  await c.var.session.signOut();
  return c.body(null, 204);
});

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: "127.0.0.1" }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}`);
});
