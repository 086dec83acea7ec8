/** What a benchmark tells: lines for people, or JSON. */
import { type Ratio, ratioOf } from "./figures.ts";
import type { Histogram } from "./histogram.ts";
import type { Recorder } from "./recorder.ts";

export interface Side {
  readonly label: string;
  readonly server: string;
  readonly recorder: Recorder;
}

export interface Report {
  readonly title: string;
  /** How it was sent: `closed loop, 50 clients, pipeline 1`. */
  readonly load: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly sides: readonly Side[];
  readonly isOpen: boolean;
  readonly isInterrupted: boolean;
}

const PERCENTS = [50, 90, 99, 99.9] as const;

const rounded = (number: number, digits = 3): number => Number(number.toFixed(digits));
export const grouped = (number: number): string => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, " ");

/** As many digits as say something. */
function msText(ms: number): string {
  const digits = ms >= 100 ? 0 : ms >= 10 ? 1 : ms >= 0.1 ? 2 : 4;
  return `${ms.toFixed(digits)} ms`;
}

const perSecond = (requests: number, ms: number): number => (ms === 0 ? 0 : (requests / ms) * 1_000);

function latencyLine(histogram: Histogram): string {
  const shares = PERCENTS.map((percent) => `p${percent} ${msText(histogram.percentile(percent))}`);
  return [...shares, `max ${msText(histogram.maxMs)}`].join("   ");
}

const BARS = "▁▂▃▄▅▆▇█";
const MOST_BARS = 60;

function overTime({ series, ms }: Recorder): string {
  const rates = series.rates(ms).map((each) => each.perSecond);
  if (rates.length < 2) return "";
  const [low, high] = [Math.min(...rates), Math.max(...rates)];
  const step = Math.ceil(rates.length / MOST_BARS);
  const shown = rates.filter((_, at) => at % step === 0);
  const bars = shown.map((rate) => BARS[Math.min(7, Math.floor((rate / high) * 7.99))]).join("");
  return `${bars}  ${grouped(low)} to ${grouped(high)} a second`;
}

function sideLines({ label, server, recorder }: Side, isOpen: boolean): string[] {
  const { latency, late, requests, ms, errorCount, errors, unanswered, unsent } = recorder;
  const rows: [string, string][] = [
    ["requests", `${grouped(requests)} in ${(ms / 1_000).toFixed(1)} s: ${grouped(perSecond(requests, ms))} a second`],
  ];
  if (requests > 0) rows.push(["latency", latencyLine(latency)]);
  const bars = overTime(recorder);
  if (bars !== "") rows.push(["over time", bars]);
  if (isOpen && late.total > 0) {
    rows.push([
      "sent late",
      `p50 ${msText(late.percentile(50))}   p99 ${msText(late.percentile(99))}; part of the latency`,
    ]);
  }
  if (unsent > 0) rows.push(["not sent", `${grouped(unsent)}: the store does not keep up with this rate`]);
  if (unanswered > 0) rows.push(["no answer", grouped(unanswered)]);
  for (const { text, count } of errors) rows.push(["errors", `${grouped(count)} of ${grouped(errorCount)}: ${text}`]);
  return [`${label} (${server})`, ...rows.map(([name, text]) => `  ${name.padEnd(11)}${text}`)];
}

interface Comparison {
  readonly what: string;
  readonly ratio: Ratio | null;
}

function comparisons([first, second]: readonly Side[]): Comparison[] {
  const [a, b] = [first!.recorder.rounds, second!.recorder.rounds];
  const both = (what: string, figure: (round: (typeof a)[number]) => number): Comparison => ({
    what,
    ratio: ratioOf(a.map(figure), b.map(figure)),
  });
  return [
    both("throughput", ({ requests, ms }) => perSecond(requests, ms)),
    both("p50", ({ latency }) => latency.percentile(50)),
    both("p99", ({ latency }) => latency.percentile(99)),
  ];
}

function comparisonLines(sides: readonly Side[]): string[] {
  const rounds = Math.min(...sides.map(({ recorder }) => recorder.rounds.length));
  const rows = comparisons(sides).map(({ what, ratio }) =>
    ratio === null
      ? `  ${what.padEnd(11)}no round has both`
      : `  ${what.padEnd(11)}${ratio.ratio.toFixed(2)} (${ratio.low.toFixed(2)} to ${ratio.high.toFixed(2)})`,
  );
  return [
    `${sides[0]!.label} in proportion to ${sides[1]!.label}: median of ${rounds} rounds, lowest and highest`,
    ...rows,
  ];
}

export function textOf({ title, load, sides, isOpen, isInterrupted }: Report): string {
  const lines = [`${title}: ${load}`, ...sides.flatMap((side) => sideLines(side, isOpen))];
  if (sides.length === 2) lines.push(...comparisonLines(sides));
  if (isInterrupted) lines.push("Interrupted: this is what was measured so far.");
  return `${lines.join("\n")}\n`;
}

function latencyFigures(histogram: Histogram): Record<string, number> {
  const shares = PERCENTS.map((percent): [string, number] => [
    `p${percent}`,
    rounded(histogram.percentile(percent), 4),
  ]);
  return {
    min: rounded(histogram.minMs, 4),
    mean: rounded(histogram.meanMs, 4),
    ...Object.fromEntries(shares),
    max: rounded(histogram.maxMs, 4),
  };
}

function sideFigures({ label, server, recorder }: Side, isOpen: boolean): object {
  const { latency, late, requests, ms, errorCount, errors, unanswered, unsent, series, rounds } = recorder;
  return {
    url: label,
    server,
    requests,
    seconds: rounded(ms / 1_000),
    requestsPerSecond: rounded(perSecond(requests, ms), 1),
    latencyMs: latencyFigures(latency),
    ...(isOpen ? { sentLateMs: latencyFigures(late) } : {}),
    errors: { count: errorCount, kinds: errors },
    unsent,
    unanswered,
    overTime: series.rates(ms).map((each) => ({ ...each, perSecond: rounded(each.perSecond, 1) })),
    rounds: rounds.map((round) => ({
      requests: round.requests,
      seconds: rounded(round.ms / 1_000),
      requestsPerSecond: rounded(perSecond(round.requests, round.ms), 1),
      latencyMs: latencyFigures(round.latency),
    })),
  };
}

export function jsonOf({ title, load, settings, sides, isOpen, isInterrupted }: Report): string {
  const compared =
    sides.length < 2
      ? {}
      : { comparison: Object.fromEntries(comparisons(sides).map(({ what, ratio }) => [what, ratio])) };
  const report = {
    workload: title,
    load,
    ...settings,
    interrupted: isInterrupted,
    sides: sides.map((side) => sideFigures(side, isOpen)),
    ...compared,
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}
