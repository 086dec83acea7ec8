/** Every example, and the routes that all of them have. */
import { Problem, type Route, route } from "../route.ts";
import { object, string } from "../schema.ts";
import { ads } from "./ads.ts";
import { autocomplete } from "./autocomplete.ts";
import { chat } from "./chat.ts";
import { type Example, tracedRoutes } from "./example.ts";
import { GUIDES, sourceOf } from "./guides.ts";
import { jobs } from "./jobs.ts";
import { marketplace } from "./marketplace.ts";
import { news } from "./news.ts";
import { makeSample, removeSample, sampleState } from "./sample.ts";
import { searchExample } from "./search.ts";
import { shopExample } from "./shop.ts";
import { social } from "./social.ts";
import { become, greet } from "./visitor.ts";

export const EXAMPLES: readonly Example[] = [
  news,
  shopExample,
  marketplace,
  autocomplete,
  chat,
  social,
  ads,
  jobs,
  searchExample,
];

const group = "Examples";
const NAME = object({ name: string({ minLength: 1, maxLength: 40 }) });

function exampleOf(name: string): Example {
  const example = EXAMPLES.find((each) => each.name === name);
  if (example === undefined) throw new Problem(404, "NO_EXAMPLE", "there is no such example");
  return example;
}

export const EXAMPLE_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/examples",
    group,
    summary: "The examples, and whether their sample data is there.",
    answers: "Those.",
    run: async (context) => ({
      examples: await Promise.all(
        EXAMPLES.map(async (example) => {
          const { name, title, about, components } = example;
          return { name, title, about, components, sample: await sampleState(context, example) };
        }),
      ),
    }),
  }),
  route({
    method: "GET",
    url: "/api/examples/visitor",
    group,
    summary: "Who you are in the examples: a name that your browser keeps. One is made up for who has none.",
    answers: "The name.",
    run: (_context, { request, reply }) => ({ name: greet(request, reply) }),
  }),
  route({
    method: "POST",
    url: "/api/examples/visitor",
    group,
    summary: "Takes a name.",
    body: object({ name: string({ maxLength: 200 }) }),
    answers: "The name.",
    run: (_context, { request, reply, body }) => ({ name: become(request, reply, body.name) }),
  }),
  route({
    method: "GET",
    url: "/api/examples/:name/sample",
    group,
    summary: "Whether an example's sample data is there, and how its making or removal gets on.",
    params: NAME,
    answers: "`absent`, `present`, `making` or `removing`.",
    run: (context, { params }) => sampleState(context, exampleOf(params.name)),
  }),
  route({
    method: "GET",
    url: "/api/examples/:name/guide",
    group,
    summary:
      "What is seen in an example, which component does it, and where it is in the store; and the example's own source.",
    params: NAME,
    answers: "Steps, and the source as text.",
    run: async (_context, { params }) => {
      const { name, about, components } = exampleOf(params.name);
      return { about, components, steps: GUIDES[name] ?? [], source: await sourceOf(name) };
    },
  }),
  route({
    method: "POST",
    url: "/api/examples/:name/sample",
    group,
    summary: "Makes an example's sample data. What is there already stays.",
    params: NAME,
    answers: "Nothing, when it is made.",
    run: (context, { params }) => makeSample(context, exampleOf(params.name)),
  }),
  route({
    method: "DELETE",
    url: "/api/examples/:name/sample",
    group,
    summary: "Removes everything that an example has written, and nothing else.",
    params: NAME,
    answers: "How many keys.",
    run: async (context, { params }) => ({ removed: await removeSample(context, exampleOf(params.name)) }),
  }),
  ...EXAMPLES.flatMap(tracedRoutes),
];
