/** What a request asks for, out of its query or its body, checked; and how it is refused (RFC 9457). */
import type { IncomingMessage, ServerResponse } from "node:http";
import { isIPv6 } from "node:net";
import { InputError } from "../../base/errors.ts";
import { isCursor } from "./cursor.ts";
import type { Format } from "./entry.ts";
import type { Box, StreamFilter } from "./filters.ts";

/** A request that is answered with a problem instead of a stream. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly more: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    detail: string,
    options: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly more?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(detail);
    this.status = status;
    this.headers = options.headers ?? {};
    this.more = options.more ?? {};
  }
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  405: "Method Not Allowed",
  410: "Gone",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

export function refuse(response: ServerResponse, { status, message, headers, more }: Refusal): void {
  if (response.headersSent || response.destroyed) return;
  const problem = { type: "about:blank", title: TITLES[status], status, detail: message, ...more };
  response.writeHead(status, { ...headers, "Content-Type": "application/problem+json", "Cache-Control": "no-store" });
  response.end(JSON.stringify(problem));
}

export function tooMany(detail: string, retryAfterMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return new Refusal(429, detail, { headers: { "Retry-After": String(seconds) } });
}

export interface Asked {
  readonly filter: StreamFilter;
  readonly after: string | undefined;
  readonly format: Format;
  /** When the cursor is no longer in the log: go on from what there is and say so, or refuse with 410. */
  readonly onGap: "continue" | "fail";
}

const NAMES = new Set(["track", "follow", "locations", "sample", "all", "after", "format", "gap"]);
const FORMATS: readonly Format[] = ["ndjson", "sse"];
export const TOKEN_PARAMETER = "access_token";
const MOST_BODY_BYTES = 262_144;

export function queryOf(request: IncomingMessage): URLSearchParams {
  const url = request.url ?? "";
  const at = url.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : url.slice(at + 1));
}

/** Throws a Refusal for what cannot be. */
export async function readRequest(request: IncomingMessage): Promise<Asked> {
  const given = new Map<string, unknown>();
  addForm(queryOf(request), given);
  if (request.method === "POST") await addBody(request, given);
  for (const name of given.keys()) {
    if (!NAMES.has(name))
      throw bad(`there is no parameter ${JSON.stringify(name)}; there are ${[...NAMES].join(", ")}`);
  }
  const format = formatOf(given.get("format"), request);
  return {
    filter: filterOf(given),
    after: afterOf(given.get("after"), request),
    format,
    onGap: gapOf(given.get("gap"), format),
  };
}

function addForm(form: URLSearchParams, given: Map<string, unknown>): void {
  for (const [name, value] of form) {
    if (name === TOKEN_PARAMETER) continue;
    const before = given.get(name);
    given.set(name, before === undefined ? value : `${before},${value}`);
  }
}

async function addBody(request: IncomingMessage, given: Map<string, unknown>): Promise<void> {
  const type = (request.headers["content-type"] ?? "").replace(/;.*/s, "").trim().toLowerCase();
  const parsed = "body" in request ? request.body : undefined;
  if (typeof parsed === "object" && parsed !== null && !Buffer.isBuffer(parsed)) return addFields(parsed, given);
  const text = Buffer.isBuffer(parsed) ? parsed.toString("utf8") : await bodyOf(request);
  if (text === "") return;
  if (type === "application/x-www-form-urlencoded") return addForm(new URLSearchParams(text), given);
  if (type !== "application/json") {
    throw new Refusal(415, "the body must be application/x-www-form-urlencoded or application/json");
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw bad("the body is not JSON");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw bad("the body must be a JSON object");
  addFields(body, given);
}

function addFields(body: object, given: Map<string, unknown>): void {
  for (const [name, value] of Object.entries(body)) if (name !== TOKEN_PARAMETER) given.set(name, value);
}

/** By its events: leaving a loop over a request would end the connection before the refusal is sent. */
function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    request.on("data", (part: Buffer) => {
      size += part.length;
      if (size <= MOST_BODY_BYTES) return void parts.push(part);
      request.pause();
      const headers = { Connection: "close" };
      reject(new Refusal(413, `the body must not be larger than ${MOST_BODY_BYTES} bytes`, { headers }));
    });
    request.once("end", () => resolve(Buffer.concat(parts).toString("utf8")));
    request.once("error", reject);
    request.once("close", () => reject(bad("the request ended too early")));
  });
}

