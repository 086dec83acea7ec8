/** Syntax lines as trees of arguments, and every row's line. */
import { describe, expect, test } from "vitest";
import { groups } from "../commands/index.ts";
import { type Command, CommandTable } from "./command-table.ts";
import { type Argument, parseSyntax } from "./syntax.ts";

/** An argument in a line: `[x]` optional, `x+` repeated, `x++` repeated with its token, `(…)` a block, `<…>` a choice. */
function show(arg: Argument): string {
  const inner = arg.arguments?.map(show) ?? [];
  const value =
    arg.type === "oneof" ? `<${inner.join("|")}>` : arg.type === "block" ? `(${inner.join(" ")})` : arg.name;
  const token = arg.token === undefined ? "" : `${arg.token} `;
  const whole = arg.type === "pure-token" ? arg.token! : token + value;
  const again = arg.multipleToken ? "++" : arg.multiple ? "+" : "";
  return arg.optional ? `[${whole}${again}]` : whole + again;
}

const shown = (line: string) => parseSyntax(line).map(show).join(" ");

describe("a syntax line", () => {
  test.each([
    ["", ""],
    ["key [key ...]", "key+"],
    ["key score member [score member ...]", "key (score member)+"],
    ["key [NX | XX] [GET] [EX seconds | PERSIST]", "key [<NX|XX>] [GET] [<EX seconds|PERSIST>]"],
    ["key [LIMIT offset count]", "key [LIMIT (offset count)]"],
    ["key [COUNT count [ANY]]", "key [(COUNT count [ANY])]"],
    ["[GET pattern [GET pattern ...]]", "[GET pattern++]"],
    ["[KEYS key [key ...]]", "[KEYS key+]"],
    ["STREAMS key [key ...] id [id ...]", "STREAMS (key+ id+)"],
    ["[channel [channel ...]]", "[channel+]"],
    ["[section ...]", "[section+]"],
    ["source LEFT | RIGHT LEFT | RIGHT timeout", "source <LEFT|RIGHT> <LEFT|RIGHT> timeout"],
    ["[AGGREGATE SUM | MIN | MAX]", "[AGGREGATE <SUM|MIN|MAX>]"],
    ["[TYPE <NORMAL | PUBSUB>]", "[TYPE <NORMAL|PUBSUB>]"],
    [
      "key [GET offset | <SET value | INCR by> [GET offset | <SET value | INCR by> ...]]",
      "key [<GET offset|<SET value|INCR by>>+]",
    ],
    ["<a | <[ID id] | [USER name]> [...]>", "<a|<[ID id]|[USER name]>+>"],
    ['host <key | ""> <* | id>', "host <key|> <*|id>"],
  ])("%s", (line, tree) => expect(shown(line)).toBe(tree));

  test("numbers its keys by the key specifications", () => {
    const spec = { flags: [], begin: { index: 1 }, find: { last: 0, step: 1, limit: 0 } };
    expect(parseSyntax("key [STORE key]", [spec, spec]).map((arg) => arg.keySpecIndex)).toEqual([0, 1]);
    expect(parseSyntax("key1 key2", [spec]).map((arg) => arg.keySpecIndex)).toEqual([0, 0]);
    expect(parseSyntax("key")[0]).toEqual({ name: "key", type: "string" });
  });

  test.each(["[a", "a]", "<a | >", "| a", "a | B", "a ..."])("is refused when it is broken: %s", (line) => {
    expect(() => parseSyntax(line)).toThrow();
  });
});

describe("every command's syntax line", () => {
  const all: Command[] = [...new CommandTable(groups).commands.values()].flatMap((command) => [
    command,
    ...(command.subcommands?.values() ?? []),
  ]);

  test.each(all.map((command) => [command.name, command] as const))("%s", (_name, { row }) => {
    const args = parseSyntax(row.syntax, row.keys);
    // A command with a fixed number of words takes exactly that many values.
    if (row.arity > 0 && row.subcommands === undefined && args.every((arg) => arg.arguments === undefined)) {
      expect(args.some((arg) => arg.optional || arg.multiple)).toBe(false);
    }
    expect(row.summary).toMatch(/^[A-Z].*\.$/s);
  });
});
