/**
 * Positions on the globe as 52-bit numbers, and which of these numbers can lie within a shape.
 *
 * A position is a cell of a grid: at step n the globe between the 85th parallels is cut in 2^n columns and 2^n rows, and the
 * bits of column and row, interleaved, are the cell's number. The cells within a larger cell then have consecutive numbers,
 * so a sorted set with the numbers of step 26 as scores answers "what is in this cell" with one range of scores, and "what
 * is near" with the nine cells around a point at a step where a cell is about as large as the radius.
 *
 * Every number must be the one that Redis computes (scores are stored and compared, and without ASC or DESC results come in
 * the order in which the cells are looked at), so the arithmetic follows its formulas operation by operation. Two 26-bit
 * halves take the place of 64-bit integers.
 */

export interface Position {
  readonly longitude: number;
  readonly latitude: number;
}

/** A circle or a box; lengths in `unit` metres. */
export type Extent = { readonly unit: number } & (
  | { readonly kind: "circle"; readonly radius: number }
  | { readonly kind: "box"; readonly width: number; readonly height: number }
);

/** An extent around a position. */
export type Shape = Extent & { readonly center: Position };

/** Scores from `min` up to but not including `max`. */
export interface ScoreCell {
  readonly min: number;
  readonly max: number;
}

const MAX_LONGITUDE = 180;
const MAX_LATITUDE = 85.05112878;
const STEPS = 26;
const HALF = 2 ** 26;

const EARTH_RADIUS_METERS = 6372797.560856;
/** Half of the equator's length on the Mercator map. */
const MERCATOR_MAX = 20037726.37;

const radians = (degrees: number) => degrees * (Math.PI / 180);
const degrees = (angle: number) => angle / (Math.PI / 180);

export function isValidPosition({ longitude, latitude }: Position): boolean {
  return Math.abs(longitude) <= MAX_LONGITUDE && Math.abs(latitude) <= MAX_LATITUDE;
}

// ------------------------------------------------------------------------------------------------ cells

interface Cell {
  readonly column: number;
  readonly row: number;
  readonly step: number;
}

interface Area {
  readonly west: number;
  readonly east: number;
  readonly south: number;
  readonly north: number;
}

/** Puts a zero before each of the low 16 bits. */
function spread(bits: number): number {
  let x = bits & 0xffff;
  x = (x | (x << 8)) & 0x00ff00ff;
  x = (x | (x << 4)) & 0x0f0f0f0f;
  x = (x | (x << 2)) & 0x33333333;
  return (x | (x << 1)) & 0x55555555;
}

/** Takes every other bit, from the lowest on. */
function gatherBits(bits: number): number {
  let x = bits & 0x55555555;
  x = (x | (x >>> 1)) & 0x33333333;
  x = (x | (x >>> 2)) & 0x0f0f0f0f;
  x = (x | (x >>> 4)) & 0x00ff00ff;
  return (x | (x >>> 8)) & 0x0000ffff;
}

/** Row bits at even places, column bits at odd ones. */
function interleave(column: number, row: number): number {
  const low = (spread(row & 0x1fff) | (spread(column & 0x1fff) << 1)) >>> 0;
  const high = (spread(row >>> 13) | (spread(column >>> 13) << 1)) >>> 0;
  return high * HALF + low;
}

function cellAt(position: Position, step: number, maxLatitude = MAX_LATITUDE): Cell {
  const cells = 2 ** step;
  const row = Math.floor(((position.latitude + maxLatitude) / (maxLatitude * 2)) * cells);
  const column = Math.floor(((position.longitude + MAX_LONGITUDE) / (MAX_LONGITUDE * 2)) * cells);
  return { column, row, step };
}

function areaOf({ column, row, step }: Cell): Area {
  const cells = 2 ** step;
  return {
    west: -MAX_LONGITUDE + (column / cells) * (MAX_LONGITUDE * 2),
    east: -MAX_LONGITUDE + ((column + 1) / cells) * (MAX_LONGITUDE * 2),
    south: -MAX_LATITUDE + (row / cells) * (MAX_LATITUDE * 2),
    north: -MAX_LATITUDE + ((row + 1) / cells) * (MAX_LATITUDE * 2),
  };
}

