/** Locks, semaphores and elections: who holds them, for how long yet, who waits, and taking them away where a holder hangs. */
import { IconCrown, IconLock, IconTicket } from "@tabler/icons-react";
import type { ElectionInspection } from "cinnabar/elections";
import type { LockInspection } from "cinnabar/locks";
import type { SemaphoreInspection } from "cinnabar/semaphores";
import { ActButton } from "../../acting.tsx";
import { useAddress } from "../../address.ts";
import { act } from "../../api.ts";
import { duration, number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Dialog, Empty, Head, States, Table, useActions } from "../../parts.tsx";
import "./locks.css";

type Kind = "locks" | "semaphores" | "elections";
type Named<T> = T & { readonly name: string; readonly prefix: string };

const REFRESH_MS = 2_000;
const MOST_HOLDERS = 5;

/** What is left of a lease: red where it has run out and nobody has needed the place yet. */
function Left({ ms }: { ms: number }) {
  if (ms <= 0) return <span className="badge failed">run out</span>;
  return <span className={`badge ${ms < 5_000 ? "delayed" : "healthy"}`}>{duration(ms)} left</span>;
}

interface HolderLine {
  readonly text: string;
  readonly fence: number;
  readonly validForMs: number;
}

function Holders({ holders }: { holders: readonly HolderLine[] }) {
  if (holders.length === 0) return <span className="dim">nobody</span>;
  return (
    <ul className="holders">
      {holders.slice(0, MOST_HOLDERS).map(({ text, fence, validForMs }) => (
        <li key={fence}>
          {text} <Left ms={validForMs} /> <span className="dim">fence {fence}</span>
        </li>
      ))}
      {holders.length > MOST_HOLDERS && <li className="dim">and {number(holders.length - MOST_HOLDERS)} more</li>}
    </ul>
  );
}

const Waiting = ({ count }: { count: number }) =>
  count === 0 ? <span className="dim">0</span> : <span className="badge delayed">{number(count)}</span>;

function Name({ name, prefix, usual }: { name: string; prefix: string; usual: string }) {
  return (
    <>
      <code>{name}</code> {prefix !== usual && <span className="tag">{prefix}</span>}
    </>
  );
}

function ReleaseButton({ kind, thing, label }: { kind: Kind; thing: Named<object>; label: string }) {
  const { go } = useAddress();
  return (
    <ActButton
      data-acts="operator"
      type="button"
      className="small danger"
      aria-label={`${label} ${thing.name}`}
      onClick={() => go({ release: thing.name, kind, prefix: thing.prefix })}
    >
      {label}…
    </ActButton>
  );
}

const WORDS: Readonly<Record<Kind, { readonly verb: string; readonly done: string; readonly warning: string }>> = {
  locks: {
    verb: "Release lock",
    done: "The lock was released",
    warning:
      "The holder is not asked. It notices at its next renewal, which may take a third of its lease, and works on until then: two processes may do at the same time what only one should. Only work that checks fences is safe.",
  },
  semaphores: {
    verb: "Release permits",
    done: "The permits were released",
    warning:
      "The holders are not asked. They notice at their next renewal and work on until then: more may be at it at the same time than the limit allows.",
  },
  elections: {
    verb: "End term",
    done: "The term has ended",
    warning:
      "The leader is not asked. It notices at its next renewal and acts as the leader until then, beside the next one. Only work that checks fences is safe.",
  },
};

function ReleaseDialog({ done }: { done: () => void }) {
  const { query, go } = useAddress();
  const actions = useActions(done);
  const [name, kind] = [query.get("release"), query.get("kind") as Kind];
  if (name === null || WORDS[kind] === undefined) return null;
  const { verb, done: said, warning } = WORDS[kind];
  const close = () => go({ release: null, kind: null, prefix: null });
  const prefix = query.get("prefix");
  const url = `/api/${kind}/${encodeURIComponent(name)}/release${prefix === null ? "" : `?${new URLSearchParams({ prefix })}`}`;
  return (
    <Dialog title={`${verb} of ${name}?`.replace("lock of", "lock")} close={close}>
      {actions.view}
      <p>{warning}</p>
      <p>Do this only where the holder hangs or is gone for good; a holder that died loses its lease by itself.</p>
      <div className="row end">
        <button type="button" onClick={close} data-autofocus>
          Cancel
        </button>
        <ActButton
          type="button"
          className="danger"
          onClick={async () => {
            if (await actions.run(() => act("POST", url), said)) close();
          }}
        >
          {verb}
        </ActButton>
      </div>
    </Dialog>
  );
}

