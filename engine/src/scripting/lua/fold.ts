/**
 * What Lua works out while it parses. It shows: an error names an operand only if it is still the variable or field that was
 * written.
 */
import type { Expression } from "./ast.ts";

/** `and` and `or`; behind a literal that decides nothing, Lua leaves only the other operand. */
export function choose(op: "and" | "or", left: Expression, right: Expression): Expression {
  if (truthOf(left) !== (op === "and")) return { kind: "logic", op, left, right };
  return right.kind === "single" ? right : { kind: "single", operand: right };
}

/** Whether a literal counts as true; undefined for anything else. */
function truthOf(e: Expression): boolean | undefined {
  switch (e.kind) {
    case "nil":
    case "false":
      return false;
    case "true":
    case "number":
    case "string":
      return true;
    case "single":
      return truthOf(e.operand);
    default:
      return undefined;
  }
}

/** Operators on literals are applied here, as in Lua, but for what would give NaN or divide by zero. */
export function fold(expression: Extract<Expression, { kind: "unary" | "binary" }>): Expression {
  if (expression.kind === "unary") {
    const { op, operand } = expression;
    if (op === "-" && operand.kind === "number") return { kind: "number", value: -operand.value };
    const truth = op === "not" ? truthOf(operand) : undefined;
    return truth === undefined ? expression : { kind: truth ? "false" : "true" };
  }
  const { left, right, op } = expression;
  if (left.kind !== "number" || right.kind !== "number") return expression;
  const a = left.value;
  const b = right.value;
  let value = NaN;
  if (op === "+") value = a + b;
  else if (op === "-") value = a - b;
  else if (op === "*") value = a * b;
  else if (op === "/" && b !== 0) value = a / b;
  else if (op === "%" && b !== 0) value = a - Math.floor(a / b) * b;
  return Number.isNaN(value) ? expression : { kind: "number", value };
}
