/**
 * Expressions as JavaScript expressions.
 *
 * Operands that are not simple are put into temporaries, in the order in which Lua evaluates them; then the common case is
 * tested for and done in place, and everything else is a call of a function in operators.ts. A local variable of the
 * function at hand is read when the operator is applied, an upvalue when it is its turn: so does Lua, and a function called
 * in between can tell.
 */
import { type BinaryOp, type Expression, isOpen, type TableItem } from "../ast.ts";
import { hashString } from "../hash.ts";
import { LONG } from "../memory.ts";
import { LuaTable } from "../table.ts";
import { callResults, callValue } from "./calls.ts";
import { complex, constantFunction, hold, nameFor, sequence, simple } from "./code.ts";
import { type Code, type FunctionEmitter, nameOf, numberLiteral, quote } from "./emitter.ts";
import { functionText } from "./functions.ts";

/** An expression's value; the first one of several. */
export function value(fn: FunctionEmitter, e: Expression): Code {
  switch (e.kind) {
    case "nil":
      return simple("undefined", "nil");
    case "true":
    case "false":
      return simple(e.kind, "boolean");
    case "number":
      return simple(numberLiteral(number(fn, e.value)), "number");
    case "string":
      return simple(quote(e.value), "string");
    case "vararg":
      return complex("va[0]");
    case "function":
      return complex(functionText(fn, e.body), "function");
    case "local": {
      const known = fn.chunk.known(e);
      if (known !== undefined) return constant(fn, known);
      return simple(nameOf(e.local), e.local.numeric ? "number" : constantFunction(e) ? "function" : "any");
    }
    case "global":
      return global(fn, e);
    case "index":
      return index(fn, e);
    case "call":
      return callValue(fn, e);
    case "single":
      return value(fn, e.operand);
    case "logic":
      return logic(fn, e);
    case "unary":
      return unary(fn, e);
    case "binary":
      return e.op === ".." ? concatenation(fn, e) : binary(fn, e);
    default:
      return table(fn, e.items);
  }
}

function number(fn: FunctionEmitter, literal: number): number {
  if (literal !== 0) return literal;
  fn.zero ??= literal;
  return fn.zero;
}

/** All values of an expression at the end of a list, as an array. */
export function openValues(fn: FunctionEmitter, e: Expression): string {
  if (e.kind === "vararg") return "va";
  return e.kind === "call" ? `all(${callResults(fn, e).text})` : `[${value(fn, e).text}]`;
}

/** The values of a list, as the inside of an array or an argument list. */
export function listText(fn: FunctionEmitter, list: Expression[]): string {
  return list
    .map((e, i) => {
      const mark = fn.mark();
      const last = i === list.length - 1;
      const text = last && isOpen(e) ? `...${openValues(fn, e)}` : value(fn, e).text;
      fn.release(mark);
      return text;
    })
    .join(", ");
}

/** Two operands, held. */
function holdBoth(fn: FunctionEmitter, left: Expression, right: Expression, setups: string[]): [Code, Code] {
  const a = hold(fn, early(fn, left, right), setups);
  return [a, hold(fn, value(fn, right), setups)];
}

/** A left operand; an upvalue is copied before the right operand can change it. */
function early(fn: FunctionEmitter, left: Expression, right: Expression): Code {
  const code = value(fn, left);
  return left.kind === "local" && left.up && mayCall(right) ? { ...code, simple: false } : code;
}

/** The same for an operator, where numbers that are used once need not be held: JavaScript's order is theirs. */
function operands(fn: FunctionEmitter, e: Extract<Expression, { kind: "binary" }>, setups: string[]): [Code, Code] {
  const a = early(fn, e.left, e.right);
  const name = a.simple ? "" : fn.temporary();
  const b = value(fn, e.right);
  const late = e.left.kind === "local" && e.left.local.captured && mayCall(e.right);
  if (a.type === "number" && b.type === "number" && e.op !== "%" && !late) return [a, b];
  if (!a.simple) setups.push(`${name} = ${a.text}`);
  return [a.simple ? a : simple(name, a.type), hold(fn, b, setups)];
}

/** Whether evaluating an expression may run other code that changes a variable. */
function mayCall(e: Expression): boolean {
  switch (e.kind) {
    case "nil":
    case "true":
    case "false":
    case "number":
    case "string":
    case "vararg":
    case "function":
    case "local":
      return false;
    default:
      return true;
  }
}

