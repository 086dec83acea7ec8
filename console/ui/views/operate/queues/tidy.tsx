/** What takes many jobs away at once: by age, all that wait, or the queue with everything in it. Each says what it will take. */
import type { Counts } from "cinnabar/queues";
import { useState } from "react";
import { ActButton } from "../../../acting.tsx";
import { act } from "../../../api.ts";
import { number } from "../../../format.ts";
import { Dialog, useActions } from "../../../parts.tsx";
import { go } from "../../../router.ts";
import { actionUrl, type Opened, STATES } from "./model.ts";
import type { QueueWork } from "./work.tsx";

interface Props {
  readonly opened: Opened;
  readonly close: () => void;
  readonly work: QueueWork;
}

const AGES = [
  { title: "any age", ms: 0 },
  { title: "1 hour", ms: 3_600_000 },
  { title: "1 day", ms: 86_400_000 },
  { title: "1 week", ms: 604_800_000 },
  { title: "30 days", ms: 2_592_000_000 },
] as const;

export function CleanDialog({ close, work }: Omit<Props, "opened">) {
  const [state, setState] = useState("done");
  const [keepMs, setKeepMs] = useState(86_400_000);
  return (
    <Dialog title="Clean by age" close={close}>
      <form
        className="stack"
        onSubmit={async (event) => {
          event.preventDefault();
          close();
          await work.begin("/clean", { state, keepMs });
        }}
      >
        <label>
          Jobs that are
          <select value={state} onChange={({ target }) => setState(target.value)}>
            {STATES.filter((each) => each.state !== "active").map((each) => (
              <option key={each.state} value={each.state}>
                {each.title.toLowerCase()}
              </option>
            ))}
          </select>
        </label>
        <label>
          Older than
          <select value={keepMs} onChange={({ target }) => setKeepMs(Number(target.value))}>
            {AGES.map(({ title, ms }) => (
              <option key={ms} value={ms}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <p>
          They are gone then, with their data, results and logs. Age counts from the end of a job, or from when it was
          added.
        </p>
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="danger" disabled={work.isRunning}>
            Remove jobs
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

export function DrainDialog({ opened, counts, close, work }: Props & { counts: Counts }) {
  const [delayed, setDelayed] = useState(false);
  const many = counts.waiting + (delayed ? counts.delayed : 0);
  return (
    <Dialog title={`Drain ${opened.name}?`} close={close}>
      <form
        className="stack"
        onSubmit={async (event) => {
          event.preventDefault();
          close();
          await work.begin("/drain", { delayed });
        }}
      >
        <p>
          This removes the {number(many)} {many === 1 ? "job" : "jobs"} that no worker has begun. They do not run, and
          cannot be brought back. Jobs under way go on; those that are done or dead stay.
        </p>
        <label className="check">
          <input type="checkbox" checked={delayed} onChange={({ target }) => setDelayed(target.checked)} />
          Delayed jobs too ({number(counts.delayed)})
        </label>
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="danger" disabled={work.isRunning || many === 0}>
            Drain queue
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

export function DeleteDialog({ opened, counts, close }: Omit<Props, "work"> & { counts: Counts }) {
  const [typed, setTyped] = useState("");
  const actions = useActions(() => {});
  const { paused, ...states } = counts;
  const total = Object.values(states).reduce((sum, count) => sum + count, 0);
  return (
    <Dialog title={`Delete ${opened.name}?`} close={close}>
      <form
        className="stack"
        onSubmit={async (event) => {
          event.preventDefault();
          if (await actions.run(() => act("DELETE", actionUrl(opened)), `${opened.name} deleted`)) go("queues");
        }}
      >
        {actions.view}
        <p>
          Its {number(total)} {total === 1 ? "job" : "jobs"}, schedules and settings are gone then, for everybody.
          Workers that run start over with an empty queue.
        </p>
        <label>
          Type the name of the queue
          <input data-autofocus value={typed} onChange={({ target }) => setTyped(target.value)} autoComplete="off" />
        </label>
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="danger" disabled={typed !== opened.name || actions.isBusy}>
            Delete queue
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}
