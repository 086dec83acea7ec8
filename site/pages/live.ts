/** Which programs run on the page, and what those that do not need. */
import { whyNode } from "../../scripts/browser-toolkit.js";

export interface Program {
  /** What is shown and run. */
  readonly code: string;
  /** The file that it is, if it is one. */
  readonly file: string | undefined;
  /** What it needs that a page does not have; undefined for one that runs. */
  readonly needs: string | undefined;
}

/** A sample of a document, without the line that names its file. Undefined for one that is no program of ours. */
export function programOf(sample: string): Program | undefined {
  const [first, file] = /^\/\/ (\S+\.ts)\n/.exec(sample) ?? ["", undefined];
  const code = sample.slice(first.length);
  if (!/\bfrom "(?:cinnabar|@cinnabar)\b/.test(code)) return undefined;
  return { code, file, needs: whyNode(code) };
}
