/** Search: what is typed is answered at once, with the words marked; sections to narrow it down, votes, and packages of one's own. */
import { type SubmitEvent, useEffect, useState } from "react";
import { ActButton } from "../../acting.tsx";
import { act, type Failure, get } from "../../api.ts";
import { bytes, number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Dialog, States, useActions } from "../../parts.tsx";
import { useEvents } from "./events.ts";
import { ExamplePage } from "./frame.tsx";
import { ExampleEmpty } from "./look.tsx";
import { useKept, useRowKeys } from "./pieces.ts";
import { NothingYet } from "./sample.tsx";
import "./search.css";

const API = "/api/examples/search";
const ORDERS = [
  ["best", "Best"],
  ["votes", "Best and voted for"],
  ["name", "By name"],
  ["largest", "Largest"],
] as const;
/** Things to try. */
const TRIES = [
  "text editor",
  '"web server"',
  "databse~",
  "comp* -doc",
  "music OR sound",
  "size:>10000 game",
  "section:{editors|text}",
];

type Order = (typeof ORDERS)[number][0];

interface Hit {
  readonly id: string;
  readonly score: number;
  readonly document: {
    readonly name: string;
    readonly summary?: string;
    readonly section?: readonly string[];
    readonly size?: number;
    readonly votes?: number;
  } | null;
  readonly snippets: { readonly name?: string; readonly summary?: string };
}

interface Answer {
  readonly id: string;
  readonly count: number;
  readonly hits: readonly Hit[];
  readonly most: number;
  readonly complete: boolean;
  readonly facets: { readonly section: readonly { readonly value: string; readonly count: number }[] };
  readonly explanation: {
    readonly ignored: readonly { readonly text: string; readonly why: string }[];
    readonly notes: readonly string[];
    readonly postings: number;
  };
}

type Actions = ReturnType<typeof useActions>;

/** Words that were found stand between two signs that no text has. */
function Marked({ text }: { text: string }) {
  return (
    <>
      {text
        .split(/(\u0002[^\u0003]*\u0003)/)
        .map((part, nth) => (part.startsWith("\u0002") ? <mark key={nth}>{part.slice(1, -1)}</mark> : part))}
    </>
  );
}

function Package({ hit, actions, edit }: { hit: Hit; actions: Actions; edit: (hit: Hit) => void }) {
  const { id, score, document, snippets } = hit;
  const path = `${API}/packages/${encodeURIComponent(id)}`;
  const remove = () =>
    actions.ask({
      title: `Remove ${id}?`,
      text: "It is found no more by anybody, at once.",
      button: "Remove package",
      run: () => actions.run(() => act("DELETE", path)),
    });
  return (
    <li className="search-hit">
      <div className="search-text">
        <strong>
          <Marked text={snippets.name ?? id} />
        </strong>
        {document?.section?.map((section) => (
          <span key={section} className="tag">
            {section}
          </span>
        ))}
        <p>{document === null ? <i>It was removed meanwhile.</i> : <Marked text={snippets.summary ?? ""} />}</p>
        <span className="dim">
          {score.toFixed(2)} points{document?.size ? ` · ${bytes(document.size * 1024)}` : ""}
        </span>
      </div>
      <div className="search-acts">
        <ActButton
          type="button"
          className="small"
          data-row
          aria-label={`${number(document?.votes ?? 0)} votes, vote for ${id}`}
          onClick={() => actions.run(() => act("POST", `${path}/vote`))}
        >
          ▲ {number(document?.votes ?? 0)}
        </ActButton>
        <button type="button" className="small" aria-label={`Change ${id}`} onClick={() => edit(hit)}>
          Change
        </button>
        <ActButton type="button" className="small" aria-label={`Remove ${id}`} onClick={remove}>
          ×
        </ActButton>
      </div>
    </li>
  );
}

