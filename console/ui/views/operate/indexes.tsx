/** Search indexes: how large they are, which words are in them, and what they answer. */
import { type SubmitEvent, useState } from "react";
import { ActButton } from "../../acting.tsx";
import { useAddress, useTyped } from "../../address.ts";
import { act } from "../../api.ts";
import { bytes, number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Empty, Head, States, Table, useActions } from "../../parts.tsx";
import { go, usePlace } from "../../router.ts";

interface Listed {
  readonly indexes: readonly { readonly name: string; readonly documents: number; readonly version: number }[];
  readonly most: number;
}

interface Term {
  readonly term: string;
  readonly bytes: number;
}

interface Shown {
  readonly documents: number;
  readonly terms: number;
  readonly sampled: number;
  readonly postingsBytes: number;
  readonly documentsBytes: number;
  readonly wordsBytes: number;
  readonly columnsBytes: Readonly<Record<string, number>>;
  readonly version: number;
  readonly memoryBytes: number;
  readonly longest: readonly Term[];
  readonly fields: readonly { readonly name: string; readonly type: string; readonly analyser: string | null }[];
  readonly positions: boolean;
  readonly isSearchable: boolean;
}

interface Asked {
  readonly count: number;
  readonly hits: readonly {
    readonly id: string;
    readonly score: number;
    readonly parts: readonly { readonly text: string; readonly score: number }[];
  }[];
  readonly explanation: {
    readonly notes: readonly string[];
    readonly ignored: readonly { readonly text: string; readonly why: string }[];
    readonly postings: number;
  };
}

function All() {
  const loaded = useLoad<Listed>("/api/indexes", {}, 3_000);
  const [wanted, setWanted] = useTyped("find");
  return (
    <>
      <Head
        title="Indexes"
        note={loaded.data?.indexes.length === loaded.data?.most ? "Those that were used last" : undefined}
      >
        <input
          type="search"
          placeholder="Name"
          aria-label="Find by name"
          data-search
          value={wanted}
          onChange={(event) => setWanted(event.currentTarget.value)}
        />
      </Head>
      <States of={loaded}>
        {({ indexes }) =>
          indexes.length === 0 ? (
            <Empty title="There is no search index.">
              new SearchIndex(db, "books", {"{"} fields {"}"}).put("dunes", {"{"} title: "The walking dunes" {"}"})
              begins one.
            </Empty>
          ) : (
            <Table
              label="Indexes"
              rows={indexes.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()))}
              id={({ name }) => name}
              columns={[
                {
                  title: "Index",
                  wide: true,
                  cell: ({ name }) => <a href={`#/indexes?${new URLSearchParams({ name })}`}>{name}</a>,
                },
                { title: "Documents", numeric: true, cell: ({ documents }) => number(documents) },
                { title: "Writes", numeric: true, cell: ({ version }) => number(version) },
              ]}
            />
          )
        }
      </States>
    </>
  );
}

