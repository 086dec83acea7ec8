/** Pieces that views are made of: loading with its states, tables, dialogs, values. */
import { Modal, Skeleton } from "@mantine/core";
import { type Icon, IconAlertTriangle, IconInbox, IconX } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Value } from "../src/values.ts";
import { ActButton, acting } from "./acting.tsx";
import type { Failure } from "./api.ts";
import { useFocusBack } from "./focus.ts";
import { isText, pretty, shown } from "./format.ts";
import type { Loaded } from "./load.ts";
import { toast, toastUndo, type Undoable } from "./undo.tsx";

export { toast };

/** What stands where data will be, or is not. */
export function States<T>({ of, children }: { of: Loaded<T>; children: (data: T) => ReactNode }) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error !== undefined) return <Trouble error={of.error} again={of.reload} />;
  return <Loading />;
}

/** The outline of what is on its way. */
export function Loading() {
  return (
    <div className="loading" aria-busy="true">
      <Skeleton height={14} width="32%" />
      <Skeleton height={14} width="78%" />
      <Skeleton height={14} width="61%" />
    </div>
  );
}

export function Trouble({ error, again }: { error: Error; again?: () => void }) {
  return (
    <div className="state trouble" role="alert">
      <IconAlertTriangle size={28} stroke={1.4} aria-hidden="true" />
      <strong>This could not be loaded.</strong>
      <p>{error.message}</p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly icon?: Icon;
  /** What to do next. */
  readonly action?: ReactNode;
  readonly children?: ReactNode;
}

export function Empty({ title, icon: Picture = IconInbox, action, children }: EmptyProps) {
  return (
    <div className="state">
      <Picture size={32} stroke={1.2} aria-hidden="true" />
      <strong>{title}</strong>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

interface HeadProps {
  readonly title: string;
  readonly note?: ReactNode;
  /** Before the title. */
  readonly mark?: ReactNode;
  /** A line below it. */
  readonly line?: string;
  readonly children?: ReactNode;
}

export function Head({ title, note, mark, line, children }: HeadProps) {
  return (
    <header className="head">
      {mark}
      <h1>{title}</h1>
      {note !== undefined && <span className="note">{note}</span>}
      <div className="actions">{children}</div>
      {line !== undefined && <p className="look-line">{line}</p>}
    </header>
  );
}

export interface Column<T> {
  readonly title: string;
  readonly numeric?: boolean;
  readonly wide?: boolean;
  /** Long texts go over several lines. */
  readonly wraps?: boolean;
  cell(row: T): ReactNode;
}

/** A wide thing in a narrow place. It takes the focus while it is cut off, so that the arrow keys scroll it. */
export function Scroll({ label, children }: { label: string; children: ReactNode }) {
  const place = useRef<HTMLElement>(null);
  const [isCut, setCut] = useState(false);
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    const measure = () =>
      setCut(current.scrollWidth > current.clientWidth || current.scrollHeight > current.clientHeight);
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    for (const child of current.children) observer.observe(child);
    return () => observer.disconnect();
  }, []);
  return (
    <section ref={place} className="scroll" aria-label={isCut ? label : undefined} tabIndex={isCut ? 0 : undefined}>
      {children}
    </section>
  );
}

export function Table<T>(props: {
  label: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  id: (row: T) => string | number;
}) {
  return (
    <Scroll label={props.label}>
      <table className="rows" aria-label={props.label}>
        <thead>
          <tr>
            {props.columns.map((column, nth) =>
              column.title === "" ? (
                <td key={nth} />
              ) : (
                <th key={nth} className={column.numeric ? "num" : ""} scope="col">
                  {column.title}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr key={props.id(row)}>
              {props.columns.map((column, nth) => (
                <td
                  key={nth}
                  className={`${column.numeric ? "num" : ""} ${column.wide ? "wide" : ""} ${column.wraps ? "wraps" : ""}`}
                  data-title={column.title}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly size?: "md" | "lg";
  readonly children: ReactNode;
}

const WIDTHS = { md: 560, lg: 820 } as const;

/** A dialog that keeps the keyboard while it is open. The field with `data-autofocus`, or the first one, has the focus, which goes back afterwards. */
export function Dialog({ title, close, size = "md", children }: DialogProps) {
  useFocusBack();
  return (
    <Modal.Root opened onClose={close} size={WIDTHS[size]} transitionProps={{ duration: 0 }} padding="lg" centered>
      <Modal.Overlay />
      {/* Mantine names a dialog by its title only after it has been shown and has taken the focus. */}
      <Modal.Content aria-label={title}>
        <Modal.Header>
          <Modal.Title>{title}</Modal.Title>
        </Modal.Header>
        <Modal.Body>
          {children}
          {/* Last in the order of the keyboard, so that the dialog's own fields come first. */}
          <button type="button" className="icon dialog-close" aria-label="Dismiss" title="Dismiss" onClick={close}>
            <IconX size={18} stroke={1.6} />
          </button>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
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
      <div className="row end">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <ActButton
          type="button"
          className="danger"
          onClick={() => {
            close();
            question.run();
          }}
        >
          {question.button}
        </ActButton>
      </div>
    </Dialog>
  );
}

/**
 * A question to ask, the dialog that asks it, and what went wrong with what was done. `said`, where it is given, is shown for a
 * moment when it is done, with an offer to undo it where the answer has one; `isBusy` while something is being done.
 */
export function useActions(done: () => void) {
  const [question, ask] = useState<Question | null>(null);
  const [error, setError] = useState<Failure | null>(null);
  const [running, setRunning] = useState(0);
  const run = async <T,>(
    action: () => Promise<T>,
    said?: string | ((answer: T) => string),
    undone?: () => void,
  ): Promise<boolean> => {
    setError(null);
    setRunning((count) => count + 1);
    try {
      const answer = await acting(action);
      done();
      const text = typeof said === "function" ? said(answer) : said;
      if (text !== undefined) toastUndo(text, (answer ?? {}) as Undoable, undone);
      return true;
    } catch (failure) {
      setError(failure as Failure);
      return false;
    } finally {
      setRunning((count) => count - 1);
    }
  };
  const view = (
    <>
      {error && (
        <div className="notice" role="alert">
          {error.message}
          <button type="button" className="plain" aria-label="Close" onClick={() => setError(null)}>
            ×
          </button>
        </div>
      )}
      {question && <Confirm question={question} close={() => ask(null)} />}
    </>
  );
  return { ask, run, view, failed: setError, isBusy: running > 0 };
}

/** A reply, as text only: whatever is stored is never markup. */
export function ValueView({ value }: { value: Value }) {
  if (value === null) return <span className="nil">(nil)</span>;
  if (typeof value === "number") return <span className="int">{value}</span>;
  if (isText(value))
    return value === "" ? (
      <span className="nil">(empty)</span>
    ) : (
      <span className="text">{typeof value === "string" ? pretty(value) : shown(value)}</span>
    );
  if (Array.isArray(value)) {
    if (value.length === 0) return <span className="nil">(empty list)</span>;
    return (
      <ol className="values" start={1}>
        {value.map((each, nth) => (
          <li key={nth}>
            <ValueView value={each} />
          </li>
        ))}
      </ol>
    );
  }
  if ("error" in value) return <span className="bad">{value.error}</span>;
  return (
    <dl className="values">
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
