/**
 * The console's HTTP server: the routes under /api, the page for everything else. It knows stores and nothing of how they were
 * opened. A request passes the checks of security.ts, then its route's role and schema, then its handler; every error leaves as
 * problem+json. It listens by itself (`listen`), or another application hands requests on to it (mount.ts).
 */
import { existsSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import { InputError, type Store } from "cinnabar";
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { Audit, type AuditEntry, type AuditOptions, shortened, targetOf } from "./access/audit.ts";
import { leastRole, refuseBelow, roleOfCommand } from "./access/roles.ts";
import { consoleRoutes } from "./access/routes.ts";
import { type Connection, type Target, Targets } from "./access/targets.ts";
import { ADMIN, type User } from "./access/user.ts";
import type { KnownUser } from "./access/users.ts";
import { BUILT_DOCS, docsHeaders, isDocs, serveDocs } from "./docs.ts";
import { doorRoutes } from "./door.ts";
import { EXAMPLE_ROUTES } from "./examples/index.ts";
import type { Live } from "./live.ts";
import { serveMonitoring } from "./monitoring.ts";
import { openApi } from "./openapi.ts";
import { OPERATE_ROUTES } from "./operate/index.ts";
import { PACKAGE_FOLDER } from "./package-folder.ts";
import { documentOf, problemOf } from "./problem.ts";
import { readOnlyRoutes } from "./read-only.ts";
import { Problem, type Route } from "./route.ts";
import { checkHost, checkSite, Door, headersFor } from "./security.ts";
import { type Trace, traceOf } from "./trace.ts";
import { VERSION } from "./version.ts";

export interface ConsoleOptions {
  /** What is shown. It is not closed with the console. */
  readonly store?: Store;
  /** How people are told what they look at; without credentials. */
  readonly backend?: string;
  /** In place of `store`: what is shown first, and others to choose from. They may be down for now. */
  readonly connections?: readonly [Connection, ...Connection[]];
  /** Whether an admin may add connections. */
  readonly allowConnections?: boolean;
  readonly password?: string | undefined;
  /** People with names and roles, in place of the one password. */
  readonly users?: readonly KnownUser[] | undefined;
  /** Host names, besides addresses and localhost, under which the console answers. */
  readonly hosts?: readonly string[];
  /** Whether nothing can be changed through it: see read-only.ts. */
  readonly readOnly?: boolean;
  /** Whether the example applications, which write, are there. */
  readonly examples?: boolean;
  /** Whether X-Forwarded-Proto and X-Forwarded-For of the last proxy are believed. */
  readonly trustProxy?: boolean;
  readonly audit?: AuditOptions;
  /** The built page. */
  readonly page?: string;
  /** The folder of the documentation's built site, which is served under /docs. */
  readonly docs?: string;
  /** The path below which it is mounted: `/admin/console`. */
  readonly basePath?: string;
  /** Origins whose pages may show it in a frame; `self` for its own. */
  readonly frames?: readonly string[];
  /** In place of a password: decides about every request of a mounted console, the page's included. */
  readonly authorize?: (request: FastifyRequest) => Promise<User | null>;
}

export interface Console {
  readonly live: Live;
  readonly app: FastifyInstance;
  /** Begins to sample; `listen` does so too. */
  start(): void;
  listen(host: string, port: number): Promise<number>;
  close(): Promise<void>;
}

const BODY_LIMIT = 8 * 1024 * 1024;

const BUILT_PAGE = join(PACKAGE_FOLDER, "dist/ui");

/** Which connection and database a request is about: `/api/@staging:3/keys`. */
interface Address {
  readonly connection: string;
  readonly db: number;
}

const addresses = new WeakMap<IncomingMessage, Address>();

/** The address as it was sent: middleware hands on the rest of it alone. */
export function wholeUrl(request: IncomingMessage): string {
  const { url = "/" } = request;
  return "originalUrl" in request && typeof request.originalUrl === "string" ? request.originalUrl : url;
}

/** Takes the path of the mount and the connection out of an address, so that routes need not know of either. */
function localUrl(request: IncomingMessage, basePath: string): string {
  const whole = wholeUrl(request);
  const below = basePath !== "" && whole.startsWith(basePath) ? whole.slice(basePath.length) : whole;
  const local = below.startsWith("/") ? below : `/${below}`;
  const [prefix, name = "", db = ""] = /^\/api\/@([\w.%-]{0,128}):(\d{1,5})(?=\/)/.exec(local) ?? [];
  if (prefix === undefined) return local;
  addresses.set(request, { connection: decodeName(name), db: Number(db) });
  return `/api${local.slice(prefix.length)}`;
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** What a server shares among its requests. */
interface Serving {
  readonly targets: Targets;
  readonly audit: Audit;
  readonly isReadOnly: boolean;
  readonly users: WeakMap<FastifyRequest, User>;
}

function routesFor(options: ConsoleOptions, serving: Serving, door: Door): readonly Route[] {
  const { targets, audit, isReadOnly, users } = serving;
  const examples = (options.examples ?? true) && !isReadOnly;
  const routes = [
    ...OPERATE_ROUTES,
    ...consoleRoutes(targets, audit, options.allowConnections ?? false),
    ...(examples ? EXAMPLE_ROUTES : []),
  ];
  const signedIn = (request: FastifyRequest, name: string, user: User | null) => {
    if (!door.locked) return;
    const who = user ?? { name: name === "" ? "?" : shortened(name, 64), role: "viewer" as const };
    audit.note({
      ...entryOf(request, who, ""),
      action: "sign in",
      target: "",
      outcome: user === null ? "refused" : "done",
      status: user === null ? 401 : 200,
    });
  };
  const isMounted = options.authorize !== undefined;
  const userOf = (request: FastifyRequest) => users.get(request) ?? (isMounted ? null : door.userOf(request));
  const own = doorRoutes({ door, readOnly: isReadOnly, examples, isMounted, userOf, signedIn });
  return [...own, ...(isReadOnly ? readOnlyRoutes(routes) : routes)];
}

function connectionsOf({ connections, store, backend = "" }: ConsoleOptions): readonly [Connection, ...Connection[]] {
  if (connections !== undefined) return connections;
  if (store === undefined) throw new InputError("a console needs a store, or connections");
  return [{ name: "main", backend, store }];
}

export async function openConsole(options: ConsoleOptions): Promise<Console> {
  const targets = new Targets(connectionsOf(options));
  const audit = new Audit(options.audit);
  const door = await Door.open(options.password, options.users);
  const isReadOnly = options.readOnly ?? false;
  const serving: Serving = { targets, audit, isReadOnly, users: new WeakMap() };
  const routes = routesFor(options, serving, door);
  const openToAll = new Set(routes.filter(({ isOpen }) => isOpen).map(({ url }) => url));
  const basePath = options.basePath ?? "";
  const app = Fastify({
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: true,
    ajv: { customOptions: { allErrors: false } },
    rewriteUrl: (request) => localUrl(request, basePath),
    // The last proxy is believed, not what a client may have written before it.
    trustProxy: options.trustProxy ? (_address: string, hop: number) => hop === 0 : false,
  });
  const headers = headersFor(options.frames);
  // JSON is the only body there is: a form of another site could send plain text.
  app.removeContentTypeParser("text/plain");
  // Files are read by their routes, a piece at a time. Whatever acts has the header that a form of another site cannot send.
  const files = new Set(routes.filter(({ bodyMedia }) => bodyMedia !== undefined).map(({ url }) => url));
  app.addContentTypeParser("application/octet-stream", (request, payload, done) => {
    if (files.has(request.routeOptions.url ?? "")) done(null, payload);
    else done(new Problem(415, "MEDIA", "the body is JSON"));
  });
  app.setErrorHandler((error: FastifyError, _request, reply) => sendProblem(reply, problemOf(error), traceOf(error)));
  app.setNotFoundHandler((_request, reply) =>
    sendProblem(reply, new Problem(404, "NOT_FOUND", "there is nothing here")),
  );
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(headers);
    const path = request.url.split("?")[0]!;
    if (options.authorize !== undefined) {
      const user = await options.authorize(request);
      if (user === null) throw new Problem(403, "NOT_AUTHORIZED", "this application does not let you see its console");
      serving.users.set(request, user);
    } else checkHost(request, options.hosts ?? []);
    if (isDocs(path)) reply.headers(docsHeaders(path, request.host));
    if (!path.startsWith("/api/")) return;
    reply.header("cache-control", "no-store");
    checkSite(request);
    if (serving.users.has(request)) return;
    const user = door.userOf(request);
    if (user !== null) serving.users.set(request, user);
    else if (!openToAll.has(path)) throw new Problem(401, "SIGN_IN", "this console asks for a password");
  });
  const document = openApi(routes, VERSION);
  app.get("/api/openapi.json", () => document);
  for (const route of routes) serve(app, route, serving);
  serveMonitoring(
    app,
    targets.first,
    async (request) => serving.users.has(request) || door.userOf(request) !== null || (await door.knows(request)),
  );
  const page = options.page ?? BUILT_PAGE;
  if (existsSync(page)) await servePage(app, page);
  await serveDocs(app, options.docs ?? BUILT_DOCS, basePath !== "" || options.authorize !== undefined);
  await app.ready();
  const { live } = targets.first;
  return {
    live,
    app,
    start: () => targets.start(),
    listen: async (host, port) => {
      await app.listen({ host, port });
      const address = app.server.address();
      targets.start();
      return typeof address === "object" && address !== null ? address.port : port;
    },
    close: async () => {
      live.stop();
      await app.close();
      await targets.close();
      await audit.close();
      await door.close();
    },
  };
}

