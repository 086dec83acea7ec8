/** What programs count, log and measure with the toolkit. */
import { useAddress } from "../../address.ts";
import { Chart } from "../../chart.tsx";
import { moment, number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Empty, Head, States, Table } from "../../parts.tsx";

const PRECISIONS = [
  { title: "seconds", ms: 1_000 },
  { title: "minutes", ms: 60_000 },
  { title: "hours", ms: 3_600_000 },
] as const;

function Counter({ name, precisionMs }: { name: string; precisionMs: number }) {
  const loaded = useLoad<{ series: { at: string; count: number }[] }>(
    `/api/counters/${encodeURIComponent(name)}`,
    { precisionMs },
    5_000,
  );
  const series = loaded.data?.series ?? [];
  const total = series.reduce((sum, { count }) => sum + count, 0);
  return (
    <Chart
      title={name}
      now={`${number(total)} in all`}
      times={series.map(({ at }) => Date.parse(at) / 1_000)}
      format={number}
      lines={[{ label: name, color: "c1", values: series.map(({ count }) => count) }]}
    />
  );
}

function CountersPart() {
  const address = useAddress();
  const { ms: precision } = PRECISIONS.find(({ title }) => title === address.get("precision")) ?? PRECISIONS[1];
  const loaded = useLoad<{ names: string[] }>("/api/counters", {}, 5_000);
  return (
    <>
      <div className="row section">
        <h2>Counters</h2>
        <fieldset className="tabs" aria-label="Precision">
          {PRECISIONS.map(({ title, ms }) => (
            <button
              key={ms}
              type="button"
              aria-pressed={ms === precision}
              onClick={() => address.go({ precision: title })}
            >
              {title}
            </button>
          ))}
        </fieldset>
      </div>
      <States of={loaded}>
        {({ names }) =>
          names.length === 0 ? (
            <Empty title="Nothing is counted.">new Counters(db).add("hits") begins one.</Empty>
          ) : (
            <div className="charts">
              {names.slice(0, 24).map((name) => (
                <Counter key={name} name={name} precisionMs={precision} />
              ))}
            </div>
          )
        }
      </States>
    </>
  );
}

interface Summary {
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}
interface Stat {
  readonly context: string;
  readonly type: string;
  readonly thisHour?: Summary | null;
  readonly lastHour?: Summary | null;
}

function StatsPart() {
  const loaded = useLoad<{ stats: Stat[] }>("/api/stats", {}, 5_000);
  const of = (stat: Stat) => stat.thisHour ?? stat.lastHour ?? null;
  const column = (title: string, name: keyof Summary) => ({
    title,
    numeric: true,
    cell: (stat: Stat) => {
      const summary = of(stat);
      return summary === null ? "–" : number(summary[name]);
    },
  });
  return (
    <>
      <h2 className="section">Statistics of this hour</h2>
      <States of={loaded}>
        {({ stats }) =>
          stats.length === 0 ? (
            <Empty title="Nothing is measured.">new Stats(db).time("/products", render) begins.</Empty>
          ) : (
            <Table
              label="Statistics"
              rows={stats}
              id={({ context, type }) => `${type} ${context}`}
              columns={[
                { title: "What", wide: true, cell: ({ context }) => <code>{context}</code> },
                { title: "Unit", cell: ({ type }) => type },
                column("Count", "count"),
                column("Least", "min"),
                column("Mean", "mean"),
                column("p50", "p50"),
                column("p95", "p95"),
                column("p99", "p99"),
                column("Most", "max"),
              ]}
            />
          )
        }
      </States>
    </>
  );
}

interface Log {
  readonly recent: { at: string; message: string; fields?: Record<string, unknown> }[];
  readonly common: { thisHour: { message: string; count: number }[] };
}

function LogPart({ name, severity }: { name: string; severity: string }) {
  const loaded = useLoad<Log>(`/api/logs/${encodeURIComponent(name)}/${encodeURIComponent(severity)}`, {}, 5_000);
  return (
    <States of={loaded}>
      {({ recent, common }) => (
        <>
          <Table
            label="Recent entries"
            rows={recent.map((entry, nth) => ({ ...entry, nth }))}
            id={({ nth }) => nth}
            columns={[
              { title: "When", cell: ({ at }) => moment(Date.parse(at)) },
              { title: "Message", wide: true, cell: ({ message }) => message },
              { title: "Fields", cell: ({ fields }) => fields && <code>{JSON.stringify(fields)}</code> },
            ]}
          />
          <h2 className="section">Most common this hour</h2>
          <Table
            label="Common messages"
            rows={common.thisHour}
            id={({ message }) => message}
            columns={[
              { title: "Count", numeric: true, cell: ({ count }) => count },
              { title: "Message", wide: true, cell: ({ message }) => message },
            ]}
          />
        </>
      )}
    </States>
  );
}

const idOf = ({ name, severity }: { readonly name: string; readonly severity: string }) => `${severity}:${name}`;

function LogsPart() {
  const loaded = useLoad<{ logs: { name: string; severity: string }[] }>("/api/logs", {}, 5_000);
  const address = useAddress();
  const chosen = address.get("log");
  return (
    <>
      <h2 className="section">Logs</h2>
      <States of={loaded}>
        {({ logs }) => {
          const log = logs.find((each) => idOf(each) === chosen) ?? logs[0];
          if (log === undefined)
            return <Empty title="Nothing is logged.">new Logs(db).write("web", "info", "…") begins.</Empty>;
          return (
            <>
              <fieldset className="tabs" aria-label="Log">
                {logs.map((each) => (
                  <button
                    key={idOf(each)}
                    type="button"
                    aria-pressed={each === log}
                    onClick={() => address.go({ log: idOf(each) })}
                  >
                    {each.name} · {each.severity}
                  </button>
                ))}
              </fieldset>
              <LogPart {...log} />
            </>
          );
        }}
      </States>
    </>
  );
}

export function Measures() {
  return (
    <>
      <Head title="Measures" note="Counters, statistics and logs of the toolkit" />
      <CountersPart />
      <StatsPart />
      <LogsPart />
    </>
  );
}