function filterOf(given: ReadonlyMap<string, unknown>): StreamFilter {
  const filter: { -readonly [name in keyof StreamFilter]: StreamFilter[name] } = {};
  const track = listOf("track", given.get("track"));
  if (track !== undefined) filter.track = track;
  const follow = listOf("follow", given.get("follow"));
  if (follow !== undefined) filter.follow = follow;
  const locations = given.get("locations");
  if (locations !== undefined) filter.locations = boxesOf(locations);
  const sample = given.get("sample");
  if (sample !== undefined) filter.sample = numberOf("sample", sample);
  const all = given.get("all");
  if (all !== undefined) {
    if (all !== true && all !== false && all !== "true" && all !== "false") throw bad("all must be true or false");
    filter.all = all === true || all === "true";
  }
  return filter;
}

/** Separated by commas, or a list in JSON. */
function listOf(what: string, value: unknown): string[] | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  if (typeof value !== "string") throw bad(`${what} must be text, separated by commas, or a list of texts`);
  const parts = value.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "");
}

/** west,south,east,north, and again for further boxes; in JSON also a list of such fours. */
function boxesOf(value: unknown): Box[] {
  const flat = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value.flat() : null;
  if (flat === null || flat.length === 0 || flat.length % 4 !== 0) {
    throw bad("locations must be west,south,east,north for each box");
  }
  const numbers = flat.map((each) => numberOf("each number of locations", each));
  const boxes: Box[] = [];
  for (let at = 0; at < numbers.length; at += 4) {
    const [west = 0, south = 0, east = 0, north = 0] = numbers.slice(at, at + 4);
    boxes.push({ west, south, east, north });
  }
  return boxes;
}

function numberOf(what: string, value: unknown): number {
  const number =
    typeof value === "number" ? value : typeof value === "string" && /\S/.test(value) ? Number(value) : NaN;
  if (!Number.isFinite(number)) throw bad(`${what} must be a number`);
  return number;
}

/** Browsers that come back bring it as a header, which then is newer than what is in the address. */
function afterOf(given: unknown, { headers }: IncomingMessage): string | undefined {
  const last = headers["last-event-id"];
  const after = typeof last === "string" && last !== "" ? last : given;
  if (after === undefined || after === "") return undefined;
  if (after !== "oldest" && (typeof after !== "string" || !isCursor(after))) {
    throw bad('after must be the cursor of a message, or "oldest"');
  }
  return after;
}

function formatOf(given: unknown, { headers }: IncomingMessage): Format {
  if (given === undefined) return (headers.accept ?? "").includes("text/event-stream") ? "sse" : "ndjson";
  const format = FORMATS.find((each) => each === given);
  if (format === undefined) throw bad("format must be ndjson or sse");
  return format;
}

/** A refusal would end a browser's EventSource for good, so there it goes on and says so. */
function gapOf(given: unknown, format: Format): "continue" | "fail" {
  if (given === undefined) return format === "sse" ? "continue" : "fail";
  if (given !== "continue" && given !== "fail") throw bad("gap must be continue or fail");
  return given;
}

function bad(detail: string): Refusal {
  return new Refusal(400, detail);
}

/** The Refusal that an error means. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof InputError) return bad(error.message);
  return new Refusal(503, "the stream cannot be reached at the moment", { headers: { "Retry-After": "5" } });
}

/** Whom a connection counts for: an IPv4 address, or the first 64 bits of an IPv6 one, which is what one customer gets. */
export function networkOf(address: string): string {
  const plain = address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
  if (!isIPv6(plain)) return plain;
  const [before = "", after] = plain.replace(/%.*/s, "").split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array<string>(Math.max(zeros, 0)).fill("0"), ...tail];
  const first = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(":")}::/64`;
}
