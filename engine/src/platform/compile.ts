/** Text to a function of this program. */
import { compileFunction } from "node:vm";

/** `name` is what frames of it are called on the stack. */
export function compile(code: string, parameters: readonly string[], name: string): (...values: never[]) => unknown {
  return compileFunction(code, parameters, { filename: name }) as (...values: never[]) => unknown;
}