function LockTable({ locks }: { locks: readonly Named<LockInspection>[] }) {
  return (
    <Table
      label="Locks"
      rows={locks}
      id={({ name, prefix }) => `${prefix} ${name}`}
      columns={[
        { title: "Lock", wide: true, cell: ({ name, prefix }) => <Name name={name} prefix={prefix} usual="lock" /> },
        {
          title: "Held by",
          cell: ({ holders }) => (
            <Holders
              holders={holders.map(({ shared, ...rest }) => ({ text: shared ? "a reader" : "one holder", ...rest }))}
            />
          ),
        },
        { title: "Waiting", numeric: true, cell: ({ waiting }) => <Waiting count={waiting} /> },
        { title: "Last fence", numeric: true, cell: ({ fence }) => fence },
        {
          title: "",
          cell: (lock) => lock.holders.length > 0 && <ReleaseButton kind="locks" thing={lock} label="Force release" />,
        },
      ]}
    />
  );
}

function SemaphoreTable({ semaphores }: { semaphores: readonly Named<SemaphoreInspection>[] }) {
  return (
    <Table
      label="Semaphores"
      rows={semaphores}
      id={({ name, prefix }) => `${prefix} ${name}`}
      columns={[
        {
          title: "Semaphore",
          wide: true,
          cell: ({ name, prefix }) => <Name name={name} prefix={prefix} usual="semaphore" />,
        },
        { title: "Permits held", numeric: true, cell: ({ used }) => number(used) },
        {
          title: "Held by",
          cell: ({ holders }) => (
            <Holders
              holders={holders.map(({ permits, ...rest }) => ({
                text: `${number(permits)} ${permits === 1 ? "permit" : "permits"}`,
                ...rest,
              }))}
            />
          ),
        },
        { title: "Waiting", numeric: true, cell: ({ waiting }) => <Waiting count={waiting} /> },
        {
          title: "",
          cell: (each) => each.used > 0 && <ReleaseButton kind="semaphores" thing={each} label="Force release" />,
        },
      ]}
    />
  );
}

function ElectionTable({ elections }: { elections: readonly Named<ElectionInspection>[] }) {
  return (
    <Table
      label="Elections"
      rows={elections}
      id={({ name, prefix }) => `${prefix} ${name}`}
      columns={[
        {
          title: "Election",
          wide: true,
          cell: ({ name, prefix }) => <Name name={name} prefix={prefix} usual="election" />,
        },
        {
          title: "Leader",
          cell: ({ leader }) => <Holders holders={leader === null ? [] : [{ text: leader.id, ...leader }]} />,
        },
        {
          title: "Candidates in line",
          cell: ({ candidates, waiting }) =>
            waiting === 0 ? (
              <span className="dim">none</span>
            ) : (
              <>
                {candidates.slice(0, MOST_HOLDERS).join(", ")}
                {waiting > MOST_HOLDERS && ` and ${number(waiting - MOST_HOLDERS)} more`}
              </>
            ),
        },
        {
          title: "",
          cell: (each) => each.leader !== null && <ReleaseButton kind="elections" thing={each} label="End term" />,
        },
      ]}
    />
  );
}

export function Locks() {
  const locks = useLoad<{ locks: Named<LockInspection>[]; complete: boolean }>("/api/locks", {}, REFRESH_MS);
  const semaphores = useLoad<{ semaphores: Named<SemaphoreInspection>[] }>("/api/semaphores", {}, REFRESH_MS);
  const elections = useLoad<{ elections: Named<ElectionInspection>[] }>("/api/elections", {}, REFRESH_MS);
  const reload = () => {
    locks.reload();
    semaphores.reload();
    elections.reload();
  };
  return (
    <>
      <Head
        title="Locks"
        note={locks.data && (locks.data.complete ? `${locks.data.locks.length} held or lately were` : "The first 500")}
      />
      <States of={locks}>
        {({ locks: rows }) =>
          rows.length === 0 ? (
            <Empty title="No lock is held." icon={IconLock}>
              Locks of the toolkit, new Locks(db), are shown here while they are held.
            </Empty>
          ) : (
            <LockTable locks={rows} />
          )
        }
      </States>
      <h2 className="section">Semaphores</h2>
      <States of={semaphores}>
        {({ semaphores: rows }) =>
          rows.length === 0 ? (
            <Empty title="No permit is held." icon={IconTicket} />
          ) : (
            <SemaphoreTable semaphores={rows} />
          )
        }
      </States>
      <h2 className="section">Elections</h2>
      <States of={elections}>
        {({ elections: rows }) =>
          rows.length === 0 ? (
            <Empty title="Nobody leads or stands for election." icon={IconCrown} />
          ) : (
            <ElectionTable elections={rows} />
          )
        }
      </States>
      <ReleaseDialog done={reload} />
    </>
  );
}
