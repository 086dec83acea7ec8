/** What the suites do with files. */
import type { IncomingFile, Line, LineOptions, Reader } from "../index.ts";

/** What a full block of 16 bytes takes, and a budget for five of them. */
export const TAKEN = 16 + 4 + 64;
export const SMALL = { blockBytes: 16, budgetBytes: 5 * TAKEN, commitBytes: 1, pollMs: 50 } as const;

export async function linesOf(file: IncomingFile, options?: LineOptions): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const line of file.lines(options)) lines.push(line);
  return lines;
}
export const textsOf = async (file: IncomingFile, options?: LineOptions): Promise<string[]> =>
  (await linesOf(file, options)).map(({ text }) => text);
export async function bytesOf(file: IncomingFile): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const piece of file.blocks()) parts.push(Buffer.from(piece));
  return Buffer.concat(parts);
}

/** A file that is there or is being announced. */
export async function opened(reader: Reader, name: string): Promise<IncomingFile> {
  for (;;) {
    const file = await reader.open(name);
    if (file !== null) return file;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
