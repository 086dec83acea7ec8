/**
 * The documentation's site under /docs, where it has been built: `npm run site` puts it beside the page, and packages have it there. It is
 * the same for everybody, so it asks for no password.
 *
 * Its examples run in the reader's browser, and what they may do depends on where they run. A page has the console's policy, but for
 * styles: highlighted code has its colours in attributes. A worker runs what the reader has written, so it may import a blob, and
 * compile, since Lua becomes JavaScript. In return it reaches the site's own files and nothing else of this host: neither the API
 * nor, since it is a worker, a document. The key browser of the playground stands in a frame of its own, and asks no server at all:
 * the store that it shows is in the page around it.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { PACKAGE_FOLDER } from "./package-folder.ts";

const PREFIX = "/docs/";

export const isDocs = (path: string): boolean => path === "/docs" || path.startsWith(PREFIX);

/** What stands in a frame of the site's pages. */
const isFramed = (path: string): boolean => path.startsWith(`${PREFIX}keys/`);

/** Headers of the documentation, in place of the console's own. `host`: as the request names this console, which has been checked. */
export const docsHeaders = (path: string, host: string): Readonly<Record<string, string>> => ({
  "content-security-policy": docsPolicy(path, host),
  ...(isFramed(path) && { "x-frame-options": "SAMEORIGIN" }),
});

export const BUILT_DOCS = join(PACKAGE_FOLDER, "dist/docs");

export function docsPolicy(path: string, host: string): string {
  // A policy cannot name an address of IPv6, so there it says no more than this host.
  const files = host.startsWith("[") ? "'self'" : `${host}${PREFIX}`;
  if (path.startsWith(`${PREFIX}run/`))
    return `default-src 'none'; script-src ${files} blob: 'unsafe-eval'; connect-src ${files}; frame-ancestors 'none'`;
  if (isFramed(path))
    return `default-src 'none'; script-src ${files}; style-src ${files}; img-src ${files} data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`;
  return `default-src 'none'; script-src 'self'; worker-src 'self'; frame-src ${files}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src ${files}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

const ABSENT =
  "The documentation is not built here. In the repository, run: npm run build && npm run site\nIts text is in the folder docs/ and in the README of each component.\n";
const MOUNTED = "A console below a path of an application does not serve the documentation.\n";

/** Answers what is below /docs. `isMounted`: links of the site begin with /docs, so it is nowhere else. */
export async function serveDocs(app: FastifyInstance, root: string, isMounted: boolean): Promise<void> {
  if (isMounted || !existsSync(join(root, "index.html"))) {
    const tell = (_request: FastifyRequest, reply: FastifyReply) =>
      reply
        .code(404)
        .type("text/plain; charset=utf-8")
        .send(isMounted ? MOUNTED : ABSENT);
    app.get("/docs", tell);
    app.get(`${PREFIX}*`, tell);
    return;
  }
  app.get("/docs", (_request, reply) => reply.redirect(PREFIX, 308));
  const absent = readFileSync(join(root, "404.html"));
  const serve = async (scope: FastifyInstance): Promise<void> => {
    await scope.register(fastifyStatic, {
      root,
      prefix: "/",
      decorateReply: false,
      dotfiles: "deny",
      index: ["index.html"],
      cacheControl: false,
      setHeaders: (reply, path) => {
        const isHashed = /[\\/](?:assets|chunks)[\\/].*[.-][\w-]{8}\.(?:lean\.)?\w+$/.test(path);
        reply.header("cache-control", isHashed ? "public, max-age=31536000, immutable" : "no-cache");
      },
    });
    scope.setNotFoundHandler((_request, reply) => reply.code(404).type("text/html; charset=utf-8").send(absent));
  };
  await app.register(serve, { prefix: "/docs" });
}
