/**
 * A console that only looks (`--read-only`). The server refuses whatever could change the store or the server: every route that acts,
 * and every command whose row in the server's own table does not say `readonly`. The examples, which live from writing, are not there.
 */
import { type Reply, ServerError, type Store } from "cinnabar";
import { Problem, type Route } from "./route.ts";

/** Commands that change nothing although the server's table does not call them `readonly`, since they are about no key. */
const HARMLESS = new Set([
  ...["ping", "echo", "time", "info", "lastsave", "role", "command", "latency|histogram", "latency|latest"],
  ...["slowlog|get", "slowlog|len", "client|list", "client|info", "client|id", "config|get", "memory|stats"],
  ...["memory|doctor", "script|exists", "function|list", "acl|whoami", "acl|list", "acl|cat", "cluster|info"],
  ...["cluster|nodes", "cluster|slots", "cluster|shards", "pubsub|channels", "pubsub|numsub", "pubsub|numpat"],
]);

const COMMAND_URL = "/api/command";

const refusal = (what: string): Problem => new Problem(403, "READ_ONLY", `${what}: this console is read-only`);

/** Flags of a command, or of its part, as COMMAND INFO tells them; none where the server does not know it. */
async function flagsOf(store: Store, name: string): Promise<readonly string[]> {
  const answer = await store.call("COMMAND", "INFO", name);
  if (answer instanceof ServerError) throw answer;
  const [row] = answer as Reply[];
  return Array.isArray(row) ? (row[2] as Reply[]).map(String) : [];
}

async function isReading(store: Store, words: readonly string[]): Promise<boolean> {
  const [name = "", part = ""] = words.map((word) => word.toLowerCase());
  if (HARMLESS.has(name) || HARMLESS.has(`${name}|${part}`)) return true;
  // Names with a bar, or none, are no commands; the server would take them for something else.
  if (!/^[a-z_-]+$/.test(name)) return false;
  if ((await flagsOf(store, name)).includes("readonly")) return true;
  return /^[a-z_-]+$/.test(part) && (await flagsOf(store, `${name}|${part}`)).includes("readonly");
}

function looking(route: Route): Route {
  if (route.method === "GET" || route.isReading) return route;
  if (route.url !== COMMAND_URL) {
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
      const { words } = input.body as { readonly words: readonly string[] };
      if (!(await isReading(context.store, words))) throw refusal(`${words[0]!.toUpperCase()} is not run`);
      return route.run(context, input);
    },
  };
}

/** The routes of a console that only looks. */
export const readOnlyRoutes = (routes: readonly Route[]): readonly Route[] =>
  routes.filter(({ url }) => !url.startsWith("/api/examples")).map(looking);
