/** Who is connected. */
import { act } from "../../api.ts";
import { bytes, duration } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Empty, Head, States, Table, useActions } from "../../parts.tsx";

type Client = Readonly<Record<string, string>>;

export function Clients() {
  const loaded = useLoad<{ clients: Client[] }>("/api/clients", {}, 3_000);
  const actions = useActions(loaded.reload);
  const kill = ({ id, addr, name }: Client) =>
    actions.ask({
      title: "End this connection?",
      text: `${name || addr} (id ${id}) is cut off at once. Most clients connect again by themselves.`,
      button: "End connection",
      run: () => actions.run(() => act("DELETE", `/api/clients/${id}`)),
    });
  return (
    <>
      <Head title="Clients" note={loaded.data && `${loaded.data.clients.length} connected`} />
      {actions.view}
      <States of={loaded}>
        {({ clients }) =>
          clients.length === 0 ? (
            <Empty title="Nobody is connected." />
          ) : (
            <Table
              label="Clients"
              rows={clients}
              id={({ id = "", addr = "" }) => `${id} ${addr}`}
              columns={[
                { title: "Id", numeric: true, cell: ({ id }) => id },
                { title: "Address", cell: ({ addr }) => <code>{addr}</code> },
                { title: "Name", cell: ({ name }) => name },
                { title: "Connected", numeric: true, cell: ({ age }) => duration(Number(age) * 1_000) },
                { title: "Idle", numeric: true, cell: ({ idle }) => duration(Number(idle) * 1_000) },
                { title: "Db", numeric: true, cell: ({ db }) => db },
                { title: "Last command", cell: ({ cmd }) => <code>{cmd}</code> },
                { title: "Memory", numeric: true, cell: (client) => bytes(Number(client["tot-mem"] ?? 0)) },
                {
                  title: "",
                  // A client inside of the server's own process has no connection that could end.
                  cell: (client) =>
                    !client.addr?.startsWith("local:") && (
                      <button
                        type="button"
                        className="small"
                        onClick={() => kill(client)}
                        aria-label={`End connection ${client.id}`}
                      >
                        End
                      </button>
                    ),
                },
              ]}
            />
          )
        }
      </States>
    </>
  );
}
