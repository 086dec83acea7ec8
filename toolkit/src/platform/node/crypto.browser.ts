/** Stands for `node:crypto` in browsers: digests that answer at once, which the browser's own do not. */
import { digest, isSame } from "@cinnabar/engine/browser";

/** Most that a browser gives at once. */
const MOST = 65_536;

export function randomBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += MOST) crypto.getRandomValues(bytes.subarray(at, at + MOST));
  return bytes;
}

type Form = "hex" | "base64url";

class Hash {
  readonly #algorithm: "sha1" | "sha256";
  readonly #parts: Uint8Array[] = [];

  constructor(algorithm: "sha1" | "sha256") {
    this.#algorithm = algorithm;
  }

  update(data: string | Uint8Array): this {
    this.#parts.push(typeof data === "string" ? Buffer.from(data, "utf8") : data);
    return this;
  }

  digest(): Buffer;
  digest(form: Form): string;
  digest(form?: Form): Buffer | string {
    const made = digest(this.#algorithm, Buffer.concat(this.#parts));
    return form === undefined ? made : made.toString(form);
  }
}

export const createHash = (algorithm: "sha1" | "sha256"): Hash => new Hash(algorithm);

export const hash = (algorithm: "sha1" | "sha256", text: string, form: Form): string =>
  createHash(algorithm).update(text).digest(form);

export const timingSafeEqual = isSame;

/** Browsers have it on secure origins only. */
export function randomUUID(): string {
  const bytes = randomBytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
