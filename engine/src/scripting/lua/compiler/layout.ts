/**
 * Lays generated code out in lines, so that each line stands for one place of the script.
 *
 * The compiler puts a mark before code that can fail or call. Here a mark becomes a line end wherever it differs from
 * the one before; the list of what each line stands for is how trace.ts reads a stack. Marks are made of a character that
 * generated code has nowhere else, and are put only where JavaScript allows a line end.
 */
import type { Site } from "../trace.ts";

const MARK = "\u0001";
const END = "\u0002";

export class Sites {
  readonly #sites: Site[] = [];
  readonly #known = new Map<string, number>();

  /** The text to put before code that belongs to this place. */
  mark(line: number, name?: string, method = false, tail = false): string {
    const key = `${line}${method ? ":" : "."}${tail ? "t" : ""}${name === undefined ? "" : ` ${name}`}`;
    let id = this.#known.get(key);
    if (id === undefined) {
      id = this.#sites.length;
      this.#sites.push({ line, name, method, tail });
      this.#known.set(key, id);
    }
    return MARK + id + END;
  }

  /** The code in lines, and what each line (counted from 1) stands for. */
  lay(code: string, firstLine: number): { text: string; sites: Site[] } {
    const start: Site = { line: firstLine };
    const lines: Site[] = [start, start];
    let text = "";
    let current = -1;
    for (const [i, part] of code.split(MARK).entries()) {
      // No mark stands before the first part.
      if (i === 0) {
        text = part;
        continue;
      }
      const end = part.indexOf(END);
      const id = Number(part.slice(0, end));
      if (id !== current) {
        current = id;
        text += "\n";
        lines.push(this.#sites[id]!);
      }
      text += part.slice(end + 1);
    }
    return { text, sites: lines };
  }
}
