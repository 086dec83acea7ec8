/** A line chart over time. The box has its size before the chart is there, so nothing moves. */
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useTheme } from "./theme.ts";

export interface Line {
  readonly label: string;
  /** Name of a colour in style.css. */
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
}

const HEIGHT = 132;
/** A chart that has just begun is drawn as the end of so much, so that its line grows to the left instead of jumping. */
const LEAST_SECONDS = 60;
const TIME_STEPS = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 604_800];
const BINARY_STEPS = Array.from({ length: 50 }, (_, power) => 2 ** power);

function timeOf(seconds: number, step: number): string {
  const date = new Date(seconds * 1_000);
  if (step >= 86_400) return date.toLocaleDateString(undefined, { month: "short", day: "numeric" });
  const two = (part: number) => String(part).padStart(2, "0");
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return step >= 60 ? minutes : `${minutes}:${two(date.getSeconds())}`;
}

function optionsFor(props: Props, width: number, style: CSSStyleDeclaration): uPlot.Options {
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis = {
    stroke: color("dim"),
    grid: { stroke: color("line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    padding: [8, 8, 0, 0],
    scales: {
      x: { range: (_plot, min, max) => [Math.min(min ?? 0, (max ?? 0) - LEAST_SECONDS), max ?? 0] },
      y: { range: (_plot, _min, max) => [0, props.max ?? Math.max(1, (max || 0) * 1.15)] },
    },
    axes: [
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
    ],
    series: [
      {},
      ...props.lines.map(({ label, color: name }, nth) => ({
        label,
        stroke: color(name),
        width: 1.5,
        points: { show: false },
        spanGaps: false,
        ...(nth === 0 && props.lines.length === 1 && { fill: `${color(name)}22` }),
      })),
    ],
  };
}

export function Chart(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = useTheme();
  const data = [props.times, ...props.lines.map(({ values }) => values)] as uPlot.AlignedData;
  useEffect(() => {
    const element = box.current!;
    plot.current = new uPlot(optionsFor(props, element.clientWidth, getComputedStyle(element)), data, element);
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
    };
  }, [theme]);
  useEffect(() => plot.current?.setData(data), [props.times, props.lines]);
  return (
    <section class="chart" aria-label={`${props.title}: ${props.now}`}>
      <h2>
        {props.title}
        <output>{props.now}</output>
      </h2>
      <div class="plot" ref={box} aria-hidden="true" />
      {props.lines.length > 1 && (
        <p class="legend">
          {props.lines.map(({ label, color }) => (
            <span key={label}>
              <i class={`swatch ${color}`} />
              {label}
            </span>
          ))}
        </p>
      )}
    </section>
  );
}
