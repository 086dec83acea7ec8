/** The whole state of two servers, compared: every key of every database with type, encoding, expiry and content. */
import type { Answer } from "./answer.ts";
import { BLUR, EXACT, type Rule, SORTED, SORTED_PAIRS, same } from "./rules.ts";
import type { Wire } from "./wire.ts";

export interface StateDifference {
  readonly db: number;
  readonly words: readonly string[];
  readonly rule: Rule;
  readonly real: Answer;
  readonly ours: Answer;
}

const DATABASES = Array.from({ length: 16 }, (_, i) => i);
const NEAR: Rule = { kind: "approx", by: 10_000 };

interface Question {
  readonly db: number;
  readonly words: readonly string[];
  readonly rule: Rule;
}

/** What to ask about a key, given its type and encoding: order counts wherever the encoding keeps one. */
function contentOf(key: string, type: string, encoding: string): Omit<Question, "db">[] {
  switch (type) {
    case "string":
      return [{ words: ["GET", key], rule: EXACT }];
    case "list":
      return [{ words: ["LRANGE", key, "0", "-1"], rule: EXACT }];
    case "set":
      return [{ words: ["SMEMBERS", key], rule: encoding === "intset" ? EXACT : SORTED }];
    case "hash":
      return [{ words: ["HGETALL", key], rule: encoding === "listpack" ? EXACT : SORTED_PAIRS }];
    case "zset":
      return [{ words: ["ZRANGE", key, "0", "-1", "WITHSCORES"], rule: EXACT }];
    case "stream":
      return [{ words: ["XINFO", "STREAM", key, "FULL", "COUNT", "0"], rule: BLUR }];
    default:
      return [];
  }
}

/** Whether a file has the value's elements in one order only. Streams do, and times beside it. */
const isOrdered = (type: string, encoding: string): boolean => encoding !== "hashtable" && type !== "stream";

export async function compareState(real: Wire, ours: Wire): Promise<StateDifference | undefined> {
  const listing = DATABASES.flatMap((db): Question[] => [
    { db, words: ["SELECT", String(db)], rule: EXACT },
    { db, words: ["KEYS", "*"], rule: SORTED },
  ]);
  const lists = await ask(listing, real, ours);
  if (lists.difference !== undefined) return lists.difference;
  for (const db of DATABASES) {
    const names = lists.answers[db * 2 + 1]!.items.map((item) => item.text).sort();
    if (names.length === 0) continue;
    const found = await compareKeys(db, names, real, ours);
    if (found !== undefined) return found;
  }
  return compareDigests(real, ours);
}

async function compareKeys(db: number, names: string[], real: Wire, ours: Wire): Promise<StateDifference | undefined> {
  const about = names.flatMap((key): Question[] => [
    { db, words: ["TYPE", key], rule: EXACT },
    { db, words: ["OBJECT", "ENCODING", key], rule: EXACT },
    { db, words: ["PTTL", key], rule: NEAR },
  ]);
  const kinds = await ask([{ db, words: ["SELECT", String(db)], rule: EXACT }, ...about], real, ours);
  if (kinds.difference !== undefined) return kinds.difference;
  const content: Question[] = [];
  for (const [i, key] of names.entries()) {
    const [type, encoding] = [kinds.answers[i * 3 + 1]!.text, kinds.answers[i * 3 + 2]!.text];
    for (const question of contentOf(key, type, encoding)) content.push({ db, ...question });
    content.push({ db, words: ["DEBUG", "OBJECT", key], rule: BLUR });
    if (isOrdered(type, encoding)) content.push({ db, words: ["DUMP", key], rule: EXACT });
  }
  return (await ask(content, real, ours)).difference;
}

async function compareDigests(real: Wire, ours: Wire): Promise<StateDifference | undefined> {
  const words = ["DEBUG", "DIGEST"];
  const [a, b] = await Promise.all([real.call(...words), ours.call(...words)]);
  if (a.tag === "-" || b.tag === "-" || same(a, b, EXACT)) return undefined;
  return { db: DATABASES.at(-1)!, words, rule: EXACT, real: a, ours: b };
}

async function ask(
  questions: readonly Question[],
  real: Wire,
  ours: Wire,
): Promise<{ answers: Answer[]; difference?: StateDifference }> {
  const commands = questions.map((question) => question.words);
  const [a, b] = await Promise.all([real.pipeline(commands), ours.pipeline(commands)]);
  for (const [i, { db, words, rule }] of questions.entries()) {
    // What ours lacks altogether is reported as missing, not as a difference of the state.
    if (b[i]!.tag === "-" && /^ERR unknown (sub)?command/.test(b[i]!.text)) continue;
    if (!same(a[i]!, b[i]!, rule)) return { answers: a, difference: { db, words, rule, real: a[i]!, ours: b[i]! } };
  }
  return { answers: a };
}
