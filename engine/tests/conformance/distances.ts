/**
 * The one thing in which distances may differ: the last digits of a double.
 *
 * Redis takes sines and arc sines from the C library, which rounds a few in a thousand wrongly, and others on processors
 * with fused multiply-add than on those without: the same redis-server on the same machine stores other distances where the
 * library may not use that instruction (README.md has the figures). So there is no digit that ours could be equal to.
 *
 * A distance that STOREDIST has stored is a score like any other from then on. Where it differs by so little, ours is given
 * Redis's right away and the difference is counted; what follows is compared exactly, as everything is.
 */
import type { Answer } from "./answer.ts";
import type { Command } from "./random.ts";
import { EXACT, same } from "./rules.ts";

/** One side of the comparison. */
interface Side {
  call(...words: string[]): Promise<Answer>;
}

/** Half a million distances differed by at most six. */
const MOST_UNITS = 8;

const bits = new DataView(new ArrayBuffer(8));

function ordinal(value: number): bigint {
  bits.setFloat64(0, value);
  return bits.getBigInt64(0);
}

/** How many doubles apart two numbers of one sign are. */
function unitsApart(a: number, b: number): number {
  return Math.abs(Number(ordinal(a) - ordinal(b)));
}

/** Whether two scores are one distance, rounded twice. */
export function isSameDistance(a: string, b: string): boolean {
  if (a === b) return true;
  const [x, y] = [Number(a), Number(b)];
  return a !== "" && b !== "" && x > 0 && y > 0 && unitsApart(x, y) <= MOST_UNITS;
}

/** The key in which a command stores distances; undefined of any other command. */
export function distancesKey({ words, mode }: Command): string | undefined {
  if (mode !== "plain" || !words[0]!.toLowerCase().startsWith("geo")) return undefined;
  const at = words.findIndex((word) => word.toLowerCase() === "storedist");
  if (at < 0) return undefined;
  return words[0]!.toLowerCase() === "geosearchstore" ? words[1] : words[at + 1];
}

/** Gives ours the distances at a key that Redis has, where only their rounding differs; says how many there were. */
export async function levelDistances(key: string, real: Side, ours: Side): Promise<number> {
  const question = ["ZRANGE", key, "0", "-1", "WITHSCORES"];
  const [theirs, mine] = await Promise.all([real.call(...question), ours.call(...question)]);
  if (same(theirs, mine, EXACT)) return 0;
  const [a, b] = [scoresOf(theirs), scoresOf(mine)];
  const sameMembers = a.length === b.length && a.every(([member], i) => b[i]![0] === member);
  if (!sameMembers || !a.every(([, score], i) => isSameDistance(score, b[i]![1]))) return 0;
  const rounded = a.filter(([, score], i) => b[i]![1] !== score);
  await ours.call("ZADD", key, ...rounded.flatMap(([member, score]) => [score, member]));
  return rounded.length;
}

/** Members and scores of either protocol. */
function scoresOf(answer: Answer): [member: string, score: string][] {
  const flat = answer.items.flatMap((item) => (item.items.length > 0 ? item.items : [item])).map(({ text }) => text);
  return Array.from({ length: Math.floor(flat.length / 2) }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);
}
