/** Work on many jobs of a queue: begun by a button or a dialog, shown as a bar until its end, stopped, and told what became of it. */
import { useEffect, useRef } from "react";
import type { JobsWork } from "../../../../src/operate/queue-bulk.ts";
import { act, type Failure } from "../../../api.ts";
import { number } from "../../../format.ts";
import { toast } from "../../../parts.tsx";
import { TaskBar, useTask } from "../../../task.tsx";
import { actionUrl, type Opened, pathOf } from "./model.ts";

export type JobAction = JobsWork["action"];

const WORDS: Readonly<Record<JobAction, readonly [doing: string, one: string, many: string]>> = {
  retry: ["Retrying", "will run again", "will run again"],
  promote: ["Promoting", "is due now", "are due now"],
  remove: ["Removing", "removed", "removed"],
  cancel: ["Cancelling", "cancelled", "cancelled"],
};

export const jobsOf = (count: number): string => `${number(count)} ${count === 1 ? "job" : "jobs"}`;

export interface QueueWork {
  readonly isRunning: boolean;
  /** False if it could not begin; `view` says why. */
  begin(part: "/bulk" | "/clean" | "/drain", body: unknown): Promise<boolean>;
  readonly view: React.ReactNode;
}

const said = ({ action, changed }: JobsWork): string => `${jobsOf(changed)} ${WORDS[action][changed === 1 ? 1 : 2]}`;

export function useQueueWork(opened: Opened, changed: () => void): QueueWork {
  const { task, setTask, error, setError, isRunning, stop } = useTask<JobsWork>(`${pathOf(opened)}/bulk`);
  const told = useRef<string | null>(null);
  useEffect(() => {
    if (task === null || isRunning || told.current === task.id) return;
    told.current = task.id;
    if (task.state === "done") toast(said(task));
    changed();
  }, [task, isRunning]);
  const begin: QueueWork["begin"] = async (part, body) => {
    setError(null);
    try {
      setTask(await act<JobsWork>("POST", actionUrl(opened, part), body));
      return true;
    } catch (failure) {
      setError(failure as Failure);
      return false;
    }
  };
  const dismiss = () => {
    setTask(null);
    setError(null);
  };
  return { isRunning, begin, view: <WorkView {...{ task, error, stop, dismiss }} /> };
}

interface ViewProps {
  readonly task: JobsWork | null;
  readonly error: Failure | null;
  readonly stop: () => void;
  readonly dismiss: () => void;
}

function WorkView({ task, error, stop, dismiss }: ViewProps) {
  if (task?.state === "running")
    return (
      <TaskBar
        label={`${WORDS[task.action][0]} jobs: ${number(task.done)} of ${number(task.total)}`}
        done={task.done}
        total={task.total}
        stop={stop}
      />
    );
  if (error === null && (task === null || (task.state === "done" && task.failed === 0))) return null;
  return (
    <div className="notice refused" role="alert">
      <div>
        {error !== null && <p>{error.message}</p>}
        {task?.state === "stopped" && <strong>{`Stopped before the end: ${said(task)}.`}</strong>}
        {task?.state === "failed" && <strong>{`Failed: ${task.error}. Before that: ${said(task)}.`}</strong>}
        {task !== null && task.failed > 0 && (
          <>
            <p>{`${jobsOf(task.failed)} stayed as they were:`}</p>
            <ul>
              {task.failures.slice(0, 5).map(({ id, reason }) => (
                <li key={id}>
                  <code>{id}</code>: {reason === "not-found" ? "the queue does not know it any more" : reason}
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      <button type="button" className="plain" aria-label="Close" onClick={dismiss}>
        ×
      </button>
    </div>
  );
}
