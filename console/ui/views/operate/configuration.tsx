/** The configuration, to be read and changed while the server runs. */
import { useState } from "preact/hooks";
import { act } from "../../api.ts";
import { Empty, Head, States, Table, useActions, useLoad } from "../../parts.tsx";

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
        class="value"
        onClick={() => setDraft(directive.secret ? "" : directive.value)}
        aria-label={`Change ${directive.name}`}
      >
        {directive.value === "" ? <span class="nil">(empty)</span> : directive.value}
      </button>
    );
  }
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (await save(draft)) setDraft(null);
  };
  return (
    <form class="row" onSubmit={submit}>
      <input
        aria-label={directive.name}
        {...(directive.secret ? { type: "password" } : { type: "text" })}
        value={draft}
        autofocus
        onInput={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && setDraft(null)}
      />
      <button type="submit" class="small main">
        Set
      </button>
      <button type="button" class="small" onClick={() => setDraft(null)}>
        Cancel
      </button>
    </form>
  );
}

export function Configuration() {
  const loaded = useLoad<{ directives: Directive[] }>("/api/config");
  const actions = useActions(loaded.reload);
  const [filter, setFilter] = useState("");
  return (
    <>
      <Head title="Configuration" note="Until the server stops; CONFIG REWRITE keeps it">
        <input
          data-search
          type="search"
          placeholder="Filter  /"
          aria-label="Filter"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
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
                        actions.run(() => act("PUT", `/api/config/${encodeURIComponent(directive.name)}`, { value }))
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
