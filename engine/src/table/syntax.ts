/**
 * A command's syntax line, read into the tree of arguments that COMMAND DOCS answers.
 *
 * The notation is that of Redis's manual: `word` for a value, `WORD` for a token, `[…]` for what may be left out, `<a | b>`
 * for a choice, `key [key ...]` for a repetition, and `[...]` behind anything that may come again. The line is cut into
 * words and brackets, these are read into nodes, repetitions are folded, and the nodes become arguments: a token belongs to
 * the values behind it.
 */
import type { KeySpec } from "./command.ts";

export type ArgumentType =
  | "key"
  | "string"
  | "integer"
  | "double"
  | "pattern"
  | "unix-time"
  | "pure-token"
  | "oneof"
  | "block";

export interface Argument {
  readonly name: string;
  readonly type: ArgumentType;
  readonly token?: string;
  readonly optional?: boolean;
  readonly multiple?: boolean;
  /** The token is said again with each repetition. */
  readonly multipleToken?: boolean;
  readonly keySpecIndex?: number;
  readonly arguments?: readonly Argument[];
}

type Node =
  | { readonly kind: "word"; readonly text: string }
  | {
      readonly kind: "group";
      readonly optional: boolean;
      readonly repeats: boolean;
      readonly choices: readonly Node[][];
    }
  | { readonly kind: "repeat"; readonly optional: boolean; readonly nodes: readonly Node[] };

export class BadSyntax extends Error {
  override readonly name = "BadSyntax";
}

// ------------------------------------------------------------------------------------------------ the line

const PIECES = /\.\.\.|"[^"]*"|[[\]<>|]|[^\s[\]<>|]+/g;
const CLOSING: Readonly<Record<string, string>> = { "[": "]", "<": ">" };

class Reader {
  readonly #pieces: readonly string[];
  #at = 0;

  constructor(line: string) {
    this.#pieces = line.match(PIECES) ?? [];
  }

