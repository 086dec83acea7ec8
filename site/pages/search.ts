/** What is searched: the text of each page, in parts below its headings, as the page's index takes them. */
import type { Part } from "../lab/search.ts";
import { anchorOf } from "./commands.ts";
import type { Route } from "./routes.ts";

const MOST_CHARACTERS = 6_000;

/** The words of Markdown, without its marks; code stays, since people look for names. */
export function plainText(markdown: string): string {
  return markdown
    .replace(/(^```[\s\S]*?^```$|`[^`\n]*`)|<[^>\n]*>/gm, (_all, code: string | undefined) => code ?? " ")
    .replace(/!?\[((?:[^[\]]|\[[^\]]*\])*)\]\([^)\s]*\)/g, "$1")
    .replace(/^```\w*$|^\|[\s:|-]+\|$/gm, " ")
    .replace(/^\s*(?:[-*+] |>+)/gm, " ")
    .replace(/[`*]+/g, "")
    .replace(/[|#]+/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

const titleOf = (heading: string): string => plainText(heading);

/** `<page>.html#<anchor>`, as the page is linked to. */
const place = (route: Route, anchor: string): string =>
  `${route.endsWith("/") ? route : `${route}.html`}${anchor === "" ? "" : `#${anchor}`}`;

export function partsOf(route: Route, markdown: string): Part[] {
  const text = markdown.replace(/^---\n[\s\S]*?\n---\n/, "");
  const fences: string[] = [];
  // A line of a program may look like a heading.
  const kept = text.replace(/^```[\s\S]*?^```$/gm, (fence) => `\u0000${fences.push(fence) - 1}\u0000`);
  const pieces = kept.split(/^(#{1,3} .*)$/m);
  const page = titleOf(pieces[1] ?? route);
  const seen = new Map<string, number>();
  const parts: Part[] = [];
  for (let nth = 1; nth < pieces.length; nth += 2) {
    const source = pieces[nth]!.replace(/^#+ /, "");
    const anchor = anchorOf(source);
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    const body = pieces[nth + 1]!.replace(/\u0000(\d+)\u0000/g, (_all, at) => fences[Number(at)]!);
    const part = {
      route: place(route, nth === 1 ? "" : times === 0 ? anchor : `${anchor}-${times}`),
      page,
      heading: titleOf(source),
      text: plainText(body).slice(0, MOST_CHARACTERS),
    };
    if (part.text !== "") parts.push(part);
  }
  return parts;
}

/** By language: what the build writes as `run/search-<language>.json`. */
export function searchParts(pages: ReadonlyMap<Route, string>): Readonly<Record<"en" | "zh", readonly Part[]>> {
  const all = [...pages].map(([route, text]) => ({ isChinese: route.startsWith("/zh/"), parts: partsOf(route, text) }));
  const of = (isChinese: boolean): Part[] =>
    all.filter((each) => each.isChinese === isChinese).flatMap(({ parts }) => parts);
  return { en: of(false), zh: of(true) };
}
