/** Who has changed what through this console. */
import { IconHistory } from "@tabler/icons-react";
import { useState } from "react";
import type { AuditEntry } from "../../../src/access/audit.ts";
import { useLoad } from "../../load.ts";
import { type Column, Empty, Head, States, Table } from "../../parts.tsx";
import { go, usePlace } from "../../router.ts";

const OUTCOMES: Readonly<Record<AuditEntry["outcome"], string>> = {
  done: "healthy",
  refused: "delayed",
  failed: "failed",
};

const EVERY_MS = 5_000;

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    title: "When",
    cell: ({ at }) => <time dateTime={at}>{new Date(at).toLocaleString()}</time>,
  },
  {
    title: "Who",
    cell: ({ user, role }) => (
      <>
        <strong>{user}</strong> <span className="dim">{role}</span>
      </>
    ),
  },
  { title: "From", cell: ({ address }) => address },
  { title: "Store", cell: ({ store }) => store },
  { title: "Action", cell: ({ action }) => <code>{action}</code> },
  { title: "Target", wide: true, cell: ({ target }) => (target === "" ? "–" : <code>{target}</code>) },
  {
    title: "Outcome",
    cell: ({ outcome, status }) => (
      <span className={`badge ${OUTCOMES[outcome]}`} title={`HTTP ${status}`}>
        {outcome}
      </span>
    ),
  },
];

export function AuditLog() {
  const user = usePlace().query.get("user") ?? "";
  const [typed, setTyped] = useState(user);
  const loaded = useLoad<{ entries: AuditEntry[]; file: string | null }>(
    "/api/audit",
    user === "" ? {} : { user },
    EVERY_MS,
  );
  return (
    <>
      <Head title="Audit log" note="What was changed through this console, and by whom; values are not noted">
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            go("audit", typed.trim() === "" ? {} : { user: typed.trim() });
          }}
        >
          <input
            data-search
            type="search"
            aria-label="User"
            placeholder="Every user"
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        </form>
      </Head>
      <States of={loaded}>
        {({ entries, file }) => (
          <>
            {entries.length === 0 ? (
              <Empty
                title={user === "" ? "Nothing was changed yet." : `“${user}” has changed nothing.`}
                icon={IconHistory}
              >
                Every request that changes something is listed here, whether it was done or refused.
              </Empty>
            ) : (
              <Table label="Changes" rows={entries} columns={COLUMNS} id={(each) => entries.indexOf(each)} />
            )}
            <p className="dim foot-note">
              {file === null
                ? "The last thousand are kept in memory. Start the console with --audit-log FILE to keep all of them."
                : `All of them are in ${file}.`}
            </p>
          </>
        )}
      </States>
    </>
  );
}
