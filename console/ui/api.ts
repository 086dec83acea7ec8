/** Talking to the console's own server. Every answer that is no success is thrown as a `Failure`, in the server's own words. */
import type { Trace } from "../src/trace.ts";
import { endpoint } from "./base.ts";

export class Failure extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Called when the server wants a password. */
let onSignIn = (): void => {};

export function whenSignInIsNeeded(callback: () => void): void {
  onSignIn = callback;
}

/** What becomes of a type as JSON: dates are text. */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer E)[]
    ? readonly Wire<E>[]
    : T extends object
      ? { readonly [K in keyof T]: Wire<T[K]> }
      : T;

/** What an example's request has sent to the store. */
export interface TracedRequest extends Trace {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly atMs: number;
}

/** Called with what an example's request has sent to the store. */
let onTrace = (_request: TracedRequest): void => {};

export function whenTraced(callback: (request: TracedRequest) => void): void {
  onTrace = callback;
}

/** Answers a request for `/api/…`. */
export type Server = (path: string, init: RequestInit) => Promise<Response>;

let server: Server = (path, init) => fetch(endpoint(path), { ...init, credentials: "same-origin" });

/** Has something else answer than the console that the page comes from. */
export function answerBy(other: Server): void {
  server = other;
}

async function ask<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await server(path, init);
  } catch {
    throw new Failure(0, "LOST", "the console does not answer");
  }
  const body = (await response.json().catch(() => ({}))) as {
    code?: string;
    detail?: string;
    answer?: unknown;
    trace?: Trace;
  };
  if (body.trace) {
    onTrace({ method: init.method ?? "GET", path, status: response.status, atMs: Date.now(), ...body.trace });
  }
  // An example's answer comes with the trace of its request.
  if (response.ok) return (body.trace ? body.answer : body) as T;
  if (body.code === "SIGN_IN") onSignIn();
  throw new Failure(response.status, body.code ?? "", body.detail ?? `the console answered ${response.status}`);
}

export type Query = Readonly<Record<string, string | number>>;

export function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const words = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  return ask<T>(words === "" ? path : `${path}?${words}`, signal ? { signal } : {});
}

export function act<T = unknown>(method: "POST" | "PUT" | "DELETE", path: string, body?: unknown): Promise<T> {
  return ask<T>(path, {
    method,
    headers: { "x-cinnabar": "1", ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}
