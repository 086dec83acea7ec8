import { expect, test } from "vitest";
import { ReplyError } from "../../core/errors.ts";
import type { Reply } from "../../core/reply.ts";
import { encode } from "../../resp/encode.ts";
import { Output } from "../../resp/output.ts";
import { luaToReply } from "./conversion.ts";
import { LuaTable } from "./table.ts";

/** How many arrays are inside each other at this element, and what is in the innermost. */
function descend(reply: Reply, element: number): [depth: number, inside: Reply] {
  let depth = 0;
  let inside = reply;
  for (; Array.isArray(inside); depth++) inside = inside[element]!;
  return [depth, inside];
}

test.each([
  ["alone", (table: LuaTable) => LuaTable.fromArray([table])],
  ["before something else", (table: LuaTable) => LuaTable.fromArray([table, 1])],
])("a table that contains itself %s is nested as deep as in Redis, and can be sent", (_, wrap) => {
  const table = new LuaTable();
  const outer = wrap(table);
  table.setInt(1, outer);
  const reply = luaToReply(outer, 2);
  const [depth, inside] = descend(reply, 0);
  expect(depth).toBe(7995);
  expect((inside as ReplyError).text).toBe("ERR reached lua stack limit");
  expect(inside).toBeInstanceOf(ReplyError);
  const out = new Output();
  encode(reply, 2, out);
  expect(out.takeText()).toContain("-ERR reached lua stack limit\r\n");
});

test("tables in tables keep their order", () => {
  const inner = LuaTable.fromArray(["b", LuaTable.fromArray([]), "c"]);
  expect(luaToReply(LuaTable.fromArray(["a", inner, LuaTable.fromArray([1]), "d"]), 2)).toEqual([
    "a",
    ["b", [], "c"],
    [1],
    "d",
  ]);
});
