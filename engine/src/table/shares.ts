/**
 * Which part of the values at its keys a call builds, as a copy or a reply: an upper bound for what is asked, not for what is
 * found. A range that names both ends counts as the whole value, one with other borders as little.
 */

/** Part of the values that a call asks for: 0 to 1. */
export type Share = (argv: readonly string[], size: number) => number;

export const whole: Share = () => 1;

/** `LRANGE key start stop` and its like. */
export const byIndex: Share = (argv, size) => {
  const [start, stop] = [Number(argv[2]), Number(argv[3])];
  const from = Math.max(0, start < 0 ? size + start : start);
  const to = Math.min(size - 1, stop < 0 ? size + stop : stop);
  return size === 0 ? 0 : Math.max(0, to - from + 1) / size;
};

const isEnd = (word: string | undefined) => word !== undefined && /^[-+]$|^[-+]inf$|^0(-0)?$/i.test(word);

/** What `LIMIT offset count` or `COUNT count` leaves of so many; undefined where there is neither. */
function limited(argv: readonly string[], size: number): number | undefined {
  const at = argv.findIndex((word) => /^(limit|count)$/i.test(word));
  const word = argv[at];
  if (word === undefined || at < 2 || size === 0) return undefined;
  const count = Number(argv[/^limit$/i.test(word) ? at + 2 : at + 1]);
  return count >= 0 ? Math.min(1, count / size) : undefined;
}

/** Ranges by score, word or id: everything when both ends are named and there is no limit. */
export const byBorders: Share = (argv, size) => limited(argv, size) ?? (isEnd(argv[2]) && isEnd(argv[3]) ? 1 : 0);

/** `ZRANGE key start stop [BYSCORE | BYLEX] …`. */
export const byIndexOrBorders: Share = (argv, size) =>
  argv.some((word) => /^by(score|lex)$/i.test(word)) ? byBorders(argv, size) : byIndex(argv, size);

/** `XREAD … STREAMS key … id …`: from the beginning of a stream, without a limit. */
export const fromStart: Share = (argv, size) =>
  limited(argv, size) ?? (argv.slice(2).some((word) => /^0(-0)?$/.test(word)) ? 1 : 0);

/** `KEYS pattern`: of the keys themselves. */
export const everyKey: Share = (argv) => (argv[1] === "*" ? 1 : 0);
