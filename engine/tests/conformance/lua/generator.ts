/**
 * Random Lua programs that end, raise errors only by what they do, and say what they see: each logs values as it goes and
 * returns the log. A program is a tree of statements, so that a failing one can be made small.
 */
import type { Prng } from "../prng.ts";

/** A statement: text around blocks of further statements. */
export interface Node {
  texts: string[];
  blocks: Node[][];
}

const leaf = (text: string): Node => ({ texts: [text], blocks: [] });

/** What every program starts with: the log, and bounds on work and on the length of strings. */
const HEAD = `local out, calls = {}, 0
local function log(...)
  for i = 1, select("#", ...) do
    local v = select(i, ...)
    local k = type(v)
    if k == "table" then v = "table" .. #v elseif k == "function" or k == "thread" then v = k end
    if #out < 400 then out[#out + 1] = tostring(v) end
  end
end
local function lim(s) if type(s) == "string" and #s > 60 then return s:sub(1, 60) end return s end
local function tick() calls = calls + 1 if calls > 400 then error("enough", 0) end end
local function id(...) tick() return ... end
local a, b, c, d, s, t, u, f, g, h = 1, 2.5, "10", nil, "str", {1, 2, 3, x = 1}, {y = "z", f = id}, id, tonumber, function(a, b) tick() return b, a end
`;

export function print(program: readonly Node[]): string {
  // In parts, so that an error ends one of them only; what they share is declared before.
  const parts: string[] = [];
  for (let i = 0; i < program.length; i += 3) {
    const part = program
      .slice(i, i + 3)
      .map(printNode)
      .join("\n");
    parts.push(`log(pcall(function(...)\n${part}\nend, a, b))`);
  }
  return `${HEAD}${parts.join("\n")}\nreturn out`;
}

function printNode(node: Node): string {
  let text = node.texts[0]!;
  node.blocks.forEach((block, i) => {
    text += `\n${block.map(printNode).join("\n")}\n${node.texts[i + 1]}`;
  });
  return text;
}

const NAMES = ["a", "b", "c", "d", "s", "t", "u", "f", "g", "h"];
const KEYS = ["x", "y", "n", "k1", "name", "__index"];
const WORDS = ['"x"', '"10"', '"abc"', '""', '"0x1F"', '" 7 "', '"1e2"', '"-3.5"', '"nan?"', "[[long]]"];
const NUMBERS = ["0", "1", "2", "3", "-1", "10", "0.5", "1e15", "2^53", "-7", "100", "1/0", "0.1"];
const EVENTS = [
  "__add",
  "__sub",
  "__concat",
  "__lt",
  "__le",
  "__eq",
  "__call",
  "__index",
  "__newindex",
  "__unm",
  "__mod",
  "__tostring",
];

export class Generator {
  readonly #random: Prng;
  #depth = 0;
  #unique = 0;
  #inFunction = 0;
  #inLoop = 0;

  constructor(random: Prng) {
    this.#random = random;
  }

