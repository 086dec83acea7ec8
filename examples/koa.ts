import type { AddressInfo } from "node:net";
import { open } from "cinnabar";
import { limited, sessionMiddleware } from "cinnabar/koa";
import { RateLimits } from "cinnabar/rate-limits";
import { Sessions } from "cinnabar/sessions";
import Koa from "koa";

const db = await open(process.env.STORE ?? "memory:");
const app = new Koa();
app.use(limited(new RateLimits(db, { name: "pages", rules: { limit: 100, windowMs: 60_000 } })));
app.use(sessionMiddleware(new Sessions(db)));

app.use(async (ctx) => {
  const [, action, user = ""] = ctx.path.split("/");
  if (ctx.method === "POST" && action === "sign-in") {
    // Checking the password is yours.
    await ctx.session.signIn(user);
    ctx.status = 204;
  } else if (ctx.method === "POST" && action === "sign-out") {
    await ctx.session.signOut();
    ctx.status = 204;
  } else {
    const visits = Number(ctx.session.data.visits ?? 0) + 1;
    await ctx.session.set({ visits });
    ctx.body = { user: ctx.session.user, visits };
  }
});

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
