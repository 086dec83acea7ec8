/** What a call needs of its keys. Most commands have one key at a fixed place; that is found out once, not at each call. */
import type { KeyFlag, Row } from "../../table/command.ts";
import { hasKeys } from "../../table/key-extraction.ts";

export const READ = 1;
export const WRITE = 2;

const WRITES: readonly KeyFlag[] = ["insert", "delete", "update"];

/** The permissions that a command needs for a key that it uses so. */
export function accessOf(flags: readonly KeyFlag[]): number {
  const reads = flags.includes("access") ? READ : 0;
  return flags.some((flag) => WRITES.includes(flag)) ? reads | WRITE : reads;
}

/**
 * The place of the only key and the permissions for it, null where the words of a call decide; or that there is no key, or
 * that only the words tell where keys are.
 */
export type KeyPlan = { readonly index: number; readonly access: number | null } | "none" | "varies";

export function keyPlanOf(row: Row): KeyPlan {
  if (!hasKeys(row)) return "none";
  const [spec, ...others] = row.keys ?? [];
  if (spec === undefined || others.length > 0 || row.keysOf !== undefined) return "varies";
  const { begin, find, flags } = spec;
  if (!("index" in begin) || find === null || !("last" in find) || find.last !== 0) return "varies";
  return { index: begin.index, access: row.keyFlagsOf === undefined ? accessOf(flags) : null };
}
