/**
 * The console's HTTP server: the routes under /api, the page for everything else. It knows a Store and nothing of how that was
 * opened. A request passes the checks of security.ts, then its route's schema, then its handler; every error leaves as
 * problem+json.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import { ClosedError, ConnectionError, InputError, ServerError, type Store } from "cinnabar";
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from "fastify";
import { doorRoutes } from "./door.ts";
import { Live } from "./live.ts";
import { serveMonitoring } from "./monitoring.ts";
import { openApi } from "./openapi.ts";
import { readOnlyRoutes } from "./read-only.ts";
import { Problem, type Route } from "./route.ts";
import { ROUTES } from "./routes.ts";
import { checkHost, checkSite, Door, HEADERS } from "./security.ts";
import { type Trace, traceOf, traceStore } from "./trace.ts";
import { VERSION } from "./version.ts";
import { stopWork } from "./work.ts";

export interface ConsoleOptions {
  readonly store: Store;
  /** How people are told what they look at; without credentials. */
  readonly backend: string;
  readonly password?: string | undefined;
  /** Host names, besides addresses and localhost, under which the console answers. */
  readonly hosts?: readonly string[];
  /** Whether nothing can be changed through it: see read-only.ts. */
  readonly readOnly?: boolean;
  /** The built page. */
  readonly page?: string;
}

export interface Console {
  readonly live: Live;
  listen(host: string, port: number): Promise<number>;
  close(): Promise<void>;
}

const BODY_LIMIT = 8 * 1024 * 1024;

function builtPage(): string {
  const beside = fileURLToPath(new URL("./ui", import.meta.url));
  return existsSync(beside) && existsSync(`${beside}/index.html`)
    ? beside
    : fileURLToPath(new URL("../dist/ui", import.meta.url));
}

export async function openConsole(options: ConsoleOptions): Promise<Console> {
  const { store, backend } = options;
  const live = new Live(store);
  const door = await Door.open(options.password);
  const isReadOnly = options.readOnly ?? false;
  const routes = [...doorRoutes(door, isReadOnly), ...(isReadOnly ? readOnlyRoutes(ROUTES) : ROUTES)];
  const openToAll = new Set(routes.filter(({ isOpen }) => isOpen).map(({ url }) => url));
  const stopTracing = traceStore(store);
  const app = Fastify({
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: true,
    ajv: { customOptions: { allErrors: false } },
  });
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
    reply.headers(HEADERS);
    checkHost(request, options.hosts ?? []);
    const path = request.url.split("?")[0]!;
    if (!path.startsWith("/api/")) return;
    reply.header("cache-control", "no-store");
    checkSite(request);
    if (!openToAll.has(path) && !door.admits(request)) {
      throw new Problem(401, "SIGN_IN", "this console asks for a password");
    }
  });
  const document = openApi(routes, VERSION);
  app.get("/api/openapi.json", () => document);
  for (const route of routes) serve(app, route, { store, live, backend });
  serveMonitoring(app, store, door);
  const page = options.page ?? builtPage();
  if (existsSync(page)) await servePage(app, page);
  await app.ready();
  return {
    live,
    listen: async (host, port) => {
      await app.listen({ host, port });
      const address = app.server.address();
      live.start();
      return typeof address === "object" && address !== null ? address.port : port;
    },
    close: async () => {
      live.stop();
      await app.close();
      await stopWork(store);
      stopTracing();
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

function serve(app: FastifyInstance, route: Route, context: { store: Store; live: Live; backend: string }): void {
  app.route({
    method: route.method,
    url: route.url,
    ...(route.bodyMedia && { bodyLimit: Number.MAX_SAFE_INTEGER }),
    schema: {
      ...(route.query && { querystring: route.query }),
      ...(route.body && { body: route.body }),
      ...(route.params && { params: route.params }),
    },
    handler: async (request, reply) => {
      const { query, body, params } = request;
      const answer = await route.run(context, { query, body, params, request, reply });
      // A file that was broken off has begun, and is not sent to its end.
      return reply.sent || reply.raw.headersSent ? reply : reply.send(answer ?? { ok: true });
    },
  });
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad request",
  401: "Not signed in",
  403: "Refused",
  404: "Not found",
  409: "Conflict",
  413: "Too large",
  415: "Unsupported media type",
  421: "Misdirected request",
  422: "The store refused it",
  429: "Too many attempts",
  500: "Internal error",
  503: "The store cannot be reached",
};

/** What the caller is told. Errors that nobody foresaw are written to stderr, and tell the caller nothing. */
function problemOf(error: FastifyError | Error): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof InputError) return new Problem(400, "INPUT", error.message);
  if (error instanceof ServerError) return new Problem(422, error.code, error.message);
  if (error instanceof ConnectionError || error instanceof ClosedError)
    return new Problem(503, error.code, error.message);
  const { statusCode, code, validation } = error as FastifyError;
  if (validation !== undefined) return new Problem(400, "INPUT", error.message);
  if (statusCode !== undefined && statusCode < 500) return new Problem(statusCode, code ?? "REQUEST", error.message);
  console.error(error);
  return new Problem(500, "INTERNAL", "something went wrong in the console; its terminal says what");
}

function sendProblem(reply: FastifyReply, { status, code, message }: Problem, trace?: Trace): FastifyReply {
  const title = TITLES[status] ?? "Error";
  return reply
    .code(status)
    .type("application/problem+json")
    .send(JSON.stringify({ type: "about:blank", title, status, code, detail: message, trace }));
}
