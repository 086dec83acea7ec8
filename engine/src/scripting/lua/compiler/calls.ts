/**
 * Calls. A function hands back one value as itself and any other number as an array; what is known about the callee decides
 * whether that must be looked at.
 */
import { type Call, type Expression, type FunctionBody, isOpen, type Statement } from "../ast.ts";
import { hashString } from "../hash.ts";
import { formFor, resultOf, SUSPENDING } from "../natives.ts";
import { LuaTable } from "../table.ts";
import type { LuaFunction, LuaValue } from "../value.ts";
import { complex, constantFunction, hold, nameFor, sequence } from "./code.ts";
import { type Code, type FunctionEmitter, nameOf, quote, type Type } from "./emitter.ts";

/** What a call hands back. `single`: exactly one value. */
export interface Results {
  text: string;
  single: boolean;
  type: Type;
}

export function callValue(fn: FunctionEmitter, call: Call): Code {
  const { text, single, type } = callResults(fn, call);
  return complex(single ? text : `first(${text})`, type);
}

export function callResults(fn: FunctionEmitter, call: Call, tail = false, unused = false): Results {
  if (call.method !== undefined) return methodCall(fn, call, call.method, tail);
  const known = fn.chunk.known(call.callee);
  if (typeof known === "function") return nativeCall(fn, call, known, tail, unused);
  const site = fn.chunk.sites.mark(call.line, nameAt(call.callee), false, tail);
  const constant = constantFunction(call.callee);
  if (constant !== undefined) {
    const target = nameOf(constant.local);
    const single = returnsOne(constant.body);
    if (!fn.suspends)
      return { text: `${site}${target}(${fn.chunk.parts.listText(fn, call.args)})`, single, type: "any" };
    return { text: suspending(fn, site, target + args(fn, call)), single, type: "any" };
  }
  const mark = fn.mark();
  const setups: string[] = [];
  const callee = hold(fn, fn.chunk.parts.value(fn, call.callee), setups);
  fn.release(mark);
  const text = invocation(fn, call, callee, setups, nameFor(call.callee), site, "");
  return { text, single: false, type: "any" };
}

/** A call's arguments after another one. */
function args(fn: FunctionEmitter, call: Call): string {
  return call.args.length === 0 ? "" : `, ${fn.chunk.parts.listText(fn, call.args)}`;
}

/** The call of something that may turn out not to be a function, with an object before its arguments. */
function invocation(
  fn: FunctionEmitter,
  call: Call,
  callee: Code,
  setups: string[],
  what: string,
  site: string,
  self: string,
): string {
  const checked = `typeof ${callee.text} === "function" ? ${callee.text} : callable(${callee.text}, ${what})`;
  const target = sequence(setups, checked);
  const rest = self === "" ? fn.chunk.parts.listText(fn, call.args) : self + args(fn, call);
  if (fn.suspends) return suspending(fn, site, `${target}${rest === "" ? "" : ", "}${rest}`);
  return `${target}${site}(${rest})`;
}

/** A call in the course of which the function may be suspended. */
function suspending(fn: FunctionEmitter, site: string, calleeAndArguments: string): string {
  const mark = fn.mark();
  const name = fn.temporary();
  fn.release(mark);
  return `${site}(isSteps(${name} = start(${calleeAndArguments})) ? yield* ${name} : ${name})`;
}

/** The name by which errors of a called function call it. */
function nameAt(e: Expression): string | undefined {
  switch (e.kind) {
    case "local":
      return e.local.name;
    case "global":
      return e.name;
    case "index":
      return e.key.kind === "string" ? e.key.value : "?";
    case "single":
      return isOpen(e.operand) ? undefined : nameAt(e.operand);
    default:
      return undefined;
  }
}

function methodCall(fn: FunctionEmitter, call: Call, method: string, tail: boolean): Results {
  const site = fn.chunk.sites.mark(call.line, method, true, tail);
  const mark = fn.mark();
  const setups: string[] = [];
  const object = hold(fn, fn.chunk.parts.value(fn, call.callee), setups);
  const lookup = `${fn.chunk.sites.mark(call.line)}indexField(rt, ${object.text}, ${quote(method)}, ${hashString(method)}, ${nameFor(call.callee)})`;
  const ofStrings = stringMethod(fn, method);
  const found =
    ofStrings === undefined
      ? lookup
      : `typeof ${object.text} === "string" ? ${fn.chunk.constant(ofStrings)} : ${lookup}`;
  const callee = hold(fn, complex(found), setups);
  fn.release(mark);
  const what = quote(`method '${method}'`);
  return { text: invocation(fn, call, callee, setups, what, site, object.text), single: false, type: "any" };
}

