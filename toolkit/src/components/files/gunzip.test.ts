import { constants, deflateRawSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { crc32, crc32InScript } from "./checksum.ts";
import { FilesError } from "./errors.ts";
import { Gunzip } from "./gunzip.ts";

const SEED = Number(process.env.SEED ?? 4_711);
function randomFrom(seed: number): (below: number) => number {
  let state = (seed % 2_147_483_646) + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/** Data of kinds that compress in different ways. */
function sample(random: (below: number) => number, kind: number, size: number): Buffer {
  if (kind === 0) return Buffer.from(Array.from({ length: size }, () => random(256)));
  if (kind === 1) return Buffer.alloc(size, "ab");
  if (kind === 2) return Buffer.from(Array.from({ length: size }, () => 97 + random(1 + random(20))));
  const words = ["GET", "/index.html", "200", "Mozilla", "10.0.0.1", "ü", "\n", "-", "2026-11-15"];
  let text = "";
  while (text.length < size) text += `${words[random(words.length)]} `;
  return Buffer.from(text).subarray(0, size);
}

/** All that comes out, in pieces of random sizes, with a state that is saved and restored now and then. */
function inflated(packed: Buffer, random: (below: number) => number, most: number): Buffer {
  let gunzip = new Gunzip();
  const out: Buffer[] = [];
  for (let at = 0; at < packed.length; ) {
    const size = 1 + random(most);
    out.push(...gunzip.push(packed.subarray(at, at + size)));
    at += size;
    if (random(3) === 0) gunzip = Gunzip.restore(gunzip.save());
  }
  gunzip.end();
  return Buffer.concat(out);
}

describe("gzip", () => {
  const random = randomFrom(SEED);
  const strategies = ["Z_DEFAULT_STRATEGY", "Z_FIXED", "Z_HUFFMAN_ONLY", "Z_RLE", "Z_FILTERED"] as const;

  test.each(strategies)("%s: whatever the data and level, in pieces, through saved states", (strategy) => {
    for (let round = 0; round < 16; round++) {
      const data = sample(random, random(4), random(round < 12 ? 5_000 : 150_000));
      const packed = gzipSync(data, {
        level: random(10),
        memLevel: 1 + random(9),
        strategy: constants[strategy],
      });
      const out = inflated(packed, random, round < 12 && round % 3 === 0 ? 3 : 70_000);
      expect(out.equals(data), `seed ${SEED}, round ${round}`).toBe(true);
    }
  });

  test("several members are one file, and zeros at the end are nothing", () => {
    const packed = Buffer.concat([gzipSync("one\n"), gzipSync(""), gzipSync("two\n"), Buffer.alloc(700)]);
    for (const most of [1, 5, 1_000]) expect(inflated(packed, random, most).toString()).toBe("one\ntwo\n");
  });

  test("headers with names, comments, extra fields and checksums are passed over", () => {
    const plain = gzipSync("text");
    const head = Buffer.from(plain.subarray(0, 10));
    head[3] = 2 | 4 | 8 | 16;
    const extra = Buffer.from([3, 0, 1, 2, 3]);
    const packed = Buffer.concat([
      head,
      extra,
      Buffer.from("name\0comment\0"),
      Buffer.from([9, 9]),
      plain.subarray(10),
    ]);
    for (const most of [1, 7, 100]) expect(inflated(packed, random, most).toString()).toBe("text");
  });

  test("a file that is cut off anywhere is said to be", () => {
    const packed = gzipSync(sample(random, 3, 2_000));
    for (let size = 0; size < packed.length; size++) {
      const gunzip = new Gunzip();
      for (const _ of gunzip.push(packed.subarray(0, size)));
      expect(() => gunzip.end()).toThrow(/cut off/);
    }
  });

  test("a file with a wrong bit is never taken for sound, and nothing but a FilesError comes of it", () => {
    const data = sample(random, 3, 3_000);
    const packed = gzipSync(data);
    for (let round = 0; round < 600; round++) {
      const broken = Buffer.from(packed);
      const at = round < 8 ? round : 10 + random(packed.length - 10);
      // Time, system and flags in the header mean nothing for the data.
      if (at > 3 && at < 10) continue;
      broken[at]! ^= 1 << random(8);
      try {
        // A few bits mean nothing: those that fill up the last byte.
        const out = inflated(broken, random, 500);
        expect(out.equals(data), `seed ${SEED}, byte ${at}`).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(FilesError);
        expect((error as FilesError).code).toBe("CORRUPT");
      }
    }
  });

  test("data that is not gzip is refused", () => {
    for (const bad of ["hello", "\x1f\x8b\x07", "P"]) {
      expect(() => inflated(Buffer.from(bad, "latin1"), random, 10)).toThrow(/no gzip header/);
    }
    const body = deflateRawSync("x");
    expect(() => inflated(Buffer.concat([gzipSync("x"), body]), random, 10)).toThrow(FilesError);
  });
});

test("the checksum computed here is the one of zlib", () => {
  const random = randomFrom(SEED);
  for (let round = 0; round < 20; round++) {
    const data = sample(random, 0, random(1_000));
    const cut = random(data.length + 1);
    expect(crc32InScript(data.subarray(cut), crc32InScript(data.subarray(0, cut)))).toBe(crc32(data));
  }
});
