/** JSON that loses nothing on its way to the page. */
import { describe, expect, test } from "vitest";
import { type Json, readJson } from "../ui/views/operate/json.ts";

/** The tree as JSON again. */
function written(json: Json): string {
  if (json.kind === "word") return json.text;
  if (json.kind === "string") return JSON.stringify(json.text);
  if (json.kind === "array") return `[${json.items.map(written).join(",")}]`;
  return `{${json.entries.map(([name, value]) => `${JSON.stringify(name)}:${written(value)}`).join(",")}}`;
}

describe("JSON as a tree", () => {
  test.each([
    "12345678901234567890",
    "-0.10",
    "1E400",
    '{"2":1,"1":2,"2":3}',
    '[true,false,null,"a\\u0000\\"b",{}]',
    '{"a":[[],[1.0,{"b":"\\ud83d\\ude00"}]]}',
  ])("keeps every digit, name and order of %s", (text) => {
    // But for ways to write a character, it is the same text.
    expect(written(readJson(text)!)).toBe(text.replace("\\ud83d\\ude00", "😀"));
  });

  test.each(["", "{", "[1,]", '{"a"}', "01", "[1 2]", "nul", '"open', "{}x", '{"a":1,}', "'a'"])(
    "refuses %j",
    (text) => {
      expect(readJson(text)).toBeNull();
    },
  );

  test("stops at a depth that no reader needs", () => {
    expect(readJson("[".repeat(10_000) + "]".repeat(10_000))).toBeNull();
    expect(readJson(`"${"x".repeat(2_000_000)}"`)).toMatchObject({ kind: "string" });
  });
});
