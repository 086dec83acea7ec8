/** Schedules of a queue: when each runs next, and setting, pausing, running and removing them. */
import { IconCalendarClock } from "@tabler/icons-react";
import { useState } from "react";
import { ActButton } from "../../../acting.tsx";
import { useAddress } from "../../../address.ts";
import { act } from "../../../api.ts";
import { duration, moment, number } from "../../../format.ts";
import { When } from "../../../moments.tsx";
import { Dialog, Empty, Table, useActions } from "../../../parts.tsx";
import { type AnySchedule, actionUrl, type Opened } from "./model.ts";

interface Props {
  readonly opened: Opened;
  readonly schedules: readonly AnySchedule[];
  readonly changed: () => void;
  readonly close: () => void;
}

const rhythmOf = ({ cron, timeZone, everyMs }: AnySchedule): string =>
  cron === undefined ? `every ${duration(everyMs ?? 0)}` : `${cron}${timeZone ? `, ${timeZone}` : ""}`;

function NextRuns({ upcoming, pausedAt }: AnySchedule) {
  if (pausedAt !== null) return <span className="badge delayed">paused</span>;
  if (upcoming.length === 0) return <span className="dim">none</span>;
  return (
    <details className="next-runs">
      <summary>
        <When at={upcoming[0]!} />
      </summary>
      <ol>
        {upcoming.map((at) => (
          <li key={at}>{moment(Date.parse(at))}</li>
        ))}
      </ol>
    </details>
  );
}

export function Schedules({ opened, schedules, changed, close }: Props) {
  const { query, go } = useAddress();
  const actions = useActions(changed);
  const url = (name: string) => actionUrl(opened, `/schedules/${encodeURIComponent(name)}`);
  const send = (name: string, action: string, said: string) =>
    actions.run(() => act("POST", url(name), { action }), said);
  const remove = (name: string) =>
    actions.ask({
      title: `Remove schedule ${name}?`,
      text: "It makes no more jobs. Those that it has made stay. A process that sets it again when it starts brings it back.",
      button: "Remove schedule",
      run: () => actions.run(() => act("DELETE", url(name)), `Schedule ${name} removed`),
    });
  const edit = query.get("dialog") === "schedule";
  const add = (
    <ActButton data-acts="operator" type="button" onClick={() => go({ dialog: "schedule", schedule: null })}>
      Add schedule
    </ActButton>
  );
  return (
    <>
      {actions.view}
      {schedules.length === 0 ? (
        <Empty title="This queue has no schedule." icon={IconCalendarClock} action={add}>
          A schedule adds a job again and again: by a cron expression, or every so often.
        </Empty>
      ) : (
        <>
          <div className="row bulk">
            <span className="gap" />
            {add}
          </div>
          <Table
            label="Schedules"
            rows={schedules}
            id={({ name }) => name}
            columns={[
              { title: "Schedule", wide: true, cell: ({ name }) => <strong>{name}</strong> },
              { title: "Runs", cell: (each) => <code>{rhythmOf(each)}</code> },
              { title: "Next runs", cell: (each) => <NextRuns {...each} /> },
              { title: "Last run", cell: ({ lastAt }) => (lastAt === null ? "never" : <When at={lastAt} />) },
              {
                title: "Jobs made",
                numeric: true,
                cell: ({ count, limit }) => number(count) + (limit ? ` of ${number(limit)}` : ""),
              },
              {
                title: "",
                cell: ({ name, pausedAt }) => (
                  <span className="row-actions">
                    <ActButton
                      data-acts="operator"
                      type="button"
                      className="small"
                      aria-label={`Run now ${name}`}
                      onClick={() => send(name, "run", `A job of ${name} was added`)}
                    >
                      Run now
                    </ActButton>
                    <ActButton
                      data-acts="operator"
                      type="button"
                      className="small"
                      aria-label={`${pausedAt === null ? "Pause" : "Resume"} ${name}`}
                      onClick={() =>
                        pausedAt === null
                          ? send(name, "pause", `${name} is paused`)
                          : send(name, "resume", `${name} goes on`)
                      }
                    >
                      {pausedAt === null ? "Pause" : "Resume"}
                    </ActButton>
                    <ActButton
                      data-acts="operator"
                      type="button"
                      className="small"
                      aria-label={`Edit ${name}`}
                      onClick={() => go({ dialog: "schedule", schedule: name })}
                    >
                      Edit
                    </ActButton>
                    <ActButton
                      data-acts="operator"
                      type="button"
                      className="small danger"
                      aria-label={`Remove ${name}`}
                      onClick={() => remove(name)}
                    >
                      Remove
                    </ActButton>
                  </span>
                ),
              },
            ]}
          />
        </>
      )}
      {edit && (
        <ScheduleForm
          opened={opened}
          schedule={schedules.find(({ name }) => name === query.get("schedule")) ?? null}
          close={close}
          changed={changed}
        />
      )}
    </>
  );
}

