/** One key: its facts, its value page by page, and what can be done to it. */
import { IconKeyOff } from "@tabler/icons-react";
import { type SubmitEvent, useEffect, useState } from "react";
import type { KeyView } from "../../../src/operate/keys.ts";
import type { Value } from "../../../src/values.ts";
import { act, type Failure, get } from "../../api.ts";
import { bytes, duration, editable, isText, number, pretty, sendable, shown } from "../../format.ts";
import { useRecoveries } from "../../live.ts";
import { Dialog, Empty, Loading, Scroll, Trouble, toast, useActions, ValueView } from "../../parts.tsx";
import { go } from "../../router.ts";
import { Groups } from "./groups.tsx";

/** What is asked for in a dialog: fields with their first values. */
interface Form {
  readonly title: string;
  readonly fields: readonly {
    name: string;
    label: string;
    value: string;
    long?: boolean;
    note?: string | undefined;
    /** What becomes of what was typed. */
    read?: (typed: string) => string;
  }[];
  send(values: Readonly<Record<string, string>>): Promise<unknown>;
}

function FormDialog({ form, close, done }: { form: Form; close: () => void; done: () => void }) {
  const [error, setError] = useState<Failure | null>(null);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    try {
      const typed = new FormData(event.currentTarget);
      const read = form.fields.map(({ name, read = String }) => [name, read(String(typed.get(name) ?? ""))]);
      await form.send(Object.fromEntries(read) as Record<string, string>);
      close();
      toast("Saved.");
      done();
    } catch (failure) {
      setError(failure as Failure);
    }
  };
  return (
    <Dialog title={form.title} close={close}>
      <form className="stack" onSubmit={submit}>
        {form.fields.map(({ name, label, value, long, note }) => (
          <div className="field" key={name}>
            <label htmlFor={`field-${name}`}>{label}</label>
            {long ? (
              <textarea id={`field-${name}`} name={name} rows={8} defaultValue={value} data-autofocus />
            ) : (
              <input id={`field-${name}`} name={name} defaultValue={value} autoComplete="off" />
            )}
            {note && <small>{note}</small>}
          </div>
        ))}
        {error && (
          <p className="bad" role="alert">
            {error.message}
          </p>
        )}
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="main">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The pages loaded so far. A key that was there and is not any more is gone, which is no failure. */
function useKey(name: string) {
  const [view, setView] = useState<(KeyView & { readonly at: number }) | null>(null);
  const [error, setError] = useState<Failure | null>(null);
  const [isGone, setGone] = useState(false);
  const recoveries = useRecoveries();
  /** From a cursor on; from the beginning, as many rows as there were. */
  const load = async (cursor: string, least = 0) => {
    try {
      let page = await get<KeyView>("/api/key", { key: name, cursor });
      while (page.rows.length < least && page.next !== null) {
        const more = await get<KeyView>("/api/key", { key: name, cursor: page.next });
        page = { ...more, rows: [...page.rows, ...more.rows] };
      }
      const isFirst = cursor === "0";
      setView((old) => ({
        ...page,
        rows: isFirst || old === null ? page.rows : [...old.rows, ...page.rows],
        at: Date.now(),
      }));
      setError(null);
      setGone(false);
    } catch (failure) {
      if ((failure as Failure).status === 404 && view !== null) setGone(true);
      else setError(failure as Failure);
    }
  };
  useEffect(() => void load("0"), [name, recoveries]);
  return { view, error, isGone, load };
}

const SECOND_MS = 1_000;

/** What is left of a key's time, counting down. */
function TimeLeft({ ttlMs, at, over }: { ttlMs: number; at: number; over: () => void }) {
  const [now, setNow] = useState(Date.now);
  const left = ttlMs - (now - at);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  const isOver = left <= 0;
  useEffect(() => {
    if (isOver) over();
  }, [isOver]);
  return <span>{duration(Math.max(0, left))} to live</span>;
}

const edit = (key: string, body: object) => act("PUT", "/api/key", { key, ...body });
const word = (value: Value | undefined): string =>
  value !== undefined && isText(value) ? sendable(value) : String(value ?? "");

/** Adding an element, by type. */
function addForm(key: string, type: string): Form | null {
  const field = (name: string, label: string, long = false) => ({ name, label, value: "", long });
  const forms: Record<string, Form> = {
    hash: {
      title: "Set a field",
      fields: [field("field", "Field"), field("value", "Value", true)],
      send: (values) => edit(key, { action: "setField", ...values }),
    },
    list: {
      title: "Append an item",
      fields: [field("value", "Value", true)],
      send: (values) => edit(key, { action: "push", ...values }),
    },
    set: {
      title: "Add a member",
      fields: [field("value", "Member", true)],
      send: (values) => edit(key, { action: "addMember", ...values }),
    },
    zset: {
      title: "Add a member",
      fields: [field("field", "Member"), field("value", "Score")],
      send: (values) => edit(key, { action: "setScore", ...values }),
    },
    stream: {
      title: "Add an entry",
      fields: [field("name", "Field"), field("value", "Value", true)],
      send: ({ name = "", value = "" }) => edit(key, { action: "addEntry", pairs: [[name, value]] }),
    },
  };
  return forms[type] ?? null;
}

/** Changing the element of a row; null where it has only a name. */
function changeForm(key: string, type: string, row: Value[]): Form | null {
  const value = (label: string, stored: Value | undefined, long = true) => [
    { name: "value", label, long, ...(long ? editable(word(stored)) : { value: word(stored) }) },
  ];
  if (type === "hash") {
    return {
      title: `Field ${word(row[0])}`,
      fields: value("Value", row[1]),
      send: (values) => edit(key, { action: "setField", field: word(row[0]), ...values }),
    };
  }
  if (type === "list") {
    return {
      title: `Item ${String(row[0])}`,
      fields: value("Value", row[1]),
      send: (values) => edit(key, { action: "setIndex", index: row[0], ...values }),
    };
  }
  if (type === "zset") {
    return {
      title: `Score of ${word(row[0])}`,
      fields: value("Score", row[1], false),
      send: (values) => edit(key, { action: "setScore", field: word(row[0]), ...values }),
    };
  }
  return null;
}

function removal(key: string, type: string, row: Value[]): Promise<unknown> {
  if (type === "hash") return edit(key, { action: "removeField", field: word(row[0]) });
  if (type === "list") return edit(key, { action: "removeIndex", index: row[0], value: word(row[1]) });
  if (type === "stream") return edit(key, { action: "removeEntry", field: word(row[0]) });
  return edit(key, { action: "removeMember", value: word(row[0]) });
}

const cell = (value: Value) =>
  isText(value) || typeof value === "number" ? (
    <span className="cut">{isText(value) ? shown(value) : value}</span>
  ) : (
    <ValueView value={value} />
  );

function Rows({
  view,
  name,
  open,
  remove,
}: {
  view: KeyView;
  name: string;
  open: (form: Form) => void;
  remove: (row: Value[]) => void;
}) {
  return (
    <Scroll label="Value">
      <table aria-label="Value">
        <thead>
          <tr>
            {view.columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
            <td />
          </tr>
        </thead>
        <tbody>
          {view.rows.map((row, nth) => {
            const form = changeForm(name, view.type, row);
            return (
              <tr key={nth}>
                {row.map((value, at) => (
                  <td key={at} className={at === row.length - 1 ? "wide" : ""}>
                    {cell(value)}
                  </td>
                ))}
                <td className="num">
                  {form && (
                    <button type="button" className="small" onClick={() => open(form)}>
                      Edit
                    </button>
                  )}
                  <button type="button" className="small" onClick={() => remove(row)}>
                    Remove
                  </button>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

function keyForms(name: string, view: KeyView): { ttl: Form; rename: Form; text: Form } {
  const ttl = view.ttlMs === null ? "" : String(Math.ceil(view.ttlMs / 1_000));
  return {
    ttl: {
      title: "Time to live",
      fields: [{ name: "seconds", label: "Seconds", value: ttl, note: "Empty: the key stays for good." }],
      send: async ({ seconds = "" }) => {
        const ms = seconds.trim() === "" ? null : Math.round(Number(seconds) * 1_000);
        if (ms !== null && !(ms >= 1)) throw new Error(`"${seconds}" is no time: give seconds, such as 60`);
        await act("POST", "/api/key/ttl", { key: name, ttlMs: ms });
      },
    },
    rename: {
      title: "Rename",
      fields: [{ name: "to", label: "New name", value: name }],
      send: async ({ to = "" }) => {
        await act("POST", "/api/key/rename", { key: name, to });
        go("keys", { key: to });
      },
    },
    text: {
      title: "Value",
      fields: [{ name: "value", label: "Value", long: true, ...editable(word(view.rows[0]?.[0])) }],
      send: ({ value = "" }) => edit(name, { action: "set", value }),
    },
  };
}

export function KeyPane({ name, changed }: { name: string; changed: () => void }) {
  const { view, error, isGone, load } = useKey(name);
  const [form, setForm] = useState<Form | null>(null);
  const again = () => void load("0", view?.rows.length);
  const actions = useActions(again);
  const edited = () => {
    again();
    changed();
  };
  const back = (
    <a className="back" href="#/keys">
      ← Keys
    </a>
  );
  if (error !== null && view === null) {
    return (
      <>
        {back}
        <Trouble error={error} again={again} />
      </>
    );
  }
  if (isGone) {
    return (
      <>
        {back}
        <Empty title="This key is gone." icon={IconKeyOff} action={<a href="#/keys">Show all keys</a>}>
          It has expired, was deleted, or its last element was removed.
        </Empty>
      </>
    );
  }
  if (view === null) return <Loading />;
  const forms = keyForms(name, view);
  const add = addForm(name, view.type);
  const isString = view.type === "string";
  const remove = () =>
    actions.ask({
      title: "Delete this key?",
      text: `${shown(view.key)} and all that is in it are gone then.`,
      button: "Delete key",
      run: async () => {
        try {
          await act("POST", "/api/keys/delete", { keys: [name] });
          toast(`Deleted ${shown(view.key)}.`);
          changed();
          go("keys");
        } catch (failure) {
          actions.failed(failure as Failure);
        }
      },
    });
  return (
    <div className="pane">
      {back}
      <h2 className="name">{shown(view.key)}</h2>
      <p className="about">
        <span className={`tag ${view.type}`}>{view.type}</span>
        <span>{view.encoding}</span>
        <span>{isString ? bytes(view.length) : `${number(view.length)} elements`}</span>
        {view.bytes !== null && <span>{bytes(view.bytes)} in memory</span>}
        {view.ttlMs === null ? (
          <span>does not expire</span>
        ) : (
          <TimeLeft key={view.at} ttlMs={view.ttlMs} at={view.at} over={edited} />
        )}
      </p>
      <div className="row">
        {isString && view.next === null && (
          <button type="button" className="main" onClick={() => setForm(forms.text)}>
            Edit
          </button>
        )}
        {add && (
          <button type="button" className="main" onClick={() => setForm(add)}>
            Add
          </button>
        )}
        <button type="button" onClick={() => setForm(forms.ttl)}>
          Time to live
        </button>
        <button type="button" onClick={() => setForm(forms.rename)}>
          Rename
        </button>
        <button type="button" onClick={again}>
          Reload
        </button>
        <button type="button" className="danger" onClick={remove}>
          Delete
        </button>
      </div>
      {actions.view}
      {error !== null && <Trouble error={error} again={again} />}
      {isString ? (
        <pre className="string">
          {view.rows
            .map((row) =>
              isText(row[0]!)
                ? typeof row[0] === "string" && view.next === null
                  ? pretty(row[0])
                  : shown(row[0])
                : "",
            )
            .join("")}
        </pre>
      ) : (
        <Rows
          view={view}
          name={name}
          open={setForm}
          remove={(row) => void actions.run(() => removal(name, view.type, row), "Element removed.")}
        />
      )}
      {view.type === "stream" && <Groups name={name} />}
      {view.next !== null && (
        <button type="button" className="more" onClick={() => load(view.next!)}>
          More ({isString ? bytes(view.length) : `${view.rows.length} of ${view.length}`})
        </button>
      )}
      {form && <FormDialog form={form} close={() => setForm(null)} done={edited} />}
    </div>
  );
}
