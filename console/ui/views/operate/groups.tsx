/** Consumer groups of a stream: how far they are, who reads, and what nobody has acknowledged, which can be claimed and acknowledged. */
import { IconUsersGroup } from "@tabler/icons-react";
import { type SubmitEvent, useEffect, useRef, useState } from "react";
import { ActButton } from "../../acting.tsx";
import { act } from "../../api.ts";
import { counted, duration, number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Dialog, Empty, States, Table, useActions } from "../../parts.tsx";

interface Group {
  readonly name: string;
  readonly pending: number;
  readonly lastDelivered: string;
  readonly lag: number | null;
  readonly consumers: readonly { readonly name: string; readonly pending: number; readonly idleMs: number }[];
  readonly unacknowledged: readonly {
    readonly id: string;
    readonly consumer: string;
    readonly idleMs: number;
    readonly deliveries: number;
  }[];
}

const POLL_MS = 3_000;
const MOST_POINTS = 60;
const [WIDTH, HEIGHT] = [120, 24];

/** How the lag of a group went since the page shows it. */
function Lag({ lag }: { lag: number }) {
  const points = useRef<number[]>([]);
  const [, draw] = useState(0);
  useEffect(() => {
    const note = () => {
      points.current = [...points.current, lag].slice(-MOST_POINTS);
      draw((old) => old + 1);
    };
    note();
    const timer = setInterval(note, POLL_MS);
    return () => clearInterval(timer);
  }, [lag]);
  const most = Math.max(1, ...points.current);
  const step = WIDTH / (MOST_POINTS - 1);
  const from = MOST_POINTS - points.current.length;
  const line = points.current.map((each, at) => `${(from + at) * step},${HEIGHT - 2 - (each / most) * (HEIGHT - 4)}`);
  return (
    <svg
      className="lag"
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={`Lag: ${counted(lag, "entry", "entries")}, at most ${most}`}
    >
      <polyline points={line.join(" ")} />
    </svg>
  );
}

type Act = (group: string, action: string, more: object, said: string) => void;

function One({
  group,
  isBusy,
  run,
  claim,
  destroy,
}: {
  group: Group;
  isBusy: boolean;
  run: Act;
  claim: (ids: readonly string[]) => void;
  destroy: () => void;
}) {
  const behind = group.lag === null ? "" : `, ${number(group.lag)} not yet delivered`;
  const ids = group.unacknowledged.map(({ id }) => id);
  return (
    <details className="library">
      <summary>
        <code>{group.name}</code>{" "}
        <span className="note">
          {`delivered to ${group.lastDelivered}${behind}, ${number(group.pending)} not acknowledged`}
        </span>
        {group.lag !== null && <Lag lag={group.lag} />}
      </summary>
      <div className="row group-actions">
        <button type="button" disabled={isBusy || ids.length === 0} onClick={() => claim(ids)}>
          {`Claim ${number(ids.length)} shown`}
        </button>
        <button
          type="button"
          disabled={isBusy || ids.length === 0}
          onClick={() => run(group.name, "acknowledge", { ids }, `Acknowledged ${ids.length}.`)}
        >
          {`Acknowledge ${number(ids.length)} shown`}
        </button>
        <ActButton type="button" className="danger" onClick={destroy}>
          Destroy group
        </ActButton>
      </div>
      {group.consumers.length > 0 && (
        <Table
          label={`Consumers of ${group.name}`}
          rows={group.consumers}
          id={({ name }) => name}
          columns={[
            { title: "Consumer", wide: true, cell: ({ name }) => <code>{name}</code> },
            { title: "Not acknowledged", numeric: true, cell: ({ pending }) => number(pending) },
            { title: "Idle", numeric: true, cell: ({ idleMs }) => duration(idleMs) },
          ]}
        />
      )}
      {group.unacknowledged.length > 0 && (
        <Table
          label={`Not acknowledged in ${group.name}`}
          rows={group.unacknowledged}
          id={({ id }) => id}
          columns={[
            { title: "Oldest not acknowledged", cell: ({ id }) => <code>{id}</code> },
            { title: "Consumer", wide: true, cell: ({ consumer }) => <code>{consumer}</code> },
            { title: "For", numeric: true, cell: ({ idleMs }) => duration(idleMs) },
            { title: "Delivered", numeric: true, cell: ({ deliveries }) => `${deliveries} ×` },
            {
              title: "",
              cell: ({ id }) => (
                <span className="row-actions">
                  <button type="button" className="small" disabled={isBusy} onClick={() => claim([id])}>
                    Claim
                  </button>
                  <button
                    type="button"
                    className="small"
                    disabled={isBusy}
                    onClick={() => run(group.name, "acknowledge", { ids: [id] }, `Acknowledged ${id}.`)}
                  >
                    Acknowledge
                  </button>
                </span>
              ),
            },
          ]}
        />
      )}
    </details>
  );
}

