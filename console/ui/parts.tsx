/** Pieces that views are made of: loading with its states, tables, dialogs, values. */
import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Value } from "../src/values.ts";
import { type Failure, get, type Query } from "./api.ts";
import { isText, pretty, shown } from "./format.ts";
import { useRecoveries } from "./live.ts";

export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: Failure | undefined;
  reload(): void;
}

/** Loads, and again when what is asked for changes, when the server is back, and every so often. Keeps what it has meanwhile. */
export function useLoad<T>(path: string | null, query: Query = {}, everyMs?: number): Loaded<T> {
  const [state, setState] = useState<{ of: string; data?: T; error?: Failure }>({ of: "" });
  const [turn, setTurn] = useState(0);
  const recoveries = useRecoveries();
  const wanted = JSON.stringify([path, query]);
  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    const load = () =>
      get<T>(path, query, stop.signal).then(
        (data) => !stop.signal.aborted && setState({ of: wanted, data }),
        (error: Failure) => {
          if (stop.signal.aborted) return;
          // A server that is lost has its banner; what is shown stays.
          setState((old) =>
            error.code === "LOST" && old.of === wanted && old.data !== undefined ? old : { of: wanted, error },
          );
        },
      );
    void load();
    const timer = everyMs === undefined ? undefined : setInterval(load, everyMs);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [wanted, turn, recoveries, everyMs]);
  const reload = useCallback(() => setTurn((old) => old + 1), []);
  const fits = state.of === wanted;
  return { data: fits ? state.data : undefined, error: fits ? state.error : undefined, reload };
}

/** What stands where data will be, or is not. */
export function States<T>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error !== undefined) return <Trouble error={of.error} again={of.reload} />;
  return <div class="loading" aria-busy="true" />;
}

export function Trouble({ error, again }: { error: Error; again?: () => void }) {
  return (
    <div class="state trouble" role="alert">
      <strong>That did not work.</strong>
      <p>{error.message}</p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <strong>{title}</strong>
      {children && <p>{children}</p>}
    </div>
  );
}

export function Head({
  title,
  note,
  children,
}: {
  title: string;
  note?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <header class="head">
      <h1>{title}</h1>
      {note !== undefined && <span class="note">{note}</span>}
      <div class="actions">{children}</div>
    </header>
  );
}

export interface Column<T> {
  readonly title: string;
  readonly numeric?: boolean;
  readonly wide?: boolean;
  cell(row: T): ComponentChildren;
}

export function Table<T>(props: {
  label: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  id: (row: T) => string | number;
}) {
  return (
    <div class="scroll">
      <table aria-label={props.label}>
        <thead>
          <tr>
            {props.columns.map((column) => (
              <th key={column.title} class={column.numeric ? "num" : ""} scope="col">
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr key={props.id(row)}>
              {props.columns.map((column) => (
                <td key={column.title} class={`${column.numeric ? "num" : ""} ${column.wide ? "wide" : ""}`}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A dialog that keeps the keyboard while it is open. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} onClose={close} aria-label={title}>
      <h2 class="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}

export interface Question {
  readonly title: string;
  readonly text: string;
  readonly button: string;
  readonly run: () => unknown;
}

/** Asks before what cannot be undone. */
export function Confirm({ question, close }: { question: Question; close: () => void }) {
  return (
    <Dialog title={question.title} close={close}>
      <p>{question.text}</p>
      <div class="row end">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => {
            close();
            question.run();
          }}
        >
          {question.button}
        </button>
      </div>
    </Dialog>
  );
}

/** A question to ask, the dialog that asks it, and what went wrong with what was done. */
export function useActions(done: () => void) {
  const [question, ask] = useState<Question | null>(null);
  const [error, setError] = useState<Failure | null>(null);
  const run = async (action: () => Promise<unknown>): Promise<boolean> => {
    setError(null);
    try {
      await action();
      done();
      return true;
    } catch (failure) {
      setError(failure as Failure);
      return false;
    }
  };
  const view = (
    <>
      {error && (
        <div class="notice" role="alert">
          {error.message}
          <button type="button" class="plain" aria-label="Close" onClick={() => setError(null)}>
            ×
          </button>
        </div>
      )}
      {question && <Confirm question={question} close={() => ask(null)} />}
    </>
  );
  return { ask, run, view };
}

/** A reply, as text only: whatever is stored is never markup. */
export function ValueView({ value }: { value: Value }) {
  if (value === null) return <span class="nil">(nil)</span>;
  if (typeof value === "number") return <span class="int">{value}</span>;
  if (isText(value))
    return value === "" ? (
      <span class="nil">(empty)</span>
    ) : (
      <span class="text">{typeof value === "string" ? pretty(value) : shown(value)}</span>
    );
  if (Array.isArray(value)) {
    if (value.length === 0) return <span class="nil">(empty list)</span>;
    return (
      <ol class="values" start={1}>
        {value.map((each, nth) => (
          <li key={nth}>
            <ValueView value={each} />
          </li>
        ))}
      </ol>
    );
  }
  if ("error" in value) return <span class="bad">{value.error}</span>;
  return (
    <dl class="values">
      {value.map.map(([name, each], nth) => (
        <div key={nth}>
          <dt>
            <ValueView value={name} />
          </dt>
          <dd>
            <ValueView value={each} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
