/** What can be wrong with an RDB file or a DUMP payload, with the place where it was noticed. */

/**
 * `truncated`: it ends too early. `corrupt`: it contradicts the format or itself. `checksum`: it was changed since it was
 * written. `unsupported`: it may be sound, but comes from a version or a module that is not known here.
 */
export type RdbErrorKind = "truncated" | "corrupt" | "checksum" | "unsupported";

export class RdbError extends Error {
  readonly kind: RdbErrorKind;
  /** The offset of the byte at which reading stopped. */
  readonly offset: number;

  constructor(kind: RdbErrorKind, reason: string, offset: number) {
    super(reason);
    this.name = "RdbError";
    this.kind = kind;
    this.offset = offset;
  }
}
