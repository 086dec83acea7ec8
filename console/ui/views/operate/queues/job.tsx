/** One job: what happened to it as a timeline, what it was given and gave, its log, its flow, and everything that helps it along. */
import {
  type Icon,
  IconAlertTriangle,
  IconCheck,
  IconClock,
  IconHourglass,
  IconLoader,
  IconPlayerPlay,
  IconPlus,
  IconSkull,
} from "@tabler/icons-react";
import type { ReactNode } from "react";
import { ActButton } from "../../../acting.tsx";
import { useAddress } from "../../../address.ts";
import { act } from "../../../api.ts";
import { counted, duration, moment, number } from "../../../format.ts";
import { useLoad } from "../../../load.ts";
import { When } from "../../../moments.tsx";
import { Head, States, useActions } from "../../../parts.tsx";
import { Flow } from "./flow.tsx";
import { EditForm } from "./job-form.tsx";
import { type AnyAttempt, type AnyJob, actionUrl, MEANINGS, type Opened, pathOf, queryOf } from "./model.ts";

interface Story {
  readonly job: AnyJob;
  readonly log: readonly string[];
  readonly attempts: readonly AnyAttempt[];
  readonly parent: { readonly queue: string; readonly id: string } | null;
}

interface Step {
  readonly key: string;
  readonly icon: Icon;
  /** One of the meanings in tokens.css. */
  readonly meaning: string;
  readonly title: string;
  readonly at: string | null;
  readonly body?: ReactNode;
}

function ErrorText({ error }: { error: NonNullable<AnyJob["error"]> }) {
  return (
    <>
      <p className="bad">
        <strong>{error.name}</strong>
        {error.code && ` ${error.code}`}: {error.message}
      </p>
      {error.stack && (
        <details>
          <summary>Stack trace</summary>
          <pre>{error.stack}</pre>
        </details>
      )}
    </>
  );
}

const ENDINGS = {
  done: { icon: IconCheck, meaning: "done", title: "done" },
  failed: { icon: IconAlertTriangle, meaning: "failed", title: "failed" },
  stalled: { icon: IconAlertTriangle, meaning: "failed", title: "stalled: its worker was lost" },
  active: { icon: IconLoader, meaning: "active", title: "running" },
} as const;

function attemptStep(attempt: AnyAttempt, nth: number): Step {
  const { icon, meaning, title } = ENDINGS[attempt.status];
  const took =
    attempt.startedAt === null || attempt.endedAt === null
      ? null
      : duration(Date.parse(attempt.endedAt) - Date.parse(attempt.startedAt));
  return {
    key: `attempt ${nth}`,
    icon,
    meaning,
    title: `Attempt ${attempt.attempt} ${title}`,
    at: attempt.endedAt ?? attempt.startedAt,
    body: (
      <>
        <p className="dim">
          {attempt.startedAt !== null && <>began {moment(Date.parse(attempt.startedAt))}, </>}
          {took !== null && `took ${took}, `}
          on <code>{attempt.worker}</code>
        </p>
        {attempt.error !== null && <ErrorText error={attempt.error} />}
      </>
    ),
  };
}

/** What happened and what comes next, in the order of time. */
function stepsOf({ job, attempts }: Story): Step[] {
  const steps: Step[] = [
    {
      key: "added",
      icon: IconPlus,
      meaning: "waiting",
      title: "Added",
      at: job.createdAt,
      body: job.group !== null && (
        <p className="dim">
          to group <code>{job.group}</code>
        </p>
      ),
    },
    ...attempts.map(attemptStep),
  ];
  const wasRun = attempts.some(({ startedAt }) => startedAt !== null);
  const next: Partial<Record<AnyJob["state"], Step>> = {
    waiting: { key: "next", icon: IconHourglass, meaning: "waiting", title: "Waits for a worker", at: null },
    delayed: {
      key: "next",
      icon: IconClock,
      meaning: "delayed",
      title: wasRun ? "Tried again" : "Delayed until",
      at: job.dueAt,
    },
    "waiting-for-children": {
      key: "next",
      icon: IconHourglass,
      meaning: "waiting",
      title: `Waits for ${job.children.length} ${job.children.length === 1 ? "child" : "children"}`,
      at: null,
    },
    dead: {
      key: "next",
      icon: IconSkull,
      meaning: "dead",
      title: "Dead letter: not tried again",
      at: job.finishedAt,
      body: attempts.at(-1)?.error == null && job.error !== null && <ErrorText error={job.error} />,
    },
  };
  const last = next[job.state];
  return last === undefined ? steps : [...steps, last];
}

function Timeline({ story }: { story: Story }) {
  return (
    <ol className="timeline" aria-label="What happened">
      {stepsOf(story).map(({ key, icon: Picture, meaning, title, at, body }) => (
        <li key={key} className={meaning}>
          <span className="mark" aria-hidden="true">
            <Picture size={14} stroke={2} />
          </span>
          <div>
            <p className="step">
              <strong>{title}</strong> {at !== null && <When at={at} />}
            </p>
            {body}
          </div>
        </li>
      ))}
    </ol>
  );
}

function Progress({ value }: { value: unknown }) {
  const percent =
    typeof value === "number"
      ? value
      : typeof value === "object" && value !== null && "percent" in value && typeof value.percent === "number"
        ? value.percent
        : null;
  return (
    <>
      {percent !== null && (
        <progress max={100} value={Math.min(100, Math.max(0, percent))} aria-label={`${number(percent)} percent`} />
      )}
      <pre>{JSON.stringify(value, null, 2)}</pre>
    </>
  );
}

