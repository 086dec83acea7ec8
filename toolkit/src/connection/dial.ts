/**
 * From an address to a connection that is ready for use: dial, sign in, choose the database, and see that somebody answers.
 * A wrong password or a missing database is an error that arrives, and the password is in nobody's messages.
 */
import type { Duplex } from "node:stream";
import type { Clock } from "../base/clock.ts";
import { CinnabarError, ConnectionError, codeOf, ServerError } from "../base/errors.ts";
import type { Tracking } from "./invalidations.ts";
import type { Request } from "./port.ts";
import { tlsReason } from "./tls.ts";
import { Wire } from "./wire.ts";

export type Endpoint = { readonly host: string; readonly port: number } | { readonly path: string };

export interface DialOptions {
  readonly timeoutMs: number;
  readonly tls: object | undefined;
}

/** Makes a stream of bytes to a server. `null`: to the only one that it knows. */
export type Dialer = (endpoint: Endpoint | null, options: DialOptions) => Promise<Duplex>;

export interface Credentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

export interface Settings extends Credentials {
  readonly dial: Dialer;
  /** Asked before each sign-in, where credentials change in time; then `username` and `password` do not count. */
  readonly credentials?: (() => Promise<Credentials>) | undefined;
  readonly clock: Clock;
  readonly tls: object | undefined;
  readonly db: number;
  /** For CLIENT LIST on the server. */
  readonly clientName?: string | undefined;
  readonly connectTimeoutMs: number;
  readonly commandTimeoutMs: number;
  /** Which changes the servers are to tell of. */
  readonly tracking?: Tracking | undefined;
  /** Connections that have nothing to do let the process end. */
  readonly rests?: boolean;
}

export function labelOf(endpoint: Endpoint | null): string {
  if (endpoint === null) return "the server";
  if ("path" in endpoint) return endpoint.path;
  return `${endpoint.host.includes(":") ? `[${endpoint.host}]` : endpoint.host}:${endpoint.port}`;
}

export function request(...words: string[]): Request {
  return { words, key: undefined, buffers: false };
}

/** A connection that is signed in. Rejects with a ServerError where the server refuses, else with a ConnectionError. */
export async function dialWire(endpoint: Endpoint | null, settings: Settings): Promise<Wire> {
  const label = labelOf(endpoint);
  const { clock, connectTimeoutMs, tls } = settings;
  let timer: { cancel(): void } | undefined;
  let late = false;
  const dialing = settings.dial(endpoint, { timeoutMs: connectTimeoutMs, tls }).then(async (stream) => {
    const wire = new Wire(stream, label, clock, { rests: settings.rests === true });
    try {
      if (late) throw new ConnectionError(`${label} answered too late`, { maybeExecuted: false });
      await signIn(wire, settings);
      return wire;
    } catch (error) {
      wire.destroy();
      throw error;
    }
  });
  const timeout = new Promise<never>((_, reject) => {
    timer = clock.after(connectTimeoutMs, () => {
      late = true;
      reject(new ConnectionError(`${label} did not answer within ${connectTimeoutMs} ms`, NOT_SENT));
    });
  });
  try {
    return await Promise.race([dialing, timeout]);
  } catch (error) {
    // One that comes late is nobody's.
    dialing.then(
      (wire) => wire.destroy(),
      () => {},
    );
    throw refusal(error, label, tls !== undefined);
  } finally {
    timer?.cancel();
  }
}

/**
 * Bounds the whole of opening, whatever single attempts take. A little later than one attempt's own limit, whose message is
 * the better one.
 */
export async function openWithin<T>({ clock, connectTimeoutMs }: Settings, opening: Promise<T>): Promise<T> {
  let timer: { cancel(): void } | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = clock.after(connectTimeoutMs + GRACE_MS, () =>
      reject(new ConnectionError(`nobody answered within ${connectTimeoutMs} ms`, NOT_SENT)),
    );
  });
  try {
    return await Promise.race([opening, late]);
  } finally {
    timer?.cancel();
  }
}

const GRACE_MS = 50;
const NOT_SENT = { maybeExecuted: false, code: "UNREACHABLE" } as const;

async function signIn(wire: Wire, settings: Settings): Promise<void> {
  const limits = { timeoutMs: settings.connectTimeoutMs };
  const { db, clientName } = settings;
  const { username, password } = (await settings.credentials?.()) ?? settings;
  if (password !== undefined) {
    const words = username === undefined ? ["AUTH", password] : ["AUTH", username, password];
    const answer = await wire.ask(request(...words), limits);
    // A password that nobody asked for is no reason to stay away.
    if (answer instanceof ServerError && !/without any password configured|no password is set/.test(answer.message)) {
      throw answer;
    }
  }
  const rest = [request("PING")];
  if (db !== 0) rest.push(request("SELECT", String(db)));
  if (clientName !== undefined) rest.push(request("CLIENT", "SETNAME", clientName));
  const [ping, select] = await wire.askAll(rest, limits);
  // A user who may do little is signed in all the same.
  if (ping instanceof ServerError && ping.code !== "NOPERM") throw ping;
  if (db !== 0 && select instanceof ServerError) throw select;
}

function refusal(error: unknown, label: string, isSecure: boolean): Error {
  if (error instanceof ServerError) return new ServerError(error.message);
  if (error instanceof CinnabarError && !(error instanceof ConnectionError)) return error;
  const message = error instanceof Error ? error.message : "";
  // What the system or TLS said, where a connection that was made already has ended with it.
  const code = (error instanceof ConnectionError ? codeOf(error.cause) : undefined) ?? codeOf(error);
  const said = message === "" ? (code ?? "no answer") : message;
  const why = tlsReason(code, said, isSecure);
  const cause = new Error(why);
  if (code !== undefined) Object.assign(cause, { code });
  if (error instanceof ConnectionError && why.includes(label)) return new ConnectionError(why, { ...NOT_SENT, cause });
  return new ConnectionError(`cannot connect to ${label}: ${why}`, { ...NOT_SENT, cause });
}

/** Whether trying again soon could help: not with a wrong password, a missing database or a certificate that is not trusted. */
export function mayPass(error: unknown): boolean {
  if (error instanceof ServerError)
    return ["LOADING", "MASTERDOWN", "CLUSTERDOWN", "BUSY", "TRYAGAIN"].includes(error.code);
  if (!(error instanceof ConnectionError)) return false;
  const code = codeOf(error.cause);
  return code === undefined || !/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO$)/.test(code);
}
