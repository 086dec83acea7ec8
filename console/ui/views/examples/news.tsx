/** News: the list, best or newest first, in groups; votes, posting, and what others do meanwhile. */
import type { ArticleSeen } from "cinnabar/board";
import { type SubmitEvent, useState } from "react";
import { ActButton, acting } from "../../acting.tsx";
import { act, type Failure } from "../../api.ts";
import { counted, duration, moment } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Dialog, States, useActions } from "../../parts.tsx";
import { useEvents } from "./events.ts";
import { ExamplePage } from "./frame.tsx";
import { ExampleEmpty } from "./look.tsx";
import { newId, useKept, useRowKeys } from "./pieces.ts";
import { NothingYet } from "./sample.tsx";
import { useVisitor } from "./visitor.tsx";
import "./news.css";

const API = "/api/examples/news";

/** As it comes: times are texts. */
type Shown = Omit<ArticleSeen, "postedAt" | "closesAt"> & { readonly postedAt: string; readonly closesAt: string };

interface Page {
  readonly items: readonly Shown[];
  readonly cursor: string | null;
  readonly size: number;
  readonly groups: readonly string[];
}

type Event =
  | { readonly type: "voted"; readonly id: string; readonly up: number; readonly down: number; readonly score: number }
  | { readonly type: "posted"; readonly id: string; readonly by: string }
  | { readonly type: "removed" | "sample"; readonly id?: string };

const hostOf = (url: string): string => new URL(url).host;

function Vote({ article, vote }: { article: Shown; vote: (direction: "up" | "down" | "none") => void }) {
  const { up, down, myVote, fields } = article;
  const isOver = Date.parse(article.closesAt) < Date.now();
  const button = (direction: "up" | "down", is: boolean, sign: string) => (
    <ActButton
      type="button"
      className="plain"
      disabled={isOver}
      aria-pressed={is}
      aria-label={`Vote ${direction}: ${fields.title}`}
      data-row={direction === "up" ? "" : undefined}
      onClick={() => vote(is ? "none" : direction)}
    >
      {sign}
    </ActButton>
  );
  return (
    <div className="news-vote" title={`${up} up, ${down} down; score ${Math.round(article.score)}`}>
      {button("up", myVote > 0, "▲")}
      <output>{up - down}</output>
      {button("down", myVote < 0, "▼")}
    </div>
  );
}

function Article({
  article,
  mine,
  vote,
  remove,
  choose,
}: {
  article: Shown;
  mine: boolean;
  vote: (direction: "up" | "down" | "none") => void;
  remove: () => void;
  choose: (group: string) => void;
}) {
  const { fields, groups, poster, postedAt } = article;
  const age = Date.now() - Date.parse(postedAt);
  return (
    <li className="news-article">
      <Vote article={article} vote={vote} />
      <div>
        <p className="news-title">
          {fields.url ? (
            <a href={fields.url} target="_blank" rel="noreferrer noopener">
              {fields.title}
            </a>
          ) : (
            <b>{fields.title}</b>
          )}{" "}
          {fields.url && <span className="dim">{hostOf(fields.url)}</span>}
        </p>
        <p className="dim">
          by {poster},{" "}
          <time title={moment(Date.parse(postedAt))}>{age < 5_000 ? "just now" : `${duration(age)} ago`}</time>
          {groups.map((group) => (
            <button key={group} type="button" className="news-group" onClick={() => choose(group)}>
              {group}
            </button>
          ))}
          {mine && (
            <ActButton type="button" className="news-group" onClick={remove}>
              take back
            </ActButton>
          )}
        </p>
      </div>
    </li>
  );
}

