/** Snapshots and the append-only file: begin one, see how it gets on. */
import { ActButton } from "../../acting.tsx";
import { act } from "../../api.ts";
import { bytes, duration, moment } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Head, States, useActions } from "../../parts.tsx";

type Fields = Readonly<Record<string, string>>;

function Progress({ label, done, total }: { label: string; done: number; total: number }) {
  return (
    <p className="progress">
      <progress max={Math.max(1, total)} {...(total > 0 && { value: done })} aria-label={label} />{" "}
      {total > 0 ? `${done} of ${total}` : "running"}
    </p>
  );
}

function Node({ fields, title }: { fields: Fields; title: string | null }) {
  const n = (name: string) => Number(fields[name] ?? 0);
  const saving = fields.rdb_bgsave_in_progress === "1";
  const rewriting = fields.aof_rewrite_in_progress === "1" || fields.aof_rewrite_scheduled === "1";
  const last = n("rdb_last_save_time");
  const rows: [string, string][] = [
    ["Last snapshot", last > 0 ? moment(last * 1_000) : "none"],
    ["Result", fields.rdb_last_bgsave_status ?? "–"],
    ["Duration", n("rdb_last_bgsave_time_sec") >= 0 ? duration(n("rdb_last_bgsave_time_sec") * 1_000) : "–"],
    ["Changes since", fields.rdb_changes_since_last_save ?? "–"],
  ];
  const aof: [string, string][] = [
    ["Append-only file", fields.aof_enabled === "1" ? "on" : "off"],
    ["Last rewrite", fields.aof_last_bgrewrite_status ?? "–"],
    ["Last write", fields.aof_last_write_status ?? "–"],
    ["Size", fields.aof_current_size === undefined ? "–" : bytes(n("aof_current_size"))],
    ["Size after the last rewrite", fields.aof_base_size === undefined ? "–" : bytes(n("aof_base_size"))],
  ];
  const list = (pairs: [string, string][]) => (
    <dl className="pairs">
      {pairs.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
  return (
    <section className="cards">
      {title && <h2 className="across">{title}</h2>}
      <div className="card">
        <h2>Snapshot</h2>
        <div className="slot">
          {saving && (
            <Progress label="Snapshot" done={n("current_save_keys_processed")} total={n("current_save_keys_total")} />
          )}
        </div>
        {list(rows)}
      </div>
      <div className="card">
        <h2>Append-only file</h2>
        <div className="slot">{rewriting && <Progress label="Rewrite" done={0} total={0} />}</div>
        {list(aof)}
      </div>
    </section>
  );
}

export function Files() {
  const loaded = useLoad<{ nodes: Fields[] }>("/api/persistence", {}, 1_000);
  const actions = useActions(loaded.reload);
  const begin = (what: "snapshot" | "rewrite") => actions.run(() => act("POST", "/api/persistence", { what }));
  return (
    <>
      <Head title="Snapshots and files">
        <ActButton type="button" data-acts="operator" onClick={() => begin("snapshot")}>
          Take a snapshot
        </ActButton>
        <ActButton type="button" data-acts="operator" onClick={() => begin("rewrite")}>
          Rewrite the append-only file
        </ActButton>
      </Head>
      {actions.view}
      <States of={loaded}>
        {({ nodes }) =>
          nodes.map((fields, nth) => (
            <Node key={nth} fields={fields} title={nodes.length > 1 ? `Primary ${nth + 1}` : null} />
          ))
        }
      </States>
    </>
  );
}
