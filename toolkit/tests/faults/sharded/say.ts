/** Says a line before anything else happens: what is in the pipe survives its writer. */
import { out } from "../../kit/out.ts";

export function say(line: unknown): void {
  out(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
}
