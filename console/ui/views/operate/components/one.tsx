/** One component: its figures, a question to ask of it, what is in it, and what can be done to it. */
import { IconDatabaseSearch } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";
import { useAddress } from "../../../address.ts";
import { number, shown } from "../../../format.ts";
import { useLoad } from "../../../load.ts";
import { Empty, Head, Loading, States, Table } from "../../../parts.tsx";
import { OpenAction, RowButtons, ThingButtons } from "./actions.tsx";
import { CellView, Figures } from "./figures.tsx";
import { apiOf, keysOf, type Line, type List, type Look, type Offered, type Unit } from "./model.ts";

const Chart = lazy(() => import("../../../chart.tsx").then((module) => ({ default: module.Chart })));

const NUMERIC: readonly Unit[] = ["number", "amount", "bytes", "ms"];
/** From here on no column takes what the others leave, and texts go over several lines. */
const MANY_COLUMNS = 8;
const REFRESH_MS = 2_000;
const SPANS = [
  { title: "1 hour", ms: 3_600_000 },
  { title: "1 day", ms: 86_400_000 },
  { title: "30 days", ms: 2_592_000_000 },
] as const;
const COLORS = ["c1", "c2", "c3", "c4"] as const;

function Question({ asked, question }: { asked: string | null; question: NonNullable<Look["question"]> }) {
  const { go } = useAddress();
  const [item, setItem] = useState(asked ?? "");
  return (
    <form
      className="row section"
      onSubmit={(event) => {
        event.preventDefault();
        go({ item });
      }}
    >
      <input
        type="search"
        data-search
        required
        aria-label={question.label}
        placeholder={question.label}
        value={item}
        onChange={(event) => setItem(event.currentTarget.value)}
      />
      <button type="submit">{question.button}</button>
      {asked !== null && (
        <button
          type="button"
          className="plain"
          onClick={() => {
            setItem("");
            go({ item: null });
          }}
        >
          Clear answer
        </button>
      )}
    </form>
  );
}

function ListView({ list, actions }: { list: List; actions: readonly Offered[] }) {
  const { query, go, href } = useAddress();
  const after = query.get("after");
  const { title, columns, rows, empty, cursor, isWhole = false } = list;
  const isDense = columns.length >= MANY_COLUMNS;
  const hasActions = rows.some((row) => (row.actions ?? list.actions).length > 0);
  return (
    <section>
      <h2 className="section">{title}</h2>
      {rows.length === 0 ? (
        <Empty title={empty} icon={IconDatabaseSearch} />
      ) : (
        <Table
          label={title}
          rows={rows}
          id={({ id }) => id}
          columns={[
            ...columns.map((column, at) => ({
              title: column.title,
              numeric: NUMERIC.includes(column.unit),
              wide: at === 0 && !isDense,
              wraps: isDense && column.unit === "text",
              cell: ({ id, cells }: List["rows"][number]) => {
                const value = cells[at] ?? null;
                if (at === 0 && list.asks)
                  return <a href={href({ item: id })}>{typeof value === "string" ? value : id}</a>;
                return <CellView value={value} unit={column.unit} />;
              },
            })),
            ...(hasActions
              ? [
                  {
                    title: "",
                    cell: (row: List["rows"][number]) => (
                      <RowButtons actions={actions} names={row.actions ?? list.actions} row={row.id} />
                    ),
                  },
                ]
              : []),
          ]}
        />
      )}
      {(cursor !== null || (after !== null && !isWhole)) && (
        <div className="row section">
          {after !== null && (
            <button type="button" onClick={() => go({ after: null })}>
              Show first page
            </button>
          )}
          {cursor !== null && (
            <button type="button" onClick={() => go({ after: cursor })}>
              Show next page
            </button>
          )}
        </div>
      )}
    </section>
  );
}

function LineView({ line: { title, labels, points } }: { line: Line }) {
  const { query, go } = useAddress();
  const span = Number(query.get("span") ?? SPANS[0].ms);
  const newest = points.at(-1)?.values[0] ?? null;
  return (
    <section>
      <div className="row section">
        <h2>Course</h2>
        <fieldset className="tabs" aria-label="Time range">
          {SPANS.map(({ title: words, ms }) => (
            <button key={ms} type="button" aria-pressed={span === ms} onClick={() => go({ span: String(ms) })}>
              {words}
            </button>
          ))}
        </fieldset>
      </div>
      {points.length === 0 ? (
        <Empty title="No sample is in this time range." />
      ) : (
        <Suspense fallback={<Loading />}>
          <Chart
            title={title}
            now={newest === null ? "–" : number(newest)}
            times={points.map(({ at }) => at / 1_000)}
            format={number}
            sparse
            lines={labels.map((label, at) => ({
              label,
              color: COLORS[at % COLORS.length]!,
              values: points.map(({ values }) => values[at] ?? null),
            }))}
          />
        </Suspense>
      )}
    </section>
  );
}

export function OneThing({ kind, prefix, name }: { kind: string; prefix: string; name: string }) {
  const { query } = useAddress();
  const [after, item, span] = [query.get("after"), query.get("item"), query.get("span")];
  const loaded = useLoad<Look>(
    apiOf(kind),
    {
      ...{ prefix, name },
      ...(after !== null && { after }),
      ...(item !== null && { item }),
      ...(span !== null && { spanMs: Number(span) }),
    },
    REFRESH_MS,
  );
  const { data } = loaded;
  return (
    <>
      <Head
        title={name}
        note={
          <>
            <a href={`#/components?kind=${encodeURIComponent(kind)}`}>{data?.title ?? "All of this kind"}</a>
            {" · "}
            <a href={keysOf({ prefix, name }, data?.shardMark ?? null)}>Show its keys</a>
            {kind === "executors" && (
              <>
                {" · "}
                <a href={`#/queues?${new URLSearchParams({ name, shards: "1", prefix })}`}>Open its queue</a>
              </>
            )}
          </>
        }
      >
        {data && <ThingButtons actions={data.actions} />}
      </Head>
      <States of={loaded}>
        {({ about, thing, figures, lists, lines, question, answer, actions }) => (
          <>
            {about !== null && <p className="about">{about}</p>}
            <Figures of={figures} label={`Figures of ${name}`} />
            {question !== null && <Question key={item ?? ""} asked={item} question={question} />}
            {answer !== null && item !== null && (
              <section aria-live="polite">
                <h2 className="section">
                  {question?.button}: {shown(item)}
                </h2>
                <Figures of={answer} label="Answer" />
              </section>
            )}
            {lines.map((line) => (
              <LineView key={line.title} line={line} />
            ))}
            {lists.map((list) => (
              <ListView key={list.title} list={list} actions={actions} />
            ))}
            {Object.keys(thing.details).length > 0 && (
              <>
                <h2 className="section">Options it is opened with</h2>
                <dl className="pairs card">
                  {Object.entries(thing.details).map(([option, value]) => (
                    <div key={option}>
                      <dt>
                        <code>{option}</code>
                      </dt>
                      <dd>
                        <code>{typeof value === "object" ? JSON.stringify(value) : String(value)}</code>
                      </dd>
                    </div>
                  ))}
                </dl>
              </>
            )}
            <OpenAction kind={kind} thing={thing} actions={actions} changed={loaded.reload} />
          </>
        )}
      </States>
    </>
  );
}
