/** Full-text search over the site: our own SearchIndex on a store in this worker. The documents come with the first question. */
import type { SearchIndex as Index } from "cinnabar/search";
import { at } from "./engine.ts";
import type { FromWorker, Hit, ToWorker } from "./messages.ts";

/** A part of a page below one heading, as the build writes them. */
export interface Part {
  readonly route: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

const HITS = 12;
const AT_ONCE = 200;

const FIELDS = {
  page: { type: "text", weight: 6 },
  heading: { type: "text", weight: 4 },
  text: { type: "text", store: true },
} as const;

/** Snippets are HTML: where the words are in the heading alone, the text has none. */
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

let built: Promise<{ readonly index: Index<typeof FIELDS>; readonly parts: readonly Part[] }> | undefined;

async function build(language: string) {
  const [{ open }, { SearchIndex }, answer] = await Promise.all([
    import(at("./toolkit/index.js")) as Promise<typeof import("cinnabar")>,
    import(at("./toolkit/search.js")) as Promise<typeof import("cinnabar/search")>,
    fetch(at(`./search-${language}.json`)),
  ]);
  const parts = (await answer.json()) as Part[];
  const index = new SearchIndex(await open(), "site", { fields: FIELDS });
  for (let nth = 0; nth < parts.length; nth += AT_ONCE) {
    const some = parts.slice(nth, nth + AT_ONCE);
    await index.setMany(some.map(({ page, heading, text }, i) => [String(nth + i), { page, heading, text }]));
  }
  return { index, parts };
}

export async function search({ id, query, language }: Extract<ToWorker, { kind: "search" }>): Promise<void> {
  built ??= build(language);
  const { index, parts } = await built;
  const words = query.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  // The last word is still being written.
  const asked = words.map((word, nth) => (nth === words.length - 1 ? `(${word} OR ${word}*)` : word)).join(" ");
  const { hits, count } = await index.search(asked, { limit: HITS, highlight: { fields: ["text"], units: 120 } });
  const found: Hit[] = hits.map(({ id: at, snippets }) => {
    const { route, page, heading, text } = parts[Number(at)]!;
    return { route, page, heading, snippet: snippets?.text ?? escaped(text.slice(0, 140)) };
  });
  postMessage({ kind: "found", id, hits: found, count } satisfies FromWorker);
}
