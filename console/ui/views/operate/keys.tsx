/**
 * The key browser. Keys come by SCAN, a page at a time, and stand in a tree by any separator. Where not all of them are loaded, a
 * scan on the server gives the folders their true counts and memory, and finds keys by time to live and size.
 */
import "../../keys.css";
import { IconChecks, IconDownload, IconKey, IconPlus, IconRefresh, IconUpload } from "@tabler/icons-react";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import type { KeyFacts } from "../../../src/operate/keys.ts";
import { ActButton } from "../../acting.tsx";
import { useAddress } from "../../address.ts";
import { act, type Failure, get } from "../../api.ts";
import { counted, number, sendable } from "../../format.ts";
import { useRecoveries } from "../../live.ts";
import { Empty, Head, Loading, Trouble } from "../../parts.tsx";
import { useUndone } from "../../undo.tsx";
import { filterIn, KeyFilters } from "./key-filters.tsx";
import { KeyList } from "./key-list.tsx";
import { KeyPane } from "./key-pane.tsx";
import { type FolderView, idOf, type LoadedKey, listRows, treeRows } from "./key-tree.ts";
import { NewKey } from "./new-key.tsx";
import { type FilterBody, ScanBar, useFolders, useIsSmall, useSurvey } from "./survey.tsx";

const BulkDialog = lazy(async () => ({ default: (await import("./bulk-dialog.tsx")).BulkDialog }));
const ExportDialog = lazy(async () => ({ default: (await import("./transfer-dialogs.tsx")).ExportDialog }));
const ImportDialog = lazy(async () => ({ default: (await import("./transfer-dialogs.tsx")).ImportDialog }));

const PAGE = 1_000;
/** What a scan keeps of what it finds. */
const MOST_FOUND = 10_000;

/** What SCAN has given so far; nothing while another source is used. */
function useKeys({ match = "", type = "" }: FilterBody, isUsed: boolean) {
  const [keys, setKeys] = useState<readonly LoadedKey[]>([]);
  const [cursor, setCursor] = useState("0");
  const [state, setState] = useState<"loading" | "idle">("loading");
  const [error, setError] = useState<Failure | null>(null);
  const [turn, setTurn] = useState(0);
  const recoveries = useRecoveries();
  const asked = useRef(0);
  /** How many pages are shown. */
  const loaded = useRef(1);

  const pageOf = async (from: string, pattern = match) => {
    const page = await get<{ cursor: string; keys: KeyFacts[] }>("/api/keys", {
      cursor: from,
      match: pattern,
      type,
      count: PAGE,
    });
    const at = Date.now();
    return { cursor: page.cursor, keys: page.keys.map((each) => ({ ...each, at })) };
  };
  const load = async (from: string, pages: number) => {
    const mine = ++asked.current;
    setState("loading");
    setError(null);
    let next = from;
    // What is loaded anew replaces the list when all of it is there, so that nothing jumps.
    let fresh: readonly LoadedKey[] = [];
    try {
      for (let nth = 0; nth < pages; nth++) {
        const page = await pageOf(next);
        if (asked.current !== mine) return;
        next = page.cursor;
        const isLast = next === "0" || nth === pages - 1;
        if (from === "0") {
          fresh = merged(fresh, page.keys);
          if (isLast) setKeys(fresh);
        } else setKeys((old) => merged(old, page.keys));
        if (from !== "0" || isLast) setCursor(next);
        loaded.current = from === "0" ? nth + 1 : loaded.current + 1;
        if (isLast) break;
      }
    } catch (failure) {
      if (asked.current === mine) setError(failure as Failure);
    }
    if (asked.current === mine) setState("idle");
  };
  /** A page of keys of another pattern, for a folder that is not loaded. */
  const add = async (pattern: string) => {
    const mine = asked.current;
    setState("loading");
    try {
      let [from, count] = ["0", 0];
      do {
        const page = await pageOf(from, pattern);
        if (asked.current !== mine) return;
        setKeys((old) => merged(old, page.keys));
        count += page.keys.length;
        from = page.cursor;
      } while (from !== "0" && count < PAGE);
    } catch (failure) {
      if (asked.current === mine) setError(failure as Failure);
    }
    if (asked.current === mine) setState("idle");
  };
  useEffect(() => {
    if (!isUsed) return;
    loaded.current = 1;
    void load("0", 1);
  }, [match, type, isUsed]);
  // As much as there was: an edited key does not throw away what somebody has loaded.
  useEffect(() => {
    if (isUsed && (turn > 0 || recoveries > 0)) void load("0", loaded.current);
  }, [turn, recoveries]);
  return {
    keys,
    cursor,
    state,
    error,
    add,
    more: (pages: number) => load(cursor, pages),
    reload: () => setTurn((old) => old + 1),
  };
}

/** SCAN may tell a key twice. */
function merged(old: readonly LoadedKey[], more: readonly LoadedKey[]): readonly LoadedKey[] {
  const seen = new Set(old.map(({ key }) => sendable(key)));
  return [...old, ...more.filter(({ key }) => !seen.has(sendable(key)))];
}

