/**
 * How much of V8's heap is for objects that stay, by what is known of how V8 was started. What is for new ones is three times
 * `--max-semi-space-size`. By default that is a 128th of what is for those that stay, and at most 16 MB; from V8 13 on (Node 24) it is
 * a 32nd, and at most 64 MB.
 */

const MB = 1024 * 1024;
const USUAL = { part: 128, mostMb: 16 };
const FROM_13 = { part: 32, mostMb: 64 };

export interface HeapStart {
  /** Those of the command line and of NODE_OPTIONS. */
  readonly flags: string;
  /** All of the heap, in bytes. */
  readonly limit: number;
  readonly v8: string;
  /** What a worker thread may take for new objects, where somebody said it. */
  readonly youngMb: number | undefined;
}

const megabytesOf = (flags: string, name: string): number | undefined => {
  const found = [...flags.matchAll(new RegExp(`--${name.replaceAll("-", "[-_]")}=(\\d+)`, "g"))].at(-1);
  return found && Number(found[1]);
};

export function oldLimitOf({ flags, limit, v8, youngMb }: HeapStart): number {
  const old = megabytesOf(flags, "max-old-space-size");
  if (old !== undefined && old > 0 && old * MB < limit) return old * MB;
  const semi = megabytesOf(flags, "max-semi-space-size");
  const young = semi === undefined ? youngMb : 3 * semi;
  if (young !== undefined) return Math.max(0, limit - young * MB);
  const { part, mostMb } = Number.parseInt(v8, 10) >= 13 ? FROM_13 : USUAL;
  return limit - Math.min(3 * mostMb * MB, (limit * 3) / (part + 3));
}
