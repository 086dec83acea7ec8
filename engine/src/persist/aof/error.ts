/** What is wrong with an append-only file, with the file and the place in it. */

/** `truncated`: it ends in the middle of a command or transaction. `format`: it contradicts the format. */
export type AofErrorKind = "truncated" | "format";

export class AofError extends Error {
  override readonly name = "AofError";
  readonly kind: AofErrorKind;
  readonly path: string;
  /** Everything before this byte is sound. */
  readonly offset: number;

  constructor(kind: AofErrorKind, path: string, offset: number, reason: string) {
    super(`${path}, offset ${offset}: ${reason}`);
    this.kind = kind;
    this.path = path;
    this.offset = offset;
  }
}