/** Names of assets have a hash of what is in them, so they are kept for ever; the page that names them is asked for each time. */
async function servePage(app: FastifyInstance, root: string): Promise<void> {
  await app.register(fastifyStatic, {
    root,
    dotfiles: "deny",
    index: ["index.html"],
    // The build has written them: nothing is compressed while somebody waits.
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, path) => {
      const isHashed = /[\\/]assets[\\/][^\\/]+-[\w-]{8}\.\w+(?:\.(?:br|gz))?$/.test(path);
      reply.header("cache-control", isHashed ? "public, max-age=31536000, immutable" : "no-cache");
      reply.header("vary", "accept-encoding");
    },
  });
}

const isExample = ({ url }: Route): boolean => url.startsWith("/api/examples");

function serve(app: FastifyInstance, route: Route, serving: Serving): void {
  const least = leastRole(route);
  const acts =
    route.method !== "GET" && route.url !== "/api/login" && (!isExample(route) || route.url.endsWith("/sample"));
  app.route({
    method: route.method,
    url: route.url,
    ...(route.bodyMedia && { bodyLimit: Number.MAX_SAFE_INTEGER }),
    schema: {
      ...(route.query && { querystring: route.query }),
      ...(route.body && { body: route.body }),
      ...(route.params && { params: route.params }),
    },
    // Before the body is read: who may not ask need not send one.
    onRequest: async (request) => {
      if (route.isOpen) return;
      const user = userFor(request, serving);
      if (!serving.isReadOnly) refuseBelow(user, least, `${route.method} ${route.url}`);
    },
    ...(acts && { onResponse: (request: FastifyRequest, reply: FastifyReply) => note(route, request, reply, serving) }),
    handler: async (request, reply) => {
      const { query, body, params } = request;
      const user = serving.users.get(request) ?? ADMIN;
      const target = targetFor(request, user, serving);
      const context = {
        // Lazily: a route that needs no store answers while there is none. What reads leaves no trace.
        get store() {
          return (route.method === "GET" || route.reads) && !isExample(route) ? target.observing : target.store;
        },
        live: target.live,
        backend: target.backend,
        user: serving.isReadOnly ? { ...user, role: "viewer" as const } : user,
      };
      const answer = await route.run(context, { query, body, params, request, reply });
      // A file that was broken off has begun, and is not sent to its end.
      return reply.sent || reply.raw.headersSent ? reply : reply.send(answer ?? { ok: true });
    },
  });
}

