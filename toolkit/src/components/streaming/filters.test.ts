/** Words, filters, and the index, which must find whom each filter by itself would. */
import { describe, expect, test } from "vitest";
import { FilterIndex } from "./filter-index.ts";
import { type Box, CompiledFilter, type StreamFilter, sampleRank, Traits } from "./filters.ts";
import { wordsOf, wordsOfPhrase } from "./words.ts";

const traits = (text: string, more: Partial<ConstructorParameters<typeof Traits>[0]> = {}): Traits =>
  new Traits({ kind: "status", id: "1", userId: "4", login: "Ann", text, atMs: 0, ...more });

const matches = (filter: StreamFilter, of: Traits): boolean => new CompiledFilter(filter).matches(of);

/** The same numbers for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("track", () => {
  test.each([
    ["redis", "I like Redis.", true],
    ["redis", "I like “REDIS”!", true],
    ["redis", "#redis rocks", true],
    ["redis", "@redis rocks", true],
    ["redis", "see http://redis.io/docs", true],
    ["redis", "Redis’s speed", true],
    ["redis", "rediscover", false],
    ["redis", "#newredis", false],
    ["#redis", "redis", false],
    ["#redis", "so #Redis it is", true],
    ["@redis", "mail me: joe@redis.io", false],
    ["@redis", "thanks, @redis", true],
    ["$gold", "buy $GOLD", true],
    ["fast store", "A store that is FAST", true],
    ["fast store", "a fast shop", false],
    ["don't", "DON’T", true],
    ["straße", "STRASSE", true],
    ["éclair", "e\u0301clair", true],
    ["юлия", "Привет, Юлия!", true],
    ["οδός", "ΟΔΌΣ", true],
    ["東京", "今日は東京タワーへ", true],
    ["東京", "京東", false],
    ["京", "東京", true],
    ["東京タワー", "東京のタワー", false],
    ["#東京", "きれい #東京", true],
    ["ไทย", "ภาษาไทยง่าย", true],
    ["☕", "time for ☕!", true],
    ["🇩🇪", "🇩🇪🇫🇷", true],
    ["🇪🇫", "🇩🇪🇫🇷", false],
    ["ｆｕｌｌ", "full width", true],
  ])("%j in %j: %s", (phrase, text, expected) => {
    expect(matches({ track: [phrase] }, traits(text))).toBe(expected);
  });

  test("any of the phrases is enough", () => {
    expect(matches({ track: ["cats", "big dogs"] }, traits("dogs are big"))).toBe(true);
    expect(matches({ track: ["cats", "big dogs"] }, traits("dogs"))).toBe(false);
  });

  test("whatever is in a text can be asked for, and a phrase asks for nothing twice", () => {
    const text = "Ünïted #Tags and @names, 東京 42 don't ☕";
    for (const word of wordsOfPhrase(text)) expect([...wordsOf(text)]).toContain(word);
    expect(wordsOfPhrase("b a B")).toEqual(["a", "b"]);
  });
});

describe("follow", () => {
  test.each([
    ["4", traits("x"), true],
    ["5", traits("x"), false],
    ["@ann", traits("x"), true],
    ["@ANN", traits("x"), true],
    ["@ben", traits("hello @Ben"), true],
    ["@ben", traits("hello Ben"), false],
    // A login that looks like somebody's id.
    ["17", traits("x", { login: "17" }), false],
  ])("%j", (followed, of, expected) => {
    expect(matches({ follow: [followed] }, of)).toBe(expected);
  });
});

describe("locations", () => {
  const city: Box = { west: -122.75, south: 36.8, east: -121.75, north: 37.8 };
  const pacific: Box = { west: 170, south: -50, east: -170, north: 0 };
  test.each([
    [city, -122.4, 37.7, true],
    [city, -121.75, 37.8, true],
    [city, -121.7, 37.7, false],
    [city, -122.4, 38, false],
    [pacific, 179, -20, true],
    [pacific, -175, -20, true],
    [pacific, 180, -20, true],
    [pacific, 160, -20, false],
    [pacific, 0, -20, false],
  ])("%j %d %d: %s", (box, longitude, latitude, expected) => {
    expect(matches({ locations: [box] }, traits("x", { place: { longitude, latitude } }))).toBe(expected);
  });

  test("a status without a place is in no box", () => {
    expect(matches({ locations: [{ west: -180, south: -90, east: 180, north: 90 }] }, traits("x"))).toBe(false);
  });
});

describe("sample", () => {
  test("is about as large as asked, the same for everybody, and a smaller one is part of a larger one", () => {
    const ranks = Array.from({ length: 20_000 }, (_, nth) => sampleRank(String(1_000_000 + nth)));
    for (const percent of [1, 10, 50]) {
      const part = ranks.filter((rank) => rank < percent).length / 200;
      expect(Math.abs(part - percent)).toBeLessThan(1.5);
    }
    expect(ranks.every((rank) => rank >= 0 && rank < 100)).toBe(true);
    expect(sampleRank("17")).toBe(sampleRank("17"));
  });
});

describe("the index", () => {
  const WORDS = ["red", "green", "blue", "#red", "@u1", "sky", "sea", "sun", "the", "of"];

  function randomFilter(random: (below: number) => number): StreamFilter {
    const some = <T>(most: number, make: () => T): T[] => Array.from({ length: random(most + 1) }, make);
    const edge = (most: number): number => random(2 * most * 10 + 1) / 10 - most;
    const box = (): Box => {
      const size = [0.5, 8, 60, 300][random(4)]!;
      const west = edge(180);
      const south = edge(90);
      const east = west + size > 180 ? west + size - 360 : west + size;
      return { west, south, east, north: Math.min(90, south + size / 2) };
    };
    return {
      track: some(3, () => some(2, () => WORDS[random(WORDS.length)]!).join(" ") || "the"),
      follow: some(2, () => (random(2) === 0 ? `${random(8)}` : `@u${random(8)}`)),
      locations: some(2, box),
      ...(random(4) === 0 ? { sample: random(100) + 1 } : {}),
      ...(random(30) === 0 ? { all: true } : {}),
    };
  }

  test.each([1, 2, 3])("finds exactly those whose filter wants it, while listeners come and go (seed %i)", (seed) => {
    const random = randomFrom(seed);
    const index = new FilterIndex<{ readonly filter: CompiledFilter; seenIn: number }>();
    const listeners = new Set<{ readonly filter: CompiledFilter; seenIn: number }>();
    let found = 0;
    for (let round = 0; round < 3_000; round++) {
      if (random(3) === 0) {
        const wanted = randomFilter(random);
        try {
          const listener = { filter: new CompiledFilter(wanted), seenIn: 0 };
          listeners.add(listener);
          index.add(listener);
        } catch {
          // It asks for nothing.
        }
      }
      if (random(4) === 0 && listeners.size > 0) {
        const leaving = [...listeners][random(listeners.size)]!;
        listeners.delete(leaving);
        index.delete(leaving);
      }
      const text = Array.from({ length: random(5) }, () => WORDS[random(WORDS.length)]).join(" ");
      const place = { longitude: random(3_601) / 10 - 180, latitude: random(1_801) / 10 - 90 };
      const more = { id: `s${round}`, userId: `${random(8)}`, login: `U${random(8)}` };
      const status = traits(text, random(2) === 0 ? { ...more, place } : more);
      const expected = [...listeners].filter(({ filter }) => filter.matches(status));
      const actual = index.find(status);
      expect(new Set(actual)).toEqual(new Set(expected));
      expect(actual).toHaveLength(expected.length);
      const maybe = [...listeners].filter(({ filter }) => filter.mayHaveMatched(status.id, status.userId));
      const forDelete = index.findForDelete(status.id, status.userId);
      expect(new Set(forDelete)).toEqual(new Set(maybe));
      expect(forDelete).toHaveLength(maybe.length);
      // Who got it may be told that it is gone.
      expect(expected.filter((each) => !maybe.includes(each))).toEqual([]);
      found += actual.length;
    }
    expect(found).toBeGreaterThan(1_000);
  });

  test("looks at the words of a status, not at the listeners there are", () => {
    const index = new FilterIndex<{ readonly filter: CompiledFilter; seenIn: number }>();
    let asked = 0;
    for (let nth = 0; nth < 5_000; nth++) {
      const filter = new CompiledFilter({ track: [`the word${nth}`, `only${nth} the`] });
      index.add({ filter, seenIn: 0 });
    }
    const of = traits("the word17 and the rest of it");
    const words = new Set(of.words);
    const counted = { ...of, words: Object.assign(words, { has: (word: string) => counting(word) }) } as Traits;
    const counting = (word: string): boolean => {
      asked++;
      return Set.prototype.has.call(words, word);
    };
    expect(index.find(counted)).toHaveLength(1);
    expect(asked).toBeLessThan(20);
  });
});
