/**
 * Finds the variables that hold numbers whenever they are read, so that arithmetic on them needs no tests and V8 can keep
 * them in registers. All that could be are assumed to be, and those are struck out into which something else is stored,
 * until nothing changes.
 */
import type { Expression } from "../ast.ts";
import type { Local } from "../scope.ts";

export function inferNumbers(locals: Local[]): void {
  let candidates = locals.filter((local) => local.stored.length > 0 && !local.stored.includes(undefined));
  for (const local of candidates) local.numeric = true;
  for (;;) {
    const kept = candidates.filter((local) => local.stored.every((value) => value !== undefined && isNumeric(value)));
    if (kept.length === candidates.length) return;
    for (const local of candidates) local.numeric = false;
    for (const local of kept) local.numeric = true;
    candidates = kept;
  }
}

const ARITHMETIC = new Set(["+", "-", "*", "/", "%", "^"]);

/** Whether an expression gives a number, or an error. */
function isNumeric(expression: Expression): boolean {
  switch (expression.kind) {
    case "number":
      return true;
    case "local":
      return expression.local.numeric;
    case "single":
      return isNumeric(expression.operand);
    case "unary":
      return expression.op === "#" || (expression.op === "-" && isNumeric(expression.operand));
    case "binary":
      return ARITHMETIC.has(expression.op) && isNumeric(expression.left) && isNumeric(expression.right);
    case "logic":
      return isNumeric(expression.left) && isNumeric(expression.right);
    default:
      return false;
  }
}
