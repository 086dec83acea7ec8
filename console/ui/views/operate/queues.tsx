/** Task queues: which there are, jobs by state, one job's story, and help for it. */
import { IconStack2 } from "@tabler/icons-react";
import type { Counts, Job, JobState } from "cinnabar/queues";
import { type ReactNode, useState } from "react";
import { act, type Wire } from "../../api.ts";
import { Chart } from "../../chart.tsx";
import { duration, moment, number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Dialog, Empty, Head, States, Table, useActions } from "../../parts.tsx";
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

/** Which of the meanings in tokens.css a state has. */
const MEANINGS: Readonly<Record<JobState, string>> = {
  waiting: "waiting",
  active: "active",
  delayed: "delayed",
  "waiting-for-children": "waiting",
  done: "done",
  dead: "dead",
};

function StateCount({ count, state }: { count: number; state: JobState }) {
  return count === 0 ? (
    <span className="dim">0</span>
  ) : (
    <span className={`badge ${MEANINGS[state]}`}>{number(count)}</span>
  );
}

const countOf = (counts: Counts, state: JobState): number =>
  counts[state === "waiting-for-children" ? "waitingForChildren" : state];

function All() {
  const loaded = useLoad<{ queues: Listed[]; complete: boolean }>("/api/queues", {}, 2_000);
  const count = (title: string, state: JobState) => ({
    title,
    numeric: true,
    cell: ({ counts }: Listed) => <StateCount count={countOf(counts, state)} state={state} />,
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
            <Empty title="There is no queue." icon={IconStack2} action={<a href="#/examples">Open examples</a>}>
              new Queue(db, "mails").add(…) makes one.
            </Empty>
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
                { title: "", cell: ({ counts }) => counts.paused && <span className="badge delayed">paused</span> },
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

interface Minute {
  readonly at: string;
  readonly done: number;
  readonly retried: number;
  readonly dead: number;
  readonly stalled: number;
}

interface Schedule {
  readonly name: string;
  readonly nextAt: string;
  readonly lastAt: string | null;
  readonly count: number;
  readonly pausedAt: string | null;
  readonly cron?: string;
  readonly timeZone?: string;
  readonly everyMs?: number;
}

interface QueueFacts {
  readonly counts: Counts;
  readonly minutes: readonly Minute[];
  readonly schedules: readonly Schedule[];
}

/** Jobs of each minute: what was done, and what failed. */
function Throughput({ minutes }: { minutes: readonly Minute[] }) {
  const times = minutes.map(({ at }) => Date.parse(at) / 1_000);
  const line = (label: string, color: string, name: "done" | "retried" | "dead") => ({
    label,
    color,
    values: minutes.map((minute) => minute[name]),
  });
  const sum = (name: "done" | "dead") => minutes.reduce((total, minute) => total + minute[name], 0);
  return (
    <div className="charts queue-charts">
      <Chart
        title="Done per minute"
        now={`${number(sum("done"))} in ${minutes.length} min`}
        times={times}
        format={number}
        lines={[line("Done", "c4", "done")]}
      />
      <Chart
        title="Failures per minute"
        now={`${number(sum("dead"))} dead`}
        times={times}
        format={number}
        lines={[line("Retried", "c2", "retried"), line("Dead", "c1", "dead")]}
      />
    </div>
  );
}

const rhythmOf = ({ cron, timeZone, everyMs }: Schedule): string =>
  cron === undefined ? `every ${duration(everyMs ?? 0)}` : `${cron}${timeZone ? `, ${timeZone}` : ""}`;

function Schedules({ schedules }: { schedules: readonly Schedule[] }) {
  return (
    <>
      <h2 className="section">Schedules</h2>
      <Table
        label="Schedules"
        rows={schedules}
        id={({ name }) => name}
        columns={[
          { title: "Schedule", wide: true, cell: ({ name }) => name },
          { title: "Runs", cell: (each) => <code>{rhythmOf(each)}</code> },
          {
            title: "Next run",
            cell: ({ nextAt, pausedAt }) =>
              pausedAt === null ? moment(Date.parse(nextAt)) : <span className="badge delayed">paused</span>,
          },
          { title: "Last run", cell: ({ lastAt }) => (lastAt === null ? "never" : moment(Date.parse(lastAt))) },
          { title: "Jobs made", numeric: true, cell: ({ count }) => number(count) },
        ]}
      />
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
            <dl className="pairs">
              {(
                [
                  [
                    "State",
                    <span key="state" className={`badge ${MEANINGS[job.state]}`}>
                      {job.state}
                    </span>,
                  ],
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
                ] as [string, ReactNode][]
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
                <pre className="bad">{job.error.stack ?? `${job.error.name}: ${job.error.message}`}</pre>
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
            <div className="row end">
              {(job.state === "dead" || job.state === "done") && (
                <button type="button" onClick={() => send("retry")}>
                  Retry job
                </button>
              )}
              {job.state === "delayed" && (
                <button type="button" onClick={() => send("promote")}>
                  Run job now
                </button>
              )}
              {job.state === "active" ? (
                <button type="button" className="danger" onClick={() => send("cancel")}>
                  Cancel job
                </button>
              ) : (
                <button type="button" className="danger" onClick={remove}>
                  Remove job
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
  const { query } = usePlace();
  const state = STATES.find((each) => each.state === query.get("state"))?.state ?? "waiting";
  const open = query.get("job");
  const show = (where: { state?: JobState; job?: string }) => go("queues", { name, shards, state, ...where });
  const [limit, setLimit] = useState(50);
  const queue = useLoad<QueueFacts>(path, { shards }, 2_000);
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
          Retry dead jobs
        </button>
        <button type="button" disabled={!counts} onClick={() => send(counts?.paused ? "resume" : "pause")}>
          {counts?.paused ? "Resume queue" : "Pause queue"}
        </button>
      </Head>
      {actions.view}
      {queue.data && <Throughput minutes={queue.data.minutes} />}
      <fieldset className="tabs" aria-label="State">
        {STATES.map((each) => (
          <button
            key={each.state}
            type="button"
            aria-pressed={each.state === state}
            onClick={() => show({ state: each.state })}
          >
            <i className={`dot ${MEANINGS[each.state]}`} aria-hidden="true" />
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
                      <button type="button" className="link" onClick={() => show({ job: id })}>
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
                    cell: ({ error }) => error && <span className="bad">{error.message}</span>,
                  },
                ]}
              />
              {page.cursor !== null && limit < 500 && (
                <button type="button" className="more" onClick={() => setLimit(Math.min(500, limit * 2))}>
                  More
                </button>
              )}
            </>
          )
        }
      </States>
      {queue.data && queue.data.schedules.length > 0 && <Schedules schedules={queue.data.schedules} />}
      {open && <Story path={path} id={open} query={{ shards }} close={() => show({})} changed={jobs.reload} />}
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
