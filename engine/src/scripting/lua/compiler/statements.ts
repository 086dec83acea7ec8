/**
 * Statements as JavaScript statements. Lua's blocks are JavaScript's: `let` makes a variable of its own for each round of a
 * loop, as `local` does.
 */
import { type Block, type Expression, isOpen, type Statement, type Target } from "../ast.ts";
import { hashString } from "../hash.ts";
import type { Local } from "../scope.ts";
import { callResults } from "./calls.ts";
import { constantFunction, hold, nameFor, simple } from "./code.ts";
import { type Code, type FunctionEmitter, nameOf, quote } from "./emitter.ts";
import { condition, listText, openValues, value } from "./expressions.ts";
import { functionText, loopText } from "./functions.ts";

export function blockText(fn: FunctionEmitter, block: Block): string {
  let text = "";
  for (const statement of block) {
    const mark = fn.mark();
    text += statementText(fn, statement);
    fn.release(mark);
  }
  return text;
}

function statementText(fn: FunctionEmitter, s: Statement): string {
  switch (s.kind) {
    case "local":
      return localText(fn, s.locals, s.values);
    case "assign":
      return assignText(fn, s);
    case "call":
      return `${callResults(fn, s.call, false, true).text};`;
    case "do":
      return `{${blockText(fn, s.block)}}`;
    case "while":
      return loopText(`while (${condition(fn, s.condition)})`, blockText(fn, s.block));
    case "repeat":
      return repeatText(fn, s);
    case "if":
      return ifText(fn, s);
    case "range":
      return rangeText(fn, s);
    case "each":
      return eachText(fn, s);
    case "function":
      return functionStatement(fn, s);
    case "return":
      return returnText(fn, s.values);
    default:
      return "break;";
  }
}

function functionStatement(fn: FunctionEmitter, s: Extract<Statement, { kind: "function" }>): string {
  const text = functionText(fn, s.body);
  // Not from inside a loop, where each round makes a function of its own.
  if (fn.body.block.includes(s) && fn.chunk.hoist(s.local, s.body, text)) return "";
  return `${declarator(s.local)} ${nameOf(s.local)} = ${text};`;
}

const declarator = (local: Local) => (local.assigned ? "let" : "const");

function localText(fn: FunctionEmitter, locals: Local[], values: Expression[]): string {
  const [only, ...otherLocals] = locals;
  const [e, ...otherValues] = values;
  if (only !== undefined && e !== undefined && otherLocals.length === 0 && otherValues.length === 0) {
    return `${declarator(only)} ${nameOf(only)} = ${value(fn, e).text};`;
  }
  const setups: string[] = [];
  const textAt = spread(fn, values, locals.length, setups);
  const head = setups.map((setup) => `${setup};`).join("");
  return head + locals.map((local, i) => `let ${nameOf(local)} = ${textAt(i)};`).join("");
}

/**
 * The values of a list for `count` receivers, evaluated by the setups in order: the text of each by its place, nil where
 * the list is shorter. Values past the last receiver are evaluated, too.
 */
function spread(fn: FunctionEmitter, values: Expression[], count: number, setups: string[]): (place: number) => string {
  const codes: Code[] = [];
  values.forEach((e, i) => {
    const last = i === values.length - 1;
    if (last && isOpen(e) && count > values.length) {
      const name = fn.temporary();
      setups.push(`${name} = ${openValues(fn, e)}`);
      for (let n = 0; codes.length < count; n++) codes.push(simple(`${name}[${n}]`));
      return;
    }
    const code = value(fn, e);
    // A variable is copied when its turn comes.
    codes.push(hold(fn, e.kind === "local" || e.kind === "vararg" ? { ...code, simple: false } : code, setups));
  });
  return (place) => codes[place]?.text ?? "undefined";
}

function assignText(fn: FunctionEmitter, s: Extract<Statement, { kind: "assign" }>): string {
  const [target, ...otherTargets] = s.targets;
  const [e, ...otherValues] = s.values;
  if (e !== undefined && otherTargets.length === 0 && otherValues.length === 0) {
    return assignOne(fn, target, e, s.line);
  }
  const setups: string[] = [];
  const assigned = new Set(s.targets.map((one) => (one.kind === "local" ? one.local : undefined)));
  const stores = s.targets.map((one) => prepareStore(fn, one, setups, assigned, s.line));
  const textAt = spread(fn, s.values, s.targets.length, setups);
  const text = setups.map((setup) => `${setup};`).join("");
  return (
    text +
    stores
      .map((store, i) => `${store(textAt(i))};`)
      .reverse()
      .join("")
  );
}

