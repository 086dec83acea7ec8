/**
 * Functions, and the question whether one may be suspended.
 *
 * In a chunk that may use coroutines, a function that calls something unknown is emitted as a generator, which `resumable`
 * (suspension.ts) wraps into a plain function; in all other chunks, and if it calls nothing, it is a plain function.
 */
import type { Block, Call, Expression, FunctionBody } from "../ast.ts";
import { SUSPENDING } from "../natives.ts";
import { alwaysReturns } from "./calls.ts";
import { type ChunkEmitter, FunctionEmitter, nameOf } from "./emitter.ts";

/** Counts a call. The mention of `chunk` keeps its description alive as long as its code. */
const callCheck = (code: string) => `if ((rt.fuel -= ${weight(code)}) < 0) rt.tick(chunk);`;
/** Counts a round of a loop, in a variable of the function, which costs much less than one in memory. */
const loopCheck = (code: string) => `if ((${ROUNDS} += ${weight(code)}) > 8191) {${ROUNDS} = 0; rt.tick(chunk);}`;

const ROUNDS = "rounds";
/** As much code as a few statements make. */
const WEIGHED = 512;
/** A tick stands for a bounded amount of work and memory: long pieces of code count for more than one round. */
const weight = (code: string) => 1 + Math.floor(code.length / WEIGHED);

/** A loop: its head up to the brace, and the code of a round. */
export const loopText = (head: string, code: string) => `${head} {${loopCheck(code)}${code}}`;

export function functionText(outer: FunctionEmitter, body: FunctionBody): string {
  const parameters = body.parameters.map(nameOf);
  return emitFunction(outer.chunk, body, parameters);
}

export function emitFunction(chunk: ChunkEmitter, body: FunctionBody, parameters: string[]): string {
  chunk.depth++;
  const suspends = chunk.options.resumable && callsUnknown(chunk, body.block);
  const fn = new FunctionEmitter(chunk, body, suspends);
  const { scope } = body;
  const arg = scope.arg?.used ? scope.arg : undefined;
  if (scope.usesVararg || arg !== undefined) parameters.push("...va");
  let start = "";
  if (arg !== undefined) start = `let ${nameOf(arg)}${scope.usesVararg ? "" : " = argTable(va)"};`;
  const block = chunk.parts.blockText(fn, body.block);
  chunk.depth--;
  const end = alwaysReturns(body.block) ? "" : "return EMPTY;";
  const inner = fn.jumpsToStart ? loopText("start: for (;;)", block + end) : block + end;
  const loops = inner.includes(`((${ROUNDS} += `) ? `let ${ROUNDS} = 0;` : "";
  const text = `(${parameters.join(", ")}) { ${fn.declarations()}${callCheck(inner)}${loops}${start}${inner}}`;
  return suspends ? `resumable(function*${text})` : `function${text}`;
}

/** Whether a block, functions inside it aside, calls anything but functions of the host that do not suspend. */
function callsUnknown(chunk: ChunkEmitter, block: Block): boolean {
  const inCall = (call: Call): boolean => {
    const known = call.method === undefined ? chunk.known(call.callee) : undefined;
    if (typeof known !== "function" || SUSPENDING.has(known)) return true;
    return call.args.some(inExpression);
  };
  const inExpression = (e: Expression | undefined): boolean => {
    switch (e?.kind) {
      case "call":
        return inCall(e);
      case "index":
        return inExpression(e.object) || inExpression(e.key);
      case "binary":
      case "logic":
        return inExpression(e.left) || inExpression(e.right);
      case "unary":
      case "single":
        return inExpression(e.operand);
      case "table":
        return e.items.some((item) => inExpression(item.key) || inExpression(item.value));
      default:
        return false;
    }
  };
  return block.some((s) => {
    switch (s.kind) {
      case "call":
        return inCall(s.call);
      case "local":
      case "return":
        return s.values.some(inExpression);
      case "assign":
        return s.values.some(inExpression) || s.targets.some(inExpression);
      case "do":
        return callsUnknown(chunk, s.block);
      case "while":
      case "repeat":
        return inExpression(s.condition) || callsUnknown(chunk, s.block);
      case "if":
        return (
          s.clauses.some((clause) => inExpression(clause.condition) || callsUnknown(chunk, clause.block)) ||
          callsUnknown(chunk, s.otherwise ?? [])
        );
      case "range":
        return [s.start, s.limit, s.step].some(inExpression) || callsUnknown(chunk, s.block);
      case "each":
        return s.values.some(inExpression) || callsUnknown(chunk, s.block);
      default:
        return false;
    }
  });
}