function Facts({ job, parent }: Story) {
  const facts: [string, ReactNode][] = [
    ["Attempts", `${job.attemptsMade} of ${job.attempts}`],
    ["Priority", String(job.priority)],
    ["Handler", job.name === null ? "any" : <code key="name">{job.name}</code>],
    ["Worker lost", `${job.stalls}×`],
    [
      "In all",
      duration((job.finishedAt === null ? Date.now() : Date.parse(job.finishedAt)) - Date.parse(job.createdAt)),
    ],
  ];
  if (parent !== null)
    facts.push([
      "Parent",
      <a key="parent" href={`#/queues?${new URLSearchParams({ name: parent.queue, job: parent.id })}`}>
        <code>{parent.id}</code>
      </a>,
    ]);
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Contents({ story }: { story: Story }) {
  const { job, log } = story;
  return (
    <>
      <h2>Data</h2>
      <pre>{JSON.stringify(job.data, null, 2)}</pre>
      {job.progress !== null && (
        <>
          <h2>Progress</h2>
          <Progress value={job.progress} />
        </>
      )}
      {job.state === "done" && (
        <>
          <h2>Result</h2>
          <pre>{JSON.stringify(job.result, null, 2)}</pre>
          {job.resultRef !== null && (
            <p className="note">
              It is kept elsewhere, under <code>{job.resultRef}</code>.
            </p>
          )}
        </>
      )}
      <h2>
        Log <span className="dim">{log.length === 0 ? "nothing was logged" : counted(log.length, "line")}</span>
      </h2>
      {log.length > 0 && <pre className="log">{log.join("\n")}</pre>}
    </>
  );
}

export function JobPage({ opened, id, changed }: { opened: Opened; id: string; changed: () => void }) {
  const { query, go, href: link } = useAddress();
  const rest = `/jobs/${encodeURIComponent(id)}`;
  const loaded = useLoad<Story>(`${pathOf(opened)}${rest}`, queryOf(opened), 2_000);
  const actions = useActions(() => {
    loaded.reload();
    changed();
  });
  const send = (action: string, said: string) =>
    actions.run(() => act("POST", actionUrl(opened, rest), { action }), said);
  const back = link({ job: null, dialog: null });
  const leave = () => go({ job: null, dialog: null });
  const remove = () =>
    actions.ask({
      title: "Remove this job?",
      text: "It is gone then, with its data, result and log. A parent that waits for it waits on.",
      button: "Remove job",
      run: async () => {
        if (await send("remove", "Job removed")) leave();
      },
    });
  const cancel = () =>
    actions.ask({
      title: "Cancel this job?",
      text: "Its handler's signal is aborted, and it is not tried again. What it has done so far stays done.",
      button: "Cancel job",
      run: () => send("cancel", "The worker was told to stop"),
    });
  const job = loaded.data?.job;
  const isEnded = job?.state === "done" || job?.state === "dead";
  return (
    <>
      <Head
        title={`Job ${id}`}
        note={
          <>
            <a href={back}>Queue {opened.name}</a>{" "}
            {job && <span className={`badge ${MEANINGS[job.state]}`}>{job.state.replaceAll("-", " ")}</span>}
          </>
        }
      >
        {job?.state === "delayed" && (
          <ActButton
            data-acts="operator"
            type="button"
            className="main with-icon"
            onClick={() => send("promote", "The job is due now")}
          >
            <IconPlayerPlay size={15} />
            Run job now
          </ActButton>
        )}
        {isEnded && (
          <ActButton
            data-acts="operator"
            type="button"
            className="main with-icon"
            onClick={() => send("retry", "The job will run again")}
          >
            <IconPlayerPlay size={15} />
            Retry job
          </ActButton>
        )}
        <ActButton data-acts="operator" type="button" disabled={!job} onClick={() => go({ dialog: "add", like: id })}>
          Duplicate job…
        </ActButton>
        <ActButton
          data-acts="operator"
          type="button"
          disabled={!job || job.state === "active"}
          onClick={() => go({ dialog: "edit" })}
        >
          Edit job…
        </ActButton>
        {job?.state === "active" ? (
          <ActButton data-acts="operator" type="button" className="danger" onClick={cancel}>
            Cancel job
          </ActButton>
        ) : (
          <ActButton
            data-acts="operator"
            type="button"
            className="danger"
            disabled={!job || actions.isBusy}
            onClick={remove}
          >
            Remove job
          </ActButton>
        )}
      </Head>
      {actions.view}
      <States of={loaded}>
        {(story) => (
          <>
            <Facts {...story} />
            <div className="job-page">
              <section className="card" aria-label="Timeline">
                <h2>Timeline</h2>
                <Timeline story={story} />
              </section>
              <section className="card job-contents" aria-label="Contents">
                <Contents story={story} />
              </section>
            </div>
            {(story.parent !== null || story.job.children.length > 0) && <Flow opened={opened} id={id} />}
            {query.get("dialog") === "edit" && (
              <EditForm opened={opened} job={story.job} close={() => go({ dialog: null })} done={loaded.reload} />
            )}
          </>
        )}
      </States>
    </>
  );
}
