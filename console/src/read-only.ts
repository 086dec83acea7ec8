/**
 * A console that only looks (`--read-only`). The server refuses whatever could change the store or the server: every route that acts,
 * and every command whose row in the server's own table does not say `readonly`. The examples, which live from writing, are not there.
 */
import { roleOfCommand } from "./access/roles.ts";
import { Problem, type Route } from "./route.ts";

const refusal = (what: string): Problem => new Problem(403, "READ_ONLY", `${what}: this console is read-only`);

function looking(route: Route): Route {
  if (route.method === "GET" || route.reads) return route;
  const { commandsOf } = route;
  if (commandsOf === undefined) {
    return {
      ...route,
      run: () => {
        throw refusal(`${route.method} ${route.url} is refused`);
      },
    };
  }
  return {
    ...route,
    run: async (context, input) => {
      for (const words of commandsOf(input.body)) {
        if ((await roleOfCommand(context.store, words)) !== "viewer") {
          throw refusal(`${words[0]!.toUpperCase()} is not run`);
        }
      }
      return route.run(context, input);
    },
  };
}

/** The routes of a console that only looks. */
export const readOnlyRoutes = (routes: readonly Route[]): readonly Route[] =>
  routes.filter(({ url }) => !url.startsWith("/api/examples")).map(looking);
