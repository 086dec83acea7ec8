/** Rate limiters of the toolkit: who is near a limit, and the means to forgive. */
import { RateLimits } from "cinnabar/rate-limits";
import { findKeys } from "../nodes.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, integer, named, number, object, oneOf, string } from "../schema.ts";
import { DONE } from "../shapes.ts";

const group = "Components";
const NAME = string({ minLength: 1, maxLength: 512 });
const SUBJECT = string({ minLength: 1, maxLength: 1_024 });
const MOST = 200;

const RULE = named(
  "RateLimitRule",
  object(
    {
      limit: integer(),
      windowMs: integer(),
      algorithm: oneOf(["fixed", "sliding", "gcra"], "GCRA where it is left out."),
      burst: integer({ description: "Of GCRA: how much may come at once; the limit where it is left out." }),
    },
    ["algorithm", "burst"],
  ),
);

const STANDING = named(
  "RateLimitSubject",
  object(
    {
      subject: string(),
      allowed: boolean(),
      limit: integer({ description: "Of the rule that is nearest to its limit." }),
      remaining: integer(),
      retryAfterMs: number(),
      resetAfterMs: number(),
      unchecked: boolean("The store could not be asked."),
    },
    ["unchecked"],
  ),
);

const SUBJECTS = object({
  rules: array(RULE),
  subjects: array(STANDING),
  count: integer({ description: "Those that are not shown included." }),
  complete: boolean(),
});

async function limiterOf({ store }: Context, name: string): Promise<RateLimits> {
  const found = (await RateLimits.list(store, { limit: 1_000 })).items.find((each) => each.name === name);
  if (found === undefined) throw new Problem(404, "NOT_FOUND", `no rate limiter "${name}" has been used lately`);
  return new RateLimits(store, { name, rules: found.rules });
}

const literal = (text: string) => text.replace(/[[\]*?\\]/g, "\\$&");

async function subjects(context: Context, name: string) {
  const limiter = await limiterOf(context, name);
  const { keys, complete } = await findKeys(context.store, `limit:${literal(name)}:{*}:*`);
  const start = `limit:${name}:{`.length;
  const names = [...new Set(keys.map((key) => key.slice(start, key.lastIndexOf("}:"))))];
  const shown = await Promise.all(
    names.slice(0, MOST).map(async (subject) => ({ subject, ...(await limiter.peek(subject)) })),
  );
  // Who is refused, or has least left, first.
  shown.sort((a, b) => b.retryAfterMs - a.retryAfterMs || a.remaining / a.limit - b.remaining / b.limit);
  return { rules: limiter.rules, subjects: shown, count: names.length, complete: complete && names.length <= MOST };
}

export const RATE_LIMIT_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/rate-limits",
    group,
    summary: "Rate limiters that were used in the last week.",
    answers: "Names and rules.",
    answer: object({ limiters: array(object({ name: string(), rules: array(RULE) })) }),
    run: async ({ store }) => ({ limiters: (await RateLimits.list(store)).items }),
  }),
  route({
    method: "GET",
    url: "/api/rate-limits/:name",
    group,
    summary: "Who has used something of a limit; refused ones first.",
    params: object({ name: NAME }),
    answers: "Rules and subjects, with what is left to each.",
    answer: SUBJECTS,
    run: (context, { params }) => subjects(context, params.name),
  }),
  route({
    method: "POST",
    url: "/api/rate-limits/:name/reset",
    group,
    summary: "Forgets what a subject has used.",
    params: object({ name: NAME }),
    body: object({ subject: SUBJECT }),
    answers: "Nothing.",
    answer: DONE,
    run: async (context, { params, body }) => (await limiterOf(context, params.name)).reset(body.subject),
  }),
];
