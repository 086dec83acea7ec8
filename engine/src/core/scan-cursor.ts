/**
 * Cursors as clients see them.
 *
 * A cursor is a hash (dict.ts), and a client that pages one member at a time would see the hash of every member. So what is
 * shown is the hash under a permutation that only this process knows: a Feistel network over two halves of 16 bits, whose
 * rounds are keyed hashes. A cursor is still 32 bits and needs no memory; it says no more than that a scan stood somewhere.
 * 0 begins and ends a scan and stays 0. A cursor from another process (before a restart or a failover) is a place like any
 * other: the scan goes on from there, but what it returned before and what it returns then are unrelated.
 */
import { randomBytes } from "../platform/random.ts";
import { hashBytes } from "./word-hash.ts";

const ROUNDS = 6;
const SECRET_BYTES = 16;
/** What the rounds hash: the secret, the number of the round, half a cursor. */
const message = new Uint8Array(SECRET_BYTES + 3);
message.set(randomBytes(SECRET_BYTES));

function mix(round: number, half: number): number {
  message[SECRET_BYTES] = round;
  message[SECRET_BYTES + 1] = half & 0xff;
  message[SECRET_BYTES + 2] = half >>> 8;
  return hashBytes(message, 0, message.length) & 0xffff;
}

function permute(value: number): number {
  let left = value >>> 16;
  let right = value & 0xffff;
  for (let round = 0; round < ROUNDS; round++) [left, right] = [right, left ^ mix(round, right)];
  return ((left << 16) | right) >>> 0;
}

function permuteBack(value: number): number {
  let left = value >>> 16;
  let right = value & 0xffff;
  for (let round = ROUNDS - 1; round >= 0; round--) [left, right] = [right ^ mix(round, left), left];
  return ((left << 16) | right) >>> 0;
}

// What would become 0 is permuted once more: this way the rest stays a permutation.

/** A dict's cursor as a client may see it. */
export function hideCursor(cursor: number): number {
  if (cursor === 0) return 0;
  const hidden = permute(cursor);
  return hidden === 0 ? permute(0) : hidden;
}

/** The dict's cursor behind one that a client has sent: any 32 bits. */
export function showCursor(hidden: number): number {
  if (hidden === 0) return 0;
  const cursor = permuteBack(hidden);
  return cursor === 0 ? permuteBack(0) : cursor;
}
