/** Which of the 16 384 slots of a Cluster a key belongs to: CRC16 of what stands in its first braces, or of all of it. */

export const SLOTS = 16_384;

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** The slot of a key whose chars are bytes. */
export function keySlot(key: string): number {
  let from = 0;
  let to = key.length;
  const open = key.indexOf("{");
  if (open >= 0) {
    const end = key.indexOf("}", open + 1);
    if (end > open + 1) {
      from = open + 1;
      to = end;
    }
  }
  let crc = 0;
  for (let at = from; at < to; at++) crc = ((crc << 8) & 0xffff) ^ TABLE[((crc >> 8) ^ key.charCodeAt(at)) & 0xff]!;
  return crc & (SLOTS - 1);
}
