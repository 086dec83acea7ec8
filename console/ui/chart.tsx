/**
 * A line chart over time. The box has its size before the chart is there, so nothing moves. Charts of one page share the pointer and
 * the zoom: the values under the pointer stand in each, and a frame drawn in one is what all show.
 */
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useTheme } from "./theme.ts";
import { useZoom, type Zoom, zoomTo } from "./zoom.ts";

export interface Line {
  readonly label: string;
  /** Name of a colour in tokens.css. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

interface Props {
  readonly title: string;
  readonly now: string;
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** The top of the scale, where it is known. */
  readonly max?: number;
  /** Whether the scale goes by powers of two. */
  readonly binary?: boolean;
  /** Whether values come now and then: each is a dot, and lines go on over the gaps. */
  readonly sparse?: boolean;
}

const HEIGHT = 132;
/** A chart that has just begun is drawn as the end of so much, so that its line grows to the left instead of jumping. */
const LEAST_SECONDS = 60;
/** A frame that is narrower than this is a click. */
const LEAST_ZOOM_PX = 8;
const TIME_STEPS = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 604_800];
const BINARY_STEPS = Array.from({ length: 50 }, (_, power) => 2 ** power);
const SYNC = "cinnabar";

function timeOf(seconds: number, step: number): string {
  const date = new Date(seconds * 1_000);
  if (step >= 86_400) return date.toLocaleDateString(undefined, { month: "short", day: "numeric" });
  const two = (part: number) => String(part).padStart(2, "0");
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return step >= 60 ? minutes : `${minutes}:${two(date.getSeconds())}`;
}

/** What somebody has drawn a frame around becomes the zoom of all charts; the frame itself goes. */
function zoomed(plot: uPlot): void {
  const { left, width } = plot.select;
  if (width < LEAST_ZOOM_PX) return;
  const from = plot.posToVal(left, "x");
  // A chart that has no points yet has no time either.
  if (from > 1) zoomTo({ from, to: plot.posToVal(left + width, "x") });
  plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
}

/** Instead of uPlot's own answer to a double click, which knows one chart only. */
function unzoomed(): null {
  zoomTo(null);
  return null;
}

interface Wiring {
  readonly zoom: () => Zoom | null;
  readonly pointed: (at: number | null) => void;
}

function axesFor(props: Props, color: (name: string) => string): uPlot.Axis[] {
  const axis = {
    stroke: color("dim"),
    grid: { stroke: color("line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  return [
    {
      ...axis,
      size: 22,
      space: 70,
      incrs: TIME_STEPS,
      values: (_plot, ticks, _axis, _space, step) => ticks.map((tick) => timeOf(tick, step)),
    },
    {
      ...axis,
      size: 58,
      space: 28,
      ...(props.binary && { incrs: BINARY_STEPS }),
      values: (_plot, ticks) => ticks.map((tick) => props.format(tick)),
    },
  ];
}

function optionsFor(props: Props, width: number, style: CSSStyleDeclaration, wiring: Wiring): uPlot.Options {
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const span = (min: number, max: number): [number, number] => {
    const zoom = wiring.zoom();
    return zoom === null ? [Math.min(min, max - LEAST_SECONDS), max] : [zoom.from, zoom.to];
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: {
      drag: { x: true, y: false, setScale: false },
      points: { size: 6 },
      sync: { key: SYNC },
      bind: { dblclick: () => unzoomed },
    },
    padding: [8, 22, 0, 0],
    hooks: { setSelect: [zoomed], setCursor: [({ cursor }) => wiring.pointed(cursor.idx ?? null)] },
    scales: {
      x: { range: (_plot, min, max) => span(min ?? 0, max ?? 0) },
      y: { range: (_plot, _min, max) => [0, props.max ?? Math.max(1, (max || 0) * 1.15)] },
    },
    axes: axesFor(props, color),
    series: [
      {},
      ...props.lines.map(({ label, color: name }, nth) => ({
        label,
        stroke: color(name),
        width: 1.5,
        points: { show: props.sparse ?? false, size: 4, fill: color(name) },
        spanGaps: props.sparse ?? false,
        ...(nth === 0 && props.lines.length === 1 && { fill: `${color(name)}22` }),
      })),
    ],
  };
}

/** Under the chart: what the lines are, and under the pointer the moment and the values there. */
function Legend({ lines, format, times, at }: Props & { at: number | null }) {
  const time = at === null ? undefined : times[at];
  const valueAt = ({ values }: Line) => (at === null ? null : (values[at] ?? null));
  return (
    <p className="legend">
      {(lines.length > 1 || time !== undefined) &&
        lines.map((line) => {
          const value = valueAt(line);
          return (
            <span key={line.label}>
              <i className={`swatch ${line.color}`} />
              {lines.length > 1 && line.label} {value !== null && <b>{format(value)}</b>}
            </span>
          );
        })}
      {time !== undefined && <time>{timeOf(time, 1)}</time>}
    </p>
  );
}

export function Chart(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const theme = useTheme();
  const zoom = useZoom();
  const latestZoom = useRef(zoom);
  latestZoom.current = zoom;
  const data = [props.times, ...props.lines.map(({ values }) => values)] as uPlot.AlignedData;
  useEffect(() => {
    const element = box.current!;
    const wiring = { zoom: () => latestZoom.current, pointed: setAt };
    plot.current = new uPlot(optionsFor(props, element.clientWidth, getComputedStyle(element), wiring), data, element);
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
    };
  }, [theme]);
  useEffect(() => void plot.current?.setData(data), [props.times, props.lines, zoom]);
  return (
    <section className="chart" aria-label={`${props.title}: ${props.now}`}>
      <h2>
        {props.title}
        <output>{props.now}</output>
      </h2>
      <div className="plot" ref={box} aria-hidden="true" />
      <Legend {...props} at={at} />
    </section>
  );
}
