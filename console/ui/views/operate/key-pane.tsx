/** One key: its facts, its value in the form that was chosen, its elements page by page, and what can be done to it. */
import { IconEye, IconKeyOff, IconPencil, IconRowInsertTop, IconSearchOff, IconTrash } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import type { KeyView } from "../../../src/operate/keys.ts";
import type { Value } from "../../../src/values.ts";
import { ActButton } from "../../acting.tsx";
import { type Address, changeAddress, useAddress } from "../../address.ts";
import { act, type Failure, get } from "../../api.ts";
import { bytes, counted, duration, isText, number, shown } from "../../format.ts";
import { useRecoveries } from "../../live.ts";
import { Confirm, Dialog, Empty, Loading, Scroll, Trouble, useActions, ValueView } from "../../parts.tsx";
import { currentPlace } from "../../router.ts";
import { type Undoable, useUndone } from "../../undo.tsx";
import { Groups } from "./groups.tsx";
import {
  addTitle,
  type Edited,
  isChangeable,
  isCut,
  KeyDialog,
  placeIn,
  placeOf,
  placeText,
  removal,
  word,
} from "./key-forms.tsx";
import { type ValueAt, ValueBox } from "./value-view.tsx";

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

const cell = (value: Value) =>
  isText(value) || typeof value === "number" ? (
    <span className="cut">{isText(value) ? shown(value) : value}</span>
  ) : (
    <ValueView value={value} />
  );

const ICON = { size: 15, stroke: 1.6 } as const;

interface RowsProps {
  readonly view: KeyView;
  readonly name: string;
  /** Opens the dialog of a change. */
  readonly open: (change: string) => void;
  readonly look: (place: ValueAt) => void;
  readonly remove: (row: Value[]) => void;
}

function RowActions({ view, row, name, open, look, remove }: RowsProps & { row: Value[] }) {
  const place = placeOf(name, view.type, row);
  const button = (label: string, icon: React.ReactNode, run: () => void) => (
    <ActButton data-acts="operator" type="button" className="icon" aria-label={label} title={label} onClick={run}>
      {icon}
    </ActButton>
  );
  return (
    <span className="row-actions">
      <button type="button" className="icon" aria-label="View" title="View" onClick={() => look(place)}>
        <IconEye {...ICON} />
      </button>
      {isChangeable(view.type) && button("Edit", <IconPencil {...ICON} />, () => open(`edit:${placeText(place)}`))}
      {view.type === "list" &&
        button("Insert before", <IconRowInsertTop {...ICON} />, () => open(`insert:${placeText(place)}`))}
      {button("Remove", <IconTrash {...ICON} />, () => remove(row))}
    </span>
  );
}

function Rows(props: RowsProps) {
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
                <RowActions {...props} row={row} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
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

/** The address without a key. */
const NO_KEY = { key: null, as: null, search: null, element: null, do: null };

/** Shows a key that is there again, unless somebody looks at something else by now. */
function showAgain(key: string): void {
  const { path, query } = currentPlace();
  if (path === "keys" && !query.has("key")) changeAddress({ key });
}

export function KeyPane({ name, changed }: { name: string; changed: () => void }) {
  const address = useAddress();
  const search = address.get("search");
  const as = address.get("as");
  const { view, error, isGone, isBusy, load } = useKey(name, search);
  const [turn, setTurn] = useState(0);
  const again = () => {
    void load("0", view?.rows.length);
    setTurn((old) => old + 1);
  };
  const undone = useUndone();
  useEffect(() => {
    if (undone > 0) again();
  }, [undone]);
  const actions = useActions(again);
  const edited = () => {
    again();
    changed();
  };
  const back = (
    <a className="back" href={address.href(NO_KEY)}>
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
  const adding = addTitle(view.type);
  const isString = view.type === "string";
  const element = placeIn(name, address.get("element"));
  const wanted = address.get("do");
  const open = (change: string) => address.go({ do: change });
  const close = () => changeAddress({ do: null });
  const said = ({ answer, gone }: Edited) =>
    answer === 0
      ? "It was gone already: somebody else has removed it."
      : gone
        ? "Element removed. It was the last one, so the key is deleted too."
        : "Element removed.";
  const remove = (row: Value[]) =>
    actions.run(() => removal(name, view.type, row, isCut(view, row)), said).then((done) => done && changed());
  const deletion = {
    title: "Delete this key?",
    text: view.restorable
      ? `${shown(view.key)} and all that is in it are gone then. It can be undone for a few seconds.`
      : `${shown(view.key)} and all that is in it are gone then. It is too large to be kept, so this cannot be undone.`,
    button: "Delete key",
    run: () =>
      actions.run(
        async () => {
          const answer = await act<Undoable>("POST", "/api/keys/delete", { keys: [name] });
          changeAddress(NO_KEY);
          changed();
          return answer;
        },
        `Deleted ${shown(view.key)}.`,
        () => showAgain(name),
      ),
  };
  return (
    <div className="pane">
      {back}
      <h2 className="name">{shown(view.key)}</h2>
      <p className="about">
        <span className={`tag ${view.type}`}>{view.type}</span>
        {view.encoding !== view.type && <span>{view.encoding}</span>}
        <span>
          {isString
            ? bytes(view.length)
            : view.type === "stream"
              ? counted(view.length, "entry", "entries")
              : counted(view.length, "element")}
        </span>
        {view.bytes !== null && <span>{bytes(view.bytes)} in memory</span>}
        {view.ttlMs === null ? (
          <span>does not expire</span>
        ) : (
          <TimeLeft key={view.at} ttlMs={view.ttlMs} at={view.at} over={edited} />
        )}
      </p>
      <div className="row">
        {isString && (
          <ActButton data-acts="operator" type="button" className="main" onClick={() => open("edit")}>
            Edit value
          </ActButton>
        )}
        {adding && (
          <ActButton data-acts="operator" type="button" className="main" onClick={() => open("add")}>
            {adding}
          </ActButton>
        )}
        <ActButton data-acts="operator" type="button" onClick={() => open("ttl")}>
          Set time to live
        </ActButton>
        <ActButton data-acts="operator" type="button" onClick={() => open("rename")}>
          Rename key
        </ActButton>
        <button type="button" disabled={isBusy} onClick={again}>
          Reload key
        </button>
        <ActButton data-acts="operator" type="button" className="danger" onClick={() => open("delete")}>
          Delete key
        </ActButton>
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
              open={open}
              look={(place) => address.go({ element: placeText(place), as: null })}
              remove={(row) => void remove(row)}
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
      {wanted === "delete" ? (
        <Confirm question={deletion} close={close} />
      ) : (
        wanted !== "" && (
          <KeyDialog
            name={name}
            view={view}
            chosen={as}
            wanted={wanted}
            close={close}
            done={edited}
            failed={actions.failed}
          />
        )
      )}
    </div>
  );
}
