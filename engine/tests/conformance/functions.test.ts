/**
 * The engine's small functions beside a real server, on random input: patterns, floats as they are read and printed, long
 * double sums, HyperLogLog's bytes. Whole commands are compared elsewhere; here each function meets far more of its input.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { INCR_NAN, NOT_A_FLOAT, ReplyError } from "../../src/core/errors.ts";
import { compileGlob, globMatch } from "../../src/lib/glob.ts";
import { addLongDouble } from "../../src/lib/long-double.ts";
import { formatDouble, parseFloat64, parseInt64 } from "../../src/lib/numbers.ts";
import { Bytes } from "../../src/types/bytes.ts";
import { addElement, countOf, invalidateCount, newHll } from "../../src/types/hyperloglog.ts";
import type { Answer } from "./answer.ts";
import { Prng } from "./prng.ts";
import { redisMissing } from "./redis-server.ts";
import { realTarget, type Target } from "./target.ts";
import type { Wire } from "./wire.ts";

const missing = redisMissing();

/** Words that read as numbers, nearly read as numbers, or lie at the border of what can be read. */
const ODD_NUMBERS = [
  ...["inf", "-inf", "+INFINITY", "infin", "nan", "-nan", "nan(3)", "", ".", "-", "+", "1e", "1e+", "e5", ".e5"],
  ...["0x", "0x.", "0x.p1", "0x1p", "0x1.8", "0X1P3", "0x1g", " 1", "1 ", "\t1", "1\0", "--1", "+-1", "5.", "-.5"],
  ...["1_0", "1,0", "1.2.3", "0", "-0", "00", "0e999999999", "0x0p99999999", "1e99999999999999999999", "1e308"],
  ...["1e-99999999999999999999", "0x1p99999999999999999", "1e4932", "1.18973149535723176502e4932", "2e308", "1e-323"],
  ...["1.18973149535723176503e4932", "1.2e4932", "3.6e-4951", "1.8e-4951", "1.9e-4951", "1e-324", "3e-324"],
  ...["1".repeat(5119), `${"0".repeat(5118)}1`, `0.${"0".repeat(5000)}1`, "1".repeat(5120)],
];

function digits(random: Prng, most: number): string {
  let text = "";
  for (let i = random.between(1, most); i > 0; i--) text += random.below(10);
  return text;
}

function numberWord(random: Prng): string {
  const sign = random.pick(["", "", "-", "+"]);
  switch (random.below(9)) {
    case 0:
      return `${sign}${digits(random, 20)}`;
    case 1:
      return `${sign}${digits(random, 5)}.${digits(random, 24)}`;
    case 2:
      return `${sign}${digits(random, 3)}.${digits(random, 6)}e${random.pick(["", "-", "+"])}${random.below(40)}`;
    case 3:
      return `${sign}${digits(random, 1)}e${random.pick(["", "-"])}${random.below(5000)}`;
    case 4:
      return `${sign}0x${random.next().toString(16)}.${random.next().toString(16)}p${random.between(-60, 60)}`;
    case 5:
      return `${sign}${digits(random, 1)}.${digits(random, 13)}`;
    case 6:
      // Dyadic fractions: exactly between two decimals now and then.
      return String(random.next() * 2 ** -random.below(50));
    case 7:
      return `${sign}${"9".repeat(random.between(1, 20))}.${"9".repeat(random.between(1, 22))}`;
    default:
      return random.pick(ODD_NUMBERS);
  }
}

function word(random: Prng, alphabet: string, most: number): string {
  let text = "";
  for (let i = random.below(most); i > 0; i--) text += alphabet[random.below(alphabet.length)];
  return text;
}

/** What the engine would answer, in the spelling of `said`. */
function answerOf(compute: () => string): string {
  try {
    return compute();
  } catch (error) {
    if (error instanceof ReplyError) return `-${error.text}`;
    throw error;
  }
}

const said = (answer: Answer) => (answer.tag === "-" ? `-${answer.text}` : answer.text);

