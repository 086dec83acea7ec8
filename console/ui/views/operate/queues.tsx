/** Task queues: which there are, jobs by state, one job's story, and help for it. */
import type { Counts, Job, JobState } from "cinnabar/queues";
import { useState } from "preact/hooks";
import { act, type Wire } from "../../api.ts";
import { duration, moment } from "../../format.ts";
import { Dialog, Empty, Head, States, Table, useActions, useLoad } from "../../parts.tsx";
import { go, usePlace } from "../../router.ts";

type AnyJob = Wire<Job<unknown, unknown>>;
interface Listed {
  readonly name: string;
  readonly shards: number;
  readonly counts: Counts;
}

const STATES: readonly { state: JobState; title: string }[] = [
  { state: "waiting", title: "Waiting" },
  { state: "active", title: "Active" },
  { state: "delayed", title: "Delayed" },
  { state: "waiting-for-children", title: "Waiting for children" },
  { state: "done", title: "Done" },
  { state: "dead", title: "Dead" },
];

const countOf = (counts: Counts, state: JobState): number =>
  counts[state === "waiting-for-children" ? "waitingForChildren" : state];

function All() {
  const loaded = useLoad<{ queues: Listed[]; complete: boolean }>("/api/queues", {}, 2_000);
  const count = (title: string, state: JobState) => ({
    title,
    numeric: true,
    cell: ({ counts }: Listed) => countOf(counts, state),
  });
  return (
    <>
      <Head
        title="Queues"
        note={loaded.data?.complete === false ? "The store is large: not all are shown" : undefined}
      />
      <States of={loaded}>
        {({ queues }) =>
          queues.length === 0 ? (
            <Empty title="There is no queue.">new Queue(db, "mails").add(…) makes one.</Empty>
          ) : (
            <Table
              label="Queues"
              rows={queues}
              id={({ name, shards }) => `${name} ${shards}`}
              columns={[
                {
                  title: "Queue",
                  wide: true,
                  cell: ({ name, shards }) => (
                    <a href={`#/queues?${new URLSearchParams({ name, shards: String(shards) })}`}>{name}</a>
                  ),
                },
                { title: "", cell: ({ counts }) => counts.paused && <span class="tag warn">paused</span> },
                ...STATES.filter(({ state }) => state !== "waiting-for-children").map(({ state, title }) =>
                  count(title, state),
                ),
              ]}
            />
          )
        }
      </States>
    </>
  );
}

function Story({
  path,
  id,
  query,
  close,
  changed,
}: {
  path: string;
  id: string;
  query: { shards: string };
  close: () => void;
  changed: () => void;
}) {
  const url = `${path}/jobs/${encodeURIComponent(id)}`;
  const loaded = useLoad<{ job: AnyJob; log: string[] }>(url, query, 2_000);
  const actions = useActions(() => {
    loaded.reload();
    changed();
  });
  const send = (action: string) => actions.run(() => act("POST", `${url}?shards=${query.shards}`, { action }));
  const remove = async () => {
    if (await send("remove")) close();
  };
  return (
    <Dialog title={`Job ${id}`} close={close}>
      {actions.view}
      <States of={loaded}>
        {({ job, log }) => (
          <>
            <dl class="pairs">
              {(
                [
                  ["State", job.state],
                  ["Added", moment(Date.parse(job.createdAt))],
                  [
                    "Attempts",
                    `${job.attemptsMade} of ${job.attempts}${job.stalls > 0 ? `, ${job.stalls} stalled` : ""}`,
                  ],
                  ["Due", job.dueAt === null ? null : moment(Date.parse(job.dueAt))],
                  [
                    "Ended",
                    job.finishedAt === null
                      ? null
                      : `${moment(Date.parse(job.finishedAt))} (after ${duration(Date.parse(job.finishedAt) - Date.parse(job.createdAt))})`,
                  ],
                  ["Group", job.group],
                  ["Priority", job.priority === 0 ? null : job.priority],
                ] as [string, string | null][]
              ).map(
                ([name, value]) =>
                  value !== null && (
                    <div key={name}>
                      <dt>{name}</dt>
                      <dd>{value}</dd>
                    </div>
                  ),
              )}
            </dl>
            <h3>Data</h3>
            <pre>{JSON.stringify(job.data, null, 2)}</pre>
            {job.error && (
              <>
                <h3>Error</h3>
                <pre class="bad">{job.error.stack ?? `${job.error.name}: ${job.error.message}`}</pre>
              </>
            )}
            {job.state === "done" && (
              <>
                <h3>Result</h3>
                <pre>{JSON.stringify(job.result, null, 2)}</pre>
              </>
            )}
            {log.length > 0 && (
              <>
                <h3>Log</h3>
                <pre>{log.join("\n")}</pre>
              </>
            )}
            <div class="row end">
              {(job.state === "dead" || job.state === "done") && (
                <button type="button" onClick={() => send("retry")}>
                  Run again
                </button>
              )}
              {job.state === "delayed" && (
                <button type="button" onClick={() => send("promote")}>
                  Run now
                </button>
              )}
              {job.state === "active" ? (
                <button type="button" class="danger" onClick={() => send("cancel")}>
                  Cancel
                </button>
              ) : (
                <button type="button" class="danger" onClick={remove}>
                  Remove
                </button>
              )}
              <button type="button" onClick={close}>
                Close
              </button>
            </div>
          </>
        )}
      </States>
    </Dialog>
  );
}

