/**
 * Ids of users, lists and statuses.
 *
 * A status's id is eight characters of time and its author's id: `<time><author>`. The time is in an alphabet whose order is that
 * of its bytes, so ids sort as they were posted, by any comparison of bytes: sorted sets by lex, JavaScript strings, merges of
 * many sources. The author in it makes it unique without anybody being asked, and says in which slot the status is.
 *
 * The time counts 64ths of a millisecond since 2020: the author's slot gives each of their statuses the server's time or the next
 * number after their last, whichever is larger, so an author's own statuses never share one. 48 bits last until 2159.
 */
import { randomToken } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";

/** In the order of their bytes. */
export const ALPHABET = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
export const EPOCH_MS = 1_577_836_800_000;
export const STEPS_PER_MS = 64;
export const TIME_LENGTH = 8;

/** Stands behind every id of the same time in the order of bytes. */
export const LAST = "~";

const USER = /^[A-Za-z0-9_-]{1,40}$/;
const LIST = /^\+[A-Za-z0-9_-]{1,40}$/;

export const timeOf = (status: string): string => status.slice(0, TIME_LENGTH);
export const authorOf = (status: string): string => status.slice(TIME_LENGTH);
export const statusId = (time: string, author: string): string => time + author;

/** When it was posted, by its author's server. */
export function msOf(status: string): number {
  let steps = 0;
  for (let at = 0; at < TIME_LENGTH; at++) steps = steps * 64 + ALPHABET.indexOf(status.charAt(at));
  return EPOCH_MS + Math.floor(steps / STEPS_PER_MS);
}

/** 60 random bits; who uses one as a user's id finds out if it is taken. */
export const newId = (): string => randomToken().slice(0, 10);

export function checkUser(what: string, id: string): string {
  if (typeof id !== "string" || !USER.test(id)) {
    throw new InputError(`${what} must be 1 to 40 letters, digits, "-" or "_"`);
  }
  return id;
}

export function checkList(id: string): string {
  if (typeof id !== "string" || !LIST.test(id)) throw new InputError('the id of a list is "+" and 1 to 40 characters');
  return id;
}

export const isList = (subject: string): boolean => subject.startsWith("+");

export function checkStatus(what: string, id: string): string {
  const isSound = typeof id === "string" && USER.test(timeOf(id)) && timeOf(id).length === TIME_LENGTH;
  if (!isSound || !USER.test(authorOf(id))) throw new InputError(`${what} is not the id of a status`);
  return id;
}

/** Lua: `timeText(steps)` writes a number of steps as the beginning of an id. */
export const LUA_TIME = `
local ALPHABET = "${ALPHABET}"
local function timeText(steps)
  local text = ""
  for _ = 1, ${TIME_LENGTH} do
    local digit = steps % 64
    text = ALPHABET:sub(digit + 1, digit + 1) .. text
    steps = (steps - digit) / 64
  end
  return text
end
`;

/**
 * Lua: `isAfter(a, b)`: a comes after b in the order of bytes. Lua's own comparison follows the locale that the server was started
 * in, which sorted sets do not.
 */
export const LUA_ORDER = `
local function isAfter(a, b)
  local length = math.min(#a, #b)
  for at = 1, length do
    local x, y = a:byte(at), b:byte(at)
    if x ~= y then return x > y end
  end
  return #a > #b
end
`;
