/** One key for each name: the last number that was reserved. */
import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("ids");

export function idKey(prefix: string, name: string): string {
  return tagged(prefix, name, "sequence");
}
