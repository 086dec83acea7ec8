/**
 * What MIGRATE says to the other server and what it makes of the answers, without any input or output: a generator that
 * asks for a link and for exchanges over it. `index.ts` drives it over a socket while other clients go on; where a command
 * must not wait (inside EXEC or a script) `blocking-link.ts` drives the same steps with everything standing still.
 *
 * AUTH and SELECT are answered before a key is sent. Redis sends all at once, so that after a wrong password or database
 * number its keys may have been restored all the same, in whichever database the connection stood in, while the caller
 * hears of an error. The round trip is paid once for a link: it remembers what it has said.
 *
 * As in Redis, a link that fails before the first key was answered is tried once more with a new connection, because one
 * that was kept from before may have been closed by the other side meanwhile; never after a timeout.
 */

import { ReplyError } from "../core/errors.ts";
import { MIGRATE_CONNECTING, migrateFailed, targetError } from "../core/rare-errors.ts";
import { Buffer } from "../platform/bytes.ts";

export interface MigrateRequest {
  readonly host: string;
  readonly port: number;
  /** As it was given: the other side judges it. */
  readonly db: string;
  readonly timeoutMs: number;
  readonly copy: boolean;
  readonly replace: boolean;
  /** The words of AUTH behind its name; empty for none. */
  readonly credentials: readonly string[];
  readonly keys: readonly string[];
  /** Between nodes of a Cluster: the other one takes keys of a slot that it is importing. */
  readonly asking: boolean;
}

export type Stage = "connecting" | "writing" | "reading";

/** Why a link did not do what it was asked to. */
export interface LinkFailure {
  readonly stage: Stage;
  readonly timedOut: boolean;
}

/** What a connection to another server has been told so far. */
export interface LinkState {
  db: string | null;
}

/** A connection is wanted: a new one, or one from before if there is one. */
export interface OpenStep {
  readonly reuse: boolean;
}

/** Commands to send; each is answered with one line. They are made as they are sent. */
export interface ExchangeStep {
  readonly commands: Iterable<Buffer>;
}

export type Step = OpenStep | ExchangeStep;

export interface StepResult {
  /** Of the link, after an OpenStep that did not fail. */
  readonly state?: LinkState;
  /** The answers that came, in order. */
  readonly lines: readonly string[];
  readonly failure: LinkFailure | null;
}

export interface Outcome {
  /** The keys that the other side has now. */
  readonly moved: readonly string[];
  readonly error: ReplyError | null;
  /** Whether the link may be used again. */
  readonly linkIsSound: boolean;
}

/** A key's remaining time in ms (0: for ever) and its serialised value. */
export interface Serialized {
  readonly ttlMs: number;
  readonly payload: Buffer;
}

function encode(words: readonly string[]): Buffer {
  let text = `*${words.length}\r\n`;
  for (const word of words) text += `$${word.length}\r\n${word}\r\n`;
  return Buffer.from(text, "latin1");
}

function restoreCommand(
  key: string,
  { ttlMs, payload }: Serialized,
  { replace, asking }: Pick<MigrateRequest, "replace" | "asking">,
): Buffer {
  const ttl = String(ttlMs);
  const name = asking ? "$14\r\nRESTORE-ASKING" : "$7\r\nRESTORE";
  const head = `*${replace ? 5 : 4}\r\n${name}\r\n$${key.length}\r\n${key}\r\n$${ttl.length}\r\n${ttl}\r\n$${payload.length}\r\n`;
  const tail = replace ? "\r\n$7\r\nREPLACE\r\n" : "\r\n";
  return Buffer.concat([Buffer.from(head, "latin1"), payload, Buffer.from(tail, "latin1")]);
}

const isError = (line: string) => line.startsWith("-");

/** `serialize` is called when a key's turn has come; undefined if it is not there any more. */
export function* transfer(
  request: MigrateRequest,
  serialize: (key: string) => Serialized | undefined,
): Generator<Step, Outcome, StepResult> {
  for (let mayRetry = true; ; mayRetry = false) {
    const { state, failure } = yield { reuse: mayRetry };
    const refused = state === undefined ? failure : yield* introduce(request, state);
    if (refused instanceof ReplyError) return { moved: [], error: refused, linkIsSound: true };
    const outcome = refused ?? (yield* send(request, state!, serialize));
    if (!("timedOut" in outcome)) return outcome;
    if (mayRetry && !outcome.timedOut && outcome.stage !== "connecting") continue;
    return { moved: [], error: errorOf(outcome), linkIsSound: false };
  }
}

const errorOf = ({ stage }: LinkFailure) => (stage === "connecting" ? MIGRATE_CONNECTING : migrateFailed(stage));

/** AUTH and SELECT, as far as the link has not been told; what went wrong, or null. */
function* introduce(
  request: MigrateRequest,
  state: LinkState,
): Generator<Step, ReplyError | LinkFailure | null, StepResult> {
  const { db } = request;
  const { credentials } = request;
  const commands: Buffer[] = [];
  // Every time, also on a link that is known: a password that has been changed since must not work any more.
  if (credentials.length > 0) commands.push(encode(["AUTH", ...credentials]));
  if (state.db !== db) commands.push(encode(["SELECT", db]));
  if (commands.length === 0) return null;
  // Unknown until they are answered.
  state.db = null;
  const { lines, failure } = yield { commands };
  if (failure !== null) return failure;
  const refusal = lines.find(isError);
  if (refusal !== undefined) return targetError(refusal.slice(1));
  state.db = db;
  return null;
}

function* send(
  request: MigrateRequest,
  state: LinkState,
  serialize: (key: string) => Serialized | undefined,
): Generator<Step, Outcome | LinkFailure, StepResult> {
  const sent: string[] = [];
  function* commands(): Generator<Buffer> {
    for (const key of request.keys) {
      const serialized = serialize(key);
      if (serialized === undefined) continue;
      sent.push(key);
      yield restoreCommand(key, serialized, request);
    }
  }
  const { lines, failure } = yield { commands: commands() };
  if (failure !== null && lines.length === 0) return failure;
  const refusal = lines.find(isError);
  // What is selected is not to be relied on after an error, says Redis.
  if (refusal !== undefined) state.db = null;
  const error = refusal !== undefined ? targetError(refusal.slice(1)) : failure === null ? null : errorOf(failure);
  return {
    moved: sent.filter((_, i) => i < lines.length && !isError(lines[i]!)),
    error,
    linkIsSound: failure === null,
  };
}
