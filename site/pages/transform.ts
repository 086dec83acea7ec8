/**
 * A document of the repository as a page: links lead to pages, and programs become live examples. Everything else stays as it is, so
 * that there is one text. What a document links to besides documents (sources, tests, pictures) is published beside the pages.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { programOf } from "./live.ts";
import { BASE, ROOT, type Route, routeOf } from "./routes.ts";

export interface Page {
  readonly text: string;
  /** Files of the repository that the page refers to. */
  readonly files: readonly string[];
}

const FENCE = /^(```+)[^\n]*\n[\s\S]*?^\1 *$/gm;
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g;
const IMAGE_TAG = /(<(?:img|source)[^>]*?\s(?:src|srcset)=")([^":]+)(")/g;

const isPicture = (path: string): boolean => /\.(?:png|svg|jpe?g|gif)$/.test(path);

/** Under which address a file is published: sources as text, since browsers take `.ts` for a video. */
export const publishedAs = (file: string): string => `/files/${isPicture(file) ? file : `${file}.txt`}`;

/** The text with `change` applied to what is not code; fences go through `fence`. */
function split(text: string, change: (prose: string) => string, fence: (block: string) => string): string {
  let out = "";
  let at = 0;
  for (const match of text.matchAll(FENCE)) {
    out += change(text.slice(at, match.index)) + fence(match[0]);
    at = match.index + match[0].length;
  }
  return out + change(text.slice(at));
}

/** What stands in backticks is code: Vue and the link rewriting leave it alone. */
function outsideOfCode(prose: string, change: (text: string) => string): string {
  return prose
    .split(/(`+[^`\n]+`+)/)
    .map((part, nth) => (nth % 2 === 0 ? change(part) : part))
    .join("");
}

/** Links have code in their words, so they are taken from the whole text, and only their targets change. */
function relinked(prose: string, document: string, files: Set<string>): string {
  const place = (path: string): string => posix.normalize(posix.join(dirname(document), path));
  return prose
    .replace(LINK, (all, isImage: string, words: string, link: string) => {
      if (/^(?:[a-z]+:|[#/])/i.test(link)) return all;
      const [path = "", anchor] = link.split("#");
      const target = place(path);
      const route = pageOf(target);
      if (route !== undefined) return `[${words}](${route}${anchor === undefined ? "" : `#${anchor}`})`;
      const file = join(ROOT, target);
      if (!existsSync(file) || statSync(file).isDirectory()) return words;
      if (isImage !== "" && isDiagram(target)) return inlined(target);
      files.add(target);
      return isImage === "" && !isPicture(target)
        ? // VitePress puts the site's own path before links of Markdown only.
          `<a href="${BASE.slice(0, -1)}${publishedAs(target)}" target="_blank">${inline(words)}</a>`
        : `${isImage}[${words}](${publishedAs(target)})`;
    })
    .replace(IMAGE_TAG, (_all, before: string, path: string, after: string) => {
      files.add(place(path));
      return before + publishedAs(place(path)) + after;
    });
}

/** In the page a drawing has the page's colours; `.diagram` of the site's style stands for its own style. */
const inlined = (file: string): string => {
  const drawing = readFileSync(join(ROOT, file), "utf8").replace(/<style>[\s\S]*?<\/style>|\n/g, "");
  return `<div class="drawing" tabindex="0">${drawing}</div>`;
};

const isDiagram = (file: string): boolean => /^docs\/diagrams\/[\w-]+\.svg$/.test(file);

/** Words of a link that becomes HTML: of Markdown they have code at most. */
const inline = (words: string): string =>
  words.replace(/`([^`]+)`/g, (_all, code: string) => `<code v-pre>${escaped(code)}</code>`);

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function pageOf(target: string): Route | undefined {
  if (!existsSync(join(ROOT, target))) return undefined;
  return routeOf(target) ?? routeOf(posix.join(target, "README.md"));
}

function live(block: string): string {
  const [, code] = /^```(?:ts|typescript)\n([\s\S]*?)^```$/m.exec(block) ?? [];
  const program = code === undefined ? undefined : programOf(code);
  if (program === undefined) return block;
  const attributes = [
    program.file === undefined ? "" : ` file="${program.file}"`,
    program.needs === undefined ? "" : ` needs="${program.needs}"`,
  ];
  return `<LiveProgram${attributes.join("")}>\n\n\`\`\`ts\n${program.code}\`\`\`\n\n</LiveProgram>\n`;
}

/** Two braces would be Vue's. */
const withoutBraces = (prose: string): string => outsideOfCode(prose, (text) => text.replaceAll("{{", "&#123;&#123;"));

export function pageFrom(document: string, text: string): Page {
  const files = new Set<string>();
  const changed = split(text, (prose) => withoutBraces(relinked(prose, document, files)), live);
  return { text: changed, files: [...files] };
}