function PostDialog({ groups, close, done }: { groups: readonly string[]; close: () => void; done: () => void }) {
  const [error, setError] = useState<Failure | null>(null);
  // One id for the dialog: sent twice, it is posted once.
  const [id] = useState(newId);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? "").trim();
    try {
      const body = { id, title: text("title"), url: text("url"), groups: form.getAll("group") };
      await acting(() => act("POST", `${API}/articles`, body));
      close();
      done();
    } catch (failure) {
      setError(failure as Failure);
    }
  };
  return (
    <Dialog title="Post an article" close={close}>
      <form className="stack" onSubmit={submit}>
        <label>
          Title
          <input name="title" maxLength={200} data-autofocus />
        </label>
        <label>
          Address
          <input name="url" maxLength={2_000} placeholder="https://…" inputMode="url" />
          <small>May be left out.</small>
        </label>
        <fieldset className="news-groups">
          <legend className="dim">Groups, up to three</legend>
          {groups.map((group) => (
            <label key={group}>
              <input type="checkbox" name="group" value={group} /> {group}
            </label>
          ))}
        </fieldset>
        {error && (
          <p className="bad" role="alert">
            {error.message}
          </p>
        )}
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="main">
            Post article
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

type Order = "score" | "time";

/** A second group, and how it goes with the first. */
interface Second {
  readonly second: string;
  readonly match: "any" | "all";
}

function SecondGroup({ others, choose }: { others: readonly string[]; choose: (second: Second | null) => void }) {
  const choices = others.flatMap((second) => [
    { label: `or ${second}`, second, match: "any" as const },
    { label: `and ${second}`, second, match: "all" as const },
  ]);
  return (
    <select
      aria-label="Combine with"
      onChange={(event) => choose(choices.find(({ label }) => label === event.currentTarget.value) ?? null)}
    >
      <option value="">alone</option>
      {choices.map(({ label }) => (
        <option key={label}>{label}</option>
      ))}
    </select>
  );
}

function Choices(props: {
  by: Order;
  group: string | null;
  groups: readonly string[];
  choose: (by: Order, group: string | null) => void;
  combine: (second: Second | null) => void;
}) {
  const { by, group, groups, choose, combine } = props;
  return (
    <>
      <fieldset className="tabs" aria-label="Order">
        <button type="button" aria-pressed={by === "score"} onClick={() => choose("score", group)}>
          Best
        </button>
        <button type="button" aria-pressed={by === "time"} onClick={() => choose("time", group)}>
          Newest
        </button>
      </fieldset>
      <select
        aria-label="Group"
        data-search
        value={group ?? ""}
        onChange={(event) => choose(by, event.currentTarget.value || null)}
      >
        <option value="">All groups</option>
        {groups.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
      {group !== null && <SecondGroup key={group} others={groups.filter((each) => each !== group)} choose={combine} />}
    </>
  );
}

export function News() {
  const { name } = useVisitor();
  const [by, setBy] = useState<Order>("score");
  const [group, setGroup] = useState<string | null>(null);
  const [second, setSecond] = useState<Second | null>(null);
  /** Cursors of the pages before this one. */
  const [behind, setBehind] = useState<readonly string[]>([]);
  const [posting, setPosting] = useState(false);
  const [fresh, setFresh] = useState(0);
  /** Votes that came since the page was loaded. */
  const [counts, setCounts] = useState<ReadonlyMap<string, Partial<Shown>>>(new Map());
  const after = behind.at(-1);
  const loaded = useKept(
    useLoad<Page>(`${API}/articles`, {
      by,
      ...(group !== null && { group, ...(second ?? {}) }),
      ...(after !== undefined && { after }),
    }),
  );
  const reload = () => {
    setFresh(0);
    setCounts(new Map());
    loaded.reload();
  };
  const actions = useActions(reload);
  // A vote changes figures in place: the list stays as it is read.
  const voting = useActions(() => {});
  const note = (id: string, change: Partial<Shown>) =>
    setCounts((old) => new Map(old).set(id, { ...old.get(id), ...change }));
  useEvents<Event>("news", (event) => {
    if (event?.type === "voted") note(event.id, { up: event.up, down: event.down, score: event.score });
    else if (event?.type !== "posted") reload();
    else if (event.by !== name) setFresh((old) => old + 1);
  });
  useRowKeys();
  const choose = (order: Order, wanted: string | null) => {
    setBy(order);
    setGroup(wanted);
    if (wanted !== group) setSecond(null);
    setBehind([]);
    setFresh(0);
  };
  const combine = (wanted: Second | null) => {
    setSecond(wanted === null ? null : { second: wanted.second, match: wanted.match });
    setBehind([]);
  };
  const vote = async (id: string, direction: "up" | "down" | "none") => {
    const sign = { up: 1, down: -1, none: 0 }[direction];
    await voting.run(async () => {
      const now = await act<Partial<Shown>>("POST", `${API}/articles/${id}/vote`, { direction });
      note(id, { up: now.up!, down: now.down!, score: now.score!, myVote: sign });
    });
  };
  return (
    <ExamplePage name="news" title="News" changed={reload} note={loaded.data && counted(loaded.data.size, "article")}>
      <div className="row news-tools">
        <Choices by={by} group={group} groups={loaded.data?.groups ?? []} choose={choose} combine={combine} />
        <button type="button" className="main" onClick={() => setPosting(true)}>
          Post article
        </button>
        {fresh > 0 && (
          <button type="button" onClick={() => (behind.length === 0 ? reload() : choose("time", group))}>
            Show {fresh} new
          </button>
        )}
      </div>
      {actions.view}
      {voting.view}
      <div className="news-list">
        <States of={loaded}>
          {({ items: articles, cursor: next, size }) =>
            articles.length === 0 && behind.length === 0 ? (
              size === 0 ? (
                <NothingYet title="No news yet.">Post the first article, or take some to vote on.</NothingYet>
              ) : (
                <ExampleEmpty title="Nothing is in this group." />
              )
            ) : (
              <>
                <ol className="news-articles">
                  {articles.map((article) => (
                    <Article
                      key={article.id}
                      article={{ ...article, ...counts.get(article.id) }}
                      mine={article.poster === name}
                      vote={(direction) => vote(article.id, direction)}
                      choose={(wanted) => choose(by, wanted)}
                      remove={() =>
                        actions.ask({
                          title: "Take the article back?",
                          text: `“${article.fields.title}” goes with its votes.`,
                          button: "Take it back",
                          run: () => actions.run(() => act("DELETE", `${API}/articles/${article.id}`)),
                        })
                      }
                    />
                  ))}
                </ol>
                <div className="row">
                  <button type="button" disabled={behind.length === 0} onClick={() => setBehind(behind.slice(0, -1))}>
                    Previous
                  </button>
                  <button type="button" disabled={next === null} onClick={() => setBehind([...behind, next!])}>
                    Next
                  </button>
                </div>
              </>
            )
          }
        </States>
      </div>
      {posting && (
        <PostDialog
          groups={loaded.data?.groups ?? []}
          close={() => setPosting(false)}
          done={() => (by === "time" && behind.length === 0 ? reload() : choose("time", null))}
        />
      )}
    </ExamplePage>
  );
}
