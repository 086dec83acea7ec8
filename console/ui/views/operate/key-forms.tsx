/** What is asked for in the dialogs of a key: adding, changing, inserting, its time to live, its name. The address has which. */
import { type SubmitEvent, useEffect, useState } from "react";
import type { KeyView } from "../../../src/operate/keys.ts";
import type { Value } from "../../../src/values.ts";
import { ActButton, acting } from "../../acting.tsx";
import { changeAddress } from "../../address.ts";
import { act, type Failure, get } from "../../api.ts";
import { isText, sendable } from "../../format.ts";
import { Dialog } from "../../parts.tsx";
import { currentPlace } from "../../router.ts";
import { toastUndo, type Undoable } from "../../undo.tsx";
import { timeIn } from "./amounts.ts";
import { draftOf } from "./value-forms.ts";
import type { ValueAt } from "./value-view.tsx";

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
  /** By default: Saved. */
  readonly said?: string;
  send(values: Readonly<Record<string, string>>): Promise<Undoable>;
  /** Called when it was undone. */
  readonly undone?: () => void;
}

function FormDialog({ form, close, done }: { form: Form; close: () => void; done: () => void }) {
  const [error, setError] = useState<Failure | null>(null);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget);
    try {
      const read = form.fields.map(({ name, read = String }) => [name, read(String(typed.get(name) ?? ""))]);
      const answer = await acting(() => form.send(Object.fromEntries(read) as Record<string, string>));
      close();
      toastUndo(form.said ?? "Saved.", answer, form.undone);
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
          <ActButton type="submit" className="main">
            Save
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

export interface Edited extends Undoable {
  /** How many were removed. */
  readonly answer: Value;
  /** Whether the key went with its last element. */
  readonly gone: boolean;
}

const edit = (key: string, body: object) => act<Edited>("PUT", "/api/key", { key, ...body });
export const word = (value: Value | undefined): string =>
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
export function placeOf(key: string, type: string, row: Value[]): ValueAt {
  if (type === "list") return { key, index: Number(row[0]) };
  return type === "stream" ? { key, id: word(row[0]) } : { key, field: word(row[0]) };
}

/** Undefined where the browser has none: it has it for secure origins only. */
async function sha1(text: string): Promise<string | undefined> {
  if (crypto.subtle === undefined) return undefined;
  const bytes = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Changing the element of a row. */
async function changeForm(key: string, type: string, row: Value[]): Promise<Form> {
  if (type === "zset") {
    const digest = await sha1(word(row[1]));
    return {
      title: `Score of ${word(row[0])}`,
      fields: [{ name: "value", label: "Score", value: word(row[1]) }],
      send: (values) => edit(key, { action: "setScore", field: word(row[0]), digest, ...values }),
    };
  }
  const { as, digest, ...draft } = await draftOf(placeOf(key, type, row));
  const action = type === "hash" ? { action: "setField", field: word(row[0]) } : { action: "setIndex", index: row[0] };
  return {
    title: type === "hash" ? `Field ${word(row[0])}` : `Item ${String(row[0])}`,
    fields: [{ name: "value", label: "Value", long: true, ...draft }],
    send: ({ value = "" }) => edit(key, { ...action, value, as, digest }),
  };
}

export const isChangeable = (type: string): boolean => type === "hash" || type === "list" || type === "zset";

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

export async function removal(key: string, type: string, row: Value[], isCut: boolean): Promise<Edited> {
  if (type === "hash") return edit(key, { action: "removeField", field: word(row[0]) });
  if (type === "list")
    return edit(key, { action: "removeIndex", index: row[0], value: await wholeItem(key, row, isCut) });
  if (type === "stream") return edit(key, { action: "removeEntry", field: word(row[0]) });
  return edit(key, { action: "removeMember", value: word(row[0]) });
}

/** An element that is looked at, as the address has it. */
export function placeIn(key: string, text: string): ValueAt | null {
  const [, kind, rest = ""] = /^(field|index|id):(.*)$/s.exec(text) ?? [];
  if (kind === "index") return { key, index: Number(rest) };
  if (kind === "id") return { key, id: rest };
  return kind === "field" ? { key, field: rest } : null;
}

export function placeText({ field, index, id }: ValueAt): string {
  if (index !== undefined) return `index:${index}`;
  return id === undefined ? `field:${field}` : `id:${id}`;
}

function ttlForm(name: string, view: KeyView): Form {
  return {
    title: "Set time to live",
    fields: [
      {
        name: "seconds",
        label: "Seconds",
        value: view.ttlMs === null ? "" : String(Math.ceil(view.ttlMs / 1_000)),
        note: "Or with a unit: 5m, 2h, 1d. Empty: the key stays for good.",
      },
    ],
    send: async ({ seconds = "" }) => {
      const ms = seconds.trim() === "" ? null : timeIn(seconds);
      if (seconds.trim() !== "" && (ms === null || ms < 1))
        throw new Error(`"${seconds}" is no time: give seconds, such as 60`);
      return act<Undoable>("POST", "/api/key/ttl", { key: name, ttlMs: ms });
    },
  };
}

function renameForm(name: string): Form {
  let given = name;
  return {
    title: "Rename key",
    fields: [{ name: "to", label: "New name", value: name }],
    said: "Renamed.",
    send: async ({ to = "" }) => {
      const answer = await act<Undoable>("POST", "/api/key/rename", { key: name, to });
      given = to;
      follow(name, to);
      return answer;
    },
    undone: () => follow(given, name),
  };
}

/** The key has another name now: what shows it goes along. */
function follow(from: string, to: string): void {
  const { path, query } = currentPlace();
  if (path === "keys" && (query.get("key") ?? "") === from) changeAddress({ key: to, do: null });
}

/** The whole text of a string, in the form that was chosen. */
async function textForm(name: string, chosen: string): Promise<Form> {
  const { as, digest, ...draft } = await draftOf({ key: name }, chosen);
  return {
    title: "Value",
    fields: [{ name: "value", label: "Value", long: true, ...draft }],
    send: ({ value = "" }) => edit(name, { action: "set", value, as, digest }),
  };
}

/** The row of an element, where it is loaded. */
const rowAt = (view: KeyView, at: ValueAt): Value[] | undefined =>
  view.rows.find((row) => placeText(placeOf(at.key, view.type, row)) === placeText(at));

/** The form that the address names: `edit`, `add`, `ttl`, `rename`, or `edit` and `insert` with a place: `edit:field:name`. */
async function formOf(name: string, view: KeyView, chosen: string, wanted: string): Promise<Form | null> {
  if (wanted === "ttl") return ttlForm(name, view);
  if (wanted === "rename") return renameForm(name);
  if (wanted === "add") return addForm(name, view.type);
  if (wanted === "edit") return view.type === "string" ? textForm(name, chosen) : null;
  const [, verb, place = ""] = /^(edit|insert):(.*)$/s.exec(wanted) ?? [];
  const at = placeIn(name, place);
  if (at === null) return null;
  const row = rowAt(view, at) ?? (view.type === "zset" ? undefined : [at.index ?? at.field ?? ""]);
  if (row === undefined)
    throw new Error("this element is not in the part that is loaded: search for it, and edit it then");
  if (verb === "insert")
    return view.type === "list" ? insertForm(name, row, row.length === 1 || isCut(view, row)) : null;
  return isChangeable(view.type) ? changeForm(name, view.type, row) : null;
}

/** Whether the table has only the beginning of a row's value. */
export const isCut = (view: KeyView, row: Value[]): boolean =>
  view.cut.some((each) => each.row === view.rows.indexOf(row));

/** The title of the button that adds an element; undefined for what has none. */
export const addTitle = (type: string): string | undefined => addForm("", type)?.title;

/** The dialog that the address names. What a form needs may have to be read first. */
export function KeyDialog(props: {
  name: string;
  view: KeyView;
  /** The form in which the value is shown. */
  chosen: string;
  wanted: string;
  close: () => void;
  done: () => void;
  failed: (failure: Failure) => void;
}) {
  const { name, view, chosen, wanted } = props;
  const [form, setForm] = useState<Form | null>(null);
  useEffect(() => {
    let isOver = false;
    formOf(name, view, chosen, wanted).then(
      (made) => {
        if (!isOver) setForm(made);
      },
      (failure: Failure) => {
        if (isOver) return;
        props.close();
        props.failed(failure);
      },
    );
    return () => {
      isOver = true;
    };
  }, [name, wanted]);
  return form && <FormDialog form={form} close={props.close} done={props.done} />;
}
