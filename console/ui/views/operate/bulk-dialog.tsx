/** Changes many keys: says how many, previews new names, asks, shows how far it is, can be stopped, and says what became of it. */
import { useEffect, useState } from "react";
import type { BulkState, RenamePreview } from "../../../src/operate/bulk.ts";
import { act, type Failure } from "../../api.ts";
import { bytes, number, shown } from "../../format.ts";
import { Dialog, Table, toast } from "../../parts.tsx";
import { TaskBar, useTask } from "../../task.tsx";
import { timeIn } from "./amounts.ts";
import { type FilterBody, useSurvey } from "./survey.tsx";

export type Action = "delete" | "expire" | "persist" | "rename";
export type ChosenKeys = { readonly keys: readonly string[] } | { readonly filter: FilterBody };

const VERBS: Readonly<Record<Action, readonly [verb: string, past: string]>> = {
  delete: ["Delete", "Deleted"],
  expire: ["Expire", "Set the time to live of"],
  persist: ["Persist", "Took the time to live from"],
  rename: ["Rename", "Renamed"],
};
const POLL_MS = 250;
const keysOf = (count: number): string => `${number(count)} ${count === 1 ? "key" : "keys"}`;

function usePreview(selection: ChosenKeys, from: string, to: string, isNeeded: boolean) {
  const [preview, setPreview] = useState<RenamePreview | null>(null);
  const [error, setError] = useState<Failure | null>(null);
  useEffect(() => {
    setError(null);
    if (!isNeeded || from === "" || to === "") return setPreview(null);
    let isOver = false;
    const timer = setTimeout(() => {
      act<RenamePreview>("POST", "/api/keys/rename-preview", { selection, from, to }).then(
        (found) => !isOver && setPreview(found),
        (failure: Failure) => {
          if (isOver) return;
          setPreview(null);
          setError(failure);
        },
      );
    }, POLL_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [JSON.stringify(selection), from, to, isNeeded]);
  return { preview, error };
}

function PreviewView({ preview }: { preview: RenamePreview }) {
  const { pairs, renamed, conflicts, complete } = preview;
  return (
    <>
      <p className="note">
        {`${keysOf(renamed)}${complete ? "" : " of the first 2000"} ${renamed === 1 ? "gets" : "get"} a new name`}
        {conflicts > 0 && (
          <>
            {", "}
            <span className="bad">{`${number(conflicts)} conflict${conflicts === 1 ? "" : "s"}`}</span>
            {": keys whose new name is taken keep their name."}
          </>
        )}
      </p>
      <div className="preview">
        <Table
          label="New names"
          rows={pairs}
          id={({ from }) => shown(from)}
          columns={[
            { title: "Old name", cell: ({ from }) => <code>{shown(from)}</code> },
            { title: "New name", wide: true, cell: ({ to }) => <code>{shown(to)}</code> },
            { title: "Conflict", cell: ({ conflict }) => conflict && <span className="badge failed">taken</span> },
          ]}
        />
      </div>
    </>
  );
}

function Result({ task, action }: { task: BulkState; action: Action }) {
  const { changed, skipped, failed, failures, state, error } = task;
  return (
    <div role="status" className="stack">
      <p>
        {`${VERBS[action][1]} ${keysOf(changed)}.`}
        {skipped > 0 && ` ${number(skipped)} skipped: gone, or nothing to change.`}
        {state === "stopped" && " Stopped before the end."}
      </p>
      {state === "failed" && <p className="bad">{error}</p>}
      {failed > 0 && (
        <>
          <p className="bad">{`${number(failed)} failed.`}</p>
          <Table
            label="Failures"
            rows={failures}
            id={({ key }) => shown(key)}
            columns={[
              { title: "Key", cell: ({ key }) => <code>{shown(key)}</code> },
              { title: "Reason", wide: true, cell: ({ reason }) => reason },
            ]}
          />
        </>
      )}
    </div>
  );
}

export function BulkDialog(props: {
  action: Action;
  selection: ChosenKeys;
  /** The keys in words. */
  text: string;
  close: () => void;
  done: () => void;
}) {
  const { action, text } = props;
  // What was selected when it was opened: the list behind it may change while it runs.
  const [selection] = useState(props.selection);
  const isNamed = "keys" in selection;
  const survey = useSurvey(isNamed ? null : selection.filter, { isFresh: true });
  const [ttl, setTtl] = useState("1h");
  const [from, setFrom] = useState(isNamed ? "*" : (selection.filter.match ?? "*"));
  const [to, setTo] = useState("");
  const { task, setTask, error, setError, isRunning, stop } = useTask<BulkState>("/api/keys/bulk");
  const { preview, error: wrong } = usePreview(selection, from, to, action === "rename" && task === null);
  const [isSent, setSent] = useState(false);
  const ttlMs = timeIn(ttl);
  const count = isNamed ? selection.keys.length : (survey.progress?.matched ?? 0);
  const isCounted = isNamed || (survey.progress?.state === "done" && survey.error === null);
  const isFine =
    isCounted &&
    count > 0 &&
    (action !== "expire" || (ttlMs ?? 0) >= 1) &&
    (action !== "rename" || (preview?.renamed ?? 0) > 0);
  const [verb] = VERBS[action];
  const isOver = task !== null && !isRunning;
  useEffect(() => {
    if (isOver) props.done();
  }, [isOver]);
  const send = async () => {
    setError(null);
    setSent(true);
    try {
      const body = {
        selection,
        action,
        ...(action === "expire" && { ttlMs }),
        ...(action === "rename" && { from, to }),
      };
      setTask(await act<BulkState>("POST", "/api/keys/bulk", body));
      toast(`${verb}: ${keysOf(count)}.`);
    } catch (failure) {
      setError(failure as Failure);
    }
    setSent(false);
  };
  return (
    <Dialog title={`${verb} keys`} close={props.close} size={action === "rename" ? "lg" : "md"}>
      <div className="stack">
        {task === null && (
          <>
            <p role="status">
              {isNamed ? (
                <strong>{keysOf(count)}</strong>
              ) : (
                <>
                  {`${text[0]!.toUpperCase()}${text.slice(1)}: `}
                  <strong>{keysOf(count)}</strong>
                  {survey.progress !== null && `, ${bytes(survey.progress.bytes)}`}
                  {survey.isRunning &&
                    ` until now, scanned ${number(survey.progress?.done ?? 0)} of ${number(survey.progress?.total ?? 0)}`}
                </>
              )}
            </p>
            {!isNamed && survey.isRunning && (
              <progress
                aria-label="Counting keys"
                value={survey.progress?.done ?? 0}
                max={Math.max(1, survey.progress?.total ?? 1)}
              />
            )}
            {action === "expire" && (
              <label>
                Time to live
                <input value={ttl} onChange={(event) => setTtl(event.currentTarget.value)} data-autofocus />
                <small>
                  {ttlMs === null ? "That is no time: 90, 5m, 2h, 1d." : "Seconds, or with a unit: 90, 5m, 2h, 1d."}
                </small>
              </label>
            )}
            {action === "rename" && (
              <>
                <div className="pair">
                  <label>
                    Pattern
                    <input value={from} onChange={(event) => setFrom(event.currentTarget.value)} />
                  </label>
                  <label>
                    New name
                    <input
                      value={to}
                      placeholder="member:*"
                      onChange={(event) => setTo(event.currentTarget.value)}
                      data-autofocus
                    />
                  </label>
                </div>
                <small className="dim">Each * of the new name is what the * of the pattern stands for, in order.</small>
                {preview !== null && <PreviewView preview={preview} />}
              </>
            )}
            {action === "delete" && <p>This cannot be undone. Export the keys first if you may need them.</p>}
          </>
        )}
        {task !== null && isRunning && (
          <TaskBar
            label={`${VERBS[action][1]} ${keysOf(task.changed)}`}
            done={task.done}
            total={task.total}
            stop={stop}
          />
        )}
        {isOver && <Result task={task} action={action} />}
        {(error ?? wrong ?? survey.error) && (
          <p className="bad" role="alert">
            {(error ?? wrong ?? survey.error)!.message}
          </p>
        )}
        <div className="row end">
          <button type="button" onClick={props.close}>
            {task === null ? "Cancel" : "Close"}
          </button>
          {task === null && (
            <button
              type="button"
              className={action === "delete" ? "danger" : "main"}
              disabled={!isFine || isSent}
              onClick={() => void send()}
            >
              {isCounted
                ? `${verb} ${keysOf(action === "rename" && preview?.complete ? preview.renamed - preview.conflicts : count)}`
                : "Counting …"}
            </button>
          )}
        </div>
      </div>
    </Dialog>
  );
}
