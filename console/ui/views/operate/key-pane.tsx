/** One key: its facts, its value in the form that was chosen, its elements page by page, and what can be done to it. */
import { IconEye, IconKeyOff, IconPencil, IconRowInsertTop, IconSearchOff, IconTrash } from "@tabler/icons-react";
import { type SubmitEvent, useEffect, useRef, useState } from "react";
import type { KeyView } from "../../../src/operate/keys.ts";
import type { Value } from "../../../src/values.ts";
import { type Address, useAddress } from "../../address.ts";
import { act, type Failure, get } from "../../api.ts";
import { bytes, duration, isText, number, sendable, shown } from "../../format.ts";
import { useRecoveries } from "../../live.ts";
import { Dialog, Empty, Loading, Scroll, Trouble, toast, useActions, ValueView } from "../../parts.tsx";
import { go } from "../../router.ts";
import { timeIn } from "./amounts.ts";
import { Groups } from "./groups.tsx";
import { draftOf } from "./value-forms.ts";
import { type ValueAt, ValueBox } from "./value-view.tsx";

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
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget);
    setBusy(true);
    try {
      const read = form.fields.map(({ name, read = String }) => [name, read(String(typed.get(name) ?? ""))]);
      await form.send(Object.fromEntries(read) as Record<string, string>);
      close();
      toast("Saved.");
      done();
    } catch (failure) {
      setError(failure as Failure);
      setBusy(false);
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
          <button type="submit" className="main" disabled={isBusy}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The pages loaded so far. A key that was there and is not any more is gone, which is no failure. */
function useKey(name: string, search: string) {
  const [view, setView] = useState<(KeyView & { readonly at: number }) | null>(null);
  const [error, setError] = useState<Failure | null>(null);
  const [isGone, setGone] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const recoveries = useRecoveries();
  const asked = useRef(0);
  /** From a cursor on; from the beginning, as many rows as there were. */
  const load = async (cursor: string, least = 0) => {
    const mine = ++asked.current;
    setBusy(true);
    try {
      let page = await get<KeyView>("/api/key", { key: name, cursor, search });
      while (page.rows.length < least && page.next !== null) {
        const more = await get<KeyView>("/api/key", { key: name, cursor: page.next, search });
        page = appended(page, more);
      }
      if (asked.current !== mine) return;
      const isFirst = cursor === "0";
      setView((old) => ({ ...(isFirst || old === null ? page : appended(old, page)), at: Date.now() }));
      setError(null);
      setGone(false);
    } catch (failure) {
      if (asked.current !== mine) return;
      if ((failure as Failure).status === 404 && view !== null) setGone(true);
      else setError(failure as Failure);
    }
    setBusy(false);
  };
  useEffect(() => void load("0"), [name, recoveries, search]);
  return { view, error, isGone, isBusy, load };
}

const appended = (old: KeyView, more: KeyView): KeyView => ({
  ...more,
  rows: [...old.rows, ...more.rows],
  cut: [...old.cut, ...more.cut.map((each) => ({ ...each, row: each.row + old.rows.length }))],
  searched: old.searched + more.searched,
});

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
      send: (values) => edit(key, { action: "setField", as: "text", ...values }),
    },
    list: {
      title: "Append an item",
      fields: [field("value", "Value", true)],
      send: (values) => edit(key, { action: "push", as: "text", ...values }),
    },
    set: {
      title: "Add a member",
      fields: [field("value", "Member", true)],
      send: (values) => edit(key, { action: "addMember", as: "text", ...values }),
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

/** Where the value of a row is; of a stream, which entry. Members of sets are what they are called. */
function placeOf(key: string, type: string, row: Value[]): ValueAt {
  if (type === "list") return { key, index: Number(row[0]) };
  return type === "stream" ? { key, id: word(row[0]) } : { key, field: word(row[0]) };
}

/** Changing the element of a row. */
async function changeForm(key: string, type: string, row: Value[]): Promise<Form> {
  if (type === "zset") {
    return {
      title: `Score of ${word(row[0])}`,
      fields: [{ name: "value", label: "Score", value: word(row[1]) }],
      send: (values) => edit(key, { action: "setScore", field: word(row[0]), ...values }),
    };
  }
  const { as, ...draft } = await draftOf(placeOf(key, type, row));
  const action = type === "hash" ? { action: "setField", field: word(row[0]) } : { action: "setIndex", index: row[0] };
  return {
    title: type === "hash" ? `Field ${word(row[0])}` : `Item ${String(row[0])}`,
    fields: [{ name: "value", label: "Value", long: true, ...draft }],
    send: ({ value = "" }) => edit(key, { ...action, value, as }),
  };
}

const isChangeable = (type: string): boolean => type === "hash" || type === "list" || type === "zset";

/** The whole value of a list's item, where the table has only its beginning: the server compares it before it changes anything. */
async function wholeItem(key: string, row: Value[], isCut: boolean): Promise<string> {
  if (!isCut) return word(row[1]);
  const { text } = await get<{ text: string }>("/api/key/value", { key, index: Number(row[0]), as: "base64" });
  return `base64:${text}`;
}

const insertForm = (key: string, row: Value[], isCut: boolean): Form => ({
  title: `Insert before item ${String(row[0])}`,
  fields: [{ name: "value", label: "Value", value: "", long: true }],
  send: async ({ value = "" }) =>
    edit(key, { action: "insertIndex", index: row[0], value, as: "text", shown: await wholeItem(key, row, isCut) }),
});

async function removal(key: string, type: string, row: Value[], isCut: boolean): Promise<unknown> {
  if (type === "hash") return edit(key, { action: "removeField", field: word(row[0]) });
  if (type === "list")
    return edit(key, { action: "removeIndex", index: row[0], value: await wholeItem(key, row, isCut) });
  if (type === "stream") return edit(key, { action: "removeEntry", field: word(row[0]) });
  return edit(key, { action: "removeMember", value: word(row[0]) });
}

const cell = (value: Value) =>
  isText(value) || typeof value === "number" ? (
    <span className="cut">{isText(value) ? shown(value) : value}</span>
  ) : (
    <ValueView value={value} />
  );

const ICON = { size: 15, stroke: 1.6 } as const;

function RowActions(props: {
  view: KeyView;
  row: Value[];
  isCut: boolean;
  isBusy: boolean;
  name: string;
  open: (form: Form | Promise<Form>) => void;
  look: (place: ValueAt) => void;
  remove: (row: Value[], isCut: boolean) => void;
}) {
  const { view, row, isCut, isBusy, name } = props;
  const button = (label: string, icon: React.ReactNode, run: () => void) => (
    <button
      data-acts={label === "View" ? undefined : "operator"}
      type="button"
      className="icon"
      aria-label={label}
      title={label}
      disabled={isBusy}
      onClick={run}
    >
      {icon}
    </button>
  );
  return (
    <span className="row-actions">
      {button("View", <IconEye {...ICON} />, () => props.look(placeOf(name, view.type, row)))}
      {isChangeable(view.type) &&
        button("Edit", <IconPencil {...ICON} />, () => props.open(changeForm(name, view.type, row)))}
      {view.type === "list" &&
        button("Insert before", <IconRowInsertTop {...ICON} />, () => props.open(insertForm(name, row, isCut)))}
      {button("Remove", <IconTrash {...ICON} />, () => props.remove(row, isCut))}
    </span>
  );
}

function Rows(props: {
  view: KeyView;
  name: string;
  isBusy: boolean;
  open: (form: Form | Promise<Form>) => void;
  look: (place: ValueAt) => void;
  remove: (row: Value[], isCut: boolean) => void;
}) {
  const { view } = props;
  const cuts = new Map(view.cut.map((each) => [`${each.row} ${each.column}`, each.bytes]));
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
          {view.rows.map((row, nth) => (
            <tr key={nth}>
              {row.map((value, at) => {
                const whole = cuts.get(`${nth} ${at}`);
                return (
                  <td key={at} className={at === row.length - 1 ? "wide" : ""}>
                    {cell(value)}
                    {whole !== undefined && <small className="dim">{`The beginning of ${bytes(whole)}.`}</small>}
                  </td>
                );
              })}
              <td className="num">
                <RowActions {...props} row={row} isCut={view.cut.some((each) => each.row === nth)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function keyForms(name: string, view: KeyView): { ttl: Form; rename: Form } {
  const ttl = view.ttlMs === null ? "" : String(Math.ceil(view.ttlMs / 1_000));
  return {
    ttl: {
      title: "Set time to live",
      fields: [
        {
          name: "seconds",
          label: "Seconds",
          value: ttl,
          note: "Or with a unit: 5m, 2h, 1d. Empty: the key stays for good.",
        },
      ],
      send: async ({ seconds = "" }) => {
        const ms = seconds.trim() === "" ? null : timeIn(seconds);
        if (seconds.trim() !== "" && (ms === null || ms < 1))
          throw new Error(`"${seconds}" is no time: give seconds, such as 60`);
        await act("POST", "/api/key/ttl", { key: name, ttlMs: ms });
      },
    },
    rename: {
      title: "Rename key",
      fields: [{ name: "to", label: "New name", value: name }],
      send: async ({ to = "" }) => {
        await act("POST", "/api/key/rename", { key: name, to });
        go("keys", { key: to });
      },
    },
  };
}

/** The whole text of a string, in the form that was chosen. */
async function textForm(name: string, chosen: string): Promise<Form> {
  const { as, ...draft } = await draftOf({ key: name }, chosen);
  return {
    title: "Value",
    fields: [{ name: "value", label: "Value", long: true, ...draft }],
    send: ({ value = "" }) => edit(name, { action: "set", value, as }),
  };
}

const WAIT_MS = 250;

function ElementSearch({ address, view }: { address: Address; view: KeyView }) {
  const there = address.get("search");
  const [typed, setTyped] = useState(there);
  useEffect(() => {
    if (typed === there) return;
    const timer = setTimeout(() => address.replace({ search: typed }), WAIT_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <input
      type="search"
      className="element-search"
      aria-label="Search elements"
      placeholder={`Search ${view.columns.filter((column) => column !== "index" && column !== "score").join(", ")}`}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
    />
  );
}

/** An element that is looked at, as the address has it. */
function placeIn(key: string, text: string): ValueAt | null {
  const [, kind, rest = ""] = /^(field|index|id):(.*)$/s.exec(text) ?? [];
  if (kind === "index") return { key, index: Number(rest) };
  if (kind === "id") return { key, id: rest };
  return kind === "field" ? { key, field: rest } : null;
}

function placeText({ field, index, id }: ValueAt): string {
  if (index !== undefined) return `index:${index}`;
  return id === undefined ? `field:${field}` : `id:${id}`;
}

function titleOf({ field, index, id }: ValueAt, type: string): string {
  if (index !== undefined) return `Item ${index}`;
  return id === undefined ? `${type === "hash" ? "Field" : "Member"} ${field}` : `Entry ${id}`;
}

/** Names of the fields of a stream's entry, of those that are loaded. */
function fieldsOf(view: KeyView, id: string): string[] {
  const found = view.rows.find((row) => word(row[0]) === id)?.[1];
  if (typeof found !== "object" || found === null || Array.isArray(found) || !("map" in found)) return [];
  return found.map.map(([name]) => word(name));
}

function ElementDialog({
  place,
  view,
  address,
  turn,
}: {
  place: ValueAt;
  view: KeyView;
  address: Address;
  turn: number;
}) {
  const as = address.get("as");
  const choose = (form: string) => address.replace({ as: form });
  return (
    <Dialog title={titleOf(place, view.type)} close={() => address.go({ element: null, as: null })} size="lg">
      {place.id === undefined ? (
        <ValueBox at={place} as={as} choose={choose} turn={turn} />
      ) : (
        fieldsOf(view, place.id).map((field) => (
          <section key={field}>
            <h3>{field}</h3>
            <ValueBox at={{ ...place, field }} as={as} choose={choose} turn={turn} />
          </section>
        ))
      )}
    </Dialog>
  );
}

export function KeyPane({ name, changed }: { name: string; changed: () => void }) {
  const address = useAddress();
  const search = address.get("search");
  const as = address.get("as");
  const { view, error, isGone, isBusy, load } = useKey(name, search);
  const [form, setForm] = useState<Form | null>(null);
  const [turn, setTurn] = useState(0);
  const again = () => {
    void load("0", view?.rows.length);
    setTurn((old) => old + 1);
  };
  const actions = useActions(again);
  const edited = () => {
    again();
    changed();
  };
  const back = (
    <a className="back" href={address.href({ key: null, as: null, search: null, element: null })}>
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
  const element = placeIn(name, address.get("element"));
  /** What a form needs may have to be read first. */
  const open = (made: Form | Promise<Form>) =>
    void Promise.resolve(made).then(setForm, (failure: Failure) => actions.failed(failure));
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
          address.go({ key: null, as: null, search: null, element: null });
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
        {isString && (
          <button data-acts="operator" type="button" className="main" onClick={() => open(textForm(name, as))}>
            Edit value
          </button>
        )}
        {add && (
          <button data-acts="operator" type="button" className="main" onClick={() => setForm(add)}>
            {add.title}
          </button>
        )}
        <button data-acts="operator" type="button" onClick={() => setForm(forms.ttl)}>
          Set time to live
        </button>
        <button data-acts="operator" type="button" onClick={() => setForm(forms.rename)}>
          Rename key
        </button>
        <button type="button" disabled={isBusy} onClick={again}>
          Reload key
        </button>
        <button data-acts="operator" type="button" className="danger" disabled={actions.isBusy} onClick={remove}>
          Delete key
        </button>
      </div>
      {actions.view}
      {error !== null && <Trouble error={error} again={again} />}
      {isString ? (
        <ValueBox at={{ key: name }} as={as} choose={(form) => address.replace({ as: form })} turn={turn} />
      ) : (
        <>
          <ElementSearch address={address} view={view} />
          {view.rows.length === 0 && search !== "" && !isBusy ? (
            <Empty title={view.next === null ? "No element fits." : "Nothing until now."} icon={IconSearchOff}>
              {view.next === null
                ? `All ${number(view.length)} were searched.`
                : `${number(view.searched)} of ${number(view.length)} were searched.`}
            </Empty>
          ) : (
            <Rows
              view={view}
              name={name}
              isBusy={actions.isBusy}
              open={open}
              look={(place) => address.go({ element: placeText(place), as: null })}
              remove={(row, isCut) => void actions.run(() => removal(name, view.type, row, isCut), "Element removed.")}
            />
          )}
          {view.next !== null && (
            <button type="button" className="more" disabled={isBusy} onClick={() => load(view.next!)}>
              {search === ""
                ? `More (${view.rows.length} of ${view.length})`
                : `Search on (${number(view.searched)} of ${number(view.length)} searched)`}
            </button>
          )}
        </>
      )}
      {view.type === "stream" && <Groups name={name} />}
      {element !== null && <ElementDialog place={element} view={view} address={address} turn={turn} />}
      {form && <FormDialog form={form} close={() => setForm(null)} done={edited} />}
    </div>
  );
}