/** The string library's function of this name, where scripts cannot change it. */
function stringMethod(fn: FunctionEmitter, method: string): LuaValue {
  const metatable = fn.chunk.rt.stringMetatable;
  const library = metatable?.readonly ? metatable.getStr("__index") : undefined;
  const f = library instanceof LuaTable && library.readonly ? library.getStr(method) : undefined;
  return typeof f === "function" ? f : undefined;
}

/** A function of the host that is known while compiling. */
function nativeCall(fn: FunctionEmitter, call: Call, f: LuaFunction, tail: boolean, unused: boolean): Results {
  const site = fn.chunk.sites.mark(call.line, nameAt(call.callee), false, tail);
  const [argument] = call.args;
  const name = fn.chunk.constant(argument?.kind === "string" ? formFor(f, argument.value, unused) : f);
  const result = resultOf(f);
  const single = result !== undefined;
  const type = result ?? "any";
  if (fn.suspends && SUSPENDING.has(f)) {
    return { text: suspending(fn, site, name + args(fn, call)), single, type };
  }
  return (
    inlined(fn, call, f, name, site) ?? {
      text: `${site}${name}(${fn.chunk.parts.listText(fn, call.args)})`,
      single,
      type,
    }
  );
}

/** Functions that are one machine instruction when their argument is a number. */
function inlined(fn: FunctionEmitter, call: Call, f: LuaFunction, name: string, site: string): Results | undefined {
  const [argument] = call.args;
  if (argument === undefined || call.args.length !== 1 || isOpen(argument)) return undefined;
  const text = INLINED[inlineName(f) ?? ""];
  if (text === undefined) return undefined;
  const mark = fn.mark();
  const setups: string[] = [];
  const operand = hold(fn, fn.chunk.parts.value(fn, argument), setups);
  fn.release(mark);
  const quick = `${text}(${operand.text})`;
  const slow =
    operand.type === "number"
      ? quick
      : `typeof ${operand.text} === "number" ? ${quick} : ${site}${name}(${operand.text})`;
  return { text: sequence(setups, slow), single: true, type: "number" };
}

const INLINED: Record<string, string> = { floor: "Math.floor", ceil: "Math.ceil", abs: "Math.abs", sqrt: "Math.sqrt" };
const inlineName = (f: LuaFunction) =>
  resultOf(f) === "number" && Object.hasOwn(INLINED, f.name) ? f.name : undefined;

/** Whether a function always hands back exactly one value. */
function returnsOne(body: FunctionBody): boolean {
  const cached = one.get(body);
  if (cached !== undefined) return cached;
  // While it is being looked at it is assumed to: a function that returns a call of itself does if its other returns do.
  one.set(body, true);
  const result = alwaysReturns(body.block) && everyReturn(body.block, isOneValue);
  one.set(body, result);
  return result;
}

const one = new WeakMap<FunctionBody, boolean>();

function isOneValue(values: Expression[]): boolean {
  const [e] = values;
  if (e === undefined || values.length !== 1) return false;
  if (!isOpen(e)) return true;
  if (e.kind !== "call" || e.method !== undefined) return false;
  const constant = constantFunction(e.callee);
  return constant !== undefined && one.get(constant.body) === true;
}

/** Whether control cannot reach the end of a block. */
export function alwaysReturns(block: Statement[]): boolean {
  const last = block.at(-1);
  if (last === undefined) return false;
  if (last.kind === "return") return true;
  if (last.kind === "do") return alwaysReturns(last.block);
  if (last.kind !== "if" || last.otherwise === undefined) return false;
  return last.clauses.every((clause) => alwaysReturns(clause.block)) && alwaysReturns(last.otherwise);
}

function everyReturn(block: Statement[], test: (values: Expression[]) => boolean): boolean {
  return block.every((statement) => {
    switch (statement.kind) {
      case "return":
        return test(statement.values);
      case "if":
        return (
          statement.clauses.every((clause) => everyReturn(clause.block, test)) &&
          everyReturn(statement.otherwise ?? [], test)
        );
      case "do":
      case "while":
      case "repeat":
      case "range":
      case "each":
        return everyReturn(statement.block, test);
      default:
        return true;
    }
  });
}
