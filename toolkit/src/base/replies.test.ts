import { describe, expect, test } from "vitest";
import { CinnabarError, ServerError } from "./errors.ts";
import {
  asBytes,
  asFields,
  asList,
  asListOf,
  asNumber,
  asPairs,
  asRecord,
  asReply,
  asRows,
  asText,
  asTextOrNull,
  asTexts,
  asTuple,
  optional,
  orNull,
  wordOf,
} from "./replies.ts";

const thrown = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    return error;
  }
};

describe("a reply of the form that was expected", () => {
  test("is given back as it is", () => {
    const list = ["a", ["b", 3]];
    expect(asTuple(asText, asTuple(asText, asNumber))(list)).toBe(list);
    expect(asTexts([])).toEqual([]);
    expect(asTextOrNull(null)).toBeNull();
    expect(orNull(asList)(null)).toBeNull();
    expect(asBytes(Buffer.from([0]))).toEqual(Buffer.from([0]));
    expect(wordOf("on", "off")("off")).toBe("off");
  });

  test("a tuple may go on behind its last form, and end before an optional one", () => {
    const form = asTuple(asNumber, optional(asText));
    expect(form([1])).toEqual([1]);
    expect(form([1, "two", "three"])).toEqual([1, "two", "three"]);
  });

  test("fields and values are paired", () => {
    expect(asPairs(["a", "1", "b", "2"])).toEqual([
      ["a", "1"],
      ["b", "2"],
    ]);
    expect(asFields(["a", "1"]).get("a")).toBe("1");
  });

  test("a flat list is read row by row", () => {
    expect(asRows(asText, asNumber)(["a", 1, "b", 2])).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
    expect(asRows(asText, asNumber)([])).toEqual([]);
  });

  test("a record has the fields that it must have, and the others", () => {
    const { name, version } = asRecord("name", "version")(["name", "a", "version", "1", "note", ""]);
    expect([name, version]).toEqual(["a", "1"]);
  });
});

describe("a reply of another form", () => {
  test.each([
    ["a number for text", () => asText(3), "must be text, not a number"],
    ["text for a number", () => asNumber("3"), "must be a number, not text"],
    ["nothing for text", () => asText(null), "must be text, not nothing"],
    ["a tuple that is too short", () => asTuple(asText, asText)(["a"]), "must be text, not missing"],
    ["half a row", () => asRows(asText, asText)(["a", "b", "c"]), "must be text, not missing"],
    ["a record without a field", () => asRecord("id")(["to", "b"]), 'must be fields with "id" among them'],
    ["one item of many", () => asTexts(["a", Buffer.alloc(1)]), "must be text, not bytes"],
    ["no list", () => asListOf(asText)("a"), "must be a list, not text"],
    ["an unknown word", () => wordOf("on", "off")("up"), 'must be "on" or "off", not text'],
  ])("%s is an error that says so", (_, read, text) => {
    const error = thrown(read);
    expect(error).toBeInstanceOf(CinnabarError);
    expect(error).toMatchObject({ name: "ReplyFormError", code: "REPLY_FORM" });
    expect(String(error)).toContain(text);
  });

  test("is not quoted: it may be a secret", () => {
    expect(String(thrown(() => asNumber("hunter2")))).not.toContain("hunter2");
  });

  test("where it is the server's error, that is thrown", () => {
    const refused = new ServerError("WRONGTYPE no");
    for (const read of [asText, asNumber, asList, asReply, asTexts]) expect(thrown(() => read(refused))).toBe(refused);
  });
});
