/**
 * Scripts with named keys and arguments.
 *
 *   const take = defineScript({
 *     name: "stock.take",
 *     keys: ["stock"], args: ["amount"],
 *     lua: `
 *       local left = tonumber(redis.call("GET", stock) or 0)
 *       if left < tonumber(amount) then return -1 end
 *       return redis.call("DECRBY", stock, amount)
 *     `,
 *     reply: (left) => Number(left),
 *   });
 *   await store.run(take, { stock: "{shop}:stock", amount: 2 });
 *
 * The names become locals of the script, so nobody counts positions, and a misspelt one is a type error. `rest` names a last
 * argument that takes any number of words and is a table in Lua; `restKeys` the same for keys. `include` prepends shared Lua.
 * A script runs by its SHA1; the store loads it where it is missing.
 *
 * **A script in a Cluster does not begin while its slot is being moved.** There a server refuses every access to a key that is
 * not there, also in the middle of a script, and keeps what the script wrote until then: a script that empties a key and makes
 * it again would run by half. So the variant for Clusters first asks for two keys of its slot that never exist. In a slot at
 * rest the answer is 0; at either end of a move it is an error, and the script answers TRYAGAIN, which `Store` repeats.
 * A renewal must not wait for the end of a move: it says `whileMoving`, and keeps the rule by itself.
 */
import { createHash } from "node:crypto";
import type { Reply, Topology, Word } from "../connection/port.ts";
import { isSendable, unsendable } from "./checks.ts";
import { InputError } from "./errors.ts";

interface Shape<K extends string, A extends string, R extends string, RK extends string, T> {
  /** For metrics and messages: `component.action`. */
  readonly name: string;
  readonly keys: readonly K[];
  readonly args?: readonly A[];
  readonly rest?: R;
  readonly restKeys?: RK;
  readonly include?: readonly string[];
  readonly lua: string;
  /** Turns the answer into what callers get; the answer itself by default. */
  readonly reply?: (reply: Reply) => T;
  /** Running it twice has the effect of running it once, so it may be repeated when an answer was lost. */
  readonly repeatable?: boolean;
  /** It only reads: a replica may run it. What it reads can be read again, so it is repeatable too. */
  readonly readOnly?: boolean;
  /** Strings of the reply as Buffers. */
  readonly buffers?: boolean;
  /** Runs while its slot is being moved: it changes keys that it has found and makes none, so it cannot end by half. */
  readonly whileMoving?: boolean;
}

export type Params<K extends string, A extends string, R extends string, RK extends string> = {
  readonly [key in K]: string;
} & { readonly [arg in A]: Word } & { readonly [rest in R]: readonly Word[] } & {
  readonly [rest in RK]: readonly string[];
};

/** A script with its parameters, for pipelines and transactions. */
export interface ScriptCall<T = unknown> {
  /** What is run. */
  readonly script: Script<never, T>;
  /** Its keys, those of `restKeys` last. */
  readonly keys: readonly string[];
  /** Its arguments, those of `rest` last. */
  readonly args: readonly Word[];
}

/** The text of a script, and what a server knows it by. */
export interface ScriptText {
  readonly source: string;
  readonly sha: string;
}

/**
 * A Lua script with named keys and arguments, which `defineScript` makes.
 * @example
 * const add = defineScript({ name: "add", keys: ["total"], args: ["by"], lua: 'return redis.call("INCRBY", total, by)', reply: Number });
 * await db.pipeline([add.with({ total: "t", by: 2 }), add.with({ total: "t", by: 3 })]); // → [2, 5]
 * add.words("EVALSHA", add.sha, { total: "t", by: 1 }); // → ["EVALSHA", "…", 1, "t", 1]
 * add.nameOf("arg", 0); // → "by"
 * add.reply("5"); // → 5
 */
export class Script<P, T> implements ScriptText {
  /** For metrics and messages: `component.action`. */
  readonly name: string;
  /** The whole Lua text, with the locals for its keys and arguments. */
  readonly source: string;
  /** The SHA1 of `source`, by which a server knows the script. */
  readonly sha: string;
  /** Whether it may be sent again when an answer was lost. */
  readonly repeatable: boolean;
  /** Whether it only reads, so that a replica may run it. */
  readonly readOnly: boolean;
  /** Whether strings of its reply are Buffers. */
  readonly buffers: boolean;
  /** Turns the server's reply into what callers get. */
  readonly reply: (reply: Reply) => T;
  readonly #keys: readonly string[];
  readonly #args: readonly string[];
  readonly #rest: string | undefined;
  readonly #restKeys: string | undefined;
  #inCluster: ScriptText | undefined;

