/** What a store sends, one by one: commands and calls of scripts as requests, and what their answers mean. */
import { sendable } from "../base/checks.ts";
import { ConnectionError, InputError, ServerError } from "../base/errors.ts";
import type { Script, ScriptCall, ScriptText } from "../base/script.ts";
import type { Sending } from "./attempts.ts";
import type { Answer, Attempt, Request, Word } from "./port.ts";
import { isRead } from "./routing.ts";
import type { Item, RoundTrip, RoundTripListener, RunOptions, SendOptions } from "./store-options.ts";

export function alone(item: Item): { readonly name: string; readonly items: readonly Item[] } {
  return { name: isCall(item) ? item.script.name : String(item[0]), items: [item] };
}

/** Tells the listeners of a round trip; what is to be called at its end, if anybody wants to know of that. */
export function begun(
  listeners: readonly RoundTripListener[],
  kind: RoundTrip["kind"],
  sent: Item | readonly Item[],
): ((error?: unknown) => void) | undefined {
  const many = kind === "pipeline" || kind === "transaction";
  const { name, items } = many ? { name: NAME_OF_MANY[kind], items: sent as readonly Item[] } : alone(sent as Item);
  const trip: RoundTrip = { kind, name, commands: items.length, items };
  const ends = listeners.map((listener) => listener(trip)).filter((end) => end !== undefined);
  if (ends.length <= 1) return ends[0];
  return (error) => {
    for (const end of ends) end(error);
  };
}

const NAME_OF_MANY = { pipeline: "PIPELINE", transaction: "MULTI" } as const;

/** A connection that is lost before EXEC leaves nothing behind, as long as only reads went over it. */
export function beforeExec(error: unknown, words: readonly Word[]): unknown {
  if (!(error instanceof ConnectionError) || !(isRead(words) || words[0] === "WATCH" || words[0] === "UNWATCH")) {
    return error;
  }
  return new ConnectionError(error.message, { maybeExecuted: false, code: error.code, cause: error });
}

/** What the neighbours of a key have in braces; null where none can be named. */
export function neighbourTag(key = ""): string | null {
  const tag = /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? (/[{}]/.test(key) ? "" : key);
  return tag === "" ? null : tag;
}

export function checkWords(words: readonly unknown[]): void {
  if (words.length === 0) throw new InputError("a command needs a name");
  sendable(words);
}

export function isCall(item: Item): item is ScriptCall {
  return "script" in item;
}

/** The call whose words these are: what the caller gave may have changed since. */
export function callIn<T>(words: readonly Word[], script: Script<never, T>): ScriptCall<T> {
  const firstArg = 3 + Number(words[2]);
  return { script, keys: words.slice(3, firstArg) as string[], args: words.slice(firstArg) };
}

export function bySha({ script, keys, args }: ScriptCall, { sha }: ScriptText): Request {
  return requestOf(["EVALSHA", sha, keys.length, ...keys, ...args], script, keys[0]);
}

export function bySource({ script, keys, args }: ScriptCall, { source }: ScriptText): Request {
  return requestOf(["EVAL", source, keys.length, ...keys, ...args], script, keys[0]);
}

export function changesNothing(item: Item): boolean {
  return isCall(item) ? item.script.readOnly : isRead(item);
}

export function requestOf(
  words: Word[],
  { buffers, readOnly }: Script<never, unknown>,
  key: string | undefined,
): Request {
  return { words, key, buffers, readOnly };
}

export function sendingOf({ words, key }: Request, options: SendOptions): Sending {
  const { repeatable = isRead(words), timeoutMs, whenOpen } = options;
  return { repeatable, keys: [key], timeoutMs, whenOpen };
}

export function evaluatingOf({ script, keys }: ScriptCall, options: RunOptions): Sending {
  return { repeatable: script.repeatable, keys: [keys[0]], ...options };
}

export function attempted(request: Request, attempt: Attempt | undefined): Request {
  return attempt === undefined ? request : { ...request, attempt };
}

export function decoded(item: Item, answer: Answer): unknown {
  return isCall(item) && !(answer instanceof ServerError) ? item.script.reply(answer) : answer;
}
