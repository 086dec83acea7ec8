import { afterAll, describe, expect, it } from "vitest";
import { hashWord, rememberedHash, seedHashes } from "../core/word-hash.ts";
import { cachedKey, cachedWord } from "./word-cache.ts";

function read(reader: typeof cachedWord, word: string): string {
  const bytes = Buffer.from(`<<${word}>>`, "latin1");
  return reader(bytes, 2, 2 + word.length);
}

describe.each([
  ["words", cachedWord],
  ["keys", cachedKey],
])("%s", (_what, reader) => {
  it("are what their bytes say, the first time and later, at any length", () => {
    for (let round = 0; round < 4; round++) {
      for (let length = 0; length < 120; length++) {
        const word = "\u00ffab\u0000".repeat(30).slice(0, length);
        expect(read(reader, word)).toBe(word);
      }
    }
  });

  it("are told apart where they share a slot, whichever comes more often", () => {
    // Three places decide on the slot: these differ between them.
    const alike = Array.from({ length: 20 }, (_, i) => `head:${String.fromCharCode(65 + i)}:middle-part:tail`);
    for (let i = 0; i < 2_000; i++) {
      const word = alike[(i * i) % alike.length]!;
      expect(read(reader, word)).toBe(word);
    }
  });
});

describe("a key", () => {
  it("has its hash remembered, whether it was kept, and kept as a key, or not", () => {
    for (const before of [[], [cachedWord], [cachedWord, cachedWord, cachedWord], [cachedKey, cachedKey, cachedKey]]) {
      const word = `key:${before.length}:${before[0]?.name ?? ""}`;
      for (const reader of before) read(reader, word);
      expect(rememberedHash(read(cachedKey, word))).toBe(hashWord(`${word} `.trim()));
    }
  });
});

describe("the hash of a key that is kept", () => {
  afterAll(() => seedHashes(1));

  it("is another one once hashes have another key", () => {
    for (const seed of [1, 2, 3]) {
      seedHashes(seed);
      for (let times = 0; times < 3; times++) {
        const key = read(cachedKey, "key");
        const remembered = rememberedHash(key);
        read(cachedKey, "other");
        expect(remembered).toBe(hashWord("key"));
      }
    }
  });
});