  /** Everything, up to the end of the line. Tokens may stand in a choice without brackets: `LEFT | RIGHT`. */
  readAll(): Node[] {
    const nodes: Node[] = [];
    while (this.#at < this.#pieces.length) {
      if (this.#pieces[this.#at] !== "|") {
        nodes.push(this.#readNode());
        continue;
      }
      const choices = [[bareChoice(nodes.pop())]];
      while (this.#pieces[this.#at] === "|") {
        this.#at++;
        choices.push([bareChoice(this.#readNode())]);
      }
      nodes.push({ kind: "group", optional: false, repeats: false, choices });
    }
    return fold(nodes);
  }

  #readNode(): Node {
    const piece = this.#pieces[this.#at++];
    if (piece === undefined) throw new BadSyntax("something is missing at the end");
    const closing = CLOSING[piece];
    if (closing !== undefined) return this.#readGroup(piece === "[", closing);
    if (piece === "]" || piece === ">" || piece === "|" || piece === "...") throw new BadSyntax(`unexpected ${piece}`);
    return { kind: "word", text: piece };
  }

  #readGroup(optional: boolean, closing: string): Node {
    let choice: Node[] = [];
    const choices = [choice];
    let repeats = false;
    for (;;) {
      const piece = this.#pieces[this.#at];
      if (piece === undefined) throw new BadSyntax(`${closing} is missing`);
      if (piece === closing) break;
      if (piece === "|") {
        choice = [];
        choices.push(choice);
        this.#at++;
      } else if (piece === "...") {
        repeats = true;
        this.#at++;
      } else choice.push(this.#readNode());
    }
    this.#at++;
    if (choices.some((one) => one.length === 0) && !(repeats && choices.length === 1)) {
      throw new BadSyntax("an empty choice");
    }
    return repeatedChoice(optional, choices) ?? { kind: "group", optional, repeats, choices: choices.map(fold) };
  }
}

function bareChoice(node: Node | undefined): Node {
  if (node?.kind === "word" && isToken(node.text)) return node;
  throw new BadSyntax("a choice of anything but tokens needs brackets");
}

/** `[a | b [a | b ...]]` is a choice that may come again. */
function repeatedChoice(optional: boolean, choices: readonly Node[][]): Node | undefined {
  const last = choices.at(-1);
  const again = last?.at(-1);
  if (last === undefined || choices.length < 2 || again?.kind !== "group" || !again.repeats) return undefined;
  const once = choices.with(-1, last.slice(0, -1));
  if (JSON.stringify(again.choices) !== JSON.stringify(once)) return undefined;
  return { kind: "repeat", optional, nodes: [{ kind: "group", optional: false, repeats: false, choices: once }] };
}

// ------------------------------------------------------------------------------------------------ repetitions

/** `a b [a b ...]` is a repetition of a and b, `x [...]` one of x, and `[a ...]` alone one that may be left out. */
function fold(nodes: readonly Node[]): Node[] {
  const folded: Node[] = [];
  for (const node of nodes) {
    if (node.kind !== "group" || !node.repeats) {
      folded.push(node);
      continue;
    }
    const again = onlyOf(node.choices) ?? [{ ...node, optional: false, repeats: false }];
    const count = again.length === 0 ? 1 : again.length;
    const before = folded.slice(-count);
    if (again.length === 0 || same(before, again)) {
      folded.length -= before.length;
      folded.push({ kind: "repeat", optional: false, nodes: before });
    } else folded.push({ kind: "repeat", optional: node.optional, nodes: again });
  }
  return folded;
}

const onlyOf = <T>(items: readonly T[]) => (items.length === 1 ? items[0] : undefined);

const same = (a: readonly Node[], b: readonly Node[]) => JSON.stringify(a) === JSON.stringify(b);

// ------------------------------------------------------------------------------------------------ arguments

const SYMBOLS: Readonly<Record<string, string>> = {
  "*": "auto_id",
  "=": "equal",
  "~": "approximately",
  $: "new_id",
  '""': "empty_string",
};

const isTokenNode = (node: Node): node is Node & { kind: "word" } => node.kind === "word" && isToken(node.text);
const isToken = (word: string) => !/[a-z]/.test(word);
const tokenText = (word: string) => (word.startsWith('"') ? word.slice(1, -1) : word);

const names = (list: string) => new Set(list.split(" "));

const KEYS = names("key key1 key2 newkey source destination destkey sourcekey src dst");
const DOUBLES = names("score weight longitude latitude radius width height");
const INTEGERS = names(
  "bit client-id count cursor db decrement destination-db end-slot entries-added entries-read frequency increment index " +
    "index1 index2 len limit milliseconds min-match-len ms num-matches numkeys numlocal numreplicas offset port protover " +
    "rank seconds slot start-slot timeout ttl version",
);

function typeOf(name: string, hasKeys: boolean): ArgumentType {
  if (hasKeys && KEYS.has(name)) return "key";
  if (name === "pattern") return "pattern";
  if (name.startsWith("unix-time")) return "unix-time";
  if (DOUBLES.has(name)) return "double";
  return INTEGERS.has(name) ? "integer" : "string";
}

const joined = (args: readonly Argument[]) => args.map(({ name }) => name).join("_");

/** Turns nodes into arguments and numbers the keys among them. */
class Builder {
  readonly #specs: number;
  #keys = 0;

  constructor(specs: readonly KeySpec[]) {
    this.#specs = specs.length;
  }

  sequence(nodes: readonly Node[]): Argument[] {
    const args: Argument[] = [];
    /** The token behind which the nodes stand that are read now, and what belongs to it. */
    let token: { readonly text: string; readonly owned: Argument[] } | undefined;
    for (const node of nodes) {
      if (token !== undefined && belongsToToken(node)) {
        token.owned.push(this.#one(node));
        continue;
      }
      if (token !== undefined) args.push(withToken(token.text, token.owned));
      token = node.kind === "word" && isToken(node.text) ? { text: node.text, owned: [] } : undefined;
      if (token === undefined) args.push(this.#one(node));
    }
    if (token !== undefined) args.push(withToken(token.text, token.owned));
    return args;
  }

  #one(node: Node): Argument {
    if (node.kind === "word") return isToken(node.text) ? withToken(node.text, []) : this.#value(node.text);
    if (node.kind === "repeat") {
      const arg = asOne(this.sequence(node.nodes));
      const multipleToken = arg.token !== undefined && arg.type !== "pure-token";
      return {
        ...arg,
        ...(node.optional && { optional: true }),
        multiple: true,
        ...(multipleToken && { multipleToken }),
      };
    }
    const choices = this.#choices(node.choices);
    if (!Array.isArray(choices)) return node.optional ? { ...choices, optional: true } : choices;
    const arg: Argument = onlyOf(choices) ?? { name: joined(choices), type: "oneof", arguments: choices };
    return node.optional ? { ...arg, optional: true } : arg;
  }

  /** The alternatives; or one argument, where the first of several tokens names the choice: `AGGREGATE SUM | MIN | MAX`. */
  #choices(choices: readonly Node[][]): Argument[] | Argument {
    const [first, ...others] = choices;
    const named = first?.length === 2 && others.length > 0 && others.every((choice) => choice.length === 1);
    const [name, ...tokens] = choices.flat().flatMap((node) => (isTokenNode(node) ? [node.text] : []));
    if (!named || name === undefined || tokens.length !== others.length + 1)
      return choices.map((choice) => asOne(this.sequence(choice)));
    const args = tokens.map((token) => withToken(token, []));
    return { name: name.toLowerCase(), type: "oneof", token: name, arguments: args };
  }

  #value(name: string): Argument {
    const type = typeOf(name, this.#specs > 0);
    if (type !== "key") return { name, type };
    return { name, type, keySpecIndex: Math.min(this.#keys++, this.#specs - 1) };
  }
}

/** Values and required groups follow their token; options and further tokens stand for themselves. */
function belongsToToken(node: Node): boolean {
  if (node.kind === "word") return !isToken(node.text);
  if (node.kind === "group") return !node.optional;
  const first = node.nodes[0];
  return !node.optional && (first?.kind !== "word" || !isToken(first.text));
}

function asOne(args: readonly Argument[]): Argument {
  return onlyOf(args) ?? { name: joined(args), type: "block", arguments: args };
}

function withToken(word: string, owned: readonly Argument[]): Argument {
  const token = tokenText(word);
  if (owned.length === 0) return { name: SYMBOLS[word] ?? token.toLowerCase(), type: "pure-token", token };
  const arg = asOne(owned);
  return arg.token === undefined ? { ...arg, token } : { name: arg.name, type: "block", token, arguments: owned };
}

/** The arguments that a syntax line describes. Throws BadSyntax where it is none. */
export function parseSyntax(line: string, specs: readonly KeySpec[] = []): Argument[] {
  return new Builder(specs).sequence(new Reader(line).readAll());
}
