/**
 * The functions of C's math library as the reference has them to the last digit, nearly always.
 *
 * The C library's results are off by hardly more than half a unit in the last place, V8's by up to one; a script that
 * stores a decayed score shows the difference in one call of ten. So these compute with pairs of doubles and round once.
 * They take about a microsecond, and leave to V8 what is special (infinities, overflow) or exact anyway.
 */
import { add, exactMath, multiply, negate, type Pair, product, sinePair, sum } from "../../../lib/exact-math.ts";

const LN2: Pair = { high: Math.LN2, low: 2.3190468138462996e-17 };
const ONE: Pair = { high: 1, low: 0 };

const pair = (high: number): Pair => ({ high, low: 0 });
const round = ({ high, low }: Pair) => high + low;

/** 2^scale times this pair. */
interface Scaled {
  value: Pair;
  scale: number;
}

/** e^x: a multiple of ln 2 is taken off, the rest divided by 64, put into the series, and squared six times. */
function expPair(x: Pair): Scaled {
  const scale = Math.round(x.high / LN2.high);
  const rest = add(x, negate(multiply(LN2, pair(scale))));
  const small: Pair = { high: rest.high / 64, low: rest.low / 64 };
  let term = ONE;
  let value = ONE;
  for (const reciprocal of RECIPROCALS) {
    term = multiply(term, multiply(small, reciprocal));
    value = add(value, term);
  }
  for (let i = 0; i < 6; i++) value = multiply(value, value);
  return { value, scale };
}

/** 1/n for the series, from n = 1 on. */
const RECIPROCALS: Pair[] = Array.from({ length: 15 }, (_, i) => {
  const n = i + 1;
  const near = 1 / n;
  const back = product(near, n);
  return sum(near, (1 - back.high - back.low) / n);
});

/** In two steps, since a power of two may be too small or too large to be a factor. */
function scaled({ value, scale }: Scaled): number {
  const half = Math.trunc(scale / 2);
  return round(value) * 2 ** half * 2 ** (scale - half);
}

const double = new Float64Array(1);
const words = new Int32Array(double.buffer);

/** ln x for x > 0: V8's value for the mantissa, and one step of Newton's method. */
function logPair(x: number): Pair {
  const normal = x < 2 ** -1022 ? x * 2 ** 54 : x;
  double[0] = normal;
  let exponent = ((words[1]! >>> 20) & 0x7ff) - 1023;
  words[1] = (words[1]! & 0x000fffff) | 0x3ff00000;
  let mantissa = double[0];
  if (mantissa > Math.SQRT2) {
    mantissa /= 2;
    exponent++;
  }
  if (normal !== x) exponent -= 54;
  const near = Math.log(mantissa);
  const inverse = expPair(pair(-near));
  const product = multiply(inverse.value, pair(mantissa * 2 ** inverse.scale));
  const error = add(product, pair(-1));
  const logarithm = add(pair(near), add(error, pair((-error.high * error.high) / 2)));
  return add(logarithm, multiply(LN2, pair(exponent)));
}

/** Where e^x is a number in the normal range. */
const isTame = (x: number) => x > -708 && x < 709;

function exp(x: number): number {
  return isTame(x) && x !== 0 ? scaled(expPair(pair(x))) : Math.exp(x);
}

function log(x: number): number {
  return x > 0 && x < Infinity && x !== 1 ? round(logPair(x)) : Math.log(x);
}

/** C's pow, which also says 1 where JavaScript's says NaN. */
function pow(x: number, y: number): number {
  if (x === 1 || (x === -1 && (y === Infinity || y === -Infinity))) return 1;
  const near = x ** y;
  if (y === 2) return x * x;
  if (near === 0 || !Number.isFinite(near) || y === 0 || y === 1 || (x === 2 && Number.isInteger(y))) return near;
  if (Number.isInteger(x) && Number.isInteger(y) && y > 0 && Math.abs(near) < 2 ** 53) {
    // The exact product.
    let result = x;
    for (let i = 1; i < y && Math.abs(result) !== 1; i++) result *= x;
    return Math.abs(x) === 1 ? near : result;
  }
  const size = Math.abs(x);
  const exponent = multiply(logPair(size), pair(y));
  if (!isTame(exponent.high)) return near;
  const result = scaled(expPair(exponent));
  return near < 0 ? -result : result;
}

/** Angles up to here are brought down to one turn with enough digits. */
const MAX_ANGLE = 1e6;

function sin(x: number): number {
  return Math.abs(x) < MAX_ANGLE && x !== 0 ? exactMath.sin(x) : Math.sin(x);
}

function cos(x: number): number {
  return Math.abs(x) < MAX_ANGLE ? exactMath.cos(x) : Math.cos(x);
}

function tan(x: number): number {
  if (!(Math.abs(x) < MAX_ANGLE) || x === 0) return Math.tan(x);
  const sine = sinePair(x, 0);
  const cosine = sinePair(x, 1);
  const near = sine.high / cosine.high;
  const rest = add(sine, negate(multiply(cosine, pair(near))));
  return near + rest.high / cosine.high;
}

function asin(x: number): number {
  if (!(Math.abs(x) <= 1) || x === 0) return Math.asin(x);
  return x < 0 ? -exactMath.asin(-x) : exactMath.asin(x);
}

function acos(x: number): number {
  const near = Math.acos(x);
  const slope = Math.sin(near);
  if (!(slope > 1e-8)) return near;
  const error = add(sinePair(near, 1), pair(-x));
  return near + error.high / slope;
}

function atan2(y: number, x: number): number {
  const near = Math.atan2(y, x);
  if (x === 0 || y === 0 || !Number.isFinite(x) || !Number.isFinite(y)) return near;
  // Brought to a size at which nothing overflows; the angle stays the same.
  const size = Math.max(Math.abs(x), Math.abs(y));
  const scale = size > 2 ** 500 ? 2 ** -600 : size < 2 ** -500 ? 2 ** 600 : 1;
  const [a, b] = [x * scale, y * scale];
  if (Math.min(Math.abs(a), Math.abs(b)) < 2 ** -900) return near;
  const sine = sinePair(near, 0);
  const cosine = sinePair(near, 1);
  const across = add(multiply(cosine, pair(b)), negate(multiply(sine, pair(a))));
  return near + across.high / (a * cosine.high + b * sine.high);
}

/** As the C library composes it from its exp. */
function cosh(x: number): number {
  const size = Math.abs(x);
  if (size < 22 && size > Math.LN2 / 2) {
    const power = exp(size);
    return power / 2 + 0.5 / power;
  }
  return size < 709 && size >= 22 ? exp(size) / 2 : Math.cosh(x);
}

export const exact = { acos, asin, atan: (x: number) => atan2(x, 1), atan2, cos, cosh, exp, log, pow, sin, tan };
