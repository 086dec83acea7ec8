/**
 * An example application is one value: its routes and its sample data. Everything it keeps has keys below `example:<name>:`, so
 * that one click removes all of it and nothing else.
 */
import type { Context, Route } from "../route.ts";
import { traced } from "../trace.ts";

export type Progress = (done: number, total: number) => void;

export interface Example {
  /** Part of its addresses, /api/examples/<name>/…, and of its keys; small letters. */
  readonly name: string;
  readonly title: string;
  /** What it shows, in a sentence. */
  readonly about: string;
  /** The components that it stands on. */
  readonly components: readonly string[];
  readonly routes: readonly Route[];
  /** Makes the sample. May be called again, also over what people have done meanwhile, or half of it. Bounded, and fast. */
  make(context: Context, progress: Progress): Promise<void>;
  /** What has to be done before the keys go: what works beside the requests is ended. */
  beforeRemoval?(context: Context): Promise<void>;
}

/** The prefix of what a component of an example keeps: `example:news:voting`. */
export const prefixOf = (name: string, component: string): string => `example:${name}:${component}`;

/** The routes of an example, each of which answers with what it has sent: `{ answer, trace }`. */
export function tracedRoutes(example: Example): Route[] {
  return example.routes.map((route) => {
    if (route.media !== undefined) return route;
    return {
      ...route,
      answers: `${route.answers} As \`answer\`; \`trace\` has the commands that were sent, and their times.`,
      run: (context, input) => traced(() => route.run(context, input)),
    };
  });
}
