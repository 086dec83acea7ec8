/** Line plots with logarithmic axes, as SVG that needs nothing else and reads well on light and dark pages. */

export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Plot {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly lines: readonly Line[];
}

const WIDTH = 640;
const HEIGHT = 360;
const LEFT = 70;
const RIGHT = 150;
const TOP = 40;
const BOTTOM = 50;
const COLOURS = ["#c0392b", "#2471a3", "#1e8449", "#b7950b", "#7d3c98"];

const short = (value: number): string =>
  value >= 1e9
    ? `${value / 1e9} G`
    : value >= 1e6
      ? `${value / 1e6} M`
      : value >= 1e3
        ? `${value / 1e3} k`
        : String(value);

/** Powers of ten around the values. */
function axis(values: readonly number[]): { from: number; to: number } {
  const from = Math.floor(Math.log10(Math.min(...values)));
  const to = Math.ceil(Math.log10(Math.max(...values)));
  return { from, to: Math.max(to, from + 1) };
}

/** Places for names near where their lines end, none above another. */
function spread(wanted: readonly number[]): number[] {
  const places = [...wanted];
  const order = wanted.map((_, at) => at).sort((a, b) => wanted[a]! - wanted[b]!);
  order.forEach((at, nth) => {
    if (nth > 0) places[at] = Math.max(places[at]!, places[order[nth - 1]!]! + 15);
  });
  return places;
}

export function plotSvg({ title, x, y, lines }: Plot): string {
  const points = lines.flatMap((line) => line.points);
  const xs = axis(points.map(([value]) => value));
  const ys = axis(points.map(([, value]) => value));
  const across = (value: number): number =>
    LEFT + ((Math.log10(value) - xs.from) / (xs.to - xs.from)) * (WIDTH - LEFT - RIGHT);
  const up = (value: number): number =>
    HEIGHT - BOTTOM - ((Math.log10(value) - ys.from) / (ys.to - ys.from)) * (HEIGHT - TOP - BOTTOM);
  const parts: string[] = [];
  for (let power = xs.from; power <= xs.to; power++) {
    const at = across(10 ** power).toFixed(1);
    parts.push(`<line x1="${at}" y1="${TOP}" x2="${at}" y2="${HEIGHT - BOTTOM}" stroke="#8884"/>`);
    parts.push(`<text x="${at}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${short(10 ** power)}</text>`);
  }
  for (let power = ys.from; power <= ys.to; power++) {
    const at = up(10 ** power);
    parts.push(`<line x1="${LEFT}" y1="${at.toFixed(1)}" x2="${WIDTH - RIGHT}" y2="${at.toFixed(1)}" stroke="#8884"/>`);
    parts.push(`<text x="${LEFT - 8}" y="${(at + 4).toFixed(1)}" text-anchor="end">${short(10 ** power)}</text>`);
  }
  const labels = spread(lines.map(({ points: of }) => up(of.at(-1)![1])));
  lines.forEach(({ name, points: of }, nth) => {
    const colour = COLOURS[nth % COLOURS.length];
    const path = of.map(([a, b]) => `${across(a).toFixed(1)},${up(b).toFixed(1)}`).join(" ");
    parts.push(`<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`);
    parts.push(`<text x="${WIDTH - RIGHT + 8}" y="${(labels[nth]! + 4).toFixed(1)}" fill="${colour}">${name}</text>`);
  });
  const middle = (LEFT + WIDTH - RIGHT) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#888">`,
    `<title>${title}</title>`,
    `<text x="${middle}" y="20" text-anchor="middle" font-size="14">${title}</text>`,
    ...parts,
    `<text x="${middle}" y="${HEIGHT - 10}" text-anchor="middle">${x}</text>`,
    `<text x="16" y="${(TOP + HEIGHT - BOTTOM) / 2}" text-anchor="middle" transform="rotate(-90 16 ${(TOP + HEIGHT - BOTTOM) / 2})">${y}</text>`,
    "</svg>",
    "",
  ].join("\n");
}
