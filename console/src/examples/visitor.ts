/**
 * Who somebody is in the examples: a name that their browser keeps in a cookie, so that two browsers are two people. There is
 * no password to it: a visitor may take any name. The shop, which is about signing in, has sessions besides.
 */
import { randomInt } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../route.ts";
import { secureFlag } from "../security.ts";

const YEAR_SECONDS = 31_536_000;
const MOST_CHARACTERS = 24;
const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} ._'-]*[\p{L}\p{M}\p{N}.])?$/u;
const FIRST_NAMES =
  "Ada Alan Anita Barbara Claude Dana Donald Edith Elena Frances Grace Hedy Ida Jean Joan John Karen Ken Lin Marie Niklaus Olga Radia Rosa Shafi Sophie Tim Vera".split(
    " ",
  );

/** A cookie of a request. */
export function cookieOf(request: FastifyRequest, name: string): string | undefined {
  const found = (request.headers.cookie ?? "").split(/;\s*/).find((part) => part.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}

/** Gives the browser a cookie that no script and no other site can use. */
export function giveCookie(reply: FastifyReply, name: string, value: string, seconds = YEAR_SECONDS): void {
  const secure = secureFlag(reply.request);
  const path = basePathOf(reply.request);
  reply.header(
    "set-cookie",
    `${name}=${value}; Path=${path}/api; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`,
  );
}

/** Where the console is mounted: what was asked for, without what the route is. */
function basePathOf({ originalUrl }: FastifyRequest): string {
  const path = originalUrl.split("?")[0]!;
  return path.slice(0, Math.max(0, path.lastIndexOf("/api/")));
}

/** Cookies do not tell ports apart: each console of a machine has names of its own. */
export const cookieName = (request: FastifyRequest, what: string): string =>
  `cinnabar-${what}-${request.socket.localPort ?? 0}`;

/** The visitor's name; null for a visitor without one. */
export function visitorOf(request: FastifyRequest): string | null {
  try {
    const name = decodeURIComponent(cookieOf(request, cookieName(request, "visitor")) ?? "");
    return isName(name) ? name : null;
  } catch {
    return null;
  }
}

/** The visitor's name, for what only somebody can do. */
export function needVisitor(request: FastifyRequest): string {
  const name = visitorOf(request);
  if (name === null) throw new Problem(401, "NO_NAME", "choose a name first");
  return name;
}

const isName = (name: string): boolean => [...name].length <= MOST_CHARACTERS && NAME.test(name);

/** Takes a name. */
export function become(request: FastifyRequest, reply: FastifyReply, wanted: string): string {
  const name = wanted.normalize("NFC").trim().replace(/\s+/g, " ");
  if (!isName(name)) {
    throw new Problem(400, "NAME", `a name has 1 to ${MOST_CHARACTERS} letters, digits, spaces and . _ ' -`);
  }
  giveCookie(reply, cookieName(request, "visitor"), encodeURIComponent(name));
  return name;
}

/** The visitor's name; one is made up for somebody who comes for the first time. */
export function greet(request: FastifyRequest, reply: FastifyReply): string {
  const name = visitorOf(request);
  if (name !== null) return name;
  return become(request, reply, `${FIRST_NAMES[randomInt(FIRST_NAMES.length)]} ${randomInt(10, 100)}`);
}
