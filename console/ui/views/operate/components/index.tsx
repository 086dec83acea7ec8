/** Everything that components keep in the store, from the registry of names: kinds, the names of one kind, and one of them. */
import { IconComponents } from "@tabler/icons-react";
import { useAddress } from "../../../address.ts";
import { counted, number } from "../../../format.ts";
import { useLoad } from "../../../load.ts";
import { Empty, Head, States, Table } from "../../../parts.tsx";
import { CellView, Fill } from "./figures.tsx";
import { keysOf, type OneKind, pathOf } from "./model.ts";
import { OneThing } from "./one.tsx";
import "./components.css";

interface KindCount {
  readonly kind: string;
  readonly title: string;
  readonly page: string | null;
  readonly about: string | null;
  readonly count: number;
}

type Item = OneKind["items"][number];

/** Figures as columns, in the order in which the first that has some tells them. */
function columnsOf(items: readonly Item[]) {
  const titles = [...new Set(items.flatMap(({ figures }) => figures.map(({ title }) => title)))].slice(0, 4);
  return titles.map((title) => {
    const of = ({ figures }: Item) => figures.find((each) => each.title === title);
    const isNumber = items.some((item) => typeof of(item)?.value === "number");
    return {
      title,
      numeric: isNumber,
      cell: (item: Item) => {
        const figure = of(item);
        if (figure === undefined) return <span className="dim">–</span>;
        const value = <CellView value={figure.value} unit={figure.unit} />;
        if (figure.of === undefined || typeof figure.value !== "number") return value;
        return (
          <span className="cell-fill">
            {value}
            <Fill value={figure.value} of={figure.of} unit={figure.unit} />
          </span>
        );
      },
    };
  });
}

function Names({ kind }: { kind: string }) {
  const { query, go } = useAddress();
  const after = query.get("after");
  const loaded = useLoad<OneKind>(
    `/api/components/${encodeURIComponent(kind)}`,
    after === null ? {} : { cursor: after },
    5_000,
  );
  const page = loaded.data?.page;
  return (
    <>
      <Head
        title={loaded.data?.title ?? kind}
        note={
          <>
            <a href="#/components">All components</a>
            {page && (
              <>
                {" · "}
                <a href={`#/${page}`}>Open their page</a>
              </>
            )}
          </>
        }
      />
      <States of={loaded}>
        {({ items, cursor, about, isShown, shardMark }) =>
          items.length === 0 ? (
            <Empty
              title="Nothing of this kind is in the store."
              icon={IconComponents}
              action={<a href="#/components">Show all kinds</a>}
            />
          ) : (
            <>
              {about !== null && <p className="about">{about}</p>}
              <Table
                label="Names"
                rows={items}
                id={({ name, prefix }) => `${prefix} ${name}`}
                columns={[
                  {
                    title: "Name",
                    wide: true,
                    cell: (item) => (isShown ? <a href={pathOf(kind, item)}>{item.name}</a> : <code>{item.name}</code>),
                  },
                  ...columnsOf(items),
                  { title: "Prefix", cell: ({ prefix }) => <code>{prefix}</code> },
                  {
                    title: "Keys",
                    cell: (item) => (
                      <a href={keysOf(item, shardMark)} aria-label={`Show keys of ${item.name}`}>
                        Show keys
                      </a>
                    ),
                  },
                ]}
              />
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
            </>
          )
        }
      </States>
    </>
  );
}

function Kinds() {
  const loaded = useLoad<{ kinds: KindCount[]; layouts: { component: string; version: number }[] }>(
    "/api/components",
    {},
    5_000,
  );
  return (
    <>
      <Head title="All components" note={loaded.data && `${counted(loaded.data.kinds.length, "kind")} in use`} />
      <States of={loaded}>
        {({ kinds, layouts }) =>
          kinds.length === 0 ? (
            <Empty
              title="No component was used in this store."
              icon={IconComponents}
              action={<a href="#/examples">Open examples</a>}
            >
              Queues, locks, caches and the other components of the toolkit announce themselves when they are first
              used.
            </Empty>
          ) : (
            <>
              <ul className="kinds">
                {kinds.map(({ kind, title, page, about, count }) => (
                  <li key={kind} className="card">
                    <a className="kind-title" href={`#/components?kind=${encodeURIComponent(kind)}`}>
                      {title}
                    </a>
                    <span className="figure">{number(count)}</span>
                    {about !== null && <p>{about}</p>}
                    {page !== null && <a href={`#/${page}`}>Open page of {title.toLowerCase()}</a>}
                  </li>
                ))}
              </ul>
              <h2 className="section">Layouts of keys</h2>
              <p className="layouts">
                {layouts.map(({ component, version }) => (
                  <span key={component} className="tag">
                    {component} <b>v{version}</b>
                  </span>
                ))}
              </p>
            </>
          )
        }
      </States>
    </>
  );
}

export function Components() {
  const { query } = useAddress();
  const [kind, name, prefix] = [query.get("kind"), query.get("name"), query.get("prefix")];
  if (kind === null) return <Kinds />;
  if (name === null || prefix === null) return <Names key={kind} kind={kind} />;
  return <OneThing key={`${kind} ${prefix} ${name}`} kind={kind} prefix={prefix} name={name} />;
}