interface Asked {
  readonly title: string;
  readonly label: string;
  readonly button: string;
  readonly note: string;
  readonly known: readonly string[];
  run(typed: string): void;
}

function NameDialog({ asked, close }: { asked: Asked; close: () => void }) {
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    asked.run(String(new FormData(event.currentTarget).get("name") ?? ""));
    close();
  };
  return (
    <Dialog title={asked.title} close={close}>
      <form className="stack" onSubmit={submit}>
        <label>
          {asked.label}
          <input
            name="name"
            required
            list="known-names"
            autoComplete="off"
            data-autofocus
            defaultValue={asked.known[0]}
          />
          <small>{asked.note}</small>
        </label>
        <datalist id="known-names">
          {asked.known.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="main">
            {asked.button}
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

export function Groups({ name }: { name: string }) {
  const loaded = useLoad<{ groups: Group[] }>("/api/key/groups", { key: name }, POLL_MS);
  const actions = useActions(loaded.reload);
  const [asked, setAsked] = useState<Asked | null>(null);
  const run: Act = (group, action, more, said) =>
    void actions.run(() => act("POST", "/api/key/groups", { key: name, group, action, ...more }), said);
  const create = () =>
    setAsked({
      title: "Create group",
      label: "Group",
      button: "Create group",
      note: "It begins with the first entry of the stream.",
      known: [],
      run: (group) => run(group, "create", { from: "0" }, `Created group ${group}.`),
    });
  const claim = (group: Group, ids: readonly string[]) =>
    setAsked({
      title: `Claim ${ids.length === 1 ? ids[0] : `${ids.length} entries`}`,
      label: "Consumer",
      button: "Claim entries",
      note: "The entries become this consumer's, which sees them with the next read of its own pending entries.",
      known: group.consumers.map((each) => each.name),
      run: (consumer) => run(group.name, "claim", { ids, consumer }, `Claimed ${ids.length} for ${consumer}.`),
    });
  const destroy = (group: string) =>
    actions.ask({
      title: `Destroy group ${group}?`,
      text: "What it has read and what is not acknowledged is forgotten. The entries stay.",
      button: "Destroy group",
      run: () => run(group, "destroy", {}, `Destroyed group ${group}.`),
    });
  return (
    <>
      <div className="row section">
        <h3>Consumer groups</h3>
        <span className="gap" />
        <button type="button" className="small" disabled={actions.isBusy} onClick={create}>
          Create group
        </button>
      </div>
      {actions.view}
      <States of={loaded}>
        {({ groups }) =>
          groups.length === 0 ? (
            <Empty title="No group reads this stream." icon={IconUsersGroup}>
              Groups share entries among consumers, and remember which of them are acknowledged.
            </Empty>
          ) : (
            groups.map((group) => (
              <One
                key={group.name}
                group={group}
                isBusy={actions.isBusy}
                run={run}
                claim={(ids) => claim(group, ids)}
                destroy={() => destroy(group.name)}
              />
            ))
          )
        }
      </States>
      {asked !== null && <NameDialog asked={asked} close={() => setAsked(null)} />}
    </>
  );
}