function global(fn: FunctionEmitter, e: Extract<Expression, { kind: "global" }>): Code {
  const { chunk } = fn;
  const known = chunk.known(e);
  if (known !== undefined) return constant(fn, known);
  if (chunk.options.script && (e.name === "KEYS" || e.name === "ARGV")) return simple(e.name);
  const mark = chunk.sites.mark(e.line);
  return complex(`${mark}indexField(rt, ${chunk.globals}, ${quote(e.name)}, ${hashString(e.name)})`);
}

/** A value of the host, known while compiling. */
function constant(fn: FunctionEmitter, known: NonNullable<ReturnType<typeof fn.chunk.known>>): Code {
  if (typeof known === "string") return simple(quote(known), "string");
  if (typeof known === "number") return simple(numberLiteral(known), "number");
  if (typeof known === "boolean") return simple(String(known), "boolean");
  const type = typeof known === "function" ? "function" : known instanceof LuaTable ? "table" : "any";
  return simple(fn.chunk.constant(known), type);
}

function index(fn: FunctionEmitter, e: Extract<Expression, { kind: "index" }>): Code {
  const known = fn.chunk.known(e);
  if (known !== undefined) return constant(fn, known);
  const mark = fn.mark();
  const setups: string[] = [];
  const site = fn.chunk.sites.mark(e.line);
  let text: string;
  if (e.key.kind === "string") {
    const object = value(fn, e.object);
    const key = `${quote(e.key.value)}, ${hashString(e.key.value)}`;
    text = `indexField(rt, ${object.text}, ${key}, ${nameFor(e.object)})`;
  } else {
    const [object, key] = holdBoth(fn, e.object, e.key, setups);
    text = `indexElement(rt, ${object.text}, ${key.text}, ${nameFor(e.object)})`;
  }
  fn.release(mark);
  return complex(setups.length === 0 ? site + text : sequence(setups, site + text));
}

/** An expression as a JavaScript condition. */
export function condition(fn: FunctionEmitter, e: Expression): string {
  switch (e.kind) {
    case "nil":
    case "false":
      return "false";
    case "true":
    case "number":
    case "string":
    case "function":
    case "table":
      if (e.kind !== "table") return "true";
      break;
    case "logic": {
      const left = condition(fn, e.left);
      return `(${left} ${e.op === "and" ? "&&" : "||"} ${condition(fn, e.right)})`;
    }
    case "unary":
      if (e.op === "not") return `!${condition(fn, e.operand)}`;
      break;
    default:
  }
  const mark = fn.mark();
  const code = value(fn, e);
  const text = truth(fn, code);
  fn.release(mark);
  return text;
}

function truth(fn: FunctionEmitter, code: Code): string {
  if (code.type === "boolean") return `(${code.text})`;
  const setups: string[] = [];
  const held = hold(fn, code, setups);
  if (code.type !== "any" && code.type !== "nil") return sequence(setups, "true");
  return sequence(setups, `${held.text} !== undefined && ${held.text} !== false`);
}

function logic(fn: FunctionEmitter, e: Extract<Expression, { kind: "logic" }>): Code {
  const mark = fn.mark();
  const setups: string[] = [];
  const left = hold(fn, value(fn, e.left), setups);
  const test = truth(fn, left);
  const right = value(fn, e.right);
  fn.release(mark);
  const type = left.type === right.type ? left.type : "any";
  const text = e.op === "and" ? `${test} ? ${right.text} : ${left.text}` : `${test} ? ${left.text} : ${right.text}`;
  return complex(sequence(setups, text), type);
}

function unary(fn: FunctionEmitter, e: Extract<Expression, { kind: "unary" }>): Code {
  if (e.op === "not") return complex(`!${condition(fn, e.operand)}`, "boolean");
  const mark = fn.mark();
  const setups: string[] = [];
  const operand = hold(fn, value(fn, e.operand), setups);
  const site = fn.chunk.sites.mark(e.line);
  const what = nameFor(e.operand);
  fn.release(mark);
  if (e.op === "#") return complex(sequence(setups, `${site}length(${operand.text}, ${what})`), "number");
  if (operand.type === "number") return complex(sequence(setups, `-${operand.text}`), "number");
  const slow = `${site}negate(${operand.text}, ${what})`;
  return complex(sequence(setups, `typeof ${operand.text} === "number" ? -${operand.text} : ${slow}`));
}

