/** One queue: figures, charts, and its jobs, schedules, groups and workers as tabs. One job takes the place of all that. */
import { IconPlayerPause, IconPlayerPlay, IconPlus } from "@tabler/icons-react";
import { useCallback, useRef } from "react";
import { ActButton } from "../../../acting.tsx";
import { useAddress } from "../../../address.ts";
import { act } from "../../../api.ts";
import { Chart } from "../../../chart.tsx";
import { duration, number } from "../../../format.ts";
import { useLoad } from "../../../load.ts";
import { Empty, Head, States, useActions } from "../../../parts.tsx";
import { Groups } from "./groups.tsx";
import { JobPage } from "./job.tsx";
import { JobForm } from "./job-form.tsx";
import { Jobs } from "./jobs.tsx";
import { actionUrl, type Opened, pathOf, type QueueFacts, queryOf, type Wait } from "./model.ts";
import { Schedules } from "./schedules.tsx";
import { CleanDialog, DeleteDialog, DrainDialog } from "./tidy.tsx";
import { useQueueWork } from "./work.tsx";
import { Workers } from "./workers.tsx";

const TABS = [
  { tab: "jobs", title: "Jobs" },
  { tab: "schedules", title: "Schedules" },
  { tab: "groups", title: "Groups" },
  { tab: "workers", title: "Workers" },
] as const;

/** The median and the 95th percentile on the minutes of the other charts; gaps where nothing ended. */
function waitLines(minutes: QueueFacts["minutes"], waits: readonly Wait[]) {
  const byMinute = new Map(waits.map((wait) => [Date.parse(wait.at), wait]));
  const of = (pick: (wait: Wait) => number) =>
    minutes.map(({ at }) => {
      const wait = byMinute.get(Date.parse(at));
      return wait === undefined ? null : pick(wait);
    });
  return [
    { label: "Median", color: "c2", values: of(({ waitP50Ms }) => waitP50Ms) },
    { label: "95th percentile", color: "c3", values: of(({ waitP95Ms }) => waitP95Ms) },
  ];
}

function Charts({ minutes, waits }: Pick<QueueFacts, "minutes" | "waits">) {
  const times = minutes.map(({ at }) => Date.parse(at) / 1_000);
  const line = (label: string, color: string, name: "done" | "retried" | "dead") => ({
    label,
    color,
    values: minutes.map((minute) => minute[name]),
  });
  const sum = (name: "done" | "dead" | "retried") => minutes.reduce((total, minute) => total + minute[name], 0);
  const last = waits.at(-1);
  return (
    <div className="charts queue-charts">
      <Chart
        title="Done per minute"
        now={`${number(sum("done"))} in ${minutes.length} min`}
        times={times}
        format={number}
        lines={[line("Done", "healthy", "done")]}
      />
      <Chart
        title="Failures per minute"
        now={`${number(sum("retried"))} retried, ${number(sum("dead"))} dead`}
        times={times}
        format={number}
        lines={[line("Retried", "delayed", "retried"), line("Dead", "dead", "dead")]}
      />
      <Chart
        title="Wait before start"
        now={last === undefined ? "no job ended" : `${duration(last.waitP50Ms)} median`}
        times={times}
        format={duration}
        lines={waitLines(minutes, waits)}
        sparse
      />
    </div>
  );
}

