import { expect, test } from "vitest";
import { codeOf, errorOf, messageOf } from "./caught.ts";

test("what was thrown is described, whatever it is", () => {
  const error = Object.assign(new Error("no such file"), { code: "ENOENT" });
  expect(messageOf(error)).toBe("no such file");
  expect(codeOf(error)).toBe("ENOENT");
  expect(errorOf(error)).toBe(error);
  expect(messageOf("text")).toBe("text");
  expect(codeOf("text")).toBeUndefined();
  expect(codeOf(Object.assign(new Error("of TLS"), { code: 7 }))).toBeUndefined();
  expect(errorOf(null)).toEqual(new Error("null"));
});