const EVENTS: Partial<Record<BinaryOp, string>> = {
  "+": "__add",
  "-": "__sub",
  "*": "__mul",
  "/": "__div",
  "%": "__mod",
  "^": "__pow",
};

function binary(fn: FunctionEmitter, e: Extract<Expression, { kind: "binary" }>): Code {
  const mark = fn.mark();
  const setups: string[] = [];
  let [a, b] = operands(fn, e, setups);
  fn.release(mark);
  const site = fn.chunk.sites.mark(e.line);
  const event = EVENTS[e.op];
  if (event !== undefined) {
    const test = numberTest(a, b);
    const quick = arithmeticText(e.op, a.text, b.text);
    if (test === "") return complex(sequence(setups, quick), "number");
    const slow = `${site}arithmetic("${event}", ${a.text}, ${b.text}, ${nameFor(e.left)}, ${nameFor(e.right)})`;
    return complex(sequence(setups, `${test} ? ${quick} : ${slow}`));
  }
  if (e.op === "==" || e.op === "~=") return complex(sequence(setups, equality(e.op, a, b, site)), "boolean");
  let op: string = e.op;
  if (op === ">" || op === ">=") {
    [a, b] = [b, a];
    op = op === ">" ? "<" : "<=";
  }
  const test = numberTest(a, b);
  const quick = `${a.text} ${op} ${b.text}`;
  if (test === "") return complex(sequence(setups, quick), "boolean");
  const slow = `${site}${op === "<" ? "lessThan" : "lessEqual"}(${a.text}, ${b.text})`;
  return complex(sequence(setups, `${test} ? ${quick} : ${slow}`), "boolean");
}

/** The test for both being numbers; empty if both are known to be. */
function numberTest(a: Code, b: Code): string {
  const tests: string[] = [];
  if (a.type !== "number") tests.push(`typeof ${a.text} === "number"`);
  if (b.type !== "number" && b.text !== a.text) tests.push(`typeof ${b.text} === "number"`);
  return tests.join(" && ");
}

function arithmeticText(op: BinaryOp, a: string, b: string): string {
  if (op === "%") return `${a} - Math.floor(${a} / ${b}) * ${b}`;
  return op === "^" ? `power(${a}, ${b})` : `${a} ${op} ${b}`;
}

function equality(op: "==" | "~=", a: Code, b: Code, site: string): string {
  // Two long strings are read to compare them, which has to be paid for.
  const plain = ({ type, text }: Code) =>
    type === "string" ? text.length <= LONG && text.startsWith('"') : type !== "any" && type !== "table";
  if (plain(a) || plain(b)) return `${a.text} ${op === "==" ? "===" : "!=="} ${b.text}`;
  return `${op === "==" ? "" : "!"}${site}equals(${a.text}, ${b.text})`;
}

/** a .. b .. c at once. */
function concatenation(fn: FunctionEmitter, e: Extract<Expression, { kind: "binary" }>): Code {
  const parts: Expression[] = [e.left];
  let rest = e.right;
  while (rest.kind === "binary" && rest.op === "..") {
    parts.push(rest.left);
    rest = rest.right;
  }
  parts.push(rest);
  const mark = fn.mark();
  const setups: string[] = [];
  const held = parts.map((part, i) => {
    const code = value(fn, part);
    // A variable is copied to its place in the list at once.
    const later = part.kind === "local" && parts.slice(i + 1).some(mayCall);
    return hold(fn, later ? { ...code, simple: false } : code, setups);
  });
  fn.release(mark);
  const texts: string[] = [];
  const tests: string[] = [];
  for (const { text, type } of held) {
    if (type === "string") texts.push(text);
    else if (type === "number") texts.push(`numberToString(${text})`);
    else {
      texts.push(`(typeof ${text} === "string" ? ${text} : numberToString(${text}))`);
      tests.push(`(typeof ${text} === "string" || typeof ${text} === "number")`);
    }
  }
  const quick = texts.join(" + ");
  if (tests.length === 0) return complex(sequence(setups, quick), "string");
  const values = held.map((code) => code.text).join(", ");
  const names = parts.map(nameFor).join(", ");
  const slow = `${fn.chunk.sites.mark(e.line)}concatAll([${values}], [${names}])`;
  return complex(sequence(setups, `${tests.join(" && ")} ? ${quick} : ${slow}`));
}

/** The size that Lua's instruction for a new table can hold: five bits of mantissa's worth, rounded up. */
function roundSize(size: number): number {
  let x = size;
  let e = 0;
  while (x >= 16) {
    x = (x + 1) >> 1;
    e++;
  }
  return x << e;
}