/** What a scan with ranges has found, when it is over. */
function useFound(id: string | null): readonly LoadedKey[] {
  const [keys, setKeys] = useState<readonly LoadedKey[]>([]);
  useEffect(() => {
    if (id === null) return setKeys([]);
    let isOver = false;
    get<{ keys: KeyFacts[] }>(`/api/surveys/${id}/keys`, { count: MOST_FOUND }).then(
      (found) => {
        const at = Date.now();
        if (!isOver) setKeys(found.keys.map((each) => ({ ...each, at })));
      },
      () => {},
    );
    return () => {
      isOver = true;
    };
  }, [id]);
  return keys;
}

const BULK = ["delete", "expire", "persist", "rename"] as const;
const BULK_TITLES = { delete: "Delete", expire: "Expire", persist: "Persist", rename: "Rename" } as const;
const ICON = { size: 16, stroke: 1.6 } as const;

export function Keys() {
  const address = useAddress();
  const current = address.get("key");
  const separator = address.get("sep") || ":";
  const filter = filterIn(address);
  const isTree = address.get("view") !== "list";
  const isAllChosen = address.get("select") === "all";
  const isSelecting = isAllChosen || address.get("select") === "on";
  const dialog = address.get("dialog");
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const isFine = filter.problem === "";
  const listed = useKeys(filter.body, !filter.needsScan);
  const { keys: total, isSmall } = useIsSmall();
  const isListed = !filter.needsScan && listed.cursor === "0" && listed.state === "idle";
  // What is loaded to the end needs no scan; a large store is scanned when somebody asks for it.
  const wantsScan =
    filter.needsScan || (!isListed && listed.state === "idle" && (isSmall || address.get("scan") === "on"));
  const survey = useSurvey(isFine && wantsScan ? filter.body : null, { separator });
  const found = useFound(filter.needsScan && !survey.isRunning ? (survey.progress?.id ?? null) : null);
  const paths = useMemo(() => [idOf([]), ...open], [open]);
  const scanned = useFolders(isTree && !filter.needsScan ? survey.progress : null, paths);
  const keys = filter.needsScan ? found : listed.keys;
  const matched = survey.progress?.state === "done" ? survey.progress.matched : undefined;
  const isAll = isListed || (filter.needsScan && keys.length === matched);
  const rows = useMemo(
    () => (isTree ? treeRows({ keys, separator, open, scanned, isAll }) : listRows(keys)),
    [keys, open, isTree, separator, scanned, isAll],
  );
  // Another filter is another selection.
  const filterText = JSON.stringify(filter.body);
  useEffect(() => setChosen(new Set()), [filterText]);
  const toggle = ({ id }: FolderView) => setOpen(toggled(open, id));
  const reload = () => {
    if (filter.needsScan || survey.progress !== null) survey.again();
    if (!filter.needsScan) listed.reload();
  };
  const undone = useUndone();
  useEffect(() => {
    if (undone > 0) reload();
  }, [undone]);
  const isLoading = filter.needsScan ? survey.isRunning : listed.state === "loading";
  const isEmpty = rows.length === 0 && !isLoading && (filter.needsScan || listed.cursor === "0");
  const note = isLoading
    ? "looking …"
    : isAll || matched === undefined || matched <= keys.length
      ? `${keys.length}${isAll ? "" : "+"} ${keys.length === 1 ? "key" : "keys"}`
      : `${keys.length} of ${counted(matched, "key")}`;
  /** Whether the open dialog has changed keys: what was selected is another set of keys then. */
  const [isDone, setDone] = useState(false);
  const close = () => {
    address.go({ dialog: null, ...(isDone && isAllChosen && { select: "on" }) });
    if (isDone) setChosen(new Set());
    setDone(false);
  };
  const isChosen = !isAllChosen && chosen.size > 0;
  const selection = isChosen ? { keys: [...chosen] } : { filter: filter.body };
  const done = () => {
    setDone(true);
    reload();
  };
  const canAct = isChosen || (isAllChosen && isFine);
  const bulk = canAct ? BULK.find((action) => action === dialog) : undefined;
  return (
    <div className={current === "" ? "browser" : "browser with-key"}>
      <div className="left">
        <Head title="Keys" note={note}>
          <button type="button" className="icon" aria-label="Reload" title="Reload" onClick={reload}>
            <IconRefresh {...ICON} />
          </button>
          <ActButton
            data-acts="operator"
            data-needs="files"
            type="button"
            className="icon"
            aria-label="Import keys"
            title="Import keys"
            onClick={() => address.go({ dialog: "import" })}
          >
            <IconUpload {...ICON} />
          </ActButton>
          <button
            data-needs="files"
            type="button"
            className="icon"
            aria-label="Export keys"
            title="Export keys"
            onClick={() => address.go({ dialog: "export" })}
          >
            <IconDownload {...ICON} />
          </button>
          <button
            type="button"
            className="with-icon"
            aria-pressed={isSelecting}
            onClick={() => address.replace({ select: isSelecting ? null : "on" })}
          >
            <IconChecks {...ICON} /> Select
          </button>
          <ActButton
            data-acts="operator"
            type="button"
            className="main with-icon"
            onClick={() => address.go({ dialog: "new" })}
          >
            <IconPlus {...ICON} /> New key
          </ActButton>
        </Head>
        <KeyFilters address={address} problem={filter.problem} />
        {isSelecting && (
          <div className="select-bar" role="toolbar" aria-label="Selected keys">
            <span>
              {isAllChosen ? (filter.isEmpty ? "All keys" : "All that match") : `${number(chosen.size)} selected`}
            </span>
            {!isAllChosen && chosen.size === 0 && (
              <button
                type="button"
                className="small"
                disabled={keys.length === 0}
                onClick={() => setChosen(new Set(keys.slice(0, MOST_FOUND).map(({ key }) => sendable(key))))}
              >
                {`Select ${number(keys.length)} loaded`}
              </button>
            )}
            {isAllChosen || chosen.size > 0 ? (
              <button
                type="button"
                className="small"
                onClick={() => {
                  setChosen(new Set());
                  address.replace({ select: "on" });
                }}
              >
                Clear selection
              </button>
            ) : (
              <button
                type="button"
                className="small"
                disabled={keys.length === 0}
                onClick={() => address.replace({ select: "all" })}
              >
                {filter.isEmpty ? "Select all keys" : "Select all that match"}
              </button>
            )}
            <span className="gap" />
            {BULK.map((action) => (
              <ActButton
                data-acts="operator"
                key={action}
                type="button"
                className={action === "delete" ? "small danger" : "small"}
                disabled={!canAct || rows.length === 0}
                onClick={() => address.go({ dialog: action })}
              >
                {BULK_TITLES[action]} …
              </ActButton>
            ))}
          </div>
        )}
        {listed.error !== null && !filter.needsScan && <Trouble error={listed.error} again={reload} />}
        {isLoading && rows.length === 0 ? (
          <Loading />
        ) : listed.error === null && isEmpty ? (
          <Empty
            title={filter.isEmpty ? "The store is empty." : "No key fits."}
            icon={IconKey}
            action={
              filter.isEmpty ? (
                <ActButton data-acts="operator" type="button" onClick={() => address.go({ dialog: "new" })}>
                  Create key
                </ActButton>
              ) : (
                <a href="#/keys">Show all keys</a>
              )
            }
          >
            {filter.isEmpty
              ? "Keys appear here as soon as somebody writes one."
              : "Patterns are as for SCAN: * ? [a-z]."}
          </Empty>
        ) : (
          <KeyList
            rows={rows}
            open={open}
            current={current}
            chosen={isSelecting && !isAllChosen ? chosen : null}
            hrefOf={(id) => address.href({ key: id, as: null, search: null, element: null, dialog: null, do: null })}
            toggle={toggle}
            choose={(id) => setChosen(toggled(chosen, id))}
            narrow={(match) => address.go({ match })}
            load={(match) => void listed.add(match)}
          />
        )}
        <div className="row foot">
          {wantsScan && isFine && (
            <ScanBar survey={survey} what={filter.isEmpty ? ["key", "keys"] : ["key fits", "keys fit"]} />
          )}
          {!wantsScan && !isListed && !isLoading && total !== undefined && (
            <button type="button" onClick={() => address.replace({ scan: "on" })}>
              {total === 1 ? "Scan the key for true counts" : `Scan all ${number(total)} keys for true counts`}
            </button>
          )}
          {!filter.needsScan && listed.cursor !== "0" && (
            <>
              <button type="button" disabled={isLoading} onClick={() => listed.more(1)}>
                Load 1000 more
              </button>
              <button type="button" disabled={isLoading} onClick={() => listed.more(50)}>
                Load 50 000 more
              </button>
            </>
          )}
          {filter.needsScan && (survey.progress?.matched ?? 0) > keys.length && !survey.isRunning && (
            <span className="note">{`The first ${number(keys.length)} are listed.`}</span>
          )}
        </div>
      </div>
      <div className="right">
        {current === "" ? (
          <Empty title="No key is chosen." icon={IconKey}>
            Choose one on the left, or press / to search.
          </Empty>
        ) : (
          <KeyPane key={current} name={current} changed={reload} />
        )}
      </div>
      {dialog === "new" && (
        <NewKey
          close={close}
          make={async (body) => {
            await act("POST", "/api/key", body);
            reload();
            address.go({ key: body.key, dialog: null });
          }}
        />
      )}
      <Suspense>
        {bulk && <BulkDialog action={bulk} selection={selection} text={filter.text} close={close} done={done} />}
        {dialog === "export" && <ExportDialog selection={selection} text={filter.text} close={close} />}
        {dialog === "import" && <ImportDialog close={close} done={done} />}
      </Suspense>
    </div>
  );
}

function toggled(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}
