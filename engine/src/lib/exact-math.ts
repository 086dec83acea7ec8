/**
 * Sine, cosine and arcsine, rounded correctly.
 *
 * V8's own are off by up to one unit in the last place, the C library's by hardly more than half of one; so a distance that
 * is stored as a score (STOREDIST) would differ from Redis's in its last digit every now and then. These compute with pairs
 * of doubles, about 31 digits, and round once. They cost a microsecond each: for results, not for searching.
 *
 * Meant for |x| ≤ π (sine and cosine) and 0 ≤ x ≤ 1 (arcsine).
 */

/** The unevaluated sum of two doubles, the second below half a unit in the last place of the first. */
export interface Pair {
  readonly high: number;
  readonly low: number;
}

const SPLITTER = 2 ** 27 + 1;

export function sum(a: number, b: number): Pair {
  const high = a + b;
  const shadow = high - a;
  return { high, low: a - (high - shadow) + (b - shadow) };
}

export function product(a: number, b: number): Pair {
  const high = a * b;
  const ta = SPLITTER * a;
  const tb = SPLITTER * b;
  const aHigh = ta - (ta - a);
  const bHigh = tb - (tb - b);
  const aLow = a - aHigh;
  const bLow = b - bHigh;
  return { high, low: aHigh * bHigh - high + aHigh * bLow + aLow * bHigh + aLow * bLow };
}

export function add(a: Pair, b: Pair): Pair {
  const s = sum(a.high, b.high);
  const t = sum(a.low, b.low);
  const u = sum(s.high, s.low + t.high);
  return sum(u.high, u.low + t.low);
}

export function multiply(a: Pair, b: Pair): Pair {
  const p = product(a.high, b.high);
  return sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

function divide(a: Pair, n: number): Pair {
  const quotient = a.high / n;
  const back = product(quotient, n);
  return sum(quotient, (a.high - back.high - back.low + a.low) / n);
}

export const negate = (a: Pair): Pair => ({ high: -a.high, low: -a.low });

/** π/2 in three parts. */
const HALF_PI = [1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33] as const;

/** Sums first − first·x²/(n(n+1)) + … from n on, until nothing more is added. */
function series(first: Pair, squared: Pair, n: number): Pair {
  let term = first;
  let total = first;
  for (let i = n; i < n + 40 && Math.abs(term.high) > 1e-35; i += 2) {
    term = negate(divide(multiply(term, squared), i * (i + 1)));
    total = add(total, term);
  }
  return total;
}

/** The sine of x + quarters · π/2. */
export function sinePair(x: number, quarters: number): Pair {
  const turns = Math.round(x / HALF_PI[0]);
  let rest: Pair = { high: x, low: 0 };
  for (const part of HALF_PI) rest = add(rest, negate(product(turns, part)));
  const quadrant = (((turns + quarters) % 4) + 4) % 4;
  const squared = multiply(rest, rest);
  const value = quadrant % 2 === 0 ? series(rest, squared, 2) : series({ high: 1, low: 0 }, squared, 1);
  return quadrant < 2 ? value : negate(value);
}

const round = ({ high, low }: Pair) => high + low;

export const exactMath = {
  sin: (x: number): number => round(sinePair(x, 0)),
  cos: (x: number): number => round(sinePair(x, 1)),
  /** One step of Newton's method from V8's value, its error measured exactly. */
  asin(x: number): number {
    const near = Math.asin(x);
    const slope = Math.cos(near);
    if (slope < 1e-8) return near;
    const sine = sinePair(near, 0);
    return near + (x - sine.high - sine.low) / slope;
  },
};