  program(size: number): Node[] {
    return Array.from({ length: size }, () => this.#statement());
  }

  #block(): Node[] {
    this.#depth++;
    const block = Array.from({ length: this.#random.between(1, 4) }, () => this.#statement());
    this.#depth--;
    return block;
  }

  #name = () => this.#random.pick(NAMES);

  #statement(): Node {
    const random = this.#random;
    if (this.#depth >= 4 || random.chance(0.45)) return this.#plain();
    switch (random.below(9)) {
      case 0:
        return { texts: [`if ${this.#e(2)} then`, "else", "end"], blocks: [this.#block(), this.#block()] };
      case 1: {
        const [from, to] = [random.between(-2, 3), random.between(-2, 6)];
        const step = random.pick(["", "", ", -1", ", 2", ", 0.5", ", -0.25"]);
        return this.#loop(`for ${this.#name()} = ${from}, ${to}${step} do tick()`, "end");
      }
      case 2:
        return this.#loop(
          `for ${this.#name()}, ${this.#name()} in ${random.pick(["pairs", "ipairs"])}(${this.#e(1)}) do tick()`,
          "end",
        );
      case 3: {
        const w = `w${this.#unique++}`;
        return this.#loop(`local ${w} = 0 while ${w} < ${random.between(0, 5)} do tick() ${w} = ${w} + 1`, "end");
      }
      case 4: {
        const w = `w${this.#unique++}`;
        return this.#loop(
          `local ${w} = 0 repeat tick() ${w} = ${w} + 1 local ${this.#name()} = ${w}`,
          `until ${w} > 3 or ${this.#e(1)}`,
        );
      }
      case 5:
        return { texts: ["do", "end"], blocks: [this.#block()] };
      case 6:
        return this.#function(
          random.pick([`local function ${this.#name()}`, `${this.#name()} = function`, "t.f = function"]),
          "end",
        );
      case 7:
        return this.#function("log(pcall(function", `end, ${this.#e(1)}))`);
      default:
        return this.#function(`log(xpcall(function`, "end, function(e) return type(e) end))");
    }
  }

  #loop(head: string, tail: string): Node {
    this.#inLoop++;
    const block = this.#block();
    this.#inLoop--;
    return { texts: [head, tail], blocks: [block] };
  }

  #function(head: string, tail: string): Node {
    const loops = this.#inLoop;
    this.#inLoop = 0;
    this.#inFunction++;
    const parameters = this.#random.pick(["", "a", "a, b", "s, t, u", "...", "a, ..."]);
    const block = this.#block();
    this.#inFunction--;
    this.#inLoop = loops;
    return { texts: [`${head}(${parameters}) tick()`, tail], blocks: [block] };
  }

  #plain(): Node {
    const random = this.#random;
    switch (random.below(14)) {
      case 0:
      case 1:
        return leaf(`local ${this.#name()} = ${this.#e(3)}`);
      case 2:
        return leaf(
          `local ${this.#name()}, ${this.#name()} = ${this.#e(2)}${random.chance(0.7) ? `, ${this.#e(2)}` : ""}`,
        );
      case 3:
      case 4:
        return leaf(`${this.#name()} = ${this.#e(3)}`);
      case 5:
        return leaf(`${this.#target()}, ${this.#target()} = ${this.#e(2)}, ${this.#e(2)}`);
      case 6:
        return leaf(`${this.#target()} = ${this.#e(2)}`);
      case 7:
        return leaf(`t = {${this.#items()}}`);
      case 8:
        return leaf(`t[#t + 1] = ${this.#e(1)}`);
      case 9:
        return leaf(
          `t = setmetatable({${this.#items()}}, {${random.pick(EVENTS)} = ${random.pick([this.#lambda(), "t", this.#e(0)])}})`,
        );
      case 10:
        if (this.#inLoop > 0 && random.chance(0.3)) return leaf(`if ${this.#e(1)} then break end`);
        if (this.#inFunction > 0) return leaf(`if ${this.#e(1)} then return ${this.#e(2)}, ${this.#e(1)} end`);
        return leaf(`log(${this.#e(3)})`);
      case 11:
        return leaf(`log(pcall(error, ${this.#e(1)}))`);
      default:
        return leaf(`log(${this.#e(3)}, ${this.#e(2)})`);
    }
  }

  #target(): string {
    const name = this.#name();
    return this.#random.pick([name, `t.${this.#random.pick(KEYS)}`, `t[${this.#e(1)}]`, `u[${this.#e(0)}]`]);
  }

  #items(): string {
    const random = this.#random;
    return Array.from({ length: random.below(5) }, () =>
      random.pick([
        () => this.#e(1),
        () => `${random.pick(KEYS)} = ${this.#e(1)}`,
        () => `[${this.#e(1)}] = ${this.#e(1)}`,
      ])(),
    ).join(", ");
  }

  #lambda(): string {
    return `function(a, b) tick() return ${this.#e(1)} end`;
  }

  /** An expression of at most this depth. */
  #e(depth: number): string {
    const random = this.#random;
    if (depth === 0 || random.chance(0.25)) {
      return random.pick([
        this.#name,
        this.#name,
        () => random.pick(NUMBERS),
        () => random.pick(WORDS),
        () => random.pick(["nil", "true", "false"]),
      ])();
    }
    const next = () => this.#e(depth - 1);
    switch (random.below(17)) {
      case 0:
      case 1:
      case 2:
        return `(${next()} ${random.pick(["+", "-", "*", "/", "%", "+", "-"])} ${next()})`;
      case 3:
        return `lim(${next()} .. ${next()})`;
      case 4:
      case 5:
        return `(${next()} ${random.pick(["<", "<=", ">", ">=", "==", "~="])} ${next()})`;
      case 6:
      case 7:
        return `(${next()} ${random.pick(["and", "or"])} ${next()})`;
      case 8:
        return `(${random.pick(["not ", "-", "#"])}${next()})`;
      case 9:
        return `t.${random.pick(KEYS)}`;
      case 10:
        return `${this.#name()}[${next()}]`;
      case 11:
        return `${random.pick(["f", "g", "h", "t.f", "t"])}(${next()}, ${next()})`;
      case 12:
        return `{${this.#items()}}`;
      case 13:
        return this.#lambda();
      case 14:
        return `${random.pick(["type", "tostring", "tonumber", "pcall", "next", "unpack", "rawget", "getmetatable"])}(${random.chance(0.5) ? this.#name() : next()})`.replace(
          /^tostring\(/,
          "type(",
        );
      case 15:
        return `select("#", ${next()}, ${next()})`;
      default:
        return `t:${random.pick(["f", "x"])}(${next()})`;
    }
  }
}

