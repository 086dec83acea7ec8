/** Internet addresses as bytes: four for IPv4, sixteen for IPv6. An IPv4 address that is written as IPv6 is the IPv4 address. */
import { isIPv4, isIPv6 } from "node:net";

export type Family = 4 | 6;

export interface Address {
  readonly family: Family;
  readonly bytes: Buffer;
}

/** Null if the text is not an address. */
export function parseAddress(text: string): Address | null {
  if (isIPv4(text)) return { family: 4, bytes: Buffer.from(text.split(".").map(Number)) };
  const [address] = text.split("%", 1);
  if (address === undefined || !isIPv6(address)) return null;
  const bytes = Buffer.from(sixteen(address));
  const isMapped = bytes.readUInt16BE(10) === 0xffff && bytes.subarray(0, 10).every((byte) => byte === 0);
  return isMapped ? { family: 4, bytes: bytes.subarray(12) } : { family: 6, bytes };
}

/** The bytes of an address that is known to be IPv6. */
function sixteen(address: string): number[] {
  const last = address.slice(address.lastIndexOf(":") + 1);
  const text = last.includes(".") ? address.slice(0, -last.length) + twoWords(last) : address;
  const [head = "", tail] = text.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : 8 - front.length - back.length;
  const words = [...front, ...Array.from({ length: zeros }, () => "0"), ...back].map((word) =>
    Number.parseInt(word, 16),
  );
  return words.flatMap((word) => [word >> 8, word & 0xff]);
}

/** An IPv4 address as the last two words of an IPv6 one. */
function twoWords(dotted: string): string {
  const hex = dotted.split(".").map((byte) => Number(byte).toString(16).padStart(2, "0"));
  return `${hex.slice(0, 2).join("")}:${hex.slice(2).join("")}`;
}

/** An address given as a decimal number, as some files have it. */
export function fromNumber(digits: string, family: Family): Address | null {
  if (!/^\d{1,39}$/.test(digits)) return null;
  const length = family === 4 ? 4 : 16;
  const hex = BigInt(digits).toString(16);
  if (hex.length > 2 * length) return null;
  return { family, bytes: Buffer.from(hex.padStart(2 * length, "0"), "hex") };
}

/** The first and the last address of a network like 10.0.0.0/8. Null for what is none. */
export function parseNetwork(text: string): { from: Address; to: Address } | null {
  const [base, length, ...rest] = text.split("/");
  const from = parseAddress(base ?? "");
  if (from === null || length === undefined || rest.length > 0 || !/^\d{1,3}$/.test(length)) return null;
  const bits = Number(length);
  if (bits > from.bytes.length * 8) return null;
  const [first, last] = [Buffer.from(from.bytes), Buffer.from(from.bytes)];
  for (let at = 0; at < first.length; at++) {
    const kept = Math.min(8, Math.max(0, bits - 8 * at));
    const host = 0xff >> kept;
    first[at]! &= ~host & 0xff;
    last[at]! |= host;
  }
  return { from: { family: from.family, bytes: first }, to: { family: from.family, bytes: last } };
}

/** The address before (-1) or after (1); null where there is none. */
export function neighbour(bytes: Buffer, step: 1 | -1): Buffer | null {
  const found = Buffer.from(bytes);
  for (let at = found.length - 1; at >= 0; at--) {
    found[at] = (found[at]! + step) & 0xff;
    if (found[at] !== (step === 1 ? 0 : 0xff)) return found;
  }
  return null;
}

export function formatAddress({ family, bytes }: Address): string {
  if (family === 4) return [...bytes].join(".");
  const words = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at));
  // The longest run of two zeros or more is left out, the first where several are alike.
  let [begin, length] = [0, 1];
  for (let at = 0; at < 8; at++) {
    let end = at;
    while (end < 8 && words[end] === 0) end++;
    if (end - at > length) [begin, length] = [at, end - at];
  }
  const text = (part: readonly number[]): string => part.map((word) => word.toString(16)).join(":");
  if (length === 1) return text(words);
  return `${text(words.slice(0, begin))}::${text(words.slice(begin + length))}`;
}
