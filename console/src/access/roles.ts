/**
 * What each role may do. A viewer reads, an operator also changes data, an admin also changes the server and everything at once.
 * Every route has a least role; for the command line it depends on the command.
 */
import { ServerError, type Store } from "cinnabar";
import { Problem, type Route } from "../route.ts";
import { textsOf } from "../values.ts";
import { isAtLeast, type Role, type User } from "./user.ts";

/** Commands that change nothing although the server's table does not call them `readonly`, since they are about no key. */
const HARMLESS = new Set([
  ...["ping", "echo", "time", "info", "lastsave", "role", "command", "latency|histogram", "latency|latest"],
  ...["slowlog|get", "slowlog|len", "client|list", "client|info", "client|id", "config|get", "memory|stats"],
  ...["memory|doctor", "script|exists", "function|list", "acl|whoami", "acl|cat", "cluster|info"],
  ...["cluster|nodes", "cluster|slots", "cluster|shards", "pubsub|channels", "pubsub|numsub", "pubsub|numpat"],
]);

/** Besides those that the server's table calls `admin`: what touches everything at once, and code that may do anything. */
const FOR_ADMINS = new Set([
  ...["flushall", "flushdb", "swapdb", "migrate", "eval", "evalsha", "fcall", "module", "acl|list", "acl|getuser"],
  ...["function|load", "function|flush", "function|delete", "function|restore", "script|flush", "script|load"],
]);

/** Routes that act on the server and not on data, or run code. */
const ADMIN_ROUTES = /^\/api\/(?:config|clients|functions|scripts|audit|connections)(?:\/|$)/;

/** The least role that a route asks for. */
export function leastRole({ method, url, role, reads }: Pick<Route, "method" | "url" | "role" | "reads">): Role {
  if (role !== undefined) return role;
  if (method === "GET" || reads) return "viewer";
  return ADMIN_ROUTES.test(url) ? "admin" : "operator";
}

/** Flags of a command, or of its part, as COMMAND INFO tells them; none where the server does not know it. */
async function flagsOf(store: Store, name: string): Promise<readonly string[]> {
  const answer = await store.call("COMMAND", "INFO", name);
  if (answer instanceof ServerError) throw answer;
  const [row] = answer;
  return Array.isArray(row) ? textsOf(row[2]) : [];
}

/** The least role that a command asks for. */
export async function roleOfCommand(store: Store, words: readonly string[]): Promise<Role> {
  const [name = "", part = ""] = words.map((word) => word.toLowerCase());
  if (HARMLESS.has(name) || HARMLESS.has(`${name}|${part}`)) return "viewer";
  if (FOR_ADMINS.has(name) || FOR_ADMINS.has(`${name}|${part}`)) return "admin";
  // Names with a bar, or none, are no commands; the server would take them for something else.
  if (!/^[a-z_-]+$/.test(name)) return "operator";
  const flags = new Set(await flagsOf(store, name));
  if (/^[a-z_-]+$/.test(part)) for (const flag of await flagsOf(store, `${name}|${part}`)) flags.add(flag);
  if (flags.has("admin")) return "admin";
  return flags.has("readonly") ? "viewer" : "operator";
}

export function refuseBelow(user: User, least: Role, what: string): void {
  if (isAtLeast(user.role, least)) return;
  const article = least === "viewer" ? "a" : "an";
  throw new Problem(403, "ROLE", `${what} needs ${article} ${least}; ${user.name} is ${roleText(user.role)}`);
}

const roleText = (role: Role): string => (role === "viewer" ? "a viewer" : `an ${role}`);
