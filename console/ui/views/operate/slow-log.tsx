/** Commands that took long. */
import { act } from "../../api.ts";
import { micros, moment } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Empty, Head, States, Table, useActions } from "../../parts.tsx";

interface Entry {
  readonly id: number;
  readonly at: number;
  readonly micros: number;
  readonly words: string[];
  readonly address: string;
  readonly name: string;
}

export function SlowLog() {
  const loaded = useLoad<{ entries: Entry[] }>("/api/slowlog", { count: 512 }, 5_000);
  const actions = useActions(loaded.reload);
  const clear = () =>
    actions.ask({
      title: "Empty the slow log?",
      text: "Its entries are gone then, for everybody.",
      button: "Empty slow log",
      run: () => actions.run(() => act("DELETE", "/api/slowlog")),
    });
  return (
    <>
      <Head title="Slow log" note="What took longer than slowlog-log-slower-than">
        <button type="button" onClick={clear} disabled={!loaded.data?.entries.length}>
          Empty
        </button>
      </Head>
      {actions.view}
      <States of={loaded}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty title="Nothing was slow.">
              The limit is slowlog-log-slower-than, in microseconds; see Configuration.
            </Empty>
          ) : (
            <Table
              label="Slow commands"
              rows={entries}
              id={({ id, at }) => `${id} ${at}`}
              columns={[
                { title: "When", cell: ({ at }) => moment(at) },
                { title: "Took", numeric: true, cell: (entry) => micros(entry.micros) },
                { title: "Command", wide: true, cell: ({ words }) => <code>{words.join(" ")}</code> },
                { title: "Client", cell: ({ name, address }) => name || address },
              ]}
            />
          )
        }
      </States>
    </>
  );
}
