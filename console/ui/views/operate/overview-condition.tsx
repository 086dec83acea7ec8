/** The first things to know: whether all is well and if not why, the figures of now, and below the charts the details behind them. */
import { IconAlertTriangle, IconCircleCheck, IconCircleX } from "@tabler/icons-react";
import { type ReactNode, useRef } from "react";
import { type Info, total } from "../../../src/info.ts";
import type { Point } from "../../../src/live.ts";
import { findingsOf, type QueueState, replicasOf } from "../../condition.ts";
import { bytes, duration, micros, moment, number } from "../../format.ts";
import { useHealth } from "../../live.ts";
import { useLoad } from "../../load.ts";
import { Empty, States, Table } from "../../parts.tsx";
import { type QueueName, queuePath } from "../../queue-link.ts";

interface InfoAnswer {
  readonly backend: string;
  readonly topology: string;
  readonly nodes: Info[];
}
interface Slow {
  readonly id: number;
  readonly at: number;
  readonly micros: number;
  readonly words: readonly string[];
}
interface Queued extends QueueName {
  readonly counts: { readonly dead: number; readonly waiting: number; readonly active: number };
}

const INFO_MS = 5_000;
const SLOW_MS = 10_000;
const RECENT_MS = 5 * 60_000;
const MOST_SLOW = 5;

const useInfo = () => useLoad<InfoAnswer>("/api/info", {}, INFO_MS);
/** What consoles and monitors ask: slow or not, it says nothing about the applications. */
const ASKED_BY_CONSOLES = /^(info|latency|slowlog|command|client|config|memory|scan)$/i;

function useSlow() {
  const loaded = useLoad<{ entries: Slow[] }>("/api/slowlog", { count: 128 }, SLOW_MS);
  const entries = loaded.data?.entries.filter(({ words }) => !ASKED_BY_CONSOLES.test(words[0] ?? ""));
  return { ...loaded, data: entries && { entries } };
}
const useQueues = () => useLoad<{ queues: Queued[] }>("/api/queues", {}, SLOW_MS);

const field = (nodes: readonly Info[], section: string, name: string): string => nodes[0]?.[section]?.[name] ?? "";

/** The answer before the last one. */
function useBefore(nodes: readonly Info[]): readonly Info[] {
  const seen = useRef<{ now: readonly Info[]; before: readonly Info[] }>({ now: nodes, before: [] });
  if (seen.current.now !== nodes) seen.current = { now: nodes, before: seen.current.now };
  return seen.current.before;
}