  constructor(shape: Shape<string, string, string, string, T>) {
    this.name = shape.name;
    this.#keys = shape.keys;
    this.#args = shape.args ?? [];
    this.#rest = shape.rest;
    this.#restKeys = shape.restKeys;
    this.readOnly = shape.readOnly ?? false;
    this.repeatable = shape.repeatable ?? this.readOnly;
    this.buffers = shape.buffers ?? false;
    this.reply = shape.reply ?? ((reply) => reply as T);
    this.source = [...this.#preamble(), ...(shape.include ?? []), shape.lua].join("\n");
    this.sha = sha1(this.source);
    if (shape.whileMoving === true) this.#inCluster = this;
  }

  /** The variant that runs only while its slot is at rest. */
  get inCluster(): ScriptText {
    if (this.#inCluster === undefined) {
      const source = `${AT_REST}\n${this.source}`;
      this.#inCluster = { source, sha: sha1(source) };
    }
    return this.#inCluster;
  }

  *#preamble(): Generator<string> {
    yield* locals(this.#keys, "KEYS");
    yield* locals(this.#args, "ARGV");
    if (this.#restKeys !== undefined) yield remaining(this.#restKeys, "KEYS", this.#keys.length);
    if (this.#rest !== undefined) yield remaining(this.#rest, "ARGV", this.#args.length);
  }

  /** What the nth key or argument of a call is called; that of the list for one of a list. */
  nameOf(kind: "key" | "arg", nth: number): string {
    const [names, list] = kind === "key" ? [this.#keys, this.#restKeys] : [this.#args, this.#rest];
    return names[nth] ?? list ?? "";
  }

  /** Binds parameters, for `store.pipeline` and `store.multi`. */
  with(params: P): ScriptCall<T> {
    const values = params as Readonly<Record<string, Word | readonly Word[]>>;
    const keys: string[] = [];
    const args: Word[] = [];
    for (const name of this.#keys) keys.push(this.#word(name, this.#value(values, name)) as string);
    for (const name of this.#args) args.push(this.#word(name, this.#value(values, name)));
    if (this.#restKeys !== undefined) {
      for (const key of this.#list(values, this.#restKeys)) keys.push(this.#word(this.#restKeys, key) as string);
    }
    if (this.#rest !== undefined) {
      for (const word of this.#list(values, this.#rest)) args.push(this.#word(this.#rest, word));
    }
    return { script: this, keys, args };
  }

  /** The words of a command that runs it, `text` being its source or what a server knows it by. */
  words(command: "EVAL" | "EVALSHA", text: string, params: P): Word[] {
    const values = params as Readonly<Record<string, Word | readonly Word[]>>;
    const words: Word[] = [command, text, this.#keys.length];
    for (const name of this.#keys) words.push(this.#word(name, this.#value(values, name)));
    if (this.#restKeys !== undefined) {
      for (const key of this.#list(values, this.#restKeys)) words.push(this.#word(this.#restKeys, key));
      words[2] = words.length - 3;
    }
    for (const name of this.#args) words.push(this.#word(name, this.#value(values, name)));
    if (this.#rest !== undefined) {
      for (const word of this.#list(values, this.#rest)) words.push(this.#word(this.#rest, word));
    }
    return words;
  }

  #value(values: Readonly<Record<string, Word | readonly Word[]>>, name: string): Word | readonly Word[] {
    const value = values[name];
    if (value === undefined || value === null) throw new InputError(`${this.name}: ${name} is missing`);
    return value;
  }

  #word(name: string, value: unknown): Word {
    if (!isSendable(value)) throw unsendable(`${this.name}: ${name}`, value);
    return value as Word;
  }

  #list(values: Readonly<Record<string, Word | readonly Word[]>>, name: string): readonly Word[] {
    const value = this.#value(values, name);
    if (!Array.isArray(value)) throw new InputError(`${this.name}: ${name} must be a list`);
    return value;
  }
}

/** Which text of a script a store runs. */
export function textFor(script: Script<never, unknown>, topology: Topology): ScriptText {
  return topology === "cluster" ? script.inCluster : script;
}

function sha1(source: string): string {
  return createHash("sha1").update(source).digest("hex");
}

/** A key without a tag that holds a brace has no neighbours that could be named. No component has such keys. */
const AT_REST = `
do
  local first = KEYS[1] or ""
  local tag = string.match(first, "^[^{]*{([^}]+)}") or (not string.find(first, "[{}]") and first)
  if tag and tag ~= "" then
    local known = redis.pcall("EXISTS", "{" .. tag .. "}\\0a", "{" .. tag .. "}\\0b")
    if type(known) == "table" then return redis.error_reply("TRYAGAIN the slot of '" .. first .. "' is being moved") end
  end
end`;

function* locals(names: readonly string[], from: string): Generator<string> {
  if (names.length === 0) return;
  yield `local ${names.join(", ")} = ${names.map((_, at) => `${from}[${at + 1}]`).join(", ")}`;
}

/** A loop rather than unpack, which fails past some thousand values. */
function remaining(name: string, from: string, skip: number): string {
  return `local ${name} = {} for i = ${skip + 1}, #${from} do ${name}[i - ${skip}] = ${from}[i] end`;
}

/**
 * Makes a script whose keys and arguments have names, which are locals in its Lua text. It runs with `store.run`, or bound by `with` in
 * pipelines and transactions.
 * @example
 * const take = defineScript({
 *   name: "stock.take", keys: ["stock"], args: ["amount"], reply: Number,
 *   lua: 'return redis.call("DECRBY", stock, amount)',
 * });
 * await db.run(take, { stock: "{shop}:stock", amount: 2 }); // → -2
 */
export function defineScript<
  const K extends string,
  const A extends string = never,
  const R extends string = never,
  const RK extends string = never,
  T = Reply,
>(shape: Shape<K, A, R, RK, T>): Script<Params<K, A, R, RK>, T> {
  return new Script(shape);
}

/** Lua for `include`: `now` is the server's time in milliseconds, the only time that decides anything. */
export const NOW_MS = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * Lua for `include`, in scripts that read and note something on the way: `ifWritable(command …)` runs a command, or leaves it where
 * the server takes no writes now: it is full (OOM), its disk fails (MISCONF), too few replicas follow (NOREPLICAS). Then it
 * answers nil and what the server said; reading goes on. Every other error ends the script, as with `redis.call`.
 */
export const IF_WRITABLE = `
local function ifWritable(...)
  local answer = redis.pcall(...)
  local err = type(answer) == "table" and answer.err
  if not err then return answer end
  for _, refusal in ipairs({"OOM ", "MISCONF ", "NOREPLICAS "}) do
    if err:find(refusal, 1, true) then return nil, err end
  end
  return redis.call(...)
end
`;
