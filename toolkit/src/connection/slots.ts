/** Which of the 16 384 slots of a Cluster a key belongs to: CRC16 of what stands in its first braces, or of all of it. */
export const SLOTS = 16_384;

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/**
 * Which of the 16 384 slots of a Cluster a key belongs to: CRC16 of what stands in its first braces, or of all of it.
 * @example
 * slotOf("{user:1}:cart") === slotOf("{user:1}:name"); // → true
 * slotOf("greeting"); // → 12714
 */
export function slotOf(key: string): number {
  const open = key.indexOf("{");
  if (open !== -1) {
    const end = key.indexOf("}", open + 1);
    if (end > open + 1) return crc16(Buffer.from(key.slice(open + 1, end), "utf8")) % SLOTS;
  }
  return crc16(Buffer.from(key, "utf8")) % SLOTS;
}

/** The same for a key that may be no text. */
export function slotOfBytes(key: Buffer): number {
  const open = key.indexOf("{");
  const end = open === -1 ? -1 : key.indexOf("}", open + 1);
  return crc16(end > open + 1 ? key.subarray(open + 1, end) : key) % SLOTS;
}

function crc16(bytes: Buffer): number {
  let crc = 0;
  for (let at = 0; at < bytes.length; at++) crc = ((crc << 8) & 0xffff) ^ TABLE[((crc >> 8) ^ bytes[at]!) & 0xff]!;
  return crc;
}
