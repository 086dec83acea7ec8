/** Consumer groups of a stream: how far they are, who reads, and what nobody has acknowledged. */
import { duration, number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { States, Table } from "../../parts.tsx";

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

function One({ group }: { group: Group }) {
  const behind = group.lag === null ? "" : `, ${number(group.lag)} not yet delivered`;
  return (
    <details className="library">
      <summary>
        <code>{group.name}</code>{" "}
        <span className="note">
          {`delivered to ${group.lastDelivered}${behind}, ${number(group.pending)} not acknowledged`}
        </span>
      </summary>
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
          ]}
        />
      )}
    </details>
  );
}

export function Groups({ name }: { name: string }) {
  const loaded = useLoad<{ groups: Group[] }>("/api/key/groups", { key: name }, 3_000);
  return (
    <States of={loaded}>
      {({ groups }) =>
        groups.length > 0 && (
          <>
            <h3 className="section">Consumer groups</h3>
            {groups.map((group) => (
              <One key={group.name} group={group} />
            ))}
          </>
        )
      }
    </States>
  );
}
