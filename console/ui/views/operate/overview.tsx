/** What happens now, and in the last hour. */
import { IconZoomReset } from "@tabler/icons-react";
import type { Point } from "../../../src/live.ts";
import { useAddress } from "../../address.ts";
import { Chart } from "../../chart.tsx";
import { bytes, duration, micros, number } from "../../format.ts";
import { usePoints } from "../../live.ts";
import { useLoad } from "../../load.ts";
import { Head, Table } from "../../parts.tsx";
import { useZoom, zoomTo } from "../../zoom.ts";
import { Condition, Details } from "./overview-condition.tsx";

const SPANS = [
  { title: "10 min", seconds: 1, range: null },
  { title: "30 min", seconds: 5, range: "30m" },
  { title: "1 hour", seconds: 10, range: "1h" },
] as const;

const percent = (part: number): string => `${(part * 100).toFixed(part === 1 ? 0 : 1)} %`;
const known = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? "–" : format(value);

/** The points to draw: the finest come live, coarser ones are loaded now and then. */
function useSpan(seconds: number): readonly Point[] {
  const live = usePoints();
  const coarse = useLoad<{ points: Point[] }>(seconds === 1 ? null : "/api/live/history", { seconds }, seconds * 1_000);
  return seconds === 1 ? live : (coarse.data?.points ?? []);
}

function Charts({ points, last }: { points: readonly Point[]; last: Point | undefined }) {
  const times = points.map(({ at }) => at / 1_000);
  const line = (label: string, color: string, name: keyof Point) => ({
    label,
    color,
    values: points.map((point) => point[name]),
  });
  const perSecond = (value: number) => `${bytes(value)}/s`;
  const one = (title: string, name: keyof Point, format: (value: number) => string, color = "c1") => ({
    title,
    now: known(last?.[name], format),
    format,
    lines: [line(title, color, name)],
  });
  const latency = [line("p50", "c1", "p50"), line("p99", "c2", "p99"), line("p99.9", "c3", "p999")];
  const network = last === undefined ? "–" : `${perSecond(last.netIn)} in, ${perSecond(last.netOut)} out`;
  const charts = [
    one("Operations a second", "ops", number),
    { ...one("Latency, p99", "p99", micros), lines: latency },
    { ...one("Memory", "memory", bytes), binary: true },
    { ...one("Hit rate", "hitRate", percent, "c4"), max: 1 },
    one("Keys", "keys", number),
    one("Clients", "clients", number),
    {
      title: "Network",
      now: network,
      format: bytes,
      binary: true,
      lines: [line("In", "c1", "netIn"), line("Out", "c2", "netOut")],
    },
  ];
  return (
    <div className="charts">
      {charts.map((chart) => (
        <Chart key={chart.title} times={times} {...chart} />
      ))}
    </div>
  );
}

interface Circuit {
  readonly server: string;
  readonly state: "closed" | "open" | "half-open";
  readonly failures: number;
  readonly openForMs: number;
  readonly error: string | null;
}

const STATES = {
  closed: { word: "closed", means: "It answers; calls go through." },
  open: { word: "open", means: "It does not answer; nothing is sent to it." },
  "half-open": { word: "half-open", means: "It is being asked for a sign of life; calls wait." },
} as const;

/** Loaded without the server, so that it is there when the server is not. */
function Circuits() {
  const loaded = useLoad<{ circuits: Circuit[] }>("/api/circuits", {}, 1_000);
  const circuits = loaded.data?.circuits ?? [];
  // A store in the console's own process has none.
  if (circuits.length === 0) return null;
  return (
    <section className="circuits">
      <h2>Circuit breakers</h2>
      <Table
        label="Circuit breakers"
        rows={circuits}
        id={({ server }) => server}
        columns={[
          { title: "Server", cell: ({ server }) => server || "the server" },
          {
            title: "State",
            cell: ({ state }) => (
              <span className={`circuit ${state}`} title={STATES[state].means}>
                {STATES[state].word}
              </span>
            ),
          },
          { title: "Failures in a row", numeric: true, cell: ({ failures }) => number(failures) },
          { title: "For", numeric: true, cell: ({ openForMs }) => (openForMs > 0 ? duration(openForMs) : "–") },
          { title: "Last error", wide: true, cell: ({ error }) => error ?? "–" },
        ]}
      />
    </section>
  );
}

export function Overview() {
  const address = useAddress();
  const { seconds } = SPANS.find(({ range }) => range === address.get("range")) ?? SPANS[0];
  const points = useSpan(seconds);
  const live = usePoints();
  const zoom = useZoom();
  return (
    <>
      <Head title="Overview">
        {zoom !== null && (
          <button type="button" onClick={() => zoomTo(null)}>
            <IconZoomReset size={16} stroke={1.6} aria-hidden="true" /> Reset zoom
          </button>
        )}
        <fieldset className="tabs" aria-label="Time span">
          {SPANS.map((span) => (
            <button
              key={span.title}
              type="button"
              aria-pressed={span.seconds === seconds}
              onClick={() => address.go({ range: span.range, zoom: null })}
            >
              {span.title}
            </button>
          ))}
        </fieldset>
      </Head>
      <Condition last={live.at(-1)} />
      <Charts points={points} last={live.at(-1)} />
      <Details />
      <Circuits />
    </>
  );
}
