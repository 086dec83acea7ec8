/** Caches: how often they had what was asked for, what is in them, and the tags that make entries invalid. */

import type { CacheStats } from "cinnabar/cache";
import type { SubmitEvent } from "react";
import { ActButton } from "../../acting.tsx";
import { act } from "../../api.ts";
import { bytes, duration, moment, number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Empty, Head, States, Table, useActions } from "../../parts.tsx";
import { usePlace } from "../../router.ts";

interface Listed {
  readonly name: string;
  readonly shards: number;
  readonly stats: CacheStats;
}
interface Entry {
  readonly key: string;
  readonly madeAt: number;
  readonly freshUntil: number;
  readonly endsInMs: number;
  readonly bytes: number;
  readonly tags: readonly string[];
}
interface Shown {
  readonly entries: Entry[];
  readonly count: number;
  readonly complete: boolean;
  readonly invalidated: { readonly tag: string; readonly at: string }[];
}

function rate({ hits, staleHits, misses }: CacheStats): string {
  const asked = hits + staleHits + misses;
  return asked === 0 ? "–" : `${(((hits + staleHits) / asked) * 100).toFixed(1)} %`;
}

function All() {
  const loaded = useLoad<{ caches: Listed[] }>("/api/caches", {}, 3_000);
  const count = (title: string, field: keyof CacheStats) => ({
    title,
    numeric: true,
    cell: ({ stats }: Listed) => number(stats[field]),
  });
  return (
    <>
      <Head title="Caches" note="Counts of all processes, told every five seconds" />
      <States of={loaded}>
        {({ caches }) =>
          caches.length === 0 ? (
            <Empty title="No cache was used in the last week.">new Cache(db, "pages").get(key, load) begins one.</Empty>
          ) : (
            <Table
              label="Caches"
              rows={caches}
              id={({ name }) => name}
              columns={[
                {
                  title: "Cache",
                  wide: true,
                  cell: ({ name }) => <a href={`#/caches?${new URLSearchParams({ name })}`}>{name}</a>,
                },
                { title: "Hit rate", numeric: true, cell: ({ stats }) => rate(stats) },
                count("Hits", "hits"),
                count("Stale", "staleHits"),
                count("Misses", "misses"),
                count("Made", "loads"),
                count("Failed", "failures"),
              ]}
            />
          )
        }
      </States>
    </>
  );
}

function Entries({
  shown,
  drop,
  invalidate,
}: {
  shown: Shown;
  drop(key: string): void;
  invalidate(tag: string): void;
}) {
  if (shown.entries.length === 0) return <Empty title="Nothing is in it now." />;
  return (
    <Table
      label="Entries"
      rows={shown.entries}
      id={({ key }) => key}
      columns={[
        { title: "Key", wide: true, cell: ({ key }) => <code>{key}</code> },
        {
          title: "State",
          cell: ({ freshUntil }) => (Date.now() < freshUntil ? "fresh" : <span className="tag warn">stale</span>),
        },
        { title: "Made", cell: ({ madeAt }) => moment(madeAt) },
        { title: "Ends in", numeric: true, cell: ({ endsInMs }) => duration(Math.max(0, endsInMs)) },
        { title: "Size", numeric: true, cell: (entry) => bytes(entry.bytes) },
        {
          title: "Tags",
          cell: ({ tags }) =>
            tags.map((tag) => (
              <ActButton
                key={tag}
                type="button"
                className="small"
                title={`Invalidate everything tagged ${tag}`}
                data-acts="operator"
                onClick={() => invalidate(tag)}
              >
                {tag}
              </ActButton>
            )),
        },
        {
          title: "",
          cell: ({ key }) => (
            <ActButton
              type="button"
              className="small"
              aria-label={`Delete ${key}`}
              data-acts="operator"
              onClick={() => drop(key)}
            >
              Delete
            </ActButton>
          ),
        },
      ]}
    />
  );
}

function One({ name }: { name: string }) {
  const path = `/api/caches/${encodeURIComponent(name)}`;
  const loaded = useLoad<Shown>(path, {}, 3_000);
  const actions = useActions(loaded.reload);
  const drop = (key: string) => void actions.run(() => act("POST", `${path}/delete`, { key }));
  const invalidate = (tag: string) =>
    actions.ask({
      title: `Invalidate everything tagged “${tag}”?`,
      text: "It is made anew when it is next asked for, which may be a lot at once.",
      button: "Invalidate tag",
      run: () => actions.run(() => act("POST", `${path}/invalidate`, { tag })),
    });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    invalidate(String(new FormData(event.currentTarget as HTMLFormElement).get("tag")));
  };
  return (
    <>
      <Head title={name} note={<a href="#/caches">All caches</a>}>
        <form className="row" onSubmit={submit}>
          <input name="tag" required maxLength={256} placeholder="Tag" aria-label="Tag to invalidate" data-search />
          <ActButton type="submit" data-acts="operator">
            Invalidate tag
          </ActButton>
        </form>
      </Head>
      {actions.view}
      <States of={loaded}>
        {(shown) => (
          <>
            {!shown.complete && <p className="note">{`Some of ${number(shown.count)} or more entries.`}</p>}
            <Entries shown={shown} drop={drop} invalidate={invalidate} />
            <h2 className="section">Tags invalidated last</h2>
            {shown.invalidated.length === 0 ? (
              <Empty title="None was." />
            ) : (
              <Table
                label="Invalidated tags"
                rows={shown.invalidated}
                id={({ tag }) => tag}
                columns={[
                  { title: "Tag", wide: true, cell: ({ tag }) => <code>{tag}</code> },
                  { title: "When", cell: ({ at }) => moment(Date.parse(at)) },
                ]}
              />
            )}
          </>
        )}
      </States>
    </>
  );
}

export function Caches() {
  const name = usePlace().query.get("name");
  return name === null || name === "" ? <All /> : <One key={name} name={name} />;
}
