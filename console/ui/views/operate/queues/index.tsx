/** Task queues: which there are, how they fare; and one queue with everything about it. */
import { IconStack2 } from "@tabler/icons-react";
import type { JobState } from "cinnabar/queues";
import { useAddress } from "../../../address.ts";
import { number } from "../../../format.ts";
import { useLoad } from "../../../load.ts";
import { Empty, Head, States, Table } from "../../../parts.tsx";
import { queuePath } from "../../../queue-link.ts";
import { go } from "../../../router.ts";
import { countOf, type Listed, MEANINGS, type Opened, STATES } from "./model.ts";
import { OneQueue } from "./queue.tsx";
import "./queues.css";

function StateCount({ count, state }: { count: number; state: JobState }) {
  return count === 0 ? (
    <span className="dim">0</span>
  ) : (
    <span className={`badge ${MEANINGS[state]}`}>{number(count)}</span>
  );
}

/** How the jobs of a queue are spread over its states, as a bar. */
function Spread({ counts }: Pick<Listed, "counts">) {
  const parts = STATES.map(({ state, title }) => ({ state, title, count: countOf(counts, state) }));
  const total = parts.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return <span className="spread empty" aria-hidden="true" />;
  return (
    <span className="spread" aria-hidden="true">
      {parts.map(
        ({ state, title, count }) =>
          count > 0 && (
            <i
              key={state}
              className={MEANINGS[state]}
              title={`${title}: ${number(count)}`}
              style={{ flexGrow: Math.max(count / total, 0.02) }}
            />
          ),
      )}
    </span>
  );
}

function All() {
  const { query, replace } = useAddress();
  const loaded = useLoad<{ queues: Listed[]; complete: boolean }>("/api/queues", {}, 2_000);
  const wanted = query.get("find") ?? "";
  const note = (queues: readonly Listed[]) => {
    const dead = queues.reduce((sum, { counts }) => sum + counts.dead, 0);
    const all = `${queues.length} ${queues.length === 1 ? "queue" : "queues"}`;
    return dead === 0 ? all : `${all}, ${number(dead)} dead ${dead === 1 ? "job" : "jobs"}`;
  };
  return (
    <>
      <Head title="Queues" note={loaded.data && note(loaded.data.queues)}>
        <input
          type="search"
          aria-label="Find queue"
          placeholder="Find queue"
          value={wanted}
          onChange={({ target }) => replace({ find: target.value === "" ? null : target.value })}
        />
      </Head>
      <States of={loaded}>
        {({ queues, complete }) =>
          queues.length === 0 ? (
            <Empty title="There is no queue." icon={IconStack2} action={<a href="#/examples">Open examples</a>}>
              new Queue(db, "mails").add(…) makes one, and it is listed here at once.
            </Empty>
          ) : (
            <>
              <QueueTable queues={queues.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()))} />
              {!complete && <p className="note">These are the 1 000 queues that were used last.</p>}
            </>
          )
        }
      </States>
    </>
  );
}

function QueueTable({ queues }: { queues: readonly Listed[] }) {
  const count = (title: string, state: JobState) => ({
    title,
    numeric: true,
    cell: ({ counts }: Listed) => <StateCount count={countOf(counts, state)} state={state} />,
  });
  if (queues.length === 0)
    return (
      <Empty title="No queue has that in its name." action={<a href="#/queues">Show all queues</a>} icon={IconStack2} />
    );
  return (
    <Table
      label="Queues"
      rows={queues}
      id={({ name, prefix }) => `${prefix} ${name}`}
      columns={[
        {
          title: "Queue",
          wide: true,
          cell: (queue) => (
            <span className="queue-name">
              <a href={`#/${queuePath(queue)}`}>{queue.name}</a>
              {queue.prefix !== "queue" && <span className="tag">{queue.prefix}</span>}
              {queue.shards > 1 && <span className="tag">{queue.shards} shards</span>}
              {queue.counts.paused && <span className="badge delayed">paused</span>}
            </span>
          ),
        },
        { title: "Jobs", cell: ({ counts }) => <Spread counts={counts} /> },
        ...STATES.filter(({ state }) => state !== "waiting-for-children").map(({ state, title }) =>
          count(title, state),
        ),
        { title: "Done in 1 h", numeric: true, cell: ({ hour }) => number(hour.done) },
        {
          title: "Failed in 1 h",
          numeric: true,
          cell: ({ hour }) =>
            hour.dead + hour.retried === 0 ? (
              <span className="dim">0</span>
            ) : (
              <span className="badge failed" title={`${hour.retried} tried again, ${hour.dead} dead`}>
                {number(hour.dead + hour.retried)}
              </span>
            ),
        },
      ]}
    />
  );
}

export function Queues() {
  const { query } = useAddress();
  const name = query.get("name");
  if (name === null) return <All />;
  if (name === "") go("queues");
  const opened: Opened = { name, shards: query.get("shards"), prefix: query.get("prefix") };
  return <OneQueue key={`${opened.prefix} ${name}`} opened={opened} />;
}
