import { describe, expect, it } from "vitest";
import { parse } from "./parser.ts";
import { LuaError } from "./value.ts";

function messageOf(source: string, chunkName = "@user_script"): string | undefined {
  try {
    parse(source, chunkName);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof LuaError) return String(thrown.value);
    throw thrown;
  }
}

describe("the parser", () => {
  it("takes every form of statement and expression", () => {
    const source = `
      local a, b = 1, ... ; local function f(x, ...) return x, ... end
      function a.b.c:d(y) self.z = y end
      do local t = {1, 2; x = 3, ["y"] = 4, f(), [f()] = #"s"} end
      for i = 1, 10, 2 do if i > 5 then break elseif not i then a = -i ^ 2 else b = a .. b end end
      for k, v in pairs(t) do while v do repeat v = v and k or nil until v end end
      f{1}; f"s"; f[[long]]:g'x'.h[1](2)
      return function(...) return ... end, (f()), 0x1F, .5, 1e3
    `;
    expect(messageOf(source)).toBe(undefined);
  });

  const refused: [source: string, message: string][] = [
    ["x", "user_script:1: '=' expected near '<eof>'"],
    ["x y", "user_script:1: '=' expected near 'y'"],
    ["f() = 1", "user_script:1: unexpected symbol near '='"],
    ["local 1", "user_script:1: '<name>' expected near '1'"],
    ["for i do end", "user_script:1: '=' or 'in' expected near 'do'"],
    ["if x then", "user_script:1: 'end' expected near '<eof>'"],
    ["if x then\n\nreturn", "user_script:3: 'end' expected (to close 'if' at line 1) near '<eof>'"],
    ["return 'a", "user_script:1: unfinished string near '<eof>'"],
    ["return 'a\nb'", "user_script:1: unfinished string near ''a'"],
    ["return [[a", "user_script:1: unfinished long string near '<eof>'"],
    ["return 3x", "user_script:1: malformed number near '3x'"],
    ["return '\\300'", "user_script:1: escape sequence too large near '''"],
    ["break", "user_script:1: no loop to break near '<eof>'"],
    ["return function() return ... end", "user_script:1: cannot use '...' outside a vararg function near '...'"],
    ["f\n(1)", "user_script:2: ambiguous syntax (function call x new statement) near '('"],
    ["return \x01", "user_script:1: unexpected symbol near 'char(1)'"],
  ];
  for (const [source, message] of refused) {
    it(`refuses ${JSON.stringify(source)}`, () => {
      expect(messageOf(source)).toBe(message);
    });
  }

  it("names a chunk as messages do", () => {
    expect(messageOf("x", "=name")).toBe("name:1: '=' expected near '<eof>'");
    expect(messageOf("x\ny", "x\ny")).toBe("[string \"x...\"]:2: '=' expected near 'y'");
  });
});
