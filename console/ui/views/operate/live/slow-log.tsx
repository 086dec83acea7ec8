/** Commands that took long: by command with a chart, and one by one; without those of the console itself unless they are asked for. */
import { IconClockBolt } from "@tabler/icons-react";
import { ActButton } from "../../../acting.tsx";
import { useAddress } from "../../../address.ts";
import { act } from "../../../api.ts";
import { counted, micros, number } from "../../../format.ts";
import { useLoad } from "../../../load.ts";
import { When } from "../../../moments.tsx";
import { Empty, Head, States, Table, useActions } from "../../../parts.tsx";
import "./live.css";

interface Entry {
  readonly id: number;
  readonly at: number;
  readonly micros: number;
  readonly words: string[];
  readonly address: string;
  readonly name: string;
  readonly own: boolean;
}

interface Group {
  readonly name: string;
  readonly entries: number;
  readonly total: number;
  readonly worst: number;
}

function groupsOf(entries: readonly Entry[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { words, micros: took } of entries) {
    const name = (words[0] ?? "").toUpperCase();
    const { entries: many, total, worst } = groups.get(name) ?? { entries: 0, total: 0, worst: 0 };
    groups.set(name, { name, entries: many + 1, total: total + took, worst: Math.max(worst, took) });
  }
  return [...groups.values()].sort((a, b) => b.total - a.total);
}

/** What took most time, as bars; a click shows the entries of one command. */
function Bars({
  groups,
  chosen,
  choose,
}: {
  groups: readonly Group[];
  chosen: string | null;
  choose: (name: string | null) => void;
}) {
  const most = Math.max(1, ...groups.map(({ total }) => total));
  return (
    <dl className="bars" aria-label="Slow commands by name">
      {groups.slice(0, 10).map(({ name, entries, total, worst }) => (
        <div key={name}>
          <dt>
            <button
              type="button"
              className="link"
              aria-pressed={name === chosen}
              onClick={() => choose(name === chosen ? null : name)}
            >
              {name}
            </button>
          </dt>
          <dd className="bar" aria-hidden="true">
            <i style={{ width: `${(100 * total) / most}%` }} />
          </dd>
          <dd className="value">
            {number(entries)}×, {micros(total)}, worst {micros(worst)}
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function SlowLog() {
  const { query, go } = useAddress();
  const loaded = useLoad<{ entries: Entry[] }>("/api/slowlog", { count: 512 }, 5_000);
  const actions = useActions(loaded.reload);
  const withOwn = query.get("own") === "1";
  const command = query.get("command");
  const clear = () =>
    actions.ask({
      title: "Empty the slow log?",
      text: "Its entries are gone then, for everybody.",
      button: "Empty slow log",
      run: () => actions.run(() => act("DELETE", "/api/slowlog"), "The slow log is empty"),
    });
  return (
    <>
      <Head title="Slow log" note="What took longer than slowlog-log-slower-than">
        <label className="check">
          <input
            type="checkbox"
            checked={withOwn}
            onChange={({ target }) => go({ own: target.checked ? "1" : null })}
          />
          This console's commands too
        </label>
        <ActButton
          data-acts="operator"
          type="button"
          onClick={clear}
          disabled={!loaded.data?.entries.length || actions.isBusy}
        >
          Empty slow log
        </ActButton>
      </Head>
      {actions.view}
      <States of={loaded}>
        {({ entries }) => {
          const seen = entries.filter(({ own }) => withOwn || !own);
          if (seen.length === 0)
            return (
              <Empty title="Nothing was slow." icon={IconClockBolt} action={<a href="#/config">Open configuration</a>}>
                {entries.length > 0
                  ? `${counted(entries.length, "entry is", "entries are")} of this console itself, and left out. `
                  : "The limit is slowlog-log-slower-than, in microseconds."}
              </Empty>
            );
          const shown = seen.filter(({ words }) => command === null || (words[0] ?? "").toUpperCase() === command);
          return (
            <>
              <Bars groups={groupsOf(seen)} chosen={command} choose={(name) => go({ command: name })} />
              <Table
                label="Slow commands"
                rows={shown}
                id={({ id, at, address }) => `${id} ${at} ${address}`}
                columns={[
                  { title: "When", cell: ({ at }) => <When at={at} /> },
                  { title: "Took", numeric: true, cell: (entry) => micros(entry.micros) },
                  { title: "Command", wide: true, cell: ({ words }) => <code>{words.join(" ").slice(0, 400)}</code> },
                  { title: "Client", cell: ({ name, address }) => name || address },
                ]}
              />
            </>
          );
        }}
      </States>
    </>
  );
}