function HealthLine({ nodes }: { nodes: readonly Info[] }) {
  const health = useHealth();
  const before = useBefore(nodes);
  const queues = (useQueues().data?.queues ?? []).map(
    ({ counts, ...queue }): QueueState => ({ ...queue, dead: counts.dead }),
  );
  const slow = (useSlow().data?.entries ?? []).filter(({ at }) => Date.now() - at < RECENT_MS).length;
  const findings = findingsOf({ nodes, before, queues, slow });
  const isLost = health.is === "console lost" || health.is === "store lost";
  const weight = isLost || findings.some(({ weight }) => weight === "failed") ? "failed" : "delayed";
  if (!isLost && findings.length === 0)
    return (
      <section className="health healthy" aria-label="Health">
        <IconCircleCheck size={20} stroke={1.8} aria-hidden="true" />
        <strong>All is well.</strong>
        <span>The store answers, saves what it must, and no queue has dead jobs.</span>
      </section>
    );
  const Picture = weight === "failed" ? IconCircleX : IconAlertTriangle;
  return (
    <section className={`health ${weight}`} aria-label="Health">
      <Picture size={20} stroke={1.8} aria-hidden="true" />
      <strong>
        {isLost ? "The store cannot be reached." : weight === "failed" ? "Something failed." : "Watch this."}
      </strong>
      <ul>
        {findings.map(({ text, path }) => (
          <li key={text}>
            <a href={`#/${path}`}>{text}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Figure({
  title,
  value,
  note,
  children,
}: {
  title: string;
  value: string;
  note: string;
  children?: ReactNode;
}) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <span className="figure">{value}</span>
        {children}
        <small title={note}>{note}</small>
      </dd>
    </div>
  );
}

function saved(nodes: readonly Info[]): { readonly value: string; readonly note: string } {
  const of = (name: string) => field(nodes, "Persistence", name);
  const at = Number(of("rdb_last_save_time")) * 1_000;
  const age = at > 0 ? `${duration(Date.now() - at)} ago` : "never";
  if (of("aof_enabled") !== "1")
    return { value: age, note: `${number(Number(of("rdb_changes_since_last_save")))} changes since` };
  const late = Number(of("aof_delayed_fsync"));
  return { value: age, note: `AOF ${bytes(Number(of("aof_current_size")))}, ${number(late)} late syncs` };
}

function replication(nodes: readonly Info[]): { readonly value: string; readonly note: string } {
  const { count, worstBehind } = replicasOf(nodes);
  if (field(nodes, "Replication", "role") === "slave")
    return { value: "replica", note: `link is ${field(nodes, "Replication", "master_link_status") || "unknown"}` };
  if (count === 0) return { value: "primary", note: "no replicas" };
  return { value: `${count} ${count === 1 ? "replica" : "replicas"}`, note: `${bytes(worstBehind)} behind at most` };
}

/** The figures of now. */
function Figures({ nodes, last }: { nodes: readonly Info[]; last: Point | undefined }) {
  const memory = last?.memory ?? total(nodes, "Memory", "used_memory");
  const limit = total(nodes, "Memory", "maxmemory");
  const hits = total(nodes, "Stats", "keyspace_hits");
  const looks = hits + total(nodes, "Stats", "keyspace_misses");
  const policy = field(nodes, "Memory", "maxmemory_policy");
  return (
    <dl className="figures">
      <Figure
        title="Throughput"
        value={last ? `${number(last.ops)}/s` : "–"}
        note={`${number(total(nodes, "Stats", "total_commands_processed"))} commands in all`}
      />
      <Figure
        title="Latency, p99"
        value={last?.p99 == null ? "–" : micros(last.p99)}
        note={last?.p50 == null ? "no commands" : `p50 ${micros(last.p50)}`}
      />
      <Figure
        title="Memory in use"
        value={bytes(memory)}
        note={limit > 0 ? `of ${bytes(limit)}, ${policy}` : "no limit is set"}
      >
        {limit > 0 && (
          <meter
            min={0}
            max={limit}
            high={limit * 0.9}
            optimum={0}
            value={memory}
            aria-label="Memory against the limit"
          />
        )}
      </Figure>
      <Figure
        title="Hit rate"
        value={looks === 0 ? "–" : `${((hits / looks) * 100).toFixed(1)} %`}
        note={`${number(looks)} look-ups in all`}
      />
      <Figure
        title="Evicted keys"
        value={number(total(nodes, "Stats", "evicted_keys"))}
        note={`${number(total(nodes, "Stats", "expired_keys"))} expired`}
      />
      <Figure
        title="Connections"
        value={number(last?.clients ?? total(nodes, "Clients", "connected_clients"))}
        note={`${number(total(nodes, "Clients", "blocked_clients"))} blocked, ${number(total(nodes, "Stats", "rejected_connections"))} rejected`}
      />
      <Figure title="Replication" {...replication(nodes)} />
      <Figure title="Last save" {...saved(nodes)} />
    </dl>
  );
}

function Facts({ backend, topology, nodes }: InfoAnswer) {
  const cinnabar = field(nodes, "Server", "cinnabar_version");
  const facts: [string, string][] = [
    ["Store", backend],
    ["Kind", nodes.length > 1 ? `${topology}, ${nodes.length} primaries` : topology],
    ["Version", cinnabar ? `Cinnabar ${cinnabar}` : field(nodes, "Server", "redis_version") || "–"],
    ["Role", field(nodes, "Replication", "role") || "–"],
    ["Up", duration(Number(field(nodes, "Server", "uptime_in_seconds")) * 1_000)],
  ];
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd title={value}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Condition({ last }: { last: Point | undefined }) {
  const info = useInfo();
  return (
    <div className="condition">
      <States of={info}>
        {(data) => (
          <>
            <HealthLine nodes={data.nodes} />
            <Figures nodes={data.nodes} last={last} />
            <Facts {...data} />
          </>
        )}
      </States>
    </div>
  );
}

function SlowCommands() {
  const loaded = useSlow();
  return (
    <section className="card">
      <h2>
        Slowest commands <a href="#/slow">Slow log</a>
      </h2>
      <States of={loaded}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty title="No command was slow." />
          ) : (
            <Table
              label="Slowest commands"
              rows={[...entries].sort((a, b) => b.micros - a.micros).slice(0, MOST_SLOW)}
              id={({ id, at }) => `${id} ${at}`}
              columns={[
                { title: "Command", wide: true, cell: ({ words }) => <code>{words.join(" ").slice(0, 120)}</code> },
                { title: "Took", numeric: true, cell: (entry) => micros(entry.micros) },
                { title: "When", cell: ({ at }) => moment(at) },
              ]}
            />
          )
        }
      </States>
    </section>
  );
}

function QueueStates() {
  const loaded = useQueues();
  return (
    <section className="card">
      <h2>
        Queues <a href="#/queues">All queues</a>
      </h2>
      <States of={loaded}>
        {({ queues }) =>
          queues.length === 0 ? (
            <Empty title="This store has no queues." />
          ) : (
            <Table
              label="Queues with failures first"
              rows={[...queues].sort((a, b) => b.counts.dead - a.counts.dead).slice(0, MOST_SLOW)}
              id={queuePath}
              columns={[
                {
                  title: "Queue",
                  wide: true,
                  cell: (queue) => <a href={`#/${queuePath(queue)}`}>{queue.name}</a>,
                },
                { title: "Waiting", numeric: true, cell: ({ counts }) => number(counts.waiting) },
                { title: "Active", numeric: true, cell: ({ counts }) => number(counts.active) },
                {
                  title: "Dead",
                  numeric: true,
                  cell: ({ counts }) =>
                    counts.dead === 0 ? "0" : <span className="badge dead">{number(counts.dead)}</span>,
                },
              ]}
            />
          )
        }
      </States>
    </section>
  );
}

export function Details() {
  return (
    <div className="details">
      <SlowCommands />
      <QueueStates />
    </div>
  );
}
