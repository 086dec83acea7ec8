/** The OpenAPI document, made of the routes. Shapes that have a name stand under components, and are referred to. */
import type { Route } from "./route.ts";
import { NAME, type Schema } from "./schema.ts";

const PROBLEM = {
  type: "object",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    code: { type: "string", description: "Stable, for programs." },
    detail: { type: "string", description: "For people." },
    trace: { description: "Of an example: the commands that were sent until then." },
  },
  required: ["type", "title", "status", "code", "detail"],
  additionalProperties: false,
};

const TAGS: Readonly<Record<string, string>> = {
  Session: "Signing in and out, where a password is set.",
  Console: "The connections that the console shows, and who has changed what.",
  Server: "The server as a whole: figures, slow log, clients, configuration, files.",
  Live: "What happens now: commands as they run, messages of channels, statistics of commands.",
  Keys: "Looking at keys and changing them.",
  "Command line": "Any command, and the table of them.",
  Queues: "Task queues of the toolkit and their jobs.",
  Components: "Everything else that the toolkit keeps in the store, to be looked at and helped along.",
  Scripts: "Scripts and functions.",
  Examples: "The example applications. Answers are `answer`, beside the `trace` of the commands that were sent.",
};

type Shapes = Record<string, unknown>;

export function openApi(routes: readonly Route[], version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  const shapes: Shapes = { Problem: PROBLEM };
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, shapes) };
  }
  return {
    openapi: "3.0.3",
    info: {
      title: "Cinnabar console",
      version,
      description: "Requests that act need the header `x-cinnabar: 1`. With a password, sign in at /api/login first.",
    },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: shapes },
  };
}

/** `GET /api/queues/:name/jobs` is `getQueuesByNameJobs`: what clients that are made of the document call it. */
export function operationId({ method, url }: Pick<Route, "method" | "url">): string {
  const parts = url.replace(/^\/api\//, "").replace(/:(\w+)/g, "by-$1");
  const words = parts.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return method.toLowerCase() + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("");
}

function operation(route: Route, shapes: Shapes): Record<string, unknown> {
  return {
    operationId: operationId(route),
    tags: [route.group],
    summary: route.summary,
    parameters: [
      ...parameters("path", route.params),
      ...parameters("query", route.query),
      ...(route.method === "GET"
        ? []
        : [{ in: "header", name: "x-cinnabar", required: true, schema: { type: "string", enum: ["1"] } }]),
    ],
    ...(route.body && {
      requestBody: { required: true, content: { "application/json": { schema: described(route.body, shapes) } } },
    }),
    ...(route.bodyMedia && {
      requestBody: { required: true, content: { [route.bodyMedia]: { schema: { type: "string", format: "binary" } } } },
    }),
    responses: {
      200: {
        description: route.answers,
        content: {
          [route.media ?? "application/json"]: { ...(route.answer && { schema: described(route.answer, shapes) }) },
        },
      },
      default: {
        description: "What went wrong.",
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    },
  };
}

/** The schema as the document has it: each shape with a name goes to the shapes, and a reference takes its place. */
function described(schema: unknown, shapes: Shapes): unknown {
  if (Array.isArray(schema)) return schema.map((each) => described(each, shapes));
  if (typeof schema !== "object" || schema === null) return schema;
  const name = NAME in schema ? schema[NAME] : undefined;
  const plain = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, described(value, shapes)]));
  if (typeof name !== "string") return plain;
  const known = shapes[name];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(plain)) {
    throw new Error(`two different shapes are called ${name}`);
  }
  shapes[name] = plain;
  return { $ref: `#/components/schemas/${name}` };
}

function parameters(where: "path" | "query", schema: Schema | undefined): unknown[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    in: where,
    name,
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema: rest,
  }));
}
