/** Which connection and database are shown, and the way to others. The choice is in the address: a link shows the same. */
import { IconDatabase } from "@tabler/icons-react";
import { type SubmitEvent, useState } from "react";
import { act, type Failure } from "../api.ts";
import { addressOf, TARGET } from "../base.ts";
import { useLoad } from "../load.ts";
import { Dialog } from "../parts.tsx";
import { useSession } from "../session.ts";

interface Listed {
  readonly name: string;
  readonly backend: string;
  readonly databases: number | null;
  readonly canSwitch: boolean;
}

interface Answer {
  readonly connections: readonly Listed[];
  readonly canAdd: boolean;
}

const DEFAULT_DATABASES = 16;
const ADD = "+";

/** Another connection has other keys and queues: what was selected is left behind, the view stays. */
function show(connection: string | undefined, db: number): void {
  const [hash = ""] = location.hash.split("?", 1);
  location.assign(addressOf({ connection, db }, hash));
}

function AddConnection({ close, added }: { close: () => void; added: (name: string) => void }) {
  const [error, setError] = useState<Failure | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const name = String(data.get("name"));
    setBusy(true);
    setError(null);
    try {
      await act("POST", "/api/connections", { name, url: String(data.get("url")) });
      added(name);
    } catch (failure) {
      setError(failure as Failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title="Add connection" close={close}>
      <form className="stack" onSubmit={submit}>
        <p className="dim">The console keeps it until it stops. Its credentials are not shown to anybody.</p>
        <label>
          Name
          <input name="name" required maxLength={64} pattern="[\w.\-]+" placeholder="staging" data-autofocus />
        </label>
        <label>
          URL
          <input name="url" required autoComplete="off" placeholder="rediss://user:password@host:6379" />
        </label>
        {error && (
          <p className="bad" role="alert">
            {error.message}
          </p>
        )}
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="main" disabled={isBusy}>
            {isBusy ? "Connecting…" : "Add connection"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function Switcher() {
  const { data } = useLoad<Answer>("/api/connections");
  const { user } = useSession();
  const [isAdding, setAdding] = useState(false);
  if (data === undefined) return null;
  const { connections, canAdd } = data;
  const first = connections[0];
  const shown = connections.find(({ name }) => name === TARGET.connection) ?? first;
  const mayAdd = canAdd && user?.role === "admin";
  if (shown === undefined || (connections.length === 1 && !mayAdd && !shown.canSwitch)) return null;
  const nameOf = (name: string) => (name === first?.name ? undefined : name);
  const databases = Math.max(shown.databases ?? DEFAULT_DATABASES, TARGET.db + 1);
  return (
    <div className="switcher label" title={shown.backend}>
      <IconDatabase size={15} stroke={1.6} aria-hidden="true" />
      {connections.length > 1 || mayAdd ? (
        <select
          aria-label="Connection"
          value={shown.name}
          onChange={({ currentTarget: { value } }) =>
            value === ADD ? setAdding(true) : show(nameOf(value), value === shown.name ? TARGET.db : 0)
          }
        >
          {connections.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
          {mayAdd && <option value={ADD}>Add connection…</option>}
        </select>
      ) : (
        <span className="where">{shown.name}</span>
      )}
      {shown.canSwitch && databases > 1 && (
        <select
          aria-label="Database"
          value={TARGET.db}
          onChange={({ currentTarget }) => show(nameOf(shown.name), Number(currentTarget.value))}
        >
          {Array.from({ length: Math.min(databases, 64) }, (_, db) => (
            <option key={db} value={db}>
              db {db}
            </option>
          ))}
        </select>
      )}
      {isAdding && <AddConnection close={() => setAdding(false)} added={(name) => show(name, 0)} />}
    </div>
  );
}