/** Elements that Lua gathers before it stores them. */
const BATCH = 50;

function table(fn: FunctionEmitter, items: TableItem[]): Code {
  const last = items.at(-1);
  if (last === undefined) return complex("new LuaTable()", "table");
  const open = isOpen(last.value) && last.key === undefined;
  const elements = items.filter((item) => item.key === undefined).length - (open ? 1 : 0);
  const fields = items.filter((item) => item.key !== undefined).length;
  const sizes = `${roundSize(elements)}, ${roundSize(fields)}`;
  if (fields === 0 && items.length <= BATCH) {
    return complex(
      `list(${sizes}, [${listText(
        fn,
        items.map((item) => item.value),
      )}])`,
      "table",
    );
  }
  const record = recordText(fn, items);
  if (record !== undefined) return complex(record, "table");
  const mark = fn.mark();
  const name = fn.temporary();
  const steps = [`${name} = new LuaTable(${sizes})`];
  let stored = 0;
  let pending: string[] = [];
  const batch = fn.mark();
  const flush = () => {
    if (pending.length > 0) steps.push(`${name}.append(${stored}, [${pending.join(", ")}])`);
    stored += pending.length;
    pending = [];
    fn.release(batch);
  };
  items.forEach((item, i) => {
    if (item.key !== undefined) {
      const inner = fn.mark();
      steps.push(fieldText(fn, name, item.key, item));
      fn.release(inner);
    } else if (open && i === items.length - 1) pending.push(`...${openValues(fn, item.value)}`);
    else {
      // Evaluated where it stands, stored with its batch.
      const code = value(fn, item.value);
      const early = fields > 0 && (item.value.kind === "local" || !code.simple);
      pending.push(early ? hold(fn, { ...code, simple: false }, steps).text : code.text);
      if (pending.length === BATCH) flush();
    }
  });
  flush();
  fn.release(mark);
  return complex(`(${steps.join(", ")}, ${name})`, "table");
}

/** Fields of a constructor whose layout is worked out while compiling. */
const MAX_RECORD = 16;

/**
 * A constructor with a few constant names: the nodes as a literal, in place. Only if no value is nil, which would leave
 * nodes free for the fields behind it.
 */
function recordText(fn: FunctionEmitter, items: TableItem[]): string | undefined {
  if (items.length > MAX_RECORD) return undefined;
  const named = new Map<string, Expression>();
  for (const item of items) if (item.key?.kind === "string") named.set(item.key.value, item.value);
  if (named.size < items.length) return undefined;
  const mark = fn.mark();
  const setups: string[] = [];
  const values = new Map<string, string>();
  const tests: string[] = [];
  for (const [name, e] of named) {
    const code = value(fn, e);
    const held = hold(fn, e.kind === "local" ? { ...code, simple: false } : code, setups);
    values.set(name, held.text);
    if (held.type === "any" || held.type === "nil") tests.push(`${held.text} === undefined`);
  }
  fn.release(mark);
  const room = roundSize(items.length);
  const { nodes, mask, lastFree } = LuaTable.layoutOf([...named.keys()], room);
  const fields: string[] = [];
  for (let i = 0; i < nodes.length; i += 4) {
    const key = nodes[i];
    fields.push(
      key === undefined
        ? "undefined, undefined, -1, 0"
        : `${quote(key)}, ${values.get(key)}, ${nodes[i + 2]}, ${nodes[i + 3]}`,
    );
  }
  const quick = `LuaTable.fromNodes([${fields.join(", ")}], ${mask}, ${lastFree})`;
  if (tests.length === 0) return sequence(setups, quick);
  const pairs = Array.from(values, ([name, text]) => `${quote(name)}, ${text}`).join(", ");
  return sequence(setups, `${tests.join(" || ")} ? record(${room}, [${pairs}]) : ${quick}`);
}

function fieldText(fn: FunctionEmitter, name: string, key: Expression, item: TableItem): string {
  const site = fn.chunk.sites.mark(item.line);
  if (key.kind === "string") {
    return `${name}.setHashed(${quote(key.value)}, ${hashString(key.value)}, ${value(fn, item.value).text})`;
  }
  const setups: string[] = [];
  const [k, v] = holdBoth(fn, key, item.value, setups);
  return sequence(setups, `${site}setIndex(rt, ${name}, ${k.text}, ${v.text})`);
}
