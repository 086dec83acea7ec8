/** Groups of a queue that have jobs to do. */
import { IconUsersGroup } from "@tabler/icons-react";
import { useAddress } from "../../../address.ts";
import { number } from "../../../format.ts";
import { useLoad } from "../../../load.ts";
import { Empty, States, Table } from "../../../parts.tsx";
import { type AnyGroup, type Opened, pathOf, queryOf } from "./model.ts";

export function Groups({ opened }: { opened: Opened }) {
  const { query, go } = useAddress();
  const after = query.get("after");
  const loaded = useLoad<{ items: AnyGroup[]; cursor: string | null }>(
    `${pathOf(opened)}/groups`,
    { ...queryOf(opened), ...(after !== null && { cursor: after }) },
    2_000,
  );
  return (
    <States of={loaded}>
      {({ items, cursor }) =>
        items.length === 0 ? (
          <Empty title="No group has jobs that wait." icon={IconUsersGroup}>
            add(data, {"{"} group: "customer:17" {"}"}) puts jobs into a group: they run in their order, and groups take
            turns.
          </Empty>
        ) : (
          <>
            <Table
              label="Groups"
              rows={items}
              id={({ name }) => name}
              columns={[
                { title: "Group", wide: true, cell: ({ name }) => <code>{name}</code> },
                { title: "Waiting", numeric: true, cell: ({ waiting }) => number(waiting) },
                { title: "Active", numeric: true, cell: ({ active }) => number(active) },
                {
                  title: "State",
                  cell: ({ blocked, active }) =>
                    blocked ? (
                      <span className="badge delayed">waits for a retry or its rate limit</span>
                    ) : (
                      <span className={`badge ${active > 0 ? "active" : "waiting"}`}>
                        {active > 0 ? "running" : "in line"}
                      </span>
                    ),
                },
              ]}
            />
            <nav className="row pages" aria-label="Pages of groups">
              {after !== null && (
                <button type="button" onClick={() => go({ after: null })}>
                  First page
                </button>
              )}
              {cursor !== null && (
                <button type="button" onClick={() => go({ after: cursor })}>
                  Next page
                </button>
              )}
            </nav>
          </>
        )
      }
    </States>
  );
}
