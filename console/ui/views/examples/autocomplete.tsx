/** Autocomplete: whom to write to, completed from one's own contacts and from the guild; both to be looked through. */
import { type SubmitEvent, useState } from "react";
import { ActButton } from "../../acting.tsx";
import { act, get } from "../../api.ts";
import { counted } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { States, useActions } from "../../parts.tsx";
import { Combobox } from "./combobox.tsx";
import { useEvents } from "./events.ts";
import { ExamplePage } from "./frame.tsx";
import { useKept } from "./pieces.ts";
import { NothingYet } from "./sample.tsx";
import { useVisitor } from "./visitor.tsx";
import "./autocomplete.css";

const API = "/api/examples/autocomplete";
const MOST = 40;

interface Members {
  readonly names: readonly string[];
  readonly size: number;
  readonly exact: boolean;
}

type Actions = ReturnType<typeof useActions>;

async function offers(beginning: string, signal: AbortSignal) {
  const found = await get<{ contacts: string[]; members: string[] }>(`${API}/complete`, { beginning }, signal);
  return [
    { title: "You wrote to", names: found.contacts },
    { title: "Members of the guild", names: found.members },
  ];
}

function Contacts({ names, actions }: { names: readonly string[] | undefined; actions: Actions }) {
  const forget = (name: string) => actions.run(() => act("DELETE", `${API}/contacts/${encodeURIComponent(name)}`));
  return (
    <section className="card complete-box" aria-label="Recent contacts">
      <h2>
        Recent contacts <span className="dim">{names && names.length > 0 ? names.length : ""}</span>
      </h2>
      {names?.length === 0 && (
        <p className="dim">You have written to nobody yet. The last hundred stand here, the latest first.</p>
      )}
      <ol className="complete-names">
        {names?.map((name) => (
          <li key={name}>
            <bdi>{name}</bdi>
            <ActButton type="button" className="plain" aria-label={`Forget ${name}`} onClick={() => forget(name)}>
              ×
            </ActButton>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Guild(props: {
  loaded: ReturnType<typeof useLoad<Members>>;
  beginning: string;
  order: "name" | "weight";
  setBeginning: (text: string) => void;
  setOrder: (order: "name" | "weight") => void;
  actions: Actions;
}) {
  const { loaded, beginning, order, actions } = props;
  const join = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = String(new FormData(form).get("name"));
    if (await actions.run(() => act("POST", `${API}/members`, { name }))) form.reset();
  };
  const leave = (name: string) => actions.run(() => act("DELETE", `${API}/members/${encodeURIComponent(name)}`));
  return (
    <section className="card complete-box" aria-label="The guild">
      <h2>
        The guild <span className="dim">{loaded.data ? counted(loaded.data.size, "member") : ""}</span>
      </h2>
      <div className="row complete-tools">
        <input
          aria-label="Beginning of a name"
          placeholder="Beginning of a name"
          maxLength={60}
          value={beginning}
          onChange={(event) => props.setBeginning(event.currentTarget.value)}
        />
        <fieldset className="tabs" aria-label="Order">
          <button type="button" aria-pressed={order === "name"} onClick={() => props.setOrder("name")}>
            By name
          </button>
          <button type="button" aria-pressed={order === "weight"} onClick={() => props.setOrder("weight")}>
            Most written to
          </button>
        </fieldset>
      </div>
      <States of={loaded}>
        {({ names, size, exact }) =>
          size === 0 ? (
            <NothingYet title="The guild has no members.">
              Join it, or let some hundred people of many tongues in.
            </NothingYet>
          ) : (
            <>
              {names.length === 0 && <p className="dim">Nobody's name begins like that.</p>}
              <ol className="complete-names">
                {names.map((name) => (
                  <li key={name}>
                    <bdi>{name}</bdi>
                    <ActButton
                      type="button"
                      className="plain"
                      aria-label={`Remove ${name}`}
                      onClick={() => leave(name)}
                    >
                      ×
                    </ActButton>
                  </li>
                ))}
              </ol>
              {names.length === MOST && (
                <p className="dim">
                  The first {MOST}
                  {exact ? "" : "; heavier ones may be missing"}. Type more of the name.
                </p>
              )}
            </>
          )
        }
      </States>
      {loaded.data && (
        <form className="row complete-join" onSubmit={join}>
          <input name="name" aria-label="Name of a new member" placeholder="A new member" maxLength={60} required />
          <ActButton type="submit">Join</ActButton>
        </form>
      )}
    </section>
  );
}

export function Autocomplete() {
  const { name: me } = useVisitor();
  const [sent, setSent] = useState("");
  const [beginning, setBeginning] = useState("");
  const [order, setOrder] = useState<"name" | "weight">("weight");
  const contacts = useKept(useLoad<{ names: string[] }>(me === undefined ? null : `${API}/contacts`));
  const members = useKept(useLoad<Members>(`${API}/members`, { beginning, order, limit: MOST }));
  const reload = () => {
    contacts.reload();
    members.reload();
  };
  const actions = useActions(reload);
  useEvents("autocomplete", members.reload);
  const write = (name: string) =>
    actions.run(async () => {
      const { to } = await act<{ to: string }>("POST", `${API}/messages`, { name });
      setSent(to);
    });
  return (
    <ExamplePage
      name="autocomplete"
      title="Autocomplete"
      changed={() => {
        setSent("");
        reload();
      }}
    >
      <div className="complete-write">
        <Combobox label="Write to" placeholder="Write to … (type a few letters)" search load={offers} choose={write} />
        <span className="dim" role="status">
          {sent !== "" && (
            <>
              You wrote to <bdi>{sent}</bdi>.
            </>
          )}
        </span>
      </div>
      {actions.view}
      <div className="complete">
        <Contacts names={contacts.data?.names} actions={actions} />
        <Guild
          loaded={members}
          beginning={beginning}
          order={order}
          setBeginning={setBeginning}
          setOrder={setOrder}
          actions={actions}
        />
      </div>
    </ExamplePage>
  );
}
