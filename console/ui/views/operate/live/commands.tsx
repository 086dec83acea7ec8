/** Calls and durations of every command, and how their durations spread: a table and a heat map. */
import { IconGridDots } from "@tabler/icons-react";
import { ActButton } from "../../../acting.tsx";
import { useAddress } from "../../../address.ts";
import { act } from "../../../api.ts";
import { duration, micros, number } from "../../../format.ts";
import { useLoad } from "../../../load.ts";
import { Empty, Head, Scroll, States, Table, useActions } from "../../../parts.tsx";
import "./live.css";

interface Stats {
  readonly name: string;
  readonly calls: number;
  readonly micros: number;
  readonly rejected: number;
  readonly failed: number;
  readonly p50: number | null;
  readonly p99: number | null;
}

interface Histogram {
  readonly name: string;
  readonly calls: number;
  readonly buckets: readonly { readonly boundMicros: number; readonly count: number }[];
}

const MOST_ROWS = 25;

/** Powers of four, from a microsecond to a quarter of a second; a bucket belongs to the first that is not below its bound. */
const COLUMNS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, Number.POSITIVE_INFINITY];

const heatOf = (share: number): string =>
  share === 0 ? "" : share < 0.01 ? "h1" : share < 0.2 ? "h2" : share < 0.6 ? "h3" : "h4";

function HeatMap({ commands }: { commands: readonly Histogram[] }) {
  const rows = commands.slice(0, MOST_ROWS).map(({ name, calls, buckets }) => ({
    name,
    calls,
    cells: COLUMNS.map((bound, at) =>
      buckets
        .filter(({ boundMicros }) => boundMicros <= bound && boundMicros > (COLUMNS[at - 1] ?? 0))
        .reduce((sum, { count }) => sum + count, 0),
    ),
  }));
  return (
    <Scroll label="Latency heat map">
      <table className="heat" aria-label="Latency heat map">
        <thead>
          <tr>
            <th scope="col">Command</th>
            {COLUMNS.map((bound) => (
              <th key={bound} scope="col">
                {Number.isFinite(bound) ? `≤ ${micros(bound)}` : "more"}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, calls, cells }) => (
            <tr key={name}>
              <th scope="row">
                <code>{name.replace("|", " ")}</code>
              </th>
              {cells.map((count, at) => (
                <td key={COLUMNS[at]} className={`cell ${heatOf(count / calls)}`}>
                  {count === 0 ? "" : number(count)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const ORDERS = {
  time: { title: "Time in all", of: ({ micros: total }: Stats) => total },
  calls: { title: "Calls", of: ({ calls }: Stats) => calls },
  mean: { title: "Mean", of: ({ micros: total, calls }: Stats) => total / Math.max(1, calls) },
  errors: { title: "Errors", of: ({ failed, rejected }: Stats) => failed + rejected },
} as const;

export function Commands() {
  const { query, go } = useAddress();
  const stats = useLoad<{ commands: Stats[] }>("/api/commandstats", {}, 3_000);
  const latency = useLoad<{ supported: boolean; commands: Histogram[] }>("/api/latency", {}, 5_000);
  const actions = useActions(() => {
    stats.reload();
    latency.reload();
  });
  const asked = query.get("sort") ?? "time";
  const order = asked in ORDERS ? (asked as keyof typeof ORDERS) : "time";
  const reset = () =>
    actions.ask({
      title: "Begin counting anew?",
      text: "CONFIG RESETSTAT sets the figures of INFO stats to zero for everybody: commands, hits and misses, network, latencies.",
      button: "Reset statistics",
      run: () => actions.run(() => act("DELETE", "/api/commandstats"), "Counting begins anew"),
    });
  return (
    <>
      <Head title="Commands" note="Since the server's start, or the last reset">
        <ActButton data-acts="admin" type="button" onClick={reset}>
          Reset statistics…
        </ActButton>
      </Head>
      {actions.view}
      <h2>How long commands take</h2>
      <p className="note">
        Each row is a command; a cell says how many of its calls took so long. Stronger colours have more of them.
      </p>
      <States of={latency}>
        {({ supported, commands }) =>
          !supported ? (
            <Empty title="This server keeps no histograms.">LATENCY HISTOGRAM came with Redis 7.0.</Empty>
          ) : commands.length === 0 ? (
            <Empty title="No command was timed yet." icon={IconGridDots} />
          ) : (
            <HeatMap commands={commands} />
          )
        }
      </States>
      <div className="row section">
        <h2>By command</h2>
        <fieldset className="tabs" aria-label="Order">
          {Object.entries(ORDERS).map(([name, { title }]) => (
            <button key={name} type="button" aria-pressed={name === order} onClick={() => go({ sort: name })}>
              {title}
            </button>
          ))}
        </fieldset>
      </div>
      <States of={stats}>
        {({ commands }) =>
          commands.length === 0 ? (
            <Empty title="No command was run yet." />
          ) : (
            <Table
              label="Commands"
              rows={[...commands].sort((a, b) => ORDERS[order].of(b) - ORDERS[order].of(a))}
              id={({ name }) => name}
              columns={[
                { title: "Command", wide: true, cell: ({ name }) => <code>{name.replace("|", " ")}</code> },
                { title: "Calls", numeric: true, cell: ({ calls }) => number(calls) },
                { title: "Time in all", numeric: true, cell: (each) => duration(each.micros / 1_000) },
                { title: "Mean", numeric: true, cell: (each) => micros(each.micros / Math.max(1, each.calls)) },
                { title: "Median", numeric: true, cell: ({ p50 }) => (p50 === null ? "–" : micros(p50)) },
                { title: "99 %", numeric: true, cell: ({ p99 }) => (p99 === null ? "–" : micros(p99)) },
                {
                  title: "Failed",
                  numeric: true,
                  cell: ({ failed, rejected }) =>
                    failed + rejected === 0 ? (
                      <span className="dim">0</span>
                    ) : (
                      <span className="badge failed" title={`${failed} failed, ${rejected} refused`}>
                        {number(failed + rejected)}
                      </span>
                    ),
                },
              ]}
            />
          )
        }
      </States>
    </>
  );
}
