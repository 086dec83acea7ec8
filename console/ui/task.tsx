/** Long work on the server: followed to its end, shown as a bar, stopped. */
import { useEffect, useState } from "react";
import { act, type Failure, get } from "./api.ts";

const POLL_MS = 250;

/** A task on the server, followed to its end. */
export function useTask<T extends { readonly id: string; readonly state: string }>(url: string) {
  const [task, setTask] = useState<T | null>(null);
  const [error, setError] = useState<Failure | null>(null);
  const isRunning = task?.state === "running";
  useEffect(() => {
    if (!isRunning) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    const look = async () => {
      try {
        const next = await get<T>(`${url}/${task.id}`);
        if (!isOver) setTask(next);
      } catch (failure) {
        if (!isOver) setError(failure as Failure);
      }
      if (!isOver) timer = setTimeout(look, POLL_MS);
    };
    timer = setTimeout(look, POLL_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [isRunning, url]);
  return {
    task,
    setTask,
    error,
    setError,
    isRunning,
    stop: () => void act("DELETE", `${url}/${task!.id}`).catch(setError),
  };
}

export function TaskBar({
  label,
  done,
  total,
  stop,
}: {
  label: string;
  done: number;
  total: number;
  stop: () => void;
}) {
  return (
    <div className="task-bar" role="status">
      <progress aria-label={label} value={done} max={Math.max(1, total)} />
      <div className="row">
        <span className="note">{label}</span>
        <span className="gap" />
        <button type="button" onClick={stop}>
          Stop
        </button>
      </div>
    </div>
  );
}