/** The neighbour so many columns east and rows north; the grid wraps around at its edges. */
function neighbour({ column, row, step }: Cell, east: number, north: number): Cell {
  const cells = 2 ** step;
  const wrap = (index: number, move: number) => (move === 0 ? index : (((index + move) % cells) + cells) % cells);
  return { column: wrap(column, east), row: wrap(row, north), step };
}

function scoresOf({ column, row, step }: Cell): ScoreCell {
  const bits = interleave(column, row);
  const scale = 2 ** (2 * (STEPS - step));
  return { min: bits * scale, max: (bits + 1) * scale };
}

// ------------------------------------------------------------------------------------------------ positions

/** The score under which a position is kept. */
export function encodePosition(position: Position): number {
  const { column, row } = cellAt(position, STEPS);
  return interleave(column, row);
}

/** The middle of the cell that a score stands for. */
export function decodePosition(score: number): Position {
  const { column, row } = cellOfScore(score);
  const { west, east, south, north } = areaOf({ column, row, step: STEPS });
  return {
    longitude: Math.min(MAX_LONGITUDE, Math.max(-MAX_LONGITUDE, (west + east) / 2)),
    latitude: Math.min(MAX_LATITUDE, Math.max(-MAX_LATITUDE, (south + north) / 2)),
  };
}

/** As C on x86-64 turns a double into 64 bits, out of range too. */
function toUint64(value: number): bigint {
  if (value >= 2 ** 64) return 0n;
  return value < -(2 ** 63) ? 1n << 63n : BigInt.asUintN(64, BigInt(Math.trunc(value)));
}

function cellOfScore(score: number): { column: number; row: number } {
  if (score >= 0 && score < HALF * HALF) {
    const high = Math.floor(score / HALF);
    const low = Math.floor(score) - high * HALF;
    return {
      column: gatherBits(high >>> 1) * 8192 + gatherBits(low >>> 1),
      row: gatherBits(high) * 8192 + gatherBits(low),
    };
  }
  // Not a position, or the eastern edge: all 64 bits count.
  const bits = toUint64(score);
  const low = Number(bits & 0xffffffffn);
  const high = Number(bits >> 32n);
  return {
    column: gatherBits(high >>> 1) * 65536 + gatherBits(low >>> 1),
    row: gatherBits(high) * 65536 + gatherBits(low),
  };
}

const BASE32 = "0123456789bcdefghjkmnpqrstuvwxyz";

/**
 * The eleven letters that other systems know a position by. They cut the globe at the poles, not at the 85th parallels; 52
 * bits make ten letters and a bit, and the last is always 0.
 */
export function geohashText(score: number): string {
  const { column, row } = cellAt(decodePosition(score), STEPS, 90);
  const bits = interleave(column, row);
  let text = "";
  for (let i = 1; i <= 10; i++) text += BASE32[Math.floor(bits / 2 ** (52 - i * 5)) % 32];
  return `${text}0`;
}

// ------------------------------------------------------------------------------------------------ distances

function latitudeDistance(from: number, to: number): number {
  return EARTH_RADIUS_METERS * Math.abs(radians(to) - radians(from));
}

/** The functions that `distance` needs: Math itself, or exact-math.ts where the last digit counts. */
type Trigonometry = Pick<Math, "sin" | "cos" | "asin">;

/** Metres between two positions along the surface of a sphere. */
export function distance(from: Position, to: Position, math: Trigonometry = Math): number {
  const lat1 = radians(from.latitude);
  const lat2 = radians(to.latitude);
  const v = math.sin((radians(to.longitude) - radians(from.longitude)) / 2);
  if (v === 0) return latitudeDistance(from.latitude, to.latitude);
  const u = math.sin((lat2 - lat1) / 2);
  const a = u * u + math.cos(lat1) * math.cos(lat2) * v * v;
  return 2 * EARTH_RADIUS_METERS * math.asin(Math.sqrt(a));
}

