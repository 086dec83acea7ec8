/**
 * What the scripts of sharded structures answer, for both sides: the Lua makes an answer of these words, and callers read it here.
 *
 * An answer begins with a verdict. Behind `done` stands what the script has found out: one value, {family, number …} of `claim`,
 * {moved, empty} of `move`, or the lane of a list with what was taken from it. Behind `outdated` stand the fields of the gate, since
 * the caller believes in another layout. `full` and `busy` (somebody else moves elements here) stand alone.
 */

import { asList } from "../../../base/replies.ts";
import type { Reply } from "../../../connection/port.ts";

export const OUTDATED = 0;
export const DONE = 1;
export const FULL = 2;
export const BUSY = 3;

export type Verdict = "outdated" | "done" | "full" | "busy";

const VERDICTS: readonly Verdict[] = ["outdated", "done", "full", "busy"];

/** Shards by hash, numbered from 0 on; and shards by range, listed in a directory. */
export const HASHED = "h";
export const RANGED = "r";

export type Family = typeof HASHED | typeof RANGED;

/** For scripts with a `gate`: says that the caller's layout is not the gate's. */
export const OUTDATED_LUA = `
local function outdated()
  local found = redis.call("HGETALL", gate)
  table.insert(found, 1, ${OUTDATED})
  return found
end
`;

export const verdictOf = (answer: readonly Reply[]): Verdict => VERDICTS[Number(answer[0])]!;

/** Of an answer that says `outdated`: the gate, field after value. */
export const gateIn = (answer: readonly Reply[]): Reply[] => answer.slice(1);

/** Of an answer that says `done`. */
export const valueIn = (answer: readonly Reply[]): Reply => answer[1] ?? null;

export interface Claim {
  readonly family: Family;
  readonly numbers: readonly number[];
}

/** Which shards are to be moved next; null when none is left. */
export function claimIn(answer: readonly Reply[]): Claim | null {
  const [family, ...numbers] = asList(valueIn(answer));
  return family === undefined ? null : { family: family === RANGED ? RANGED : HASHED, numbers: numbers.map(Number) };
}

/** How many elements one `move` has moved. */
export const movedIn = (answer: readonly Reply[]): number => Number(asList(valueIn(answer))[0]);

/** The Lua of the answer about a lane. */
export const laneLua = (count: string): string => `{${DONE}, ${count}, first, last}`;

/** The Lua that puts the lane as it is now into an answer that was begun before. */
export const laneAgainLua = (answer: string): string => `${answer}[2], ${answer}[3], ${answer}[4] = n, first, last`;

/** Words of the answer about a lane that stand before what was taken from it. */
export const LANE_HEAD = 4;

export interface LaneAnswer {
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

export function laneIn(answer: readonly Reply[]): LaneAnswer {
  return { count: Number(answer[1]), first: Number(answer[2]), last: Number(answer[3]) };
}

export const takenIn = (answer: readonly Reply[]): readonly Reply[] => answer.slice(LANE_HEAD);
