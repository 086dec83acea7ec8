/**
 * The console inside of another application: `consoleFor(store, options)` answers requests that the application hands on, below a
 * path of its own. The application says who may come in (`authorize`); the checks against other sites, roles, read-only and the
 * audit log are those of the console that stands alone.
 *
 *   const inspector = await consoleFor(store, { basePath: "/admin/store", authorize: (request) => isAdmin(request) });
 *   expressApp.use("/admin/store", inspector.handler);            // Express, Nest, Connect, node:http
 *   fastifyApp.register(inspector.fastify);                        // Fastify, Nest on Fastify
 *   honoApp.all("/admin/store/*", (c) => inspector.fetch(c.req.raw));  // Hono, and what else speaks Request and Response
 *   await inspector.close();
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { InputError, type Store } from "cinnabar";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AuditOptions } from "./access/audit.ts";
import { ROLES, type Role, type User } from "./access/user.ts";
import { isFrameOrigin } from "./security.ts";
import { openConsole, wholeUrl } from "./server.ts";

/** Who somebody is, as the application knows them. */
export interface Visitor {
  /** For the audit log. */
  readonly name: string;
  /** `viewer` reads, `operator` changes data, `admin` changes the server too. */
  readonly role: Role;
}

/** How a console is mounted in an application. */
export interface MountOptions {
  /** Where the application mounts it: `/admin/store`. "" for the root. The root by default. */
  readonly basePath?: string;
  /** The server refuses whatever would change the store. False by default. */
  readonly readOnly?: boolean;
  /**
   * Decides about every request, the page's included: true (an admin), who it is, or false. It gets the application's own request: Node's,
   * with what middleware has added to it, or the web's. By default only requests of this machine are let in.
   */
  readonly authorize?: (
    request: IncomingMessage | Request,
  ) => boolean | Visitor | null | Promise<boolean | Visitor | null>;
  /** Whether the example applications, which write into the store, are there; false by default. */
  readonly examples?: boolean;
  /** The name of the store in the page (default "this application's store"). */
  readonly label?: string;
  /** Origins whose pages may show it in a frame; `self` for those of this application. None by default. */
  readonly frames?: readonly string[];
  /** Where the audit log goes. In memory only by default. */
  readonly audit?: AuditOptions;
  /** The folder of the built page; the one that comes with the package by default. */
  readonly page?: string;
}

/** An application of Fastify: what its own types say of it, whichever release they are from. */
export interface FastifyApplication {
  /** Takes the console's plugin. */
  register(plugin: never): unknown;
}

/** A console that answers the requests that an application hands on to it. */
export interface MountedConsole {
  /** For Express, Nest, Connect and node:http. Calls `next`, where there is one, for what is not below its path. */
  handler(request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): void;
  /** A plugin for Fastify. */
  fastify(app: FastifyApplication): Promise<void>;
  /** For Hono, and whatever else speaks Request and Response. */
  fetch(request: Request): Promise<Response>;
  /** Ends the connections of the page and brings the audit log to its file. The store stays open. */
  close(): Promise<void>;
  /** The same as `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The application's own request, where Fastify is asked with another one. */
interface Original {
  readonly request: IncomingMessage | Request;
  readonly hasAddress: boolean;
}

/** Requests that are being asked anew, by a token that nobody can guess: a header leads from one to the other. */
class Originals {
  static readonly header = "x-cinnabar-original";
  readonly #asked = new Map<string, Original>();

  /** Asks with a header that leads back. */
  async with<T>(original: Original, ask: (header: Record<string, string>) => Promise<T>): Promise<T> {
    const token = randomUUID();
    this.#asked.set(token, original);
    try {
      return await ask({ [Originals.header]: token });
    } finally {
      this.#asked.delete(token);
    }
  }

