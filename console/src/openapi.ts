/** The OpenAPI document, made of the routes. */
import type { Route } from "./route.ts";
import type { Schema } from "./schema.ts";

const PROBLEM = {
  type: "object",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    code: { type: "string", description: "Stable, for programs." },
    detail: { type: "string", description: "For people." },
  },
  required: ["type", "title", "status", "code", "detail"],
};

export function openApi(routes: readonly Route[], version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: "3.0.3",
    info: {
      title: "Cinnabar console",
      version,
      description: "Requests that act need the header `x-cinnabar: 1`. With a password, sign in at /api/login first.",
    },
    paths,
    components: { schemas: { Problem: PROBLEM } },
  };
}

function operation(route: Route): Record<string, unknown> {
  return {
    tags: [route.group],
    summary: route.summary,
    parameters: [
      ...parameters("path", route.params),
      ...parameters("query", route.query),
      ...(route.method === "GET"
        ? []
        : [{ in: "header", name: "x-cinnabar", required: true, schema: { type: "string", enum: ["1"] } }]),
    ],
    ...(route.body && { requestBody: { required: true, content: { "application/json": { schema: route.body } } } }),
    responses: {
      200: {
        description: route.answers,
        content: { [route.media ?? "application/json"]: { ...(route.answer && { schema: route.answer }) } },
      },
      default: {
        description: "What went wrong.",
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    },
  };
}

function parameters(where: "path" | "query", schema: Schema | undefined): unknown[] {
  if (schema === undefined) return [];
  const required = schema.required as readonly string[];
  return Object.entries(schema.properties as Record<string, Schema>).map(([name, { description, ...rest }]) => ({
    in: where,
    name,
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema: rest,
  }));
}
