/**
 * The Chinese documents follow the English ones: a guide has the sections of its original in their order, with the same samples, the
 * same rows in its tables, and the same names and numbers. A change of an original fails here until its translation has it too.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = dirname(fileURLToPath(import.meta.url));
const read = (document: string): string => readFileSync(join(ROOT, document), "utf8");

const COMPONENTS = "toolkit/src/components";
const GUIDES = "docs/zh/components";
const BLOCK = /^```\S*\n[\s\S]*?^```$/gm;

const originals = readdirSync(join(ROOT, COMPONENTS)).map((name) => `${COMPONENTS}/${name}/README.md`);
const guides = readdirSync(join(ROOT, GUIDES)).map((file) => `${GUIDES}/${file}`);
const originalOf = (guide: string): string => `${COMPONENTS}/${basename(guide, ".md")}/README.md`;
const pairs: [translation: string, original: string][] = [
  ["README.zh-CN.md", "README.md"],
  ["docs/zh/start.md", "docs/start.md"],
  ["docs/zh/toolkit.md", "docs/toolkit.md"],
  ...guides.map((guide): [string, string] => [guide, originalOf(guide)]),
];

/** A sample without its comments, which may be translated; what a line promises to print stays. */
const bare = (block: string): string =>
  block.replace(/^(?! *(?:await )?console\.log).*$/gm, (line) => line.replace(/(?:^|\s+)(?:\/\/|#) .*$/, ""));

const spans = (text: string): string[] => [...text.matchAll(/`[^`]+`/g)].map(([span]) => span).sort();
const distinct = (texts: readonly string[]): string[] => [...new Set(texts)].sort();

/** The numbers outside of code and links: `10 000` is one. */
const numbers = (text: string): string[] =>
  [
    ...text
      .replace(/`[^`]+`|\]\([^)]*\)/g, "")
      .replace(/(\d)[ ,](?=\d{3}(?!\d))/g, "$1")
      .matchAll(/\d+(?:\.\d+)?/g),
  ]
    .map(([number]) => number)
    .sort();

/** How many links there are: where they lead differs, since some pages are translated. */
const links = (text: string): string[] => [...text.matchAll(/\]\(/g)].map(() => "link");

interface Section {
  readonly level: number;
  readonly samples: readonly string[];
  /** Of each row of its tables, what each cell has in code, in numbers and in links. */
  readonly rows: readonly (readonly string[])[];
  /** What its prose has in code and in numbers. */
  readonly facts: readonly string[];
}

function sections(document: string): Section[] {
  const blocks: string[] = [];
  const text = read(document).replace(BLOCK, (block) => `@@${blocks.push(bare(block)) - 1}@@`);
  return text.split(/^(?=#+ )/m).map((section) => {
    const lines = section.split("\n");
    const rows = lines.filter((line) => line.startsWith("|"));
    const prose = lines.filter((line) => !line.startsWith("|")).join("\n");
    return {
      level: /^#*/.exec(section)![0].length,
      samples: [...section.matchAll(/^@@(\d+)@@$/gm)].map(([, nth]) => blocks[Number(nth)]!),
      rows: rows.map((row) =>
        row
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell) => [...spans(cell), ...numbers(cell), ...links(cell)].join(" ")),
      ),
      facts: distinct([...spans(prose), ...numbers(prose)]),
    };
  });
}

describe("a translation", () => {
  test.each(pairs)("%s has what %s has", (translation, original) => {
    expect(sections(translation)).toEqual(sections(original));
  });
});

test("every sample of the other Chinese documents is one of an English document", () => {
  const samples = (document: string): string[] => [...read(document).matchAll(BLOCK)].map(([block]) => bare(block));
  const documents = readdirSync(join(ROOT, "docs")).filter((file) => file.endsWith(".md"));
  const guides = ["README.md", "toolkit/README.md", ...documents.map((file) => `docs/${file}`)];
  const english = new Set(guides.flatMap(samples));
  const others = readdirSync(join(ROOT, "docs/zh")).filter((file) => file.endsWith(".md"));
  const unknown = others.flatMap((file) => samples(`docs/zh/${file}`).filter((sample) => !english.has(sample)));
  expect(unknown).toEqual([]);
});

test("the Chinese index lists every component", () => {
  const index = read("docs/zh/README.md");
  const absent = originals.filter((original) => {
    const name = basename(dirname(original));
    const page = existsSync(join(ROOT, GUIDES, `${name}.md`)) ? `components/${name}.md` : `../../${original}`;
    return !index.includes(`](${page})`);
  });
  expect(absent).toEqual([]);
});
