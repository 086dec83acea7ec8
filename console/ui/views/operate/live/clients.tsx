/** Who is connected, what each does, and ending a connection. */
import { IconPlugConnected } from "@tabler/icons-react";
import { ActButton } from "../../../acting.tsx";
import { useAddress } from "../../../address.ts";
import { act } from "../../../api.ts";
import { bytes, duration, number } from "../../../format.ts";
import { useLoad } from "../../../load.ts";
import { Empty, Head, States, Table, useActions } from "../../../parts.tsx";
import "./live.css";

type Client = Readonly<Record<string, string>>;

/** What a client is for, from its flags. */
function roleOf({ flags = "", sub = "0", psub = "0", ssub = "0" }: Client): {
  readonly text: string;
  readonly meaning: string;
} {
  if (flags.includes("O")) return { text: "monitor", meaning: "delayed" };
  if (flags.includes("S")) return { text: "replica", meaning: "active" };
  if (flags.includes("M")) return { text: "primary", meaning: "active" };
  if (Number(sub) + Number(psub) + Number(ssub) > 0) return { text: "subscriber", meaning: "active" };
  if (flags.includes("b")) return { text: "blocked", meaning: "waiting" };
  if (flags.includes("x")) return { text: "in MULTI", meaning: "waiting" };
  return { text: "normal", meaning: "healthy" };
}

const matches = (client: Client, text: string): boolean =>
  [client.id, client.addr, client.name, client.cmd, client.user].some((field) =>
    (field ?? "").toLowerCase().includes(text.toLowerCase()),
  );

export function Clients() {
  const { query, replace } = useAddress();
  const loaded = useLoad<{ clients: Client[] }>("/api/clients", {}, 3_000);
  const actions = useActions(loaded.reload);
  const find = query.get("find") ?? "";
  const kill = ({ id, addr, name }: Client) =>
    actions.ask({
      title: "End this connection?",
      text: `${name || addr} (id ${id}) is cut off at once. Most clients connect again by themselves.`,
      button: "End connection",
      run: () => actions.run(() => act("DELETE", `/api/clients/${id}`), "The connection was ended"),
    });
  return (
    <>
      <Head title="Clients" note={loaded.data && `${number(loaded.data.clients.length)} connected`}>
        <input
          type="search"
          aria-label="Find client"
          placeholder="Address, name or command"
          value={find}
          onChange={({ target }) => replace({ find: target.value === "" ? null : target.value })}
        />
      </Head>
      {actions.view}
      <States of={loaded}>
        {({ clients }) => {
          const shown = clients.filter((client) => matches(client, find));
          if (shown.length === 0)
            return (
              <Empty title={find === "" ? "Nobody is connected." : "No client matches."} icon={IconPlugConnected} />
            );
          return (
            <Table
              label="Clients"
              rows={shown}
              id={({ id = "", addr = "" }) => `${id} ${addr}`}
              columns={[
                { title: "Id", numeric: true, cell: ({ id }) => id },
                {
                  title: "Address",
                  cell: ({ addr, own }) => (
                    <>
                      <code>{addr}</code> {own === "1" && <span className="tag">this console</span>}
                    </>
                  ),
                },
                { title: "Name", wide: true, cell: ({ name }) => name },
                {
                  title: "Kind",
                  cell: (client) => {
                    const { text, meaning } = roleOf(client);
                    return <span className={`badge ${meaning}`}>{text}</span>;
                  },
                },
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
                      <ActButton
                        data-acts="admin"
                        type="button"
                        className="small danger"
                        onClick={() => kill(client)}
                        aria-label={`End connection ${client.id}`}
                      >
                        End
                      </ActButton>
                    ),
                },
              ]}
            />
          );
        }}
      </States>
    </>
  );
}