function assignOne(fn: FunctionEmitter, target: Target, e: Expression, line: number): string {
  if (target.kind === "local") return `${nameOf(target.local)} = ${value(fn, e).text};`;
  const setups: string[] = [];
  const store = prepareStore(fn, target, setups, new Set(), line);
  const code = value(fn, e);
  const late =
    target.kind === "index" && [target.object, target.key].some((one) => one.kind === "local" && one.local.captured);
  const text = late ? hold(fn, code, setups).text : code.text;
  return `${setups.map((setup) => `${setup};`).join("")}${store(text)};`;
}

/** Evaluates what comes before the last dot or bracket of a target; returns how to store a value there. */
function prepareStore(
  fn: FunctionEmitter,
  target: Target,
  setups: string[],
  assigned: Set<Local | undefined>,
  line: number,
): (text: string) => string {
  const site = fn.chunk.sites.mark(line);
  if (target.kind === "local") return (text) => `${nameOf(target.local)} = ${text}`;
  if (target.kind === "global") {
    const { globals } = fn.chunk;
    return (text) => `${site}setIndex(rt, ${globals}, ${quote(target.name)}, ${text})`;
  }
  const held = (e: Expression) => {
    const code = value(fn, e);
    const copied = e.kind === "local" && (e.up || assigned.has(e.local));
    return hold(fn, copied ? { ...code, simple: false } : code, setups).text;
  };
  const object = held(target.object);
  const what = nameFor(target.object);
  const { key } = target;
  if (key.kind === "string") {
    const constant = `${quote(key.value)}, ${hashString(key.value)}`;
    return (text) => `${site}setField(rt, ${object}, ${constant}, ${text}, ${what})`;
  }
  const keyText = held(key);
  return (text) => `${site}setElement(rt, ${object}, ${keyText}, ${text}, ${what})`;
}

function repeatText(fn: FunctionEmitter, s: Extract<Statement, { kind: "repeat" }>): string {
  const block = blockText(fn, s.block);
  return loopText("for (;;)", `${block}if (${condition(fn, s.condition)}) break;`);
}

function ifText(fn: FunctionEmitter, s: Extract<Statement, { kind: "if" }>): string {
  const clauses = s.clauses.map((clause) => {
    const mark = fn.mark();
    const test = condition(fn, clause.condition);
    fn.release(mark);
    return `if (${test}) {${blockText(fn, clause.block)}}`;
  });
  const otherwise = s.otherwise === undefined ? "" : ` else {${blockText(fn, s.otherwise)}}`;
  return clauses.join(" else ") + otherwise;
}

/**
 * A numeric loop. The first value is start - step + step, as in Lua, where each round begins by adding the step; with
 * fractions that is not always the start.
 */
function rangeText(fn: FunctionEmitter, s: Extract<Statement, { kind: "range" }>): string {
  const setups: string[] = [];
  const held = (e: Expression): Code => {
    const code = value(fn, e);
    return hold(fn, e.kind === "local" ? { ...code, simple: false } : code, setups);
  };
  const start = held(s.start);
  const limit = held(s.limit);
  const step = s.step === undefined ? simple("1", "number") : held(s.step);
  const site = fn.chunk.sites.mark(s.doLine);
  const number = (code: Code, role: string) =>
    code.type === "number" ? code.text : `${site}forNumber(${code.text}, "${role}")`;
  const first = fn.fresh("a");
  const end = fn.fresh("b");
  const by = s.step === undefined || s.step.kind === "number" ? step.text : fn.fresh("c");
  const heads = [`${first} = ${number(start, "initial")}`, `${end} = ${number(limit, "limit")}`];
  if (by !== step.text) heads.push(`${by} = ${number(step, "step")}`);
  const inner = s.local.captured || s.local.assigned;
  const counter = inner ? fn.fresh("i") : nameOf(s.local);
  let test = `${by} > 0 ? ${counter} <= ${end} : ${end} <= ${counter}`;
  if (s.step === undefined) test = `${counter} <= ${end}`;
  else if (s.step.kind === "number") test = s.step.value > 0 ? `${counter} <= ${end}` : `${end} <= ${counter}`;
  const exact = isWhole(s.start) && (s.step === undefined || isWhole(s.step));
  const from = exact ? first : `${first} - ${by} + ${by}`;
  const copy = inner ? `let ${nameOf(s.local)} = ${counter};` : "";
  const head = `for (let ${counter} = ${from}; ${test}; ${counter} += ${by})`;
  const loop = loopText(head, copy + blockText(fn, s.block));
  return `{${setups.map((setup) => `${setup};`).join("")}const ${heads.join(", ")};${loop}}`;
}

const isWhole = (e: Expression) => e.kind === "number" && Number.isInteger(e.value) && Math.abs(e.value) < 2 ** 31;

