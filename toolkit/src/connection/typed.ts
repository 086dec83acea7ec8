/** Commands as methods: what a method was given as words, and its reply as what it promises. */
import { InputError } from "../base/errors.ts";
import { asList } from "../base/replies.ts";
import { BLOCK, BLOCKING, COMMANDS, FIRST, type Form, MAP, MAPS, SCORES } from "./commands.ts";
import type { Reply, Word } from "./port.ts";

interface Sender {
  send(words: readonly Word[]): Promise<Reply>;
}

/** Gives a class all commands as methods. */
export function addCommands(prototype: Sender): void {
  for (const [method, [text, form]] of Object.entries(COMMANDS)) {
    if (method in prototype) throw new Error(`${method} is a method already`);
    const command = text.split(" ");
    Object.defineProperty(prototype, method, {
      configurable: true,
      writable: true,
      value: function typed(this: Sender, ...given: readonly unknown[]): Promise<unknown> {
        const words: Word[] = [...command];
        try {
          for (const each of given) put(words, each, form === SCORES);
        } catch (error) {
          return Promise.reject(error);
        }
        const reply = this.send(words);
        return form === MAP || form === MAPS ? reply.then((each) => shaped(each, form)) : reply;
      },
    });
  }
}

interface Waiter {
  call(words: readonly Word[], options: { readonly timeoutMs: number }): Promise<Reply>;
}

/** Gives a class all commands that wait as methods. */
export function addBlockingCommands(prototype: Waiter): void {
  for (const [method, [command, timeout]] of Object.entries(BLOCKING)) {
    if (method in prototype) throw new Error(`${method} is a method already`);
    Object.defineProperty(prototype, method, {
      configurable: true,
      writable: true,
      value: async function typed(this: Waiter, ...given: readonly unknown[]): Promise<unknown> {
        const words: Word[] = [command];
        for (const each of given) put(words, each, false);
        return this.call(words, { timeoutMs: waitIn(words, timeout) });
      },
    });
  }
}

/** How long a command waits, as its words say; 0 there means for ever. A server refuses anything but a number. */
function waitIn(words: readonly Word[], timeout: (typeof BLOCKING)[keyof typeof BLOCKING][1]): number {
  if (timeout === BLOCK) {
    const at = words.findIndex((word) => /^(block|streams)$/i.test(String(word)));
    return /^block$/i.test(String(words[at])) ? forEverIfZero(Number(words[at + 1])) : 0;
  }
  return forEverIfZero(Number(words[timeout === FIRST ? 1 : words.length - 1]) * 1_000);
}

function forEverIfZero(ms: number): number {
  return ms > 0 ? Math.min(ms, Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER;
}

/** A word, a list of words, or pairs. The store refuses everything else, with an error that says what it is. */
function put(words: Word[], given: unknown, valuesFirst: boolean): void {
  if (typeof given !== "object" || given === null || given instanceof Uint8Array) {
    words.push(given as Word);
    return;
  }
  if (Array.isArray(given)) {
    for (const each of given) put(words, each, valuesFirst);
    return;
  }
  const pairs: Iterable<readonly [unknown, unknown]> = given instanceof Map ? given : Object.entries(given);
  const before = words.length;
  for (const [name, value] of pairs) words.push(...((valuesFirst ? [value, name] : [name, value]) as Word[]));
  if (words.length === before) throw new InputError("an object without fields was given to a command");
}

function shaped(reply: Reply, form: Form): unknown {
  return form === MAPS ? asList(reply).map(record) : record(reply);
}

/** Fields and values in turn as an object, without a prototype: a field may have any name. */
function record(reply: Reply): Record<string, Reply> {
  const flat = asList(reply);
  const fields: Record<string, Reply> = Object.create(null);
  for (let at = 0; at < flat.length; at += 2) {
    const value = flat[at + 1];
    if (value !== undefined) fields[String(flat[at])] = value;
  }
  return fields;
}
