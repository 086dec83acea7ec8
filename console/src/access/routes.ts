/** What the console keeps about itself: the connections that it shows, and who has changed what. */

import { open } from "cinnabar";
import type { TlsSettings } from "../commands/link/tls.ts";
import { withoutCredentials } from "../options.ts";
import { Problem, type Route, route } from "../route.ts";
import { array, boolean, integer, named, nullable, object, oneOf, string } from "../schema.ts";
import { DONE } from "../shapes.ts";
import type { Audit } from "./audit.ts";
import { type Connection, databasesOf, type Targets, urlFor } from "./targets.ts";
import { ROLES } from "./user.ts";

const group = "Console";
const NAME = string({ minLength: 1, maxLength: 64, pattern: "^[\\w.-]+$" });

const ENTRY = named(
  "AuditEntry",
  object({
    at: string({ description: "As ISO 8601." }),
    user: string(),
    role: oneOf(ROLES),
    address: string(),
    store: string(),
    action: string(),
    target: string({ description: "What it was done to; values are not noted." }),
    outcome: oneOf(["done", "refused", "failed"]),
    status: integer(),
  }),
);

interface ConnectionOptions {
  readonly connectTimeoutMs?: number;
  readonly tls?: TlsSettings;
}

/** A connection by its URL. */
export function connectionTo(name: string, url: string, options: ConnectionOptions = {}): Connection {
  const { connectTimeoutMs = 5_000, tls = {} } = options;
  const secured = Object.keys(tls).length === 0 ? {} : { tls };
  const given = { retryMs: 1_000, clientName: "cinnabar-console", connectTimeoutMs, ...secured };
  return {
    name,
    backend: withoutCredentials(url),
    // What is safe to repeat is repeated for a second: a page must hear soon that the store is gone.
    open: (which) => open(urlFor(url, which), given),
  };
}

async function describe(targets: Targets, connection: Connection, isFirst: boolean) {
  const { name, backend } = connection;
  const target = isFirst ? targets.first : null;
  const databases = target?.isOpen ? await databasesOf(connection, target.observing) : null;
  return { name, backend, databases, canSwitch: connection.open !== undefined };
}

export function consoleRoutes(targets: Targets, audit: Audit, allowsConnections: boolean): readonly Route[] {
  return [
    route({
      method: "GET",
      url: "/api/connections",
      group,
      summary:
        "The connections that this console shows. Routes below `/api/@NAME:DB/` are about another one, or about another database.",
      answers: "The first is shown where none is named.",
      answer: object({
        connections: array(
          object({
            name: string(),
            backend: string(),
            databases: nullable(integer({ description: "Null where it is not known yet." })),
            canSwitch: boolean("Whether other databases than the first can be shown."),
          }),
        ),
        canAdd: boolean("Whether an admin may add one."),
      }),
      run: async () => ({
        connections: await Promise.all(
          targets.connections.map((each, nth) => describe(targets, each, nth === 0).catch(() => fallback(each))),
        ),
        canAdd: allowsConnections,
      }),
    }),
    route({
      method: "POST",
      url: "/api/connections",
      group,
      summary: "Adds a connection, until the console ends. Only where `--allow-connections` was given.",
      body: object({ name: NAME, url: string({ minLength: 1, maxLength: 2_048 }) }),
      answers: "Nothing.",
      answer: DONE,
      run: async (_context, { body }) => {
        if (!allowsConnections) {
          throw new Problem(403, "NOT_ALLOWED", "this console takes no connections: start it with --allow-connections");
        }
        if (!/^(?:rediss?|valkeys?|unix|redis\+\w+)(?:\+\w+)?:\/\//.test(body.url)) {
          throw new Problem(400, "INPUT", "a connection is a URL such as redis://127.0.0.1:6379");
        }
        const connection = connectionTo(body.name, body.url);
        // A store that does not answer is a mistake more often than an outage: it is told at once.
        await (await connection.open!({ db: 0 })).close();
        targets.add(connection);
      },
    }),
    route({
      method: "DELETE",
      url: "/api/connections/:name",
      group,
      summary: "Takes a connection off the list.",
      params: object({ name: NAME }),
      answers: "Nothing.",
      answer: DONE,
      run: async (_context, { params }) => {
        if (!allowsConnections) throw new Problem(403, "NOT_ALLOWED", "this console keeps its connections");
        await targets.remove(params.name);
      },
    }),
    route({
      method: "GET",
      url: "/api/audit",
      group,
      role: "admin",
      summary: "What was changed through this console, by whom: the last thousand requests that acted.",
      query: object({ user: string({ maxLength: 64 }), limit: integer({ default: 200, minimum: 1, maximum: 1_000 }) }, [
        "user",
      ]),
      answers: "Entries, the newest first; the file that has all of them, if there is one.",
      answer: object({ entries: array(ENTRY), file: nullable(string()) }),
      run: (_context, { query }) => ({ entries: audit.list(query), file: audit.file }),
    }),
  ];
}

const fallback = ({ name, backend, open: opens }: Connection) => ({
  name,
  backend,
  databases: null,
  canSwitch: opens !== undefined,
});