function eachText(fn: FunctionEmitter, s: Extract<Statement, { kind: "each" }>): string {
  const walk = walkText(fn, s);
  if (walk !== undefined) return walk;
  const setups: string[] = [];
  const textAt = spread(fn, s.values, 3, setups);
  const [f, state, control] = [fn.fresh("f"), fn.fresh("s"), fn.fresh("c")];
  const head = `${setups.map((setup) => `${setup};`).join("")}const ${f} = ${textAt(0)}, ${state} = ${textAt(1)};let ${control} = ${textAt(2)};`;
  const results = fn.fresh("r");
  const site = fn.chunk.sites.mark(s.line, "(for generator)");
  const call = `(typeof ${f} === "function" ? ${f} : callable(${f}, undefined))${site}(${state}, ${control})`;
  const [one, ...others] = s.locals;
  const declared = others
    .map((local, i) => `let ${nameOf(local)} = Array.isArray(${results}) ? ${results}[${i + 1}] : undefined;`)
    .join("");
  const name = nameOf(one);
  const step = `const ${results} = ${call};let ${name} = first(${results});if (${name} === undefined) break;${control} = ${name};`;
  return `{${head}${loopText("for (;;)", step + declared + blockText(fn, s.block))}}`;
}

/** `for … in pairs(t)` and `ipairs(t)`, without calling anything. */
function walkText(fn: FunctionEmitter, s: Extract<Statement, { kind: "each" }>): string | undefined {
  const [call] = s.values;
  if (s.values.length !== 1 || call?.kind !== "call" || call.method !== undefined) return undefined;
  const [walked] = call.args;
  if (walked === undefined || call.args.length !== 1 || isOpen(walked)) return undefined;
  const known = fn.chunk.known(call.callee);
  const name = known === undefined ? undefined : fn.chunk.walkers.get(known);
  if (name === undefined) return undefined;
  const table = fn.fresh("s");
  const site = fn.chunk.sites.mark(call.line, name);
  const argument = value(fn, walked).text;
  const head = `const ${table} = ${argument};if (!(${table} instanceof LuaTable)) {${site}${fn.chunk.constant(known)}(${table});}`;
  const [k, v, ...others] = s.locals;
  const rest = others.map((local) => `let ${nameOf(local)};`).join("");
  const block = () => `${rest}${blockText(fn, s.block)}`;
  if (name === "ipairs") {
    const i = fn.fresh("i");
    const e = v === undefined ? fn.fresh("e") : nameOf(v);
    const step = `let ${e} = ${table}.getInt(${i});if (${e} === undefined) break;let ${nameOf(k)} = ${i};`;
    return `{${head}${loopText(`for (let ${i} = 1; ; ${i}++)`, step + block())}}`;
  }
  const [p, layout, key] = [fn.fresh("p"), fn.fresh("y"), fn.fresh("k")];
  const moved = `if (${table}.layout !== ${layout}) {${layout} = ${table}.layout;${p} = ${table}.locate(${key});}`;
  const step = `${moved}${p} = ${table}.advance(${p});if (${p} < 0) break;let ${nameOf(k)} = ${key} = ${table}.keyAt(${p});`;
  const second = v === undefined ? "" : `let ${nameOf(v)} = ${table}.valueAt(${p});`;
  return `{${head}let ${p} = 0, ${layout} = ${table}.layout, ${key};${loopText("for (;;)", step + second + block())}}`;
}

function returnText(fn: FunctionEmitter, values: Expression[]): string {
  const [only] = values;
  if (only === undefined) return "return EMPTY;";
  if (values.length > 1) {
    const list = `[${listText(fn, values)}]`;
    return isOpen(values.at(-1)) ? `return pack(${list});` : `return ${list};`;
  }
  const jump = jumpText(fn, only);
  if (jump !== undefined) return jump;
  if (only.kind === "call") return `return (${callResults(fn, only, true).text});`;
  if (only.kind === "vararg") return "return pack(va);";
  return `return (${value(fn, only).text});`;
}

/**
 * A tail call of the function by itself: its parameters get new values, and it starts again, so that it may go on for ever
 * as in Lua. Not where a function inside holds one of the parameters.
 */
function jumpText(fn: FunctionEmitter, e: Expression): string | undefined {
  if (e.kind !== "call" || e.method !== undefined) return undefined;
  const { parameters, vararg } = fn.body;
  if (constantFunction(e.callee)?.body !== fn.body || vararg) return undefined;
  if (isOpen(e.args.at(-1)) || parameters.some((parameter) => parameter.captured)) return undefined;
  fn.jumpsToStart = true;
  const setups: string[] = [];
  const textAt = spread(fn, e.args, parameters.length, setups);
  const stores = parameters.map((parameter, i) => `${nameOf(parameter)} = ${textAt(i)};`);
  return `{${setups.map((setup) => `${setup};`).join("")}${stores.join("")}continue start;}`;
}
