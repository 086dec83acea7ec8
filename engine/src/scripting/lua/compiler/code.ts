/** Pieces of JavaScript, and what is done with them wherever they come from. */
import { type Expression, type FunctionBody, isOpen } from "../ast.ts";
import type { Local } from "../scope.ts";
import { type Code, type FunctionEmitter, quote } from "./emitter.ts";

export const simple = (text: string, type: Code["type"] = "any"): Code => ({ text, type, simple: true });
export const complex = (text: string, type: Code["type"] = "any"): Code => ({ text, type, simple: false });

/** The function that a variable always holds; undefined for every other expression. */
export function constantFunction(e: Expression): { local: Local; body: FunctionBody } | undefined {
  if (e.kind !== "local" || e.local.assigned) return undefined;
  const [stored] = e.local.stored;
  return stored?.kind === "function" ? { local: e.local, body: stored.body } : undefined;
}

/** How Lua's errors name an operand; as a literal, to be passed on. */
export function nameFor(e: Expression): string {
  const name = describe(e);
  return name === undefined ? "undefined" : quote(name);
}

function describe(e: Expression): string | undefined {
  switch (e.kind) {
    case "local":
      return `${e.up ? "upvalue" : "local"} '${e.local.name}'`;
    case "global":
      return `global '${e.name}'`;
    case "index":
      return `field '${e.key.kind === "string" ? e.key.value : "?"}'`;
    case "single":
      return isOpen(e.operand) ? undefined : describe(e.operand);
    default:
      return undefined;
  }
}

/** An operand in a form that may be repeated. */
export function hold(fn: FunctionEmitter, code: Code, setups: string[]): Code {
  if (code.simple) return code;
  const name = fn.temporary();
  setups.push(`${name} = ${code.text}`);
  return simple(name, code.type);
}

/** Text behind what has to be set up before it. */
export function sequence(setups: string[], text: string): string {
  return setups.length === 0 ? `(${text})` : `(${setups.join(", ")}, ${text})`;
}
