/**
 * `npm run diagrams`: the drawings in docs/diagrams, as SVG. In a document they follow the reader's system, light or dark; the site puts
 * them into its pages, where they follow the page (`.diagram` in its style).
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./pages/routes.ts";

const STYLE = `
  .diagram { --d-ink: #1f2328; --d-quiet: #57606a; --d-line: #8c959f; --d-fill: #f6f8fa; --d-main: #a8321f; --d-soft: #fbeae6; }
  @media (prefers-color-scheme: dark) {
    .diagram { --d-ink: #e6edf3; --d-quiet: #a3adb8; --d-line: #6e7681; --d-fill: #21262d; --d-main: #f2917f; --d-soft: #3a211c; }
  }
  .diagram text { fill: var(--d-ink); font: 14px system-ui, "Segoe UI", sans-serif; }
  .diagram .d-quiet { fill: var(--d-quiet); font-size: 12px; }
  .diagram .d-strong { font-weight: 600; }
  .diagram .d-box { fill: var(--d-fill); stroke: var(--d-line); stroke-width: 1.25; }
  .diagram .d-main { fill: var(--d-soft); stroke: var(--d-main); stroke-width: 1.5; }
  .diagram .d-line { fill: none; stroke: var(--d-line); stroke-width: 1.5; }
  .diagram .d-way { fill: none; stroke: var(--d-main); stroke-width: 1.75; }
  .diagram .d-head { fill: var(--d-line); }
  .diagram .d-head-main { fill: var(--d-main); }
`;

type Point = readonly [x: number, y: number];

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

interface BoxOptions {
  readonly main?: boolean;
  /** A smaller line below the name. */
  readonly note?: string;
  readonly round?: number;
}

function box(x: number, y: number, width: number, height: number, name: string, options: BoxOptions = {}): string {
  const { main = false, note, round = 8 } = options;
  const middle = x + width / 2;
  const line = y + height / 2 + (note === undefined ? 5 : -3);
  return [
    `<rect class="${main ? "d-main" : "d-box"}" x="${x}" y="${y}" width="${width}" height="${height}" rx="${round}"/>`,
    `<text class="d-strong" x="${middle}" y="${line}" text-anchor="middle">${escaped(name)}</text>`,
    note === undefined ? "" : label(middle, line + 18, note),
  ].join("");
}

function label(x: number, y: number, text: string, anchor: "start" | "middle" | "end" = "middle"): string {
  return `<text class="d-quiet" x="${x}" y="${y}" text-anchor="${anchor}">${escaped(text)}</text>`;
}

