/** Every pair of text and ground in either theme has WCAG AA's contrast, 4.5 : 1. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { EXAMPLES } from "../src/examples/index.ts";

const css = readFileSync(new URL("../ui/tokens.css", import.meta.url), "utf8");
const looks = readFileSync(new URL("../ui/views/examples/looks.css", import.meta.url), "utf8");

function colours(selector: string, css: string): Map<string, string> {
  const from = css.indexOf(`${selector} {`);
  const block = css.slice(from, css.indexOf("}", from));
  return new Map([...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map(([, name, value]) => [name!, value!]));
}

function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light! + 0.05) / (dark! + 0.05);
}

const GROUNDS = ["bg", "panel", "hover"];
/** What states say: a text colour each, and a ground of its own. */
const MEANINGS = ["healthy", "active", "waiting", "delayed", "failed", "dead"];
const PAIRS: [string, string][] = [
  ...["text", "dim", "accent", "failed"].flatMap((text) => GROUNDS.map((ground): [string, string] => [text, ground])),
  ...["c2", "c3", "c4"].flatMap((text) => ["panel", "bg"].map((ground): [string, string] => [text, ground])),
  ["on-accent", "accent"],
  ["accent", "accent-bg"],
  ...MEANINGS.flatMap((meaning): [string, string][] => [
    [meaning, `${meaning}-bg`],
    [meaning, "panel"],
  ]),
];

describe.each([
  ["light", ":root"],
  ["dark", ':root[data-theme="dark"]'],
])("the %s theme", (_name, selector) => {
  const theme = colours(selector, css);

  test.each(PAIRS)("%s on %s", (text, ground) => {
    expect(contrast(theme.get(text)!, theme.get(ground)!)).toBeGreaterThanOrEqual(4.5);
  });
});

const LOOKS = [...looks.matchAll(/^\[data-look="(\w+)"\] \{\n {2}--bg/gm)].map(([, name]) => name!);

test("every example has a look of its own", () => {
  expect([...LOOKS].sort()).toEqual(EXAMPLES.map(({ name }) => name).sort());
});

describe.each(LOOKS)("the look of %s", (look) => {
  test.each([
    ["light", ":root", `\n[data-look="${look}"]`],
    ["dark", ':root[data-theme="dark"]', `:root[data-theme="dark"] [data-look="${look}"]`],
  ])("is readable in the %s theme", (_name, root, selector) => {
    const own = colours(selector, looks);
    expect(own.size).toBeGreaterThan(8);
    const theme = new Map([...colours(root, css), ...own]);
    for (const [text, ground] of [...PAIRS, ["text", "accent-bg"], ["dim", "accent-bg"]] as const) {
      expect(contrast(theme.get(text)!, theme.get(ground)!), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    }
  });
});
