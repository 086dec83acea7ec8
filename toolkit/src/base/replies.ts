/**
 * What a reply is read as. A script and the code that reads its answer agree on a form (two numbers and a text); a cast would
 * believe it, and a value of another form would be found far away, as `undefined` in somebody's result. So answers are read by
 * the functions here, which look, and throw a `ReplyFormError` that says what was expected.
 *
 *   const [version, value] = asTuple(asNumber, asTextOrNull)(await store.call("…"));
 *   defineScript({ …, reply: asListOf(asText) });
 *
 * They take the answer of a pipeline too, and throw the error in it. They give back what they were given: nothing is copied.
 */
import type { Answer, Reply } from "../connection/port.ts";
import { CinnabarError, ServerError } from "./errors.ts";

/** Reads an answer as a `T`. */
export type Form<T> = (answer: Answer | undefined) => T;

/** An answer has another form than every version of this server and of this library gives it. */
export class ReplyFormError extends CinnabarError {
  override readonly name = "ReplyFormError";

  constructor(expected: string, answer: Answer | undefined) {
    super("REPLY_FORM", `the server's answer must be ${expected}, not ${described(answer)}`);
  }
}

/** The kind of an answer. What it says stays out of messages: it may be a secret. */
function described(answer: Answer | undefined): string {
  if (answer === undefined) return "missing";
  if (answer === null) return "nothing";
  if (Array.isArray(answer)) return `a list of ${answer.length}`;
  if (typeof answer === "number") return "a number";
  return typeof answer === "string" ? "text" : "bytes";
}

function unexpected(expected: string, answer: Answer | undefined): Error {
  return answer instanceof ServerError ? answer : new ReplyFormError(expected, answer);
}

/** Any reply, but no error. */
export function asReply(answer: Answer | undefined): Reply {
  if (answer === undefined || answer instanceof ServerError) throw unexpected("a reply", answer);
  return answer;
}

export function asText(answer: Answer | undefined): string {
  if (typeof answer !== "string") throw unexpected("text", answer);
  return answer;
}

export function asNumber(answer: Answer | undefined): number {
  if (typeof answer !== "number") throw unexpected("a number", answer);
  return answer;
}

export function asBytes(answer: Answer | undefined): Buffer {
  if (!Buffer.isBuffer(answer)) throw unexpected("bytes", answer);
  return answer;
}

export function asTextOrBytes(answer: Answer | undefined): string | Buffer {
  return typeof answer === "string" ? answer : asBytes(answer);
}

export function asTextOrNumber(answer: Answer | undefined): string | number {
  return typeof answer === "string" ? answer : asNumber(answer);
}

export function asList(answer: Answer | undefined): Reply[] {
  if (!Array.isArray(answer)) throw unexpected("a list", answer);
  return answer;
}

export function orNull<T>(form: Form<T>): Form<T | null> {
  return (answer) => (answer === null ? null : form(answer));
}

export function asListOf<T extends Reply>(form: Form<T>): Form<T[]> {
  return (answer) => {
    const items = asList(answer);
    for (let at = 0; at < items.length; at++) form(items[at]);
    return items as T[];
  };
}

/** For the last items of a tuple that are not always there. */
export function optional<T extends Reply>(form: Form<T>): Form<T | undefined> {
  return (answer) => (answer === undefined ? undefined : form(answer));
}

/** One of these words. */
export function wordOf<W extends string>(...words: readonly W[]): Form<W> {
  return (answer) => {
    const found = words.find((word) => word === answer);
    if (found === undefined) throw unexpected(words.map((word) => `"${word}"`).join(" or "), answer);
    return found;
  };
}

/** So many items, each of its form; more may follow. */
export function asTuple<F extends readonly Form<Reply | undefined>[]>(
  ...forms: F
): Form<{ -readonly [at in keyof F]: ReturnType<F[at]> }> {
  return (answer) => {
    const items = asList(answer);
    for (let at = 0; at < forms.length; at++) forms[at]!(items[at]);
    return items as { -readonly [at in keyof F]: ReturnType<F[at]> };
  };
}

/** A flat list with a fixed number of items in each row, of these forms: rows as tuples. */
export function asRows<F extends readonly Form<Reply | undefined>[]>(
  ...forms: F
): Form<{ -readonly [at in keyof F]: ReturnType<F[at]> }[]> {
  const asRow = asTuple(...forms);
  return (answer) => {
    const flat = asList(answer);
    const rows: ReturnType<typeof asRow>[] = [];
    for (let at = 0; at < flat.length; at += forms.length) rows.push(asRow(flat.slice(at, at + forms.length)));
    return rows;
  };
}

export const asTextOrNull = orNull(asText);
export const asBytesOrNull = orNull(asBytes);
export const asTexts = asListOf(asText);
export const asTextsOrNulls = asListOf(asTextOrNull);
export const asNumbers = asListOf(asNumber);
export const asByteList = asListOf(asBytes);
export const asBytesOrNulls = asListOf(asBytesOrNull);

/** Fields and values in turn, as HGETALL and CONFIG GET give them. */
export function asPairs(answer: Answer | undefined): [string, string][] {
  const flat = asList(answer);
  const pairs: [string, string][] = [];
  for (let at = 0; at < flat.length; at += 2) pairs.push([asText(flat[at]), asText(flat[at + 1])]);
  return pairs;
}

/** The same, to look fields up. */
export function asFields(answer: Answer | undefined): Map<string, string> {
  return new Map(asPairs(answer));
}

/** The same, with the fields that must be among them. */
export function asRecord<N extends string>(...names: readonly N[]): Form<Readonly<Record<N, string>>> {
  return (answer) => {
    const fields = asFields(answer);
    for (const name of names) if (!fields.has(name)) throw unexpected(`fields with "${name}" among them`, answer);
    return Object.fromEntries(fields) as Record<N, string>;
  };
}
