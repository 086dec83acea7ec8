/** Jobs by state: a page of them, some chosen, and what is done to those or to all in the state. */
import { IconInbox, IconSearch } from "@tabler/icons-react";
import type { Counts, JobState } from "cinnabar/queues";
import { useEffect, useRef, useState } from "react";
import { ActButton } from "../../../acting.tsx";
import { useAddress } from "../../../address.ts";
import { duration, number } from "../../../format.ts";
import { useLoad } from "../../../load.ts";
import { When } from "../../../moments.tsx";
import { type Column, Empty, States, Table, useActions } from "../../../parts.tsx";
import { type AnyJob, countOf, MEANINGS, type Opened, pathOf, queryOf, STATES } from "./model.ts";
import { type JobAction, jobsOf, type QueueWork } from "./work.tsx";

const PAGE = 50;

/** What can be done to jobs of a state, and how a button says it. */
const ACTIONS: Readonly<Record<JobState, readonly { readonly action: JobAction; readonly verb: string }[]>> = {
  waiting: [
    { action: "cancel", verb: "Cancel" },
    { action: "remove", verb: "Remove" },
  ],
  active: [{ action: "cancel", verb: "Cancel" }],
  delayed: [
    { action: "promote", verb: "Run now" },
    { action: "cancel", verb: "Cancel" },
    { action: "remove", verb: "Remove" },
  ],
  "waiting-for-children": [{ action: "remove", verb: "Remove" }],
  done: [
    { action: "retry", verb: "Run again" },
    { action: "remove", verb: "Remove" },
  ],
  dead: [
    { action: "retry", verb: "Retry" },
    { action: "remove", verb: "Remove" },
  ],
};

const WARNINGS: Readonly<Record<JobAction, string>> = {
  remove: "They are gone then, with their results and logs. Parents that wait for them wait on.",
  cancel: "Jobs that have not begun become dead letters; those that run have their signal aborted.",
  retry: "They run again with fresh attempts; what they did before is done a second time.",
  promote: "They are due at once, whatever their delay was.",
};

function timeColumn(state: JobState): Column<AnyJob> {
  if (state === "delayed") return { title: "Due", cell: ({ dueAt }) => <When at={dueAt} /> };
  if (state === "done" || state === "dead")
    return { title: "Ended", cell: ({ finishedAt }) => <When at={finishedAt} /> };
  return { title: "Added", cell: ({ createdAt }) => <When at={createdAt} /> };
}

function lastColumn(state: JobState): Column<AnyJob>[] {
  if (state === "done") {
    const took = ({ startedAt, finishedAt }: AnyJob) =>
      startedAt === null || finishedAt === null ? "–" : duration(Date.parse(finishedAt) - Date.parse(startedAt));
    return [{ title: "Took", numeric: true, cell: took }];
  }
  if (state === "active")
    return [
      { title: "Progress", cell: ({ progress }) => <code>{progress === null ? "–" : JSON.stringify(progress)}</code> },
    ];
  return [{ title: "Error", wide: true, cell: ({ error }) => error && <span className="bad">{error.message}</span> }];
}

function FindJob() {
  const { go } = useAddress();
  const [typed, setTyped] = useState("");
  return (
    <form
      className="find-job"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.trim() !== "") go({ job: typed.trim() });
      }}
    >
      <input
        aria-label="Id of a job"
        placeholder="Id of a job"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <ActButton type="submit" className="icon" aria-label="Open job" title="Open job">
        <IconSearch size={16} />
      </ActButton>
    </form>
  );
}

export function Jobs({ opened, counts, work }: { opened: Opened; counts: Counts; work: QueueWork }) {
  const { query, go } = useAddress();
  const asked = STATES.find((each) => each.state === query.get("state"))?.state;
  // Where nothing is asked for, what needs somebody comes first.
  const state = asked ?? (counts.dead > 0 && counts.waiting + counts.active === 0 ? "dead" : "waiting");
  return (
    <>
      <div className="row states">
        <fieldset className="tabs" aria-label="State">
          {STATES.map((each) => (
            <button
              key={each.state}
              type="button"
              aria-pressed={each.state === state}
              onClick={() => go({ state: each.state, after: null })}
            >
              <i className={`dot ${MEANINGS[each.state]}`} aria-hidden="true" />
              {each.title} <b>{number(countOf(counts, each.state))}</b>
            </button>
          ))}
        </fieldset>
        <FindJob />
      </div>
      <JobPage key={state} opened={opened} state={state} total={countOf(counts, state)} work={work} />
    </>
  );
}

interface PageProps {
  readonly opened: Opened;
  readonly state: JobState;
  readonly total: number;
  readonly work: QueueWork;
}

