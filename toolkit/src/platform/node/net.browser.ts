/** Stands for `node:net` in browsers: what an address is. There are no sockets. */
const V4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

export const isIPv4 = (text: string): boolean => V4.test(text);

/** Groups of hexadecimal digits, at most one gap, and perhaps an IPv4 address at the end. */
export function isIPv6(text: string): boolean {
  const [address = "", zone] = text.split("%", 2);
  if (zone === "") return false;
  const halves = address.split("::");
  if (halves.length > 2 || address === "") return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1) ?? "";
  const isMixed = last.includes(".");
  if (isMixed && (!isIPv4(last) || address.endsWith("::"))) return false;
  const plain = isMixed ? groups.slice(0, -1) : groups;
  if (!plain.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  const count = plain.length + (isMixed ? 2 : 0);
  return halves.length === 2 ? count < 8 : count === 8;
}

export type Socket = never;