/** The distance from a shape's centre if the position lies within the shape; otherwise undefined. */
export function distanceWithin(shape: Shape, position: Position): number | undefined {
  const { center, unit } = shape;
  if (shape.kind === "circle") {
    const away = distance(center, position);
    return away > shape.radius * unit ? undefined : away;
  }
  if (latitudeDistance(position.latitude, center.latitude) > (shape.height * unit) / 2) return undefined;
  const sideways = distance(position, { longitude: center.longitude, latitude: position.latitude });
  if (sideways > (shape.width * unit) / 2) return undefined;
  return distance(center, position);
}

// ------------------------------------------------------------------------------------------------ searching

/** A rectangle around the shape, in degrees. */
function boundsOf(shape: Shape): Area {
  const { longitude, latitude } = shape.center;
  const height = shape.unit * (shape.kind === "circle" ? shape.radius : shape.height / 2);
  const width = shape.unit * (shape.kind === "circle" ? shape.radius : shape.width / 2);
  const up = degrees(height / EARTH_RADIUS_METERS);
  // A degree of longitude is shortest at the edge that is nearer to a pole, so the rectangle is widest there.
  const edge = latitude < 0 ? latitude - up : latitude + up;
  const aside = degrees(width / EARTH_RADIUS_METERS / Math.cos(radians(edge)));
  return { west: longitude - aside, east: longitude + aside, south: latitude - up, north: latitude + up };
}

/** How far the farthest point of a shape is from its centre, in units. */
function reachOf(shape: Shape): number {
  if (shape.kind === "circle") return shape.radius;
  const [x, y] = [shape.width / 2, shape.height / 2];
  return Math.sqrt(x * x + y * y);
}

/** The finest step at which nine cells cover the radius; coarser towards the poles, where cells get narrow. */
function stepFor(radiusMeters: number, latitude: number): number {
  if (radiusMeters === 0) return STEPS;
  let step = 1;
  for (let reach = radiusMeters; reach < MERCATOR_MAX; reach *= 2) step++;
  step -= 2;
  if (Math.abs(latitude) > 66) step--;
  if (Math.abs(latitude) > 80) step--;
  return Math.min(STEPS, Math.max(1, step));
}

/** Whether a cell and its neighbours do not reach the bounds on some side. */
function fallsShort(cell: Cell, bounds: Area): boolean {
  return (
    areaOf(neighbour(cell, 0, 1)).north < bounds.north ||
    areaOf(neighbour(cell, 0, -1)).south > bounds.south ||
    areaOf(neighbour(cell, 1, 0)).east < bounds.east ||
    areaOf(neighbour(cell, -1, 0)).west > bounds.west
  );
}

/** Centre, north, south, east, west, and the corners: the order in which Redis looks at them. */
const AROUND: readonly (readonly [east: number, north: number])[] = [
  [0, 0],
  [0, 1],
  [0, -1],
  [1, 0],
  [-1, 0],
  [1, 1],
  [-1, 1],
  [1, -1],
  [-1, -1],
];

/** The ranges of scores in which everything within a shape lies, in the order in which they are to be looked at. */
export function cellsCovering(shape: Shape): ScoreCell[] {
  const bounds = boundsOf(shape);
  let step = stepFor(reachOf(shape) * shape.unit, shape.center.latitude);
  let center = cellAt(shape.center, step);
  if (step > 1 && fallsShort(center, bounds)) {
    step--;
    center = cellAt(shape.center, step);
  }
  const area = areaOf(center);
  const cells: ScoreCell[] = [];
  let last: Cell | undefined;
  for (const [east, north] of AROUND) {
    // Neighbours on a side where the centre cell alone reaches past the bounds are not needed.
    if (step >= 2) {
      if (north < 0 && area.south < bounds.south) continue;
      if (north > 0 && area.north > bounds.north) continue;
      if (east < 0 && area.west < bounds.west) continue;
      if (east > 0 && area.east > bounds.east) continue;
    }
    const cell = neighbour(center, east, north);
    // With few cells around the globe, neighbours can be one and the same.
    if (last !== undefined && last.column === cell.column && last.row === cell.row) continue;
    cells.push(scoresOf(cell));
    if (east !== 0 || north !== 0) last = cell;
  }
  return cells;
}