function JobPage({ opened, state, total, work }: PageProps) {
  const { query, go, href: link } = useAddress();
  // The cursors of all pages up to this one, so that there is a way back.
  const cursors = (query.get("after") ?? "").split(",").filter((cursor) => cursor !== "");
  const cursor = cursors.at(-1);
  const loaded = useLoad<{ items: AnyJob[]; cursor: string | null }>(
    `${pathOf(opened)}/jobs`,
    { ...queryOf(opened), state, limit: PAGE, ...(cursor !== undefined && { cursor }) },
    2_000,
  );
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const actions = useActions(() => {});
  const wasRunning = useRef(false);
  useEffect(() => {
    if (wasRunning.current && !work.isRunning) loaded.reload();
    wasRunning.current = work.isRunning;
  }, [work.isRunning]);
  const send = (action: JobAction, which: { ids: readonly string[] } | { state: JobState }) =>
    actions.run(async () => {
      if (!(await work.begin("/bulk", { action, ...which }))) return;
      setChosen(new Set());
      loaded.reload();
    });
  const ask = (action: JobAction, verb: string, which: { ids: readonly string[] } | { state: JobState }) => {
    const many = "ids" in which ? which.ids.length : total;
    // One that is promoted or retried alone is what was asked for; everything else is asked back.
    if ("ids" in which && (action === "promote" || action === "retry")) return void send(action, which);
    actions.ask({
      title: `${verb} ${jobsOf(many)}?`,
      text: WARNINGS[action],
      button: `${verb} ${jobsOf(many)}`,
      run: () => send(action, which),
    });
  };
  const isBusy = actions.isBusy || work.isRunning;
  const items = loaded.data?.items ?? [];
  const ids = items.map(({ id }) => id).filter((id) => chosen.has(id));
  const toggle = (id: string) =>
    setChosen((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  return (
    <>
      {actions.view}
      <States of={loaded}>
        {(page) =>
          page.items.length === 0 ? (
            <Nothing state={state} />
          ) : (
            <>
              <div className="row bulk">
                <label className="check">
                  <input
                    type="checkbox"
                    checked={ids.length === page.items.length}
                    onChange={() =>
                      setChosen(ids.length === page.items.length ? new Set() : new Set(page.items.map(({ id }) => id)))
                    }
                  />
                  {ids.length === 0 ? "Select this page" : `${ids.length} selected`}
                </label>
                {ACTIONS[state].map(({ action, verb }) => (
                  <ActButton
                    data-acts="operator"
                    key={action}
                    type="button"
                    disabled={ids.length === 0 || isBusy}
                    className={action === "remove" ? "danger" : ""}
                    onClick={() => ask(action, verb, { ids })}
                  >
                    {verb} selected
                  </ActButton>
                ))}
                <span className="gap" />
                {ACTIONS[state].map(({ action, verb }) => (
                  <ActButton
                    data-acts="operator"
                    key={action}
                    type="button"
                    disabled={isBusy || (state === "active" && action === "remove")}
                    className={action === "remove" ? "danger" : ""}
                    onClick={() => ask(action, verb, { state })}
                  >
                    {verb} all {number(total)}
                  </ActButton>
                ))}
              </div>
              <Table
                label="Jobs"
                rows={page.items}
                id={({ id }) => id}
                columns={[
                  {
                    title: "",
                    cell: ({ id }) => (
                      <input
                        type="checkbox"
                        aria-label={`Select ${id}`}
                        checked={chosen.has(id)}
                        onChange={() => toggle(id)}
                      />
                    ),
                  },
                  {
                    title: "Job",
                    cell: ({ id, name, priority, group }) => (
                      <span className="job-name">
                        <a href={link({ job: id, state })}>
                          <code>{id}</code>
                        </a>
                        {name !== null && <span className="tag">{name}</span>}
                        {priority !== 0 && <span className="tag">priority {priority}</span>}
                        {group !== null && <span className="tag">group {group}</span>}
                      </span>
                    ),
                  },
                  { title: "Data", wide: true, cell: ({ data }) => <code>{JSON.stringify(data)?.slice(0, 160)}</code> },
                  {
                    title: "Attempts",
                    numeric: true,
                    cell: ({ attemptsMade, attempts }) => `${attemptsMade}/${attempts}`,
                  },
                  timeColumn(state),
                  ...lastColumn(state),
                ]}
              />
              {(cursors.length > 0 || page.cursor !== null) && (
                <nav className="row pages" aria-label="Pages of jobs">
                  <button
                    type="button"
                    disabled={cursors.length === 0}
                    onClick={() => go({ state, after: cursors.slice(0, -1).join(",") || null })}
                  >
                    Previous page
                  </button>
                  <span className="note">
                    {number(cursors.length * PAGE + 1)}–{number(cursors.length * PAGE + page.items.length)} of{" "}
                    {number(total)}
                  </span>
                  <button
                    type="button"
                    disabled={page.cursor === null}
                    onClick={() => go({ state, after: [...cursors, page.cursor].join(",") })}
                  >
                    Next page
                  </button>
                </nav>
              )}
            </>
          )
        }
      </States>
    </>
  );
}

function Nothing({ state }: { state: JobState }) {
  const { go } = useAddress();
  const title = STATES.find((each) => each.state === state)!.title.toLowerCase();
  return (
    <Empty
      title={state === "dead" ? "No job has failed for good." : `No job is ${title}.`}
      icon={IconInbox}
      action={
        state === "waiting" ? (
          <ActButton data-acts="operator" type="button" onClick={() => go({ dialog: "add" })}>
            Add a job
          </ActButton>
        ) : undefined
      }
    />
  );
}
