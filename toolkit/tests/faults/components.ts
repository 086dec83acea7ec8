/** Which components there are, for tests that go through all of them: one without a row there fails. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const TOOLKIT = join(import.meta.dirname, "../..");

/** By their import path: "locks" of `cinnabar/locks`. Adapters of a component belong to it. */
export function componentNames(): string[] {
  return readdirSync(join(TOOLKIT, "src/components")).sort();
}

/** The cells of a table in a document of `docs/` whose first column names components. */
export function documentedRows(document: string, heading: string): string[][] {
  const text = readFileSync(join(TOOLKIT, "../docs", document), "utf8");
  const section = text.split(/^## /m).find((each) => each.startsWith(heading));
  if (section === undefined) throw new Error(`docs/${document} has no section "${heading}"`);
  const lines = section.split("\n").filter((line) => line.startsWith("|"));
  return lines.slice(2).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
