/** The configuration, to be read and changed while the server runs. */
import { type SubmitEvent, useState } from "react";
import { ActButton } from "../../acting.tsx";
import { useTyped } from "../../address.ts";
import { act } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { Empty, Head, States, Table, useActions } from "../../parts.tsx";

interface Directive {
  readonly name: string;
  readonly value: string;
  readonly secret: boolean;
}

function Row({ directive, save }: { directive: Directive; save: (value: string) => Promise<boolean> }) {
  const [draft, setDraft] = useState<string | null>(null);
  if (draft === null) {
    return (
      <button
        type="button"
        className="value"
        onClick={() => setDraft(directive.secret ? "" : directive.value)}
        aria-label={`Change ${directive.name}: ${directive.value || "(empty)"}`}
      >
        {directive.value === "" ? <span className="nil">(empty)</span> : directive.value}
      </button>
    );
  }
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (await save(draft)) setDraft(null);
  };
  return (
    <form className="row" onSubmit={submit}>
      <input
        aria-label={directive.name}
        {...(directive.secret ? { type: "password" } : { type: "text" })}
        value={draft}
        // biome-ignore lint/a11y/noAutofocus: somebody has just asked to change it.
        autoFocus
        onChange={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && setDraft(null)}
      />
      <ActButton type="submit" className="small main">
        Set
      </ActButton>
      <button type="button" className="small" onClick={() => setDraft(null)}>
        Cancel
      </button>
    </form>
  );
}

export function Configuration() {
  const loaded = useLoad<{ directives: Directive[] }>("/api/config");
  const actions = useActions(loaded.reload);
  const [filter, setFilter] = useTyped("filter");
  return (
    <>
      <Head title="Configuration" note="Until the server stops; CONFIG REWRITE keeps it">
        <input
          data-search
          type="search"
          placeholder="Filter  /"
          aria-label="Filter"
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
      </Head>
      {actions.view}
      <States of={loaded}>
        {({ directives }) => {
          const rows = directives.filter(
            ({ name, value }) => name.includes(filter.toLowerCase()) || value.includes(filter),
          );
          if (rows.length === 0) return <Empty title="No directive fits that filter." />;
          return (
            <Table
              label="Directives"
              rows={rows}
              id={({ name }) => name}
              columns={[
                { title: "Directive", cell: ({ name }) => <code>{name}</code> },
                {
                  title: "Value",
                  wide: true,
                  cell: (directive) => (
                    <Row
                      directive={directive}
                      save={(value) =>
                        actions.run(
                          () => act("PUT", `/api/config/${encodeURIComponent(directive.name)}`, { value }),
                          `Set ${directive.name}.`,
                        )
                      }
                    />
                  ),
                },
              ]}
            />
          );
        }}
      </States>
    </>
  );
}
