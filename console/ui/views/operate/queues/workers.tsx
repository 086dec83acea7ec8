/** The workers of a queue with their figures, and the jobs that stalled or were slow. */
import { IconCpu } from "@tabler/icons-react";
import { useAddress } from "../../../address.ts";
import { duration, number } from "../../../format.ts";
import { useLoad } from "../../../load.ts";
import { When } from "../../../moments.tsx";
import { Empty, States, Table } from "../../../parts.tsx";
import { type AnyIncident, type AnyWorker, type Opened, pathOf, queryOf } from "./model.ts";

const COLUMN_JOBS = 3;

function Load({ running, concurrency }: AnyWorker) {
  return (
    <span className="load">
      <meter min={0} max={concurrency} value={running} aria-label={`${running} of ${concurrency} places`} />
      {number(running)}/{number(concurrency)}
    </span>
  );
}

export function Workers({ opened }: { opened: Opened }) {
  const { href: link } = useAddress();
  const loaded = useLoad<{ workers: AnyWorker[]; incidents: AnyIncident[] }>(
    `${pathOf(opened)}/workers`,
    queryOf(opened),
    3_000,
  );
  const jobLink = (id: string) => (
    <a key={id} href={link({ job: id })}>
      <code>{id}</code>
    </a>
  );
  return (
    <States of={loaded}>
      {({ workers, incidents }) => (
        <>
          {workers.length === 0 ? (
            <Empty title="No worker is running." icon={IconCpu}>
              new Worker(queue, handler).start() in any process makes one. Jobs wait until then.
            </Empty>
          ) : (
            <Table
              label="Workers"
              rows={workers}
              id={({ id }) => id}
              columns={[
                {
                  title: "Worker",
                  wide: true,
                  cell: ({ name, host, pid }) => (
                    <>
                      <code>{name}</code>{" "}
                      <span className="dim">{name === `${host}:${pid}` ? "" : `${host}, pid ${pid}`}</span>
                    </>
                  ),
                },
                { title: "Running", cell: (worker) => <Load {...worker} /> },
                { title: "Done", numeric: true, cell: ({ done }) => number(done) },
                {
                  title: "Failed",
                  numeric: true,
                  cell: ({ failed }) =>
                    failed === 0 ? (
                      <span className="dim">0</span>
                    ) : (
                      <span className="badge failed">{number(failed)}</span>
                    ),
                },
                { title: "Lost leases", numeric: true, cell: ({ lost }) => number(lost) },
                {
                  title: "Mean run",
                  numeric: true,
                  cell: ({ busyMs, done, failed }) => (done + failed === 0 ? "–" : duration(busyMs / (done + failed))),
                },
                { title: "Since", cell: ({ startedAt }) => <When at={startedAt} /> },
                {
                  title: "Longest running",
                  cell: ({ oldest }) =>
                    oldest.slice(0, COLUMN_JOBS).map(({ id, startedAt }) => (
                      <div key={id}>
                        {jobLink(id)} <When at={startedAt} />
                      </div>
                    )),
                },
              ]}
            />
          )}
          <h2 className="section">Incidents</h2>
          {incidents.length === 0 ? (
            <Empty title="No job stalled or was slow.">
              A job stalls when its worker is lost; it is slow when it runs longer than its worker's slowMs.
            </Empty>
          ) : (
            <Table
              label="Incidents"
              rows={incidents}
              id={({ id, at, kind }) => `${kind} ${id} ${at}`}
              columns={[
                { title: "When", cell: ({ at }) => <When at={at} /> },
                {
                  title: "What",
                  cell: (incident) => (
                    <span className={`badge ${incident.kind === "stalled" ? "failed" : "delayed"}`}>
                      {incident.kind === "stalled"
                        ? `stalled, ${incident.stalls} so far`
                        : `slow, ${duration(incident.runningMs)}`}
                    </span>
                  ),
                },
                { title: "Job", wide: true, cell: ({ id }) => jobLink(id) },
                { title: "Worker", cell: ({ worker }) => <code>{worker}</code> },
              ]}
            />
          )}
        </>
      )}
    </States>
  );
}