function Sections(props: { facets: Answer["facets"]["section"]; section: string; choose: (section: string) => void }) {
  const { facets, section, choose } = props;
  return (
    <section className="card search-sections" aria-label="Sections">
      <h2>Sections</h2>
      {section !== "" && (
        <button type="button" className="plain" onClick={() => choose("")}>
          × all sections
        </button>
      )}
      <ul>
        {facets.map(({ value, count }, nth) => (
          <li key={nth}>
            <button type="button" className="plain" aria-pressed={value === section} onClick={() => choose(value)}>
              {value}
            </button>
            <span className="dim">{number(count)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Notes({ answer }: { answer: Answer }) {
  const { ignored, notes } = answer.explanation;
  const lines = [...notes, ...ignored.map(({ text, why }) => `“${text}” was left out: ${why}`)];
  return (
    <div className="search-notes note" role="note">
      {[...new Set(lines)].map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
  );
}

function Editor({ hit, actions, close }: { hit: Hit | null; actions: Actions; close: () => void }) {
  const save = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const name = text("name");
    const body = { name, summary: text("summary"), section: text("section") };
    const id = hit?.id ?? name;
    if (await actions.run(() => act("PUT", `${API}/packages/${encodeURIComponent(id)}`, body))) close();
  };
  return (
    <Dialog title={hit === null ? "A package of your own" : `Change ${hit.id}`} close={close}>
      <form className="search-form" onSubmit={save}>
        <label>
          Name
          <input name="name" maxLength={100} required defaultValue={hit?.document?.name ?? ""} />
        </label>
        <label>
          Section
          <input name="section" maxLength={60} required defaultValue={hit?.document?.section?.[0] ?? "misc"} />
        </label>
        <label>
          Summary
          <textarea name="summary" rows={3} maxLength={2_000} required defaultValue={hit?.document?.summary ?? ""} />
        </label>
        <ActButton type="submit" className="main">
          Save
        </ActButton>
      </form>
    </Dialog>
  );
}

/** Pages after the first, of the answer as it was. */
function useMore(answer: Answer | undefined) {
  const [pages, setPages] = useState<{ of: string; hits: readonly Hit[]; failed?: string }>({ of: "", hits: [] });
  const hits = answer === undefined ? [] : pages.of === answer.id ? [...answer.hits, ...pages.hits] : answer.hits;
  const load = async () => {
    if (answer === undefined) return;
    const more = pages.of === answer.id ? pages.hits : [];
    try {
      const found = await get<{ hits: Hit[] }>(`${API}/answers/${answer.id}`, {
        offset: answer.hits.length + more.length,
      });
      setPages({ of: answer.id, hits: [...more, ...found.hits] });
    } catch (error) {
      setPages({ of: answer.id, hits: more, failed: (error as Failure).message });
    }
  };
  return { hits, load, failed: pages.of === answer?.id ? pages.failed : undefined };
}

function Results(props: { answer: Answer; actions: Actions; edit: (hit: Hit) => void }) {
  const { answer, actions, edit } = props;
  const { hits, load, failed } = useMore(answer);
  const left = Math.min(answer.count, answer.most) - hits.length;
  return (
    <section aria-label="Packages found">
      <Notes answer={answer} />
      {hits.length === 0 && (
        <ExampleEmpty title="Nothing is found.">
          Try fewer words, word* for beginnings, or word~ if unsure how it is spelt.
        </ExampleEmpty>
      )}
      <ol className="search-hits">
        {hits.map((hit, nth) => (
          <Package key={nth} hit={hit} actions={actions} edit={edit} />
        ))}
      </ol>
      {failed && <p className="note">{failed}</p>}
      {left > 0 && (
        <ActButton type="button" onClick={load}>
          More
        </ActButton>
      )}
    </section>
  );
}

export function Search() {
  const [typed, setTyped] = useState("");
  const [query, setQuery] = useState("");
  const [section, setSection] = useState("");
  const [order, setOrder] = useState<Order>("best");
  const [edited, setEdited] = useState<Hit | null | undefined>(undefined);
  const loaded = useKept(useLoad<Answer>(`${API}/packages`, { query, section, order }));
  const actions = useActions(loaded.reload);
  useEvents("search", loaded.reload);
  useRowKeys();
  // Each letter is a search; a few that come fast are one.
  useEffect(() => {
    const timer = setTimeout(() => setQuery(typed), 80);
    return () => clearTimeout(timer);
  }, [typed]);
  const isNothing = loaded.data?.count === 0 && query === "" && section === "";
  return (
    <ExamplePage name="search" title="Search" changed={loaded.reload}>
      <div className="row search-tools">
        <input
          type="search"
          aria-label="Search for packages"
          placeholder={'words, "phrases", begin*, misspelt~, -not, section:{…}, size:>1000'}
          data-search
          maxLength={1_000}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="button" onClick={() => setEdited(null)}>
          Add a package
        </button>
      </div>
      <div className="search-tries">
        {TRIES.map((each) => (
          <button key={each} type="button" className="small" onClick={() => setTyped(each)}>
            {each}
          </button>
        ))}
      </div>
      {actions.view}
      {edited !== undefined && <Editor hit={edited} actions={actions} close={() => setEdited(undefined)} />}
      <div className="row search-line">
        <fieldset className="tabs" aria-label="Order">
          {ORDERS.map(([name, title]) => (
            <button key={name} type="button" aria-pressed={order === name} onClick={() => setOrder(name)}>
              {title}
            </button>
          ))}
        </fieldset>
        <span className="dim" role="status">
          {loaded.data ? `${number(loaded.data.count)} found` : ""}
        </span>
      </div>
      <States of={loaded}>
        {(answer) =>
          isNothing ? (
            <NothingYet title="There is nothing to search in.">
              Let Debian's packages in (a small sample where there is no apt), or add one of your own.
            </NothingYet>
          ) : (
            <div className="search">
              <Results answer={answer} actions={actions} edit={setEdited} />
              <Sections facets={answer.facets.section} section={section} choose={setSection} />
            </div>
          )
        }
      </States>
    </ExamplePage>
  );
}