function Figures({ facts }: { facts: QueueFacts }) {
  const { counts, minutes, waits, workers } = facts;
  const sum = (name: "done" | "dead" | "retried") => minutes.reduce((total, minute) => total + minute[name], 0);
  const ended = sum("done") + sum("dead");
  const last = waits.at(-1);
  const figures = [
    { title: "Waiting", value: number(counts.waiting), note: `${number(counts.delayed)} delayed` },
    { title: "Running", value: number(counts.active), note: `${workers} ${workers === 1 ? "worker" : "workers"}` },
    {
      title: "Failed in 1 h",
      value: ended === 0 ? "–" : `${((100 * sum("dead")) / ended).toFixed(1)} %`,
      note: `${number(sum("dead"))} dead of ${number(ended)} ended`,
    },
    {
      title: "Run time",
      value: last === undefined ? "–" : duration(last.runP50Ms),
      note: last === undefined ? "no job ended" : `95th percentile ${duration(last.runP95Ms)}`,
    },
  ];
  return (
    <dl className="figures queue-figures">
      {figures.map(({ title, value, note }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>
            <span className="figure">{value}</span>
            <small>{note}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** On a phone the charts fill the screen: an address that names a part of the queue shows that part. */
function useArrival(isNamed: boolean) {
  const isDue = useRef(isNamed);
  return useCallback((element: HTMLElement | null) => {
    if (element === null || !isDue.current) return;
    isDue.current = false;
    if (matchMedia("(max-width: 760px)").matches) element.scrollIntoView();
  }, []);
}

export function OneQueue({ opened }: { opened: Opened }) {
  const { query, go } = useAddress();
  const facts = useLoad<QueueFacts>(pathOf(opened), queryOf(opened), 2_000);
  const actions = useActions(facts.reload);
  const work = useQueueWork(opened, facts.reload);
  const arrive = useArrival(query.has("state") || query.has("tab"));
  const job = query.get("job");
  const dialog = query.get("dialog");
  const close = () => go({ dialog: null, like: null, schedule: null });
  if (facts.error?.code === "NO_QUEUE")
    return (
      <>
        <Head title={opened.name} note={<a href="#/queues">All queues</a>} />
        <Empty
          title={`No queue named ${opened.name} was used in this store.`}
          action={<a href="#/queues">Show all queues</a>}
        />
      </>
    );
  const counts = facts.data?.counts;
  const form =
    dialog === "add" ? <JobForm opened={opened} like={query.get("like")} close={close} done={facts.reload} /> : null;
  if (job !== null)
    return (
      <>
        <JobPage key={job} opened={opened} id={job} changed={facts.reload} />
        {form}
      </>
    );
  const send = (action: string, said: string) => actions.run(() => act("POST", actionUrl(opened), { action }), said);
  const tab = TABS.find((each) => each.tab === query.get("tab"))?.tab ?? "jobs";
  return (
    <>
      <Head
        title={opened.name}
        note={
          <>
            <a href="#/queues">All queues</a> {counts?.paused && <span className="badge delayed">paused</span>}
          </>
        }
      >
        <ActButton data-acts="operator" type="button" onClick={() => go({ dialog: "clean" })}>
          Clean queue by age…
        </ActButton>
        <ActButton data-acts="operator" type="button" onClick={() => go({ dialog: "drain" })} disabled={!counts}>
          Drain queue…
        </ActButton>
        <ActButton data-acts="operator" type="button" className="danger" onClick={() => go({ dialog: "delete" })}>
          Delete queue…
        </ActButton>
        <ActButton
          data-acts="operator"
          type="button"
          className="with-icon"
          disabled={!counts || actions.isBusy}
          onClick={() =>
            counts?.paused ? send("resume", `${opened.name} goes on`) : send("pause", `${opened.name} is paused`)
          }
        >
          {counts?.paused ? <IconPlayerPlay size={15} /> : <IconPlayerPause size={15} />}
          {counts?.paused ? "Resume queue" : "Pause queue"}
        </ActButton>
        <ActButton
          data-acts="operator"
          type="button"
          className="main with-icon"
          onClick={() => go({ dialog: "add", like: null })}
        >
          <IconPlus size={15} />
          Add job
        </ActButton>
      </Head>
      {actions.view}
      {work.view}
      <States of={facts}>
        {(data) => (
          <>
            <Figures facts={data} />
            <Charts minutes={data.minutes} waits={data.waits} />
            <fieldset ref={arrive} className="tabs" aria-label="Part of the queue">
              {TABS.map((each) => (
                <button
                  key={each.tab}
                  type="button"
                  aria-pressed={each.tab === tab}
                  onClick={() => go({ tab: each.tab === "jobs" ? null : each.tab, state: null, after: null })}
                >
                  {each.title}
                  {each.tab === "schedules" && <b> {data.schedules.length}</b>}
                  {each.tab === "workers" && <b> {data.workers}</b>}
                </button>
              ))}
            </fieldset>
            {tab === "jobs" && <Jobs opened={opened} counts={data.counts} work={work} />}
            {tab === "schedules" && (
              <Schedules opened={opened} schedules={data.schedules} changed={facts.reload} close={close} />
            )}
            {tab === "groups" && <Groups opened={opened} />}
            {tab === "workers" && <Workers opened={opened} />}
            {dialog === "clean" && <CleanDialog close={close} work={work} />}
            {dialog === "drain" && <DrainDialog opened={opened} counts={data.counts} close={close} work={work} />}
            {dialog === "delete" && <DeleteDialog opened={opened} counts={data.counts} close={close} />}
          </>
        )}
      </States>
      {form}
    </>
  );
}
