/** A word's list that is followed in pieces is the list that is read at once. */
import { expect, test } from "vitest";
import { Bytes, HEADER_BYTES } from "./log.ts";
import { Postings } from "./postings.ts";

const SHAPE = { textFields: 2, positions: false };

/** In the second of two fields, so many times; 0: not any more. */
function record(doc: number, times: number): Buffer {
  const bytes = new Bytes();
  bytes.varint(doc);
  bytes.varint(times === 0 ? 0 : 2);
  if (times > 0) bytes.varint(times);
  return bytes.taken();
}

const contentOf = ({ docs, times, count }: Postings) =>
  Array.from({ length: count }, (_, at) => [docs[at], times[at * 2], times[at * 2 + 1]]);

test("records that come one by one, and one that takes a document away, after any number of them", () => {
  for (let size = 1; size < 100; size++) {
    const records = Array.from({ length: size }, (_, doc) => record(doc, doc + 1));
    const followed = new Postings(SHAPE);
    followed.replace(Buffer.alloc(HEADER_BYTES));
    for (const each of [...records, record(0, 0)]) followed.append(each);
    const whole = new Postings(SHAPE);
    whole.replace(Buffer.concat([Buffer.alloc(HEADER_BYTES), ...records, record(0, 0)]));
    expect(contentOf(followed)).toEqual(contentOf(whole));
    expect(contentOf(followed)).toEqual(Array.from({ length: size - 1 }, (_, at) => [at + 1, 0, at + 2]));
  }
});