function ScheduleForm({
  opened,
  schedule,
  close,
  changed,
}: Omit<Props, "schedules"> & { schedule: AnySchedule | null }) {
  const [name, setName] = useState(schedule?.name ?? "");
  const [isCron, setCron] = useState(schedule === null || schedule.cron !== undefined);
  const [cron, setCronText] = useState(schedule?.cron ?? "0 7 * * 1-5");
  const [timeZone, setTimeZone] = useState(schedule?.timeZone ?? "");
  const [seconds, setSeconds] = useState(String((schedule?.everyMs ?? 60_000) / 1_000));
  const [data, setData] = useState(JSON.stringify(schedule?.data ?? {}, null, 2));
  const actions = useActions(changed);
  let isJson = true;
  try {
    JSON.parse(data);
  } catch {
    isJson = false;
  }
  const save = () =>
    act("PUT", actionUrl(opened, `/schedules/${encodeURIComponent(name)}`), {
      data: JSON.parse(data),
      ...(isCron ? { cron, ...(timeZone !== "" && { timeZone }) } : { everyMs: Math.round(Number(seconds) * 1_000) }),
    });
  return (
    <Dialog title={schedule === null ? "Add schedule" : `Edit schedule ${schedule.name}`} close={close}>
      <form
        className="stack"
        onSubmit={async (event) => {
          event.preventDefault();
          if (await actions.run(save, `Schedule ${name} is set`)) close();
        }}
      >
        {actions.view}
        {schedule === null && (
          <label>
            Name
            <input data-autofocus required value={name} onChange={({ target }) => setName(target.value)} />
          </label>
        )}
        <fieldset className="tabs" aria-label="Kind of times">
          <button type="button" aria-pressed={isCron} onClick={() => setCron(true)}>
            By calendar (cron)
          </button>
          <button type="button" aria-pressed={!isCron} onClick={() => setCron(false)}>
            Every so often
          </button>
        </fieldset>
        {isCron ? (
          <div className="form-grid">
            <label>
              Minute hour day month weekday
              <input required value={cron} onChange={({ target }) => setCronText(target.value)} />
            </label>
            <label>
              Time zone
              <input value={timeZone} placeholder="UTC" onChange={({ target }) => setTimeZone(target.value)} />
            </label>
          </div>
        ) : (
          <label>
            Seconds between two jobs
            <input
              type="number"
              min="0.001"
              step="any"
              required
              value={seconds}
              onChange={({ target }) => setSeconds(target.value)}
            />
          </label>
        )}
        <label>
          Data of its jobs (JSON)
          <textarea rows={5} spellCheck={false} value={data} onChange={({ target }) => setData(target.value)} />
        </label>
        {!isJson && <small className="bad">This is not JSON.</small>}
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="main" disabled={!isJson || actions.isBusy}>
            Save schedule
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}