function userFor(request: FastifyRequest, { users }: Serving): User {
  const user = users.get(request);
  if (user === undefined) throw new Problem(401, "SIGN_IN", "this console asks for a password");
  return user;
}

function targetFor(request: FastifyRequest, user: User, { targets }: Serving): Target {
  const { connection, db } = addresses.get(request.raw) ?? { connection: undefined, db: 0 };
  const first = targets.connections[0]!;
  // The ACL user belongs to the server that was given first; others have the credentials of their own URL.
  const isFirst = connection === undefined || connection === "" || connection === first.name;
  return targets.find(connection, { db, credentials: isFirst ? user.store : undefined });
}

const entryOf = (request: FastifyRequest, user: Pick<User, "name" | "role">, store: string) => ({
  at: new Date().toISOString(),
  user: user.name,
  role: user.role,
  address: request.ip,
  store,
});

/** Notes a request that acts, when it is over. Commands that read are not worth an entry. */
async function note(route: Route, request: FastifyRequest, reply: FastifyReply, serving: Serving): Promise<void> {
  const user = serving.users.get(request);
  if (user === undefined) return;
  const status = reply.statusCode;
  const outcome = status < 400 ? "done" : status === 403 || status === 401 ? "refused" : "failed";
  const { connection, db } = addresses.get(request.raw) ?? { connection: "", db: 0 };
  const store = `${connection === "" ? serving.targets.connections[0]!.name : connection}:${db}`;
  const entry: Omit<AuditEntry, "action" | "target"> = { ...entryOf(request, user, store), outcome, status };
  if (route.commandsOf === undefined) {
    const action = `${route.method} ${route.url}`;
    serving.audit.note({
      ...entry,
      action,
      target: targetOf(request.params, request.query, route.tells?.(request.body) ?? request.body),
    });
    return;
  }
  try {
    const { observing } = targetFor(request, user, serving);
    for (const words of route.commandsOf(request.body)) {
      if ((await roleOfCommand(observing, words)) === "viewer") continue;
      serving.audit.note({ ...entry, action: nameOf(words), target: await keysOf(observing, words) });
    }
  } catch {
    // The body was no list of commands, or the store is gone: nothing was done.
  }
}

/** `CONFIG SET maxmemory` says more than `CONFIG`. What follows may be a secret. */
function nameOf(words: readonly string[]): string {
  const [name = "", part = "", which = ""] = words;
  const upper = name.toUpperCase();
  if (upper === "CONFIG") return `CONFIG ${part.toUpperCase()} ${shortened(which, 60)}`.trim();
  const isContainer = /^(?:ACL|CLIENT|CLUSTER|FUNCTION|SCRIPT|MODULE|XGROUP|DEBUG|MEMORY|SLOWLOG|LATENCY)$/.test(upper);
  return shortened(isContainer ? `${upper} ${part.toUpperCase()}` : upper, 80);
}

async function keysOf(store: Store, words: readonly string[]): Promise<string> {
  const keys = await store.call("COMMAND", "GETKEYS", ...words).catch(() => []);
  return Array.isArray(keys) && keys.length > 0 ? targetOf({ keys: keys.slice(0, 10) }) : "";
}

function sendProblem(reply: FastifyReply, problem: Problem, trace?: Trace): FastifyReply {
  return reply
    .code(problem.status)
    .type("application/problem+json")
    .send(JSON.stringify({ ...documentOf(problem), trace }));
}
