/** When two answers count as equal: exactly, unless the line or the command says otherwise. */
import { type Answer, aggregate } from "./answer.ts";

export type Rule =
  | { readonly kind: "exact" | "type" | "error" | "any" }
  /** Arrays, sets and maps at every depth as multisets; `pairs` keeps the elements of an array together in twos. */
  | { readonly kind: "sorted"; readonly pairs: boolean }
  /** Times, idle times, figures of memory layout (XINFO, DEBUG OBJECT) and who a client is (CLIENT LIST) do not count. */
  | { readonly kind: "blur" }
  /** Numbers with four decimals, which is how distances are shown, may differ in the last. */
  | { readonly kind: "distance" }
  /** Numbers, wherever they stand, within `by`. */
  | { readonly kind: "approx"; readonly by: number };

export const EXACT: Rule = { kind: "exact" };
export const SORTED: Rule = { kind: "sorted", pairs: false };
export const SORTED_PAIRS: Rule = { kind: "sorted", pairs: true };
export const TYPE: Rule = { kind: "type" };
export const BLUR: Rule = { kind: "blur" };
export const DISTANCE: Rule = { kind: "distance" };

export function same(a: Answer, b: Answer, rule: Rule): boolean {
  switch (rule.kind) {
    case "exact":
      return equal(a, b);
    case "any":
      return true;
    case "sorted":
      return equal(sorted(a, rule.pairs), sorted(b, rule.pairs));
    case "type":
      return alike(a, b);
    case "error":
      return isError(a) && isError(b) ? firstWord(a.text) === firstWord(b.text) : equal(a, b);
    case "blur":
      return equal(blurred(a), blurred(b));
    case "distance":
      return sameDistances(a, b);
    case "approx":
      return near(a, b, rule.by);
  }
}

function equal(a: Answer, b: Answer): boolean {
  if (a.tag !== b.tag || a.text !== b.text || a.items.length !== b.items.length) return false;
  for (let i = 0; i < a.items.length; i++) if (!equal(a.items[i]!, b.items[i]!)) return false;
  return true;
}

const isError = (answer: Answer): boolean => answer.tag === "-" || answer.tag === "!";
const firstWord = (text: string): string => text.split(" ", 1)[0]!;

/** The same kinds at every depth; texts do not count, except those of errors. */
function alike(a: Answer, b: Answer): boolean {
  if (a.tag !== b.tag || a.items.length !== b.items.length) return false;
  if (isError(a)) return a.text === b.text;
  for (let i = 0; i < a.items.length; i++) if (!alike(a.items[i]!, b.items[i]!)) return false;
  return true;
}

function near(a: Answer, b: Answer, by: number): boolean {
  if (a.tag !== b.tag || a.items.length !== b.items.length) return false;
  if (a.text !== b.text) {
    const distance = Math.abs(Number(a.text) - Number(b.text));
    if (isError(a) || a.text === "" || b.text === "" || !(distance <= by)) return false;
    // A key without expiry (-1) or no key at all (-2) is never near a time.
    if (Number(a.text) < 0 !== Number(b.text) < 0) return false;
  }
  for (let i = 0; i < a.items.length; i++) if (!near(a.items[i]!, b.items[i]!, by)) return false;
  return true;
}

const FOUR_DECIMALS = /^\d+\.\d{4}$/;

function sameDistances(a: Answer, b: Answer): boolean {
  if (a.tag !== b.tag || a.items.length !== b.items.length) return false;
  if (a.text !== b.text) {
    if (!FOUR_DECIMALS.test(a.text) || !FOUR_DECIMALS.test(b.text)) return false;
    if (Math.abs(Math.round(Number(a.text) * 10_000) - Math.round(Number(b.text) * 10_000)) > 1) return false;
  }
  return a.items.every((item, i) => sameDistances(item, b.items[i]!));
}

function sorted(answer: Answer, pairs: boolean): Answer {
  if (answer.items.length === 0) return answer;
  const items = answer.items.map((item) => sorted(item, pairs));
  const step = answer.tag === "%" || (pairs && items.length % 2 === 0) ? 2 : 1;
  const groups: { text: string; items: Answer[] }[] = [];
  for (let i = 0; i < items.length; i += step) {
    const group = items.slice(i, i + step);
    groups.push({ text: group.map(flatten).join("\0"), items: group });
  }
  groups.sort((x, y) => (x.text < y.text ? -1 : x.text > y.text ? 1 : 0));
  return aggregate(
    answer.tag,
    groups.flatMap((group) => group.items),
  );
}

/** Any order will do, as long as it is the same for equal answers. */
function flatten(answer: Answer): string {
  return answer.items.length === 0
    ? `${answer.tag}${answer.text.length}:${answer.text}`
    : `${answer.tag}(${answer.items.map(flatten).join(",")})`;
}

const BLURRED = new Set(["seen-time", "active-time", "idle", "inactive", "radix-tree-keys", "radix-tree-nodes"]);

/** What DEBUG OBJECT says of where a value lies, who shares it, and when it was used. */
const PLACE_AND_TIME = /\b(Value at|refcount|lru|lru_seconds_idle):\S+/g;

/** What CLIENT LIST says of who a client is, since when, and of the size of buffers that are laid out otherwise with us. */
const CLIENT_PLACE_AND_TIME = / ?\b(id|addr|laddr|fd|age|idle|qbuf-free|rbs|rbp|tot-mem|redir|lib-name|lib-ver)=\S*/g;
const CLIENT_LINE = /^(txt:)?id=\d+ addr=/;

/** Blanks milliseconds since 1970 of this age, and the values behind names that depend on time or on memory layout. */
function blurred(answer: Answer): Answer {
  if (answer.tag === ":") {
    const number = Number(answer.text);
    return number > 1.6e12 && number < 3e12 ? { ...answer, text: "time" } : answer;
  }
  if (CLIENT_LINE.test(answer.text)) return { ...answer, text: answer.text.replace(CLIENT_PLACE_AND_TIME, "") };
  if (answer.tag === "+") return { ...answer, text: answer.text.replace(PLACE_AND_TIME, "$1:blurred") };
  if (answer.items.length === 0) return answer;
  const items = answer.items.map((item, i) => {
    const before = answer.items[i - 1];
    const named = before !== undefined && before.tag === "$" && BLURRED.has(before.text);
    return named && item.tag === ":" ? { ...item, text: "blurred" } : blurred(item);
  });
  return aggregate(answer.tag, items);
}
