import { withSession } from "cinnabar/next";
import { Sessions } from "cinnabar/sessions";
import { store } from "../../store.mjs";

let handler;

export async function GET(request, context) {
  handler ??= withSession(new Sessions(await store()), async (_request, session) => {
    const visits = (session.data.visits ?? 0) + 1;
    await session.set({ visits });
    return Response.json({ user: session.user, visits });
  });
  return handler(request, context);
}