const words = (x: number, y: number, text: string, anchor: "start" | "middle" | "end" = "start"): string =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(text)}</text>`;

/** Along the points, with a head at the end. */
function arrow(points: readonly Point[], main = false): string {
  const [tx, ty] = points.at(-1)!;
  const [fx, fy] = points.at(-2)!;
  const angle = (Math.atan2(ty - fy, tx - fx) * 180) / Math.PI;
  const path = points.map(([x, y], nth) => `${nth === 0 ? "M" : "L"}${x} ${y}`).join("");
  const head = `<path class="${main ? "d-head-main" : "d-head"}" d="M0 0L-9 -4.5V4.5Z" transform="translate(${tx} ${ty}) rotate(${angle.toFixed(1)})"/>`;
  return `<path class="${main ? "d-way" : "d-line"}" d="${path}"/>${head}`;
}

function drawing(width: number, height: number, title: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="diagram" viewBox="0 0 ${width} ${height}" width="${width}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

const lock = drawing(
  720,
  300,
  "A lock's life: asked for, held and renewed, given back or run out, and handed to the next in line",
  [
    box(20, 110, 120, 56, "free"),
    box(300, 110, 140, 56, "held", { main: true, note: "token, fence, lease" }),
    box(580, 20, 120, 56, "given back"),
    box(580, 200, 120, 56, "run out"),
    box(290, 234, 160, 52, "waiting", { note: "in the order of asking" }),
    arrow(
      [
        [140, 138],
        [300, 138],
      ],
      true,
    ),
    label(220, 128, "acquire"),
    arrow([
      [340, 110],
      [340, 66],
      [400, 66],
      [400, 110],
    ]),
    label(370, 56, "renewed each third of the lease"),
    arrow(
      [
        [440, 126],
        [510, 48],
        [580, 48],
      ],
      true,
    ),
    label(544, 38, "release"),
    arrow([
      [440, 150],
      [510, 228],
      [580, 228],
    ]),
    label(516, 172, "no sign of life", "start"),
    label(516, 188, "for one lease", "start"),
    arrow([
      [80, 166],
      [80, 260],
      [290, 260],
    ]),
    label(184, 250, "held by somebody"),
    arrow(
      [
        [370, 234],
        [370, 166],
      ],
      true,
    ),
    label(360, 204, "next: woken once", "end"),
    arrow([
      [640, 20],
      [640, 8],
      [80, 8],
      [80, 110],
    ]),
    label(220, 24, "nobody waits"),
  ],
);

const queue = drawing(760, 330, "A job's states: delayed, waiting, active, done and dead", [
  box(20, 120, 110, 52, "add"),
  box(220, 30, 130, 56, "delayed", { note: "until its time" }),
  box(220, 190, 130, 56, "waiting", { main: true, note: "by priority, in turn" }),
  box(440, 190, 130, 56, "active", { main: true, note: "a worker's lease" }),
  box(630, 110, 110, 52, "done", { note: "last 1 000" }),
  box(630, 250, 110, 52, "dead", { note: "last 10 000" }),
  arrow([
    [130, 134],
    [180, 58],
    [220, 58],
  ]),
  label(140, 88, "delayMs", "end"),
  arrow(
    [
      [130, 158],
      [180, 218],
      [220, 218],
    ],
    true,
  ),
  arrow([
    [285, 86],
    [285, 190],
  ]),
  label(277, 142, "due", "end"),
  arrow(
    [
      [350, 218],
      [440, 218],
    ],
    true,
  ),
  label(395, 208, "taken"),
  arrow(
    [
      [570, 206],
      [600, 136],
      [630, 136],
    ],
    true,
  ),
  label(584, 166, "result", "end"),
  arrow([
    [570, 232],
    [600, 276],
    [630, 276],
  ]),
  label(592, 290, "last attempt", "end"),
  arrow([
    [505, 190],
    [505, 58],
    [350, 58],
  ]),
  label(358, 48, "failed: again after backoffMs", "start"),
  arrow([
    [480, 246],
    [480, 312],
    [285, 312],
    [285, 246],
  ]),
  label(382, 304, "worker died: back in its place"),
]);

const fanOut = drawing(
  760,
  330,
  "Fan-out: posts of most authors are delivered to timelines, posts of few are merged in when a page is read",
  [
    words(20, 28, "Below 10 000 followers: delivered"),
    box(20, 50, 120, 52, "a post"),
    box(190, 50, 160, 52, "jobs", { note: "1 000 followers each" }),
    arrow(
      [
        [140, 76],
        [190, 76],
      ],
      true,
    ),
    ...[0, 1, 2].flatMap((nth) => [
      box(420, 22 + nth * 42, 150, 32, `timeline of ${["ann", "bob", "cho"][nth]}`),
      arrow(
        [
          [350, 76],
          [380, 76],
          [380, 38 + nth * 42],
          [420, 38 + nth * 42],
        ],
        true,
      ),
    ]),
    box(640, 50, 100, 52, "a page", { main: true }),
    arrow([
      [570, 76],
      [640, 76],
    ]),
    label(605, 66, "read"),
    `<path class="d-line" stroke-dasharray="4 5" d="M20 168H740"/>`,
    words(20, 206, "Above: merged in"),
    box(20, 228, 120, 52, "a post"),
    box(200, 228, 160, 52, "profile", { note: "the author's own posts" }),
    arrow(
      [
        [140, 254],
        [200, 254],
      ],
      true,
    ),
    box(405, 228, 180, 52, "timeline of ann", { note: "marked: look there, too" }),
    box(640, 228, 100, 52, "a page", { main: true }),
    arrow([
      [585, 254],
      [640, 254],
    ]),
    arrow(
      [
        [280, 280],
        [280, 308],
        [690, 308],
        [690, 280],
      ],
      true,
    ),
    label(482, 300, "read with it, by time"),
  ],
);

const slots = drawing(760, 300, "A Cluster's slots: the tag of a key decides its slot, and the slot its node", [
  box(20, 40, 210, 48, "lock:{order:17}"),
  box(20, 100, 210, 48, "lock:{order:17}:queue"),
  box(300, 70, 150, 48, "order:17", { note: "what stands in braces" }),
  arrow([
    [230, 64],
    [266, 64],
    [266, 88],
    [300, 88],
  ]),
  arrow([
    [230, 124],
    [266, 124],
    [266, 100],
    [300, 100],
  ]),
  box(540, 70, 200, 48, "slot 3 747", { main: true, note: "CRC16 of it, modulo 16 384" }),
  arrow(
    [
      [450, 94],
      [540, 94],
    ],
    true,
  ),
  box(20, 196, 230, 56, "node A", { note: "slots 0 – 5 460", main: true }),
  box(265, 196, 230, 56, "node B", { note: "slots 5 461 – 10 922" }),
  box(510, 196, 230, 56, "node C", { note: "slots 10 923 – 16 383" }),
  arrow(
    [
      [640, 118],
      [640, 158],
      [135, 158],
      [135, 196],
    ],
    true,
  ),
  label(20, 282, "A node that is asked for another one's slot answers MOVED, and the client asks there.", "start"),
]);

const CELL = 44;
const snapshot = drawing(
  760,
  300,
  "The snapshot walk: it writes keys in their order, and an old value before a command changes it",
  [
    words(20, 28, "The keys, in the order of their hashes"),
    ...Array.from({ length: 16 }, (_, nth) => {
      const x = 20 + nth * (CELL + 1);
      return `<rect class="${nth < 6 || nth === 11 ? "d-main" : "d-box"}" x="${x}" y="44" width="${CELL}" height="36" rx="4"/>`;
    }),
    label(20 + 3 * (CELL + 1), 100, "already in the file"),
    arrow(
      [
        [290, 134],
        [290, 84],
      ],
      true,
    ),
    label(290, 150, "the walk: 1 to 2 ms, then commands"),
    arrow([
      [537, 134],
      [537, 84],
    ]),
    label(537, 150, "SET changes a key ahead of the walk:"),
    label(537, 166, "its old value is written first"),
    words(20, 216, "The file: one point in time"),
    ...Array.from({ length: 7 }, (_, nth) => {
      const x = 20 + nth * (CELL + 1);
      return `<rect class="d-main" x="${x}" y="232" width="${CELL}" height="36" rx="4"/>`;
    }),
    label(20 + 6 * (CELL + 1) + CELL / 2, 288, "old value"),
    arrow([
      [537, 174],
      [537, 250],
      [345, 250],
    ]),
    label(556, 216, "nothing is copied that", "start"),
    label(556, 233, "does not change, and", "start"),
    label(556, 250, "no process is forked", "start"),
  ],
);

/** By the name of the file. */
export const DIAGRAMS: Readonly<Record<string, string>> = {
  "lock.svg": lock,
  "queue.svg": queue,
  "fan-out.svg": fanOut,
  "slots.svg": slots,
  "snapshot.svg": snapshot,
};

export const FOLDER = join(ROOT, "docs/diagrams");

if (process.argv[1] === import.meta.filename) {
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of Object.entries(DIAGRAMS)) writeFileSync(join(FOLDER, name), text);
}