/** Smaller programs of the same kind: each without one node, or with a node's blocks in its place. */
export function* smaller(program: readonly Node[]): Generator_<Node[]> {
  for (let i = 0; i < program.length; i++) {
    const before = program.slice(0, i);
    const after = program.slice(i + 1);
    yield [...before, ...after];
    const node = program[i]!;
    for (const block of node.blocks) yield [...before, ...block, ...after];
    for (let j = 0; j < node.blocks.length; j++) {
      for (const block of smaller(node.blocks[j]!)) {
        const blocks = node.blocks.map((one, k) => (k === j ? block : one));
        yield [...before, { texts: node.texts, blocks }, ...after];
      }
    }
  }
}

type Generator_<T> = globalThis.Generator<T>;

/** A program that fills, empties and measures one table, and returns it: what matters is the layout. */
export function tableProgram(random: Prng): string {
  const key = (): string => {
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2:
        return String(random.between(1, 20));
      case 3:
        return String(random.between(-3, 40));
      case 4:
        return `"k${random.below(12)}"`;
      case 5:
        return `"${"abcdefgh".slice(0, random.between(1, 8)).repeat(random.between(1, 6))}"`;
      case 6:
        return random.pick(["1.5", "2^40", "-2^31", "2^53", "1e300", "0.1", "true", "false", "2^26", "2^26+1"]);
      default:
        return String(2 ** random.below(8) + random.between(-1, 1));
    }
  };
  const item = () =>
    random.pick([() => "1", () => "nil", () => `[${key()}] = 2`, () => `k${random.below(6)} = 3`, () => '"v"'])();
  const lines = [`local t, r = {${Array.from({ length: random.below(20) }, item).join(", ")}}, {}`];
  for (let i = random.between(3, 40); i > 0; i--) {
    switch (random.below(12)) {
      case 0:
        lines.push(`for i = ${random.between(1, 5)}, ${random.between(1, 40)} do t[i] = i end`);
        break;
      case 1:
        lines.push(`for i = ${random.between(1, 40)}, ${random.between(1, 5)}, -1 do t[i] = nil end`);
        break;
      case 2:
        lines.push(`for i = 1, ${random.between(1, 20)} do t["s" .. i] = i end`);
        break;
      case 3:
        lines.push("t[#t + 1] = #t");
        break;
      case 4:
        lines.push("if #t > 0 then t[#t] = nil end");
        break;
      case 5:
        lines.push(`for k in pairs(t) do if type(k) == "${random.pick(["string", "number"])}" then t[k] = nil end end`);
        break;
      case 6:
      case 7:
        lines.push(`t[${key()}] = nil`);
        break;
      default:
        lines.push(`t[${key()}] = ${random.below(100)}`);
    }
    if (random.chance(0.3)) lines.push("r[#r + 1] = #t");
  }
  return `${lines.join("\n")}\nreturn t, r`;
}

const PIECES =
  "end ( ) { } [ ] , ; = == .. ... local function return do then nil ' \" [[ ]] -- --[[ 0x 1e . : if for in while until repeat break and not - # \\ ~ \0 \x80 [=[ ]=] ~= <= 5 x goto".split(
    " ",
  );

/** A source with a few pieces cut out, put in or replaced: mostly not Lua any more. */
export function damage(source: string, random: Prng): string {
  let text = source;
  for (let times = random.between(1, 3); times > 0; times--) {
    const from = random.below(text.length + 1);
    const to = from + random.below(6);
    const piece = random.pick(PIECES);
    const kind = random.below(4);
    if (kind === 0) text = text.slice(0, from) + text.slice(to);
    else if (kind === 1) text = `${text.slice(0, from)} ${piece} ${text.slice(from)}`;
    else if (kind === 2) text = text.slice(0, from) + piece + text.slice(to);
    else text = text.slice(0, from);
  }
  return text;
}
