/** Everything that components keep in the store, from the registry of names: kinds, and the names of one kind. */
import { IconComponents } from "@tabler/icons-react";
import { useAddress } from "../../address.ts";
import { number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Empty, Head, States, Table } from "../../parts.tsx";
import "./components.css";

interface Kind {
  readonly kind: string;
  readonly title: string;
  readonly page: string | null;
  readonly count: number;
}

interface Thing {
  readonly name: string;
  readonly prefix: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly facts: Readonly<Record<string, unknown>>;
}

interface OneKind {
  readonly title: string;
  readonly page: string | null;
  readonly items: readonly Thing[];
  readonly cursor: string | null;
}

function Facts({ of }: { of: Readonly<Record<string, unknown>> }) {
  const pairs = Object.entries(of);
  if (pairs.length === 0) return <span className="dim">–</span>;
  return (
    <span className="thing-facts">
      {pairs.map(([name, value]) => (
        <span key={name} className="tag">
          {name} <b>{typeof value === "number" ? number(value) : String(value)}</b>
        </span>
      ))}
    </span>
  );
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
        {({ items, cursor }) =>
          items.length === 0 ? (
            <Empty
              title="Nothing of this kind is in the store."
              icon={IconComponents}
              action={<a href="#/components">Show all kinds</a>}
            />
          ) : (
            <>
              <Table
                label="Names"
                rows={items}
                id={({ name, prefix, details }) => `${prefix} ${name} ${JSON.stringify(details)}`}
                columns={[
                  { title: "Name", wide: true, cell: ({ name }) => <code>{name}</code> },
                  { title: "Prefix", cell: ({ prefix }) => <code>{prefix}</code> },
                  { title: "State", cell: ({ facts }) => <Facts of={facts} /> },
                  { title: "Opened with", cell: ({ details }) => <Facts of={details} /> },
                ]}
              />
              <div className="row section">
                {after !== null && (
                  <button type="button" onClick={() => go({ after: null })}>
                    First page
                  </button>
                )}
                {cursor !== null && (
                  <button type="button" onClick={() => go({ after: cursor })}>
                    Next page
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

export function Components() {
  const { query } = useAddress();
  const kind = query.get("kind");
  const loaded = useLoad<{ kinds: Kind[]; layouts: { component: string; version: number }[] }>(
    kind === null ? "/api/components" : null,
    {},
    5_000,
  );
  if (kind !== null) return <Names key={kind} kind={kind} />;
  return (
    <>
      <Head title="All components" note={loaded.data && `${loaded.data.kinds.length} kinds in use`} />
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
                {kinds.map((each) => (
                  <li key={each.kind} className="card">
                    <a href={`#/components?kind=${encodeURIComponent(each.kind)}`}>{each.title}</a>
                    <span className="figure">{number(each.count)}</span>
                    {each.page !== null && <a href={`#/${each.page}`}>Open page of {each.title.toLowerCase()}</a>}
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
