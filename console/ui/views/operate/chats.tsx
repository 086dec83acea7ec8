/** Chats and mailboxes: what is kept in them, who is behind, and the means to take somebody out who holds it up. */
import type { ChatInfo, MailboxInfo, MemberPosition } from "cinnabar/chats";
import { ActButton } from "../../acting.tsx";
import { useTyped } from "../../address.ts";
import { act } from "../../api.ts";
import { bytes, number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Empty, Head, States, Table, useActions } from "../../parts.tsx";
import { go, usePlace } from "../../router.ts";

interface Listed {
  readonly chats: ChatInfo[];
  readonly mailboxes: MailboxInfo[];
  readonly most: number;
}

type Actions = ReturnType<typeof useActions>;

const fits = (name: string, wanted: string): boolean => name.toLowerCase().includes(wanted.toLowerCase());

function Groups({ rows }: { rows: readonly ChatInfo[] }) {
  return (
    <Table
      label="Chats"
      rows={rows}
      id={({ chat }) => chat}
      columns={[
        {
          title: "Chat",
          wide: true,
          cell: ({ chat }) => <a href={`#/chats?${new URLSearchParams({ name: chat })}`}>{chat}</a>,
        },
        { title: "Members", numeric: true, cell: ({ members }) => number(members) },
        { title: "Present", numeric: true, cell: ({ present }) => number(present) },
        { title: "Messages kept", numeric: true, cell: ({ messages }) => number(messages) },
        { title: "Size", numeric: true, cell: (chat) => bytes(chat.bytes) },
        { title: "Furthest behind", numeric: true, cell: ({ furthestBehind }) => number(furthestBehind) },
      ]}
    />
  );
}

function Boxes({ rows, actions }: { rows: readonly MailboxInfo[]; actions: Actions }) {
  const remove = (owner: string) =>
    actions.ask({
      title: `Delete the mailbox of ${owner}?`,
      text: "Everything in it goes, also what its owner has not seen.",
      button: "Delete mailbox",
      run: () => actions.run(() => act("POST", `/api/mailboxes/${encodeURIComponent(owner)}/delete`)),
    });
  return (
    <Table
      label="Mailboxes"
      rows={rows}
      id={({ owner }) => owner}
      columns={[
        { title: "Mailbox of", wide: true, cell: ({ owner }) => <code>{owner}</code> },
        { title: "Not seen", numeric: true, cell: ({ messages }) => number(messages) },
        { title: "Size", numeric: true, cell: (box) => bytes(box.bytes) },
        {
          title: "",
          cell: ({ owner }) => (
            <ActButton
              type="button"
              className="small"
              aria-label={`Delete the mailbox of ${owner}`}
              data-acts="operator"
              onClick={() => remove(owner)}
            >
              Delete
            </ActButton>
          ),
        },
      ]}
    />
  );
}

function All() {
  const loaded = useLoad<Listed>("/api/chats", {}, 3_000);
  const actions = useActions(loaded.reload);
  const [wanted, setWanted] = useTyped("find");
  const isCut = (rows: readonly unknown[] | undefined) => rows?.length === loaded.data?.most;
  const note = isCut(loaded.data?.chats) || isCut(loaded.data?.mailboxes) ? "Those that were used last" : undefined;
  return (
    <>
      <Head title="Chats" note={note}>
        <input
          type="search"
          placeholder="Name"
          aria-label="Find by name"
          data-search
          value={wanted}
          onChange={(event) => setWanted(event.currentTarget.value)}
        />
      </Head>
      {actions.view}
      <States of={loaded}>
        {({ chats, mailboxes }) => (
          <>
            {chats.length === 0 ? (
              <Empty title="There is no chat.">new Chats(db).join("team", "ann") begins one.</Empty>
            ) : (
              <Groups rows={chats.filter(({ chat }) => fits(chat, wanted))} />
            )}
            <h2 className="section">Mailboxes</h2>
            {mailboxes.length === 0 ? (
              <Empty title="There is no mailbox.">new Mailboxes(db).send("ann", "ben", "hello") begins one.</Empty>
            ) : (
              <Boxes rows={mailboxes.filter(({ owner }) => fits(owner, wanted))} actions={actions} />
            )}
          </>
        )}
      </States>
    </>
  );
}

function Facts({ info }: { info: ChatInfo }) {
  return (
    <dl className="pairs card">
      {(
        [
          ["Members", `${number(info.members)}, ${number(info.present)} present`],
          ["Messages kept", `${number(info.messages)}, ${bytes(info.bytes)}`],
          ["Oldest that is kept", info.oldestId === null ? "–" : <code>{info.oldestId}</code>],
          ["Last that was sent", <code key="last">{info.lastId}</code>],
        ] as const
      ).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Members({ rows, remove }: { rows: readonly MemberPosition[]; remove: (member: string) => void }) {
  return (
    <Table
      label="Members"
      rows={rows}
      id={({ member }) => member}
      columns={[
        { title: "Member", wide: true, cell: ({ member }) => <code>{member}</code> },
        { title: "", cell: ({ present }) => (present ? <span className="tag">present</span> : "") },
        { title: "Not seen", numeric: true, cell: ({ unread }) => number(unread) },
        {
          title: "Cut off from",
          numeric: true,
          cell: ({ missed }) => (missed === 0 ? "–" : <span className="tag warn">{number(missed)}</span>),
        },
        { title: "Seen up to", numeric: true, cell: ({ seen }) => <code>{seen}</code> },
        {
          title: "",
          cell: ({ member }) => (
            <ActButton
              type="button"
              className="small"
              aria-label={`Remove ${member}`}
              data-acts="operator"
              onClick={() => remove(member)}
            >
              Remove
            </ActButton>
          ),
        },
      ]}
    />
  );
}

function One({ name }: { name: string }) {
  const path = `/api/chats/${encodeURIComponent(name)}`;
  const loaded = useLoad<{ info: ChatInfo; members: MemberPosition[] }>(path, {}, 3_000);
  const actions = useActions(loaded.reload);
  const takeOut = (member: string) =>
    actions.ask({
      title: `Remove ${member} from “${name}”?`,
      text: "What only they had not seen is dropped. With the last member the chat is deleted.",
      button: "Remove member",
      run: () => actions.run(() => act("POST", `${path}/remove`, { member })),
    });
  const remove = () =>
    actions.ask({
      title: `Delete “${name}”?`,
      text: "All its messages are deleted, also the ones that members have not seen.",
      button: "Delete chat",
      run: () => actions.run(() => act("POST", `${path}/delete`)).then((done) => done && go("chats")),
    });
  return (
    <>
      <Head
        title={name}
        note={
          <>
            <a href="#/chats">All chats</a> ·{" "}
            <a href={`#/keys?${new URLSearchParams({ key: `chat:{${name}}:log` })}`}>its log</a>
          </>
        }
      >
        <ActButton type="button" data-acts="operator" onClick={remove}>
          Delete
        </ActButton>
      </Head>
      {actions.view}
      <States of={loaded}>
        {({ info, members }) => (
          <>
            <Facts info={info} />
            <h2 className="section">Members</h2>
            {members.length < info.members && <p className="note">The {members.length} who are furthest behind.</p>}
            <Members rows={members} remove={takeOut} />
          </>
        )}
      </States>
    </>
  );
}

export function ChatsView() {
  const name = usePlace().query.get("name");
  return name === null || name === "" ? <All /> : <One key={name} name={name} />;
}
