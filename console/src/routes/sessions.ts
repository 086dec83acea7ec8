/** Sessions of the toolkit: who is there, and the means to end one. Tokens are never seen: the store does not have them. */
import type { Store } from "cinnabar";
import { Sessions } from "cinnabar/sessions";
import { type Context, type Route, route } from "../route.ts";
import { integer, object, string } from "../schema.ts";

const group = "Components";
const USER = object({ user: string({ minLength: 1, maxLength: 512 }) });

const made = new WeakMap<Store, Sessions>();

function of({ store }: Context): Sessions {
  const sessions = made.get(store) ?? new Sessions(store);
  made.set(store, sessions);
  return sessions;
}

async function list(context: Context, limit: number) {
  const [count, sessions] = await Promise.all([of(context).count(), of(context).recent(limit)]);
  return { count, sessions };
}

export const SESSION_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/sessions",
    group,
    summary: "Sessions of everybody, the latest used first.",
    query: object({ limit: integer({ default: 100, minimum: 1, maximum: 1_000 }) }),
    answers: "About how many live, and the latest: user, begun, last used, ends, and a handle to end it by.",
    run: (context, { query }) => list(context, query.limit),
  }),
  route({
    method: "GET",
    url: "/api/sessions/of/:user",
    group,
    summary: "The sessions of a user.",
    params: USER,
    answers: "Those.",
    run: async (context, { params }) => ({ sessions: await of(context).list(params.user) }),
  }),
  route({
    method: "DELETE",
    url: "/api/sessions/of/:user",
    group,
    summary: "Signs a user out everywhere.",
    params: USER,
    answers: "How many sessions ended.",
    run: async (context, { params }) => ({ ended: await of(context).signOutEverywhere(params.user) }),
  }),
  route({
    method: "POST",
    url: "/api/sessions/end",
    group,
    summary: "Ends a session.",
    body: object({ handle: string({ minLength: 1, maxLength: 64 }) }),
    answers: "Whether it still lived.",
    run: async (context, { body }) => ({ ended: await of(context).end(body.handle) }),
  }),
];
