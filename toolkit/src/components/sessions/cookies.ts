/** The one cookie that sessions need: read from a request, written with every attribute that keeps it from others. */
import { type Check, choice, defineOptions } from "../../base/options.ts";

/** The cookie that holds the token. It is always `HttpOnly`, and its age is `idleMs` of the sessions. */
export interface CookieOptions {
  /** Its name (default "sid"). */
  readonly name?: string;
  /** The path that it is sent for (default "/"). */
  readonly path?: string;
  /** The domain that it is sent to. By default only the host that has set it. */
  readonly domain?: string;
  /** Whether other sites' requests carry it (default "lax"). With "none" it is sent over TLS only. */
  readonly sameSite?: "lax" | "strict" | "none";
  /** Only over TLS. "auto", the default: whenever the request came that way. */
  readonly secure?: boolean | "auto";
}

/** What a header could not hold, or what would end it. */
const token: Check = {
  expected: "text without spaces, commas, semicolons and control characters",
  accepts: (value) => typeof value === "string" && /^[!-+\--:<-~]+$/.test(value),
};

export const COOKIE_OPTIONS = defineOptions<CookieOptions>("sessionMiddleware.cookie", {
  name: token,
  path: token,
  domain: token,
  sameSite: choice("lax", "strict", "none"),
  secure: choice(true, false, "auto"),
});

export const DEFAULT_COOKIE = "sid";

/** The value of a cookie in a Cookie header; the first one where there are several. */
export function readCookie(header: string | undefined, name: string): string | null {
  if (header === undefined || header.length > 16_384) return null;
  for (const part of header.split(";")) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name)
      return part
        .slice(at + 1)
        .trim()
        .replace(/^"(.*)"$/, "$1");
  }
  return null;
}

/** A Set-Cookie header. `maxAgeMs` 0 removes the cookie. The value is a token of ours, which needs no escaping. */
export function writeCookie(options: CookieOptions, value: string, maxAgeMs: number, overTls: boolean): string {
  const { name = DEFAULT_COOKIE, path = "/", domain, sameSite = "lax", secure = "auto" } = options;
  const isSecure = secure === "auto" ? overTls || sameSite === "none" : secure;
  return [
    `${name}=${value}`,
    `Path=${path}`,
    ...(domain === undefined ? [] : [`Domain=${domain}`]),
    `Max-Age=${Math.floor(maxAgeMs / 1000)}`,
    "HttpOnly",
    `SameSite=${sameSite.charAt(0).toUpperCase()}${sameSite.slice(1)}`,
    ...(isSecure ? ["Secure"] : []),
  ].join("; ");
}