function One({ name, shards }: { name: string; shards: string }) {
  const path = `/api/queues/${encodeURIComponent(name)}`;
  const [state, setState] = useState<JobState>("waiting");
  const [limit, setLimit] = useState(50);
  const [open, setOpen] = useState<string | null>(null);
  const queue = useLoad<{ counts: Counts }>(path, { shards }, 2_000);
  const jobs = useLoad<{ items: AnyJob[]; cursor: string | null }>(`${path}/jobs`, { shards, state, limit }, 2_000);
  const actions = useActions(() => {
    queue.reload();
    jobs.reload();
  });
  const send = (action: string) => actions.run(() => act("POST", `${path}?shards=${shards}`, { action }));
  const counts = queue.data?.counts;
  return (
    <>
      <Head title={name} note={<a href="#/queues">All queues</a>}>
        <button type="button" disabled={!counts?.dead} onClick={() => send("replayDead")}>
          Run dead ones again
        </button>
        <button type="button" disabled={!counts} onClick={() => send(counts?.paused ? "resume" : "pause")}>
          {counts?.paused ? "Resume" : "Pause"}
        </button>
      </Head>
      {actions.view}
      <fieldset class="tabs" aria-label="State">
        {STATES.map((each) => (
          <button
            key={each.state}
            type="button"
            aria-pressed={each.state === state}
            onClick={() => setState(each.state)}
          >
            {each.title} <b>{counts === undefined ? "–" : countOf(counts, each.state)}</b>
          </button>
        ))}
      </fieldset>
      <States of={jobs}>
        {(page) =>
          page.items.length === 0 ? (
            <Empty title="No job is in this state." />
          ) : (
            <>
              <Table
                label="Jobs"
                rows={page.items}
                id={({ id }) => id}
                columns={[
                  {
                    title: "Job",
                    cell: ({ id }) => (
                      <button type="button" class="link" onClick={() => setOpen(id)}>
                        {id}
                      </button>
                    ),
                  },
                  { title: "Data", wide: true, cell: ({ data }) => <code>{JSON.stringify(data)?.slice(0, 200)}</code> },
                  {
                    title: "Attempts",
                    numeric: true,
                    cell: ({ attemptsMade, attempts }) => `${attemptsMade}/${attempts}`,
                  },
                  { title: "Added", cell: ({ createdAt }) => moment(Date.parse(createdAt)) },
                  {
                    title: "Error",
                    wide: true,
                    cell: ({ error }) => error && <span class="bad">{error.message}</span>,
                  },
                ]}
              />
              {page.cursor !== null && limit < 500 && (
                <button type="button" class="more" onClick={() => setLimit(Math.min(500, limit * 2))}>
                  More
                </button>
              )}
            </>
          )
        }
      </States>
      {open && <Story path={path} id={open} query={{ shards }} close={() => setOpen(null)} changed={jobs.reload} />}
    </>
  );
}

export function Queues() {
  const { query } = usePlace();
  const name = query.get("name");
  if (name === null) return <All />;
  if (name === "") go("queues");
  return <One key={name} name={name} shards={query.get("shards") ?? "1"} />;
}
