/** Locks and semaphores: who holds them, for how long yet, and how many wait. */
import type { LockInspection } from "cinnabar/locks";
import type { SemaphoreInspection } from "cinnabar/semaphores";
import { duration } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Empty, Head, States, Table } from "../../parts.tsx";

type Named<T> = T & { readonly name: string };

const left = (holders: readonly { readonly validForMs: number }[]) =>
  holders.length === 0 ? "–" : holders.map(({ validForMs }) => duration(validForMs)).join(", ");

export function Locks() {
  const locks = useLoad<{ locks: Named<LockInspection>[]; complete: boolean }>("/api/locks", {}, 2_000);
  const semaphores = useLoad<{ semaphores: Named<SemaphoreInspection>[] }>("/api/semaphores", {}, 2_000);
  return (
    <>
      <Head title="Locks" note={locks.data?.complete === false ? "The store is large: not all are shown" : undefined} />
      <States of={locks}>
        {({ locks: rows }) =>
          rows.length === 0 ? (
            <Empty title="No lock is held.">
              Locks of the toolkit, new Locks(db), are shown here while they are held.
            </Empty>
          ) : (
            <Table
              label="Locks"
              rows={rows}
              id={({ name }) => name}
              columns={[
                { title: "Lock", wide: true, cell: ({ name }) => <code>{name}</code> },
                {
                  title: "Held by",
                  cell: ({ holders }) =>
                    holders.length === 0 ? "nobody" : holders[0]!.shared ? `${holders.length} who share` : "one",
                },
                { title: "Lease left", numeric: true, cell: ({ holders }) => left(holders) },
                { title: "Waiting", numeric: true, cell: ({ waiting }) => waiting },
                { title: "Fence", numeric: true, cell: ({ fence }) => fence },
              ]}
            />
          )
        }
      </States>
      <h2 className="section">Semaphores</h2>
      <States of={semaphores}>
        {({ semaphores: rows }) =>
          rows.length === 0 ? (
            <Empty title="No permit is held." />
          ) : (
            <Table
              label="Semaphores"
              rows={rows}
              id={({ name }) => name}
              columns={[
                { title: "Semaphore", wide: true, cell: ({ name }) => <code>{name}</code> },
                { title: "Permits held", numeric: true, cell: ({ used }) => used },
                { title: "Holders", numeric: true, cell: ({ holders }) => holders.length },
                { title: "Lease left", numeric: true, cell: ({ holders }) => left(holders) },
                { title: "Waiting", numeric: true, cell: ({ waiting }) => waiting },
              ]}
            />
          )
        }
      </States>
    </>
  );
}