describe.skipIf(missing !== undefined)("beside a real server", () => {
  let real: Target;
  let wire: Wire;

  beforeAll(async () => {
    real = await realTarget();
    wire = await real.connect();
  });
  beforeEach(() => real.reset());
  afterAll(() => real?.close());

  test("patterns match the same words", async () => {
    const random = new Prng(1);
    const texts = new Set<string>();
    while (texts.size < 200) texts.add(word(random, "abcAB-]^[\\*\xff\x80?\0", 7));
    await wire.call("SADD", "s", ...texts);
    for (let round = 0; round < 20; round++) {
      const patterns = Array.from({ length: 200 }, () => word(random, "aabbcAB**?[[]^--\\\xff\x80\0", 12));
      const pages = await wire.pipeline(
        patterns.map((pattern) => ["SSCAN", "s", "0", "MATCH", pattern, "COUNT", "1000"]),
      );
      patterns.forEach((pattern, i) => {
        if (pattern === "*") return;
        const matching = new Set(pages[i]!.items[1]!.items.map((item) => item.text));
        const compiled = compileGlob(pattern);
        for (const text of texts) {
          if (globMatch(pattern, text) === matching.has(text) && compiled(text) === matching.has(text)) continue;
          expect.fail(
            `${JSON.stringify(pattern)} and ${JSON.stringify(text)}: ${matching.has(text)} at the real server`,
          );
        }
      });
    }
  });

  test("patterns that drop the case match the same commands", async () => {
    const random = new Prng(2);
    const names = (await wire.call("COMMAND", "LIST")).items.map((item) => item.text);
    const patterns = Array.from({ length: 1000 }, () =>
      [...random.pick(names)]
        .map((c) =>
          random.pick([c, c.toUpperCase(), "?", "*", `[${c.toUpperCase()}]`, `[^A-${c}]`, `[a-${c}Z]`, `\\${c}`]),
        )
        .join(""),
    );
    const lists = await wire.pipeline(patterns.map((pattern) => ["COMMAND", "LIST", "FILTERBY", "PATTERN", pattern]));
    patterns.forEach((pattern, i) => {
      const ours = names.filter((name) => globMatch(pattern, name, true));
      expect([pattern, ours.sort()]).toEqual([pattern, lists[i]!.items.map((item) => item.text).sort()]);
    });
  });

  test("numbers are read and printed alike", async () => {
    const random = new Prng(3);
    for (let round = 0; round < 20; round++) {
      const words = Array.from({ length: 500 }, () => numberWord(random));
      const answers = await wire.pipeline(
        words.flatMap((text) => [
          ["DEL", "z"],
          ["ZADD", "z", text, "m"],
          ["ZSCORE", "z", "m"],
        ]),
      );
      const counts = await wire.pipeline(
        words.flatMap((text) => [
          ["SET", "n", text],
          ["INCRBY", "n", "0"],
        ]),
      );
      words.forEach((text, i) => {
        const score = parseFloat64(text);
        // A packed sorted set keeps -0 as the integer 0.
        const printed = score === undefined ? "" : score === 0 ? "0" : formatDouble(score);
        expect([text, printed]).toEqual([text, answers[i * 3 + 2]!.text]);
        const count = counts[i * 2 + 1]!;
        expect([text, String(parseInt64(text))]).toEqual([text, count.tag === ":" ? count.text : "undefined"]);
      });
    }
  });

  test("long double sums have the same digits", async () => {
    const random = new Prng(4);
    const errors = { left: NOT_A_FLOAT, right: NOT_A_FLOAT, sum: INCR_NAN };
    for (let round = 0; round < 20; round++) {
      const pairs = Array.from({ length: 500 }, () => [numberWord(random), numberWord(random)] as const);
      const answers = await wire.pipeline(
        pairs.flatMap(([a, b]) => [
          ["SET", "f", a],
          ["INCRBYFLOAT", "f", b],
        ]),
      );
      pairs.forEach(([a, b], i) => {
        expect([a, b, answerOf(() => addLongDouble(a, b, errors))]).toEqual([a, b, said(answers[i * 2 + 1]!)]);
      });
    }
  });

  test("HyperLogLogs have the same bytes and counts", async () => {
    const random = new Prng(5);
    for (const size of [50, 1500, 6000]) {
      await wire.call("DEL", "h");
      const bytes = Bytes.from(newHll());
      invalidateCount(bytes);
      for (let added = 0; added < size; added += 10) {
        const elements = Array.from({ length: 10 }, () => word(random, "abcdefghij\0\xff\x80", 30));
        for (const element of elements) addElement(bytes, element, 3000);
        const [, value] = await wire.pipeline([
          ["PFADD", "h", ...elements],
          ["GET", "h"],
        ]);
        if (value!.text !== bytes.text()) expect.fail(`other bytes after ${added + 10} elements`);
      }
      expect(String(countOf(bytes))).toBe((await wire.call("PFCOUNT", "h")).text);
    }
  });
});
