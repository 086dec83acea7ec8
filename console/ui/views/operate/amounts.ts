/** Times and sizes as people type them: `90`, `5m`, `2h`, `1.5 KB`. */

const TIMES: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  "": 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const SIZES: Readonly<Record<string, number>> = {
  b: 1,
  "": 1,
  k: 1_024,
  kb: 1_024,
  m: 1_048_576,
  mb: 1_048_576,
  g: 1_073_741_824,
  gb: 1_073_741_824,
};

function amount(typed: string, units: Readonly<Record<string, number>>): number | null {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(typed);
  const unit = units[match?.[2]?.toLowerCase() ?? "none"];
  return match === null || unit === undefined ? null : Math.round(Number(match[1]) * unit);
}

/** Milliseconds; seconds where no unit is given. Null: it is no time. */
export const timeIn = (typed: string): number | null => amount(typed, TIMES);
/** Bytes. Null: it is no size. */
export const sizeIn = (typed: string): number | null => amount(typed, SIZES);