  of({ headers }: FastifyRequest): Original | undefined {
    return this.#asked.get(String(headers[Originals.header] ?? ""));
  }
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/;
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** Without somebody who decides: this machine only, and by no name that somebody made to point here, nor through a proxy. */
function isOwnMachine({ socket, headers }: FastifyRequest, original: Original | undefined): boolean {
  // What comes as a Request has no address.
  if (original?.hasAddress === false) return false;
  if (headers["x-forwarded-for"] !== undefined || headers.forwarded !== undefined) return false;
  return LOOPBACK.test(socket.remoteAddress ?? "") && LOOPBACK_HOST.test(headers.host ?? "");
}

const APPLICATION: User = { name: "application", role: "admin" };

function authorizer(authorize: MountOptions["authorize"], originals: Originals) {
  return async (request: FastifyRequest): Promise<User | null> => {
    const original = originals.of(request);
    if (authorize === undefined) return isOwnMachine(request, original) ? APPLICATION : null;
    const verdict = await authorize(original?.request ?? request.raw);
    if (verdict === true) return APPLICATION;
    if (typeof verdict !== "object" || verdict === null || !ROLES.includes(verdict.role)) return null;
    return { name: String(verdict.name), role: verdict.role };
  };
}

function checkOptions({ basePath = "", frames = [] }: MountOptions): void {
  if (basePath !== "" && !/^(?:\/[\w.~-]+)+$/.test(basePath)) {
    throw new InputError(`consoleFor: basePath is a path such as "/admin/store", not ${JSON.stringify(basePath)}`);
  }
  const wrong = frames.find((each) => !isFrameOrigin(each));
  if (wrong !== undefined) {
    throw new InputError(
      `consoleFor: frames has origins such as "https://admin.example", not ${JSON.stringify(wrong)}`,
    );
  }
}

/** Express and others may have read the body already. */
const parsedBody = (request: IncomingMessage): unknown =>
  (request.readableEnded || request.complete) && "body" in request ? request.body : undefined;

/**
 * Makes a console of a store for an application that mounts it. Rejects with an InputError where `basePath` or `frames` is malformed.
 * @example
 * const inspector = await consoleFor(db, { basePath: "/admin/store", authorize: () => true });
 * const answer = await inspector.fetch(new Request("http://localhost/admin/store"));
 * answer.headers.get("location"); // → "/admin/store/"
 * await inspector.close();
 */
export async function consoleFor(store: Store, options: MountOptions = {}): Promise<MountedConsole> {
  checkOptions(options);
  const {
    basePath = "",
    readOnly,
    examples = false,
    label = "this application's store",
    frames,
    audit,
    page,
  } = options;
  const originals = new Originals();
  const served = await openConsole({
    store,
    backend: label,
    basePath,
    examples,
    authorize: authorizer(options.authorize, originals),
    ...(readOnly !== undefined && { readOnly }),
    ...(frames !== undefined && { frames }),
    ...(audit !== undefined && { audit }),
    ...(page !== undefined && { page }),
  });
  served.start();
  const { app } = served;
  /** Assets are named from where the page is, so its address must end with a slash. */
  const redirects = (url: string): string | null => {
    const [path = "", query] = url.split("?", 2);
    return path === basePath && basePath !== "" ? `${basePath}/${query === undefined ? "" : `?${query}`}` : null;
  };
  const isBelow = (url: string): boolean => basePath === "" || url.startsWith(`${basePath}/`);

  const answer = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const to = redirects(pathname + search);
    if (to !== null) return new Response(null, { status: 308, headers: { location: to } });
    if (!isBelow(pathname)) return new Response("Not found", { status: 404 });
    const headers = Object.fromEntries(request.headers);
    headers.host ??= new URL(request.url).host;
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    const injected = await originals.with({ request, hasAddress: false }, async (header) =>
      app.inject({
        method: request.method as "GET",
        url: pathname + search,
        headers: { ...headers, ...header },
        payloadAsStream: true,
        signal: request.signal,
        ...(body !== undefined && { payload: body }),
      }),
    );
    const stream = injected.stream();
    stream.once("error", () => {});
    request.signal.addEventListener("abort", () => stream.destroy(), { once: true });
    const names = Object.entries(injected.headers).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((each): [string, string] => [name, String(each)]),
    );
    const isEmpty = injected.statusCode === 204 || injected.statusCode === 304 || request.method === "HEAD";
    const content = isEmpty ? null : Readable.toWeb(stream);
    return new Response(content, { status: injected.statusCode, headers: names });
  };

  const handler: MountedConsole["handler"] = (request, response, next) => {
    const whole = wholeUrl(request);
    const to = redirects(whole);
    if (to !== null) response.writeHead(308, { location: to }).end();
    else if (!isBelow(whole)) {
      if (next !== undefined) next();
      else response.writeHead(404).end();
    } else {
      const body = parsedBody(request);
      if (body === undefined || request.method === "GET" || request.method === "HEAD") app.routing(request, response);
      else void replay(request, response, whole, body);
    }
  };

  /** A request whose body is an object already is asked anew, with that body; the user is the one that `authorize` makes of it. */
  const replay = async (request: IncomingMessage, response: ServerResponse, url: string, body: unknown) => {
    const { "content-length": _length, "transfer-encoding": _encoding, ...headers } = request.headers;
    const isEmpty = !("content-type" in headers) || body === null;
    const answered = await originals.with({ request, hasAddress: true }, async (header) =>
      app.inject({
        method: request.method as "POST",
        url,
        headers: { ...headers, ...header },
        remoteAddress: request.socket.remoteAddress ?? "",
        ...(!isEmpty && { payload: JSON.stringify(body) }),
      }),
    );
    response.writeHead(answered.statusCode, answered.headers).end(answered.rawPayload);
  };

  const plugin = async (instance: FastifyInstance): Promise<void> => {
    // The console reads bodies itself, with its own limits.
    instance.removeAllContentTypeParsers();
    instance.addContentTypeParser("*", (_request, _payload, done) => done(null));
    for (const url of basePath === "" ? ["/*"] : [basePath, `${basePath}/*`]) {
      instance.all(url, (request, reply) => {
        reply.hijack();
        handler(request.raw, reply.raw);
      });
    }
  };
  const close = () => served.close();
  return {
    handler,
    fastify: async (application) => void (await (application as FastifyInstance).register(plugin)),
    fetch: answer,
    close,
    [Symbol.asyncDispose]: close,
  };
}