function Facts({ shown }: { shown: Shown }) {
  const columns = Object.values(shown.columnsBytes).reduce((sum, each) => sum + each, 0);
  const facts = [
    ["Documents", number(shown.documents)],
    ["Words", number(shown.terms)],
    [
      shown.sampled < shown.terms ? `Lists of the first ${number(shown.sampled)} words` : "Lists of words",
      bytes(shown.postingsBytes),
    ],
    ["Ids and lengths", bytes(shown.documentsBytes)],
    ["The words themselves", bytes(shown.wordsBytes)],
    ["Values", bytes(columns)],
    ["Writes", number(shown.version)],
    ["Known to the console", bytes(shown.memoryBytes)],
    ["Positions", shown.positions ? "kept" : "not kept"],
  ] as const;
  return (
    <dl className="pairs card">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Terms({ rows, label }: { rows: readonly Term[]; label: string }) {
  return (
    <Table
      label={label}
      rows={rows}
      id={({ term }) => term}
      columns={[
        { title: "Word", wide: true, cell: ({ term }) => <code>{term}</code> },
        { title: "Its list", numeric: true, cell: (term) => bytes(term.bytes) },
      ]}
    />
  );
}

function Question({ path }: { path: string }) {
  const address = useAddress();
  const asked = address.get("ask");
  const [query, setQuery] = useState(asked);
  const loaded = useLoad<Asked>(asked === "" ? null : `${path}/search`, { query: asked });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    address.go({ ask: query.trim() });
  };
  return (
    <>
      <form className="row" onSubmit={submit}>
        <input
          type="search"
          aria-label="Ask the index"
          placeholder="Ask the index"
          data-search
          maxLength={1_000}
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
        />
        <ActButton type="submit">Ask</ActButton>
      </form>
      {asked !== "" && (
        <States of={loaded}>
          {({ hits, count, explanation }) => (
            <>
              <p className="note">
                {number(count)} found in {number(explanation.postings)} postings.{" "}
                {[...explanation.notes, ...explanation.ignored.map(({ text, why }) => `“${text}”: ${why}`)].join(". ")}
              </p>
              <Table
                label="Found"
                rows={hits}
                id={({ id }) => id}
                columns={[
                  { title: "Document", wide: true, cell: ({ id }) => <code>{id}</code> },
                  { title: "Score", numeric: true, cell: ({ score }) => score.toFixed(3) },
                  {
                    title: "Made of",
                    cell: ({ parts }) => parts.map(({ text, score }) => `${text} ${score.toFixed(3)}`).join(" + "),
                  },
                ]}
              />
            </>
          )}
        </States>
      )}
    </>
  );
}

function Vocabulary({ path }: { path: string }) {
  const [prefix, setPrefix] = useTyped("words");
  const loaded = useLoad<{ terms: Term[]; next: string | null }>(`${path}/terms`, { prefix, limit: 50 });
  return (
    <>
      <div className="row">
        <input
          type="search"
          aria-label="Words that begin with"
          placeholder="Words that begin with"
          maxLength={100}
          value={prefix}
          onChange={(event) => setPrefix(event.currentTarget.value)}
        />
      </div>
      <States of={loaded}>
        {({ terms, next }) => (
          <>
            <Terms label="Words" rows={terms} />
            {next !== null && <p className="note">The first {terms.length}; type more of a word.</p>}
          </>
        )}
      </States>
    </>
  );
}

function One({ name }: { name: string }) {
  const path = `/api/indexes/${encodeURIComponent(name)}`;
  const loaded = useLoad<Shown>(path, {}, 5_000);
  const actions = useActions(loaded.reload);
  const clear = () =>
    actions.ask({
      title: `Remove every document of “${name}”?`,
      text: "With the last document the index itself goes.",
      button: "Remove documents",
      run: () => actions.run(() => act("POST", `${path}/clear`)).then((done) => done && go("indexes")),
    });
  return (
    <>
      <Head
        title={name}
        note={
          <>
            <a href="#/indexes">All indexes</a> ·{" "}
            <a href={`#/keys?${new URLSearchParams({ key: `search:{${name}}:meta` })}`}>its keys</a>
          </>
        }
      >
        <ActButton type="button" data-acts="operator" onClick={clear}>
          Empty index
        </ActButton>
      </Head>
      {actions.view}
      <States of={loaded}>
        {(shown) => (
          <>
            <Facts shown={shown} />
            {shown.isSearchable ? (
              <Question path={path} />
            ) : (
              <p className="note">
                Its words were made by an analyser that the console does not have, so it cannot be asked from here.
              </p>
            )}
            <h2 className="section">Fields</h2>
            <Table
              label="Fields"
              rows={shown.fields}
              id={(field) => field.name}
              columns={[
                { title: "Field", wide: true, cell: (field) => <code>{field.name}</code> },
                { title: "Type", cell: ({ type }) => type },
                { title: "Analyser", cell: ({ analyser }) => analyser ?? "" },
                {
                  title: "Size",
                  numeric: true,
                  cell: (field) => (field.analyser === null ? bytes(shown.columnsBytes[field.name] ?? 0) : ""),
                },
              ]}
            />
            <h2 className="section">Longest lists</h2>
            <Terms label="Longest lists" rows={shown.longest} />
            <h2 className="section">Words</h2>
            <Vocabulary path={path} />
          </>
        )}
      </States>
    </>
  );
}

export function Indexes() {
  const name = usePlace().query.get("name");
  return name === null || name === "" ? <All /> : <One key={name} name={name} />;
}
