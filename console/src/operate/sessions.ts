/** Sessions of the toolkit: who is there, and the means to end one. Tokens are never seen: the store does not have them. */
import type { Store } from "cinnabar";
import { Sessions } from "cinnabar/sessions";
import { type Context, type Route, route } from "../route.ts";
import { array, boolean, date, integer, named, nullable, object, string } from "../schema.ts";

const group = "Components";
const USER = object({ user: string({ minLength: 1, maxLength: 512 }) });

const LIVE = named(
  "LiveSession",
  object({
    handle: string({ description: "To end it by." }),
    user: nullable(string({ description: "Null for somebody who has not signed in." })),
    createdAt: date(),
    seenAt: date(),
    endsAt: date("When it ends even if it is used."),
  }),
);

const OWN = object({ id: string(), createdAt: date(), seenAt: date(), endsAt: date(), current: boolean() });

const made = new WeakMap<Store, Sessions>();

function of({ store }: Context): Sessions {
  const sessions = made.get(store) ?? new Sessions(store);
  made.set(store, sessions);
  return sessions;
}

async function list(context: Context, limit: number) {
  const [count, sessions] = await Promise.all([of(context).count(), of(context).recent({ limit })]);
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
    answer: object({ count: integer(), sessions: array(LIVE) }),
    run: (context, { query }) => list(context, query.limit),
  }),
  route({
    method: "GET",
    url: "/api/sessions/of/:user",
    group,
    summary: "The sessions of a user.",
    params: USER,
    answers: "Those.",
    answer: object({ sessions: array(OWN) }),
    run: async (context, { params }) => ({ sessions: (await of(context).list(params.user)).items }),
  }),
  route({
    method: "DELETE",
    url: "/api/sessions/of/:user",
    group,
    summary: "Signs a user out everywhere.",
    params: USER,
    answers: "How many sessions ended.",
    answer: object({ ended: integer() }),
    run: async (context, { params }) => ({ ended: await of(context).signOutEverywhere(params.user) }),
  }),
  route({
    method: "POST",
    url: "/api/sessions/end",
    group,
    summary: "Ends a session.",
    body: object({ handle: string({ minLength: 1, maxLength: 64 }) }),
    answers: "Whether it still lived.",
    answer: object({ ended: boolean() }),
    run: async (context, { body }) => ({ ended: await of(context).end(body.handle) }),
  }),
];
