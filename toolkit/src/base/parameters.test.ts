/** No function of the toolkit takes more than four positional parameters: a reader of a call must know what each word of it is. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { transformSync } from "esbuild";
import { parseAst } from "rollup/parseAst";
import { expect, test } from "vitest";

const SOURCES = join(import.meta.dirname, "..");
const MOST = 4;

const files = readdirSync(SOURCES, { recursive: true, withFileTypes: true })
  .filter(({ name }) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((entry) => join(entry.parentPath, entry.name));

type Tree = Readonly<Record<string, unknown>>;

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null;
const isNamed = (value: unknown): value is { readonly name: string } => isTree(value) && typeof value.name === "string";

/** Each function of a source: `name/how many parameters`; one without a name has that of what it is in. */
function functionsOf(source: string): string[] {
  const { code } = transformSync(source, { loader: "ts", target: "esnext" });
  const found: string[] = [];
  const walk = (tree: unknown, owner: string): void => {
    if (!isTree(tree)) return;
    const named = [tree.id, tree.key].find(isNamed);
    const name = named?.name ?? owner;
    if (Array.isArray(tree.params)) found.push(`${name}/${tree.params.length}`);
    for (const part of Object.values(tree)) walk(part, name);
  };
  walk(parseAst(code), "");
  return found;
}

const tooLong = (functions: readonly string[]): string[] =>
  functions.filter((each) => Number(each.slice(each.lastIndexOf("/") + 1)) > MOST);

test("functions are found in every form", () => {
  const found = functionsOf(`
    function declared(a: number, b: number, c = 1, { d }: { d: number }, ...e: number[]) {}
    const arrow = (a, b, c, d, e) => a;
    class Shop {
      constructor(a, b, c, d, e, f) {}
      #hidden(a, b, c, d, e) {}
      static made = (a, b, c, d, e) => [1].map((x) => x);
    }
    export const held = { method(a, b, c, d, e) {}, get one() { return 1; } };
    interface Type { call(a: 1, b: 2, c: 3, d: 4, e: 5): void }
  `);
  expect(tooLong(found)).toEqual(["declared/5", "arrow/5", "constructor/6", "hidden/5", "made/5", "method/5"]);
  expect(found).toContain("made/1");
  expect(found).toContain("one/0");
});

test(`none takes more than ${MOST} positional parameters`, () => {
  expect(files.length).toBeGreaterThan(200);
  const offences = files.flatMap((file) =>
    tooLong(functionsOf(readFileSync(file, "utf8"))).map((each) => `${relative(SOURCES, file)}: ${each}`),
  );
  expect(offences).toEqual([]);
});
