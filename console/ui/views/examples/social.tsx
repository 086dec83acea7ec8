/** The social network: timelines in the middle, what is posted anywhere on the right. Open it in two browsers to be two people. */
import type { Status, StatusEvent } from "cinnabar/social";
import { type SubmitEvent, type SyntheticEvent, useEffect, useState } from "react";
import { ActButton } from "../../acting.tsx";
import { act } from "../../api.ts";
import { duration, moment } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Dialog, States, useActions } from "../../parts.tsx";
import { go, usePlace } from "../../router.ts";
import { useEvents } from "./events.ts";
import { ExamplePage } from "./frame.tsx";
import { ExampleEmpty } from "./look.tsx";
import { newId, useKept, useRowKeys, useSending } from "./pieces.ts";
import { NothingYet } from "./sample.tsx";
import { Live } from "./social-live.tsx";
import { type Account, ListHead, type Me, People, Person, SignUp, You } from "./social-people.tsx";
import { useVisitor } from "./visitor.tsx";
import "./social.css";

const API = "/api/examples/social";
const PATH = "examples/social";
const MOST_CHARACTERS = 300;

const personLink = (login: string): string => `#/${PATH}?${new URLSearchParams({ person: login })}`;
const listLink = (list: string): string => `#/${PATH}?${new URLSearchParams({ list })}`;

/** As it comes: times are texts. */
type Shown = Omit<Status, "at" | "author" | "repostedBy"> & {
  readonly at: string;
  readonly author: Account;
  readonly repostedBy?: readonly Account[];
};

interface Page {
  readonly items: readonly Shown[];
  readonly cursor: string | null;
}

function Composer({ posted, fresh, refresh }: { posted: () => void; fresh: number; refresh: () => void }) {
  const [text, setText] = useState("");
  const sending = useSending();
  const actions = useActions(posted);
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const id = sending.idOf(text);
    if (!(await actions.run(() => act("POST", `${API}/statuses`, { id, text })))) return;
    sending.arrived(id);
    // What was typed meanwhile is the next one.
    setText((now) => (now === text ? "" : now));
  };
  return (
    <form className="social-composer" onSubmit={submit}>
      {actions.view}
      <textarea
        aria-label="Status"
        placeholder="What is there to say?"
        rows={2}
        maxLength={MOST_CHARACTERS}
        data-search
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void submit(event);
        }}
      />
      <div className="row end">
        <div className="social-fresh" aria-live="polite">
          {fresh > 0 && (
            <button type="button" onClick={refresh}>
              Show {fresh} new
            </button>
          )}
        </div>
        <span className="dim">{MOST_CHARACTERS - text.length}</span>
        <ActButton type="submit" className="main" disabled={text.trim() === ""}>
          Post
        </ActButton>
      </div>
    </form>
  );
}

function StatusItem(props: { status: Shown; mine: boolean; repost: () => void; remove: () => void }) {
  const { status, mine, repost, remove } = props;
  const { author, text, at, repostedBy } = status;
  const age = Date.now() - Date.parse(at);
  return (
    <li className="social-status">
      {repostedBy && (
        <p className="dim">
          ↻{" "}
          {repostedBy.map(({ id, login }, nth) => (
            <span key={id}>
              {nth > 0 && ", "}
              <a href={personLink(login)}>@{login}</a>
            </span>
          ))}
        </p>
      )}
      <p>
        <a href={personLink(author.login)} data-row>
          <b>{author.name}</b>
        </a>{" "}
        <span className="dim">
          @{author.login} ·{" "}
          <time title={moment(Date.parse(at))}>{age < 5_000 ? "just now" : `${duration(age)} ago`}</time>
        </span>
      </p>
      <p className="social-text">{text}</p>
      <p className="social-actions">
        {!mine && (
          <ActButton type="button" className="plain" aria-label={`Repost ${author.login}: ${text}`} onClick={repost}>
            ↻ Repost
          </ActButton>
        )}
        {mine && (
          <ActButton type="button" className="plain" aria-label={`Delete: ${text}`} onClick={remove}>
            Delete
          </ActButton>
        )}
      </p>
    </li>
  );
}

function Timeline(props: { path: string; me: Account; turn: number; empty: string; changed: () => void }) {
  const { path, me, turn, empty, changed } = props;
  const [behind, setBehind] = useState<readonly string[]>([]);
  const before = behind.at(-1);
  const loaded = useKept(useLoad<Page>(path, before === undefined ? {} : { before }));
  const actions = useActions(changed);
  useEffect(() => {
    if (turn > 0) loaded.reload();
  }, [turn]);
  return (
    <div className="social-timeline">
      {actions.view}
      <States of={loaded}>
        {({ items: statuses, cursor: next }) =>
          statuses.length === 0 && behind.length === 0 ? (
            <ExampleEmpty title="Nothing yet.">{empty}</ExampleEmpty>
          ) : (
            <>
              <ol className="social-statuses">
                {statuses.map((status) => (
                  <StatusItem
                    key={status.id}
                    status={status}
                    mine={status.author.id === me.id}
                    repost={() => void actions.run(() => act("POST", `${API}/statuses/${status.id}/repost`))}
                    remove={() =>
                      actions.ask({
                        title: "Delete the status?",
                        text: `“${status.text}” is gone for everybody at once.`,
                        button: "Delete it",
                        run: () => actions.run(() => act("DELETE", `${API}/statuses/${status.id}`)),
                      })
                    }
                  />
                ))}
              </ol>
              <div className="row">
                <button type="button" disabled={behind.length === 0} onClick={() => setBehind(behind.slice(0, -1))}>
                  Newer
                </button>
                <button type="button" disabled={next === null} onClick={() => setBehind([...behind, next!])}>
                  Older
                </button>
              </div>
            </>
          )
        }
      </States>
    </div>
  );
}

function NewList({ close, made }: { close: () => void; made: (id: string) => void }) {
  const [id] = useState(() => `+${newId()}`);
  const actions = useActions(() => made(id));
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get("name")).trim();
    void actions.run(() => act("POST", `${API}/lists`, { id, name }));
  };
  return (
    <Dialog title="A new list" close={close}>
      <form className="stack" onSubmit={submit}>
        <label>
          Name
          <input name="name" maxLength={60} required data-autofocus />
        </label>
        {actions.view}
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="main">
            Make it
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

interface Where {
  readonly person: string | null;
  readonly list: string | null;
  readonly people: boolean;
}

function Tabs({ me, at, create }: { me: Me; at: Where; create: () => void }) {
  const isHome = at.person === null && at.list === null && !at.people;
  const tab = (href: string, is: boolean, title: string) => (
    <a key={href} href={href} className="social-tab" aria-current={is ? "page" : undefined}>
      {title}
    </a>
  );
  return (
    <nav className="social-tabs" aria-label="Timelines">
      {tab(`#/${PATH}`, isHome, "Home")}
      {tab(`#/${PATH}?people=all`, at.people, "People")}
      {(me.lists ?? []).map(({ id, name }) => tab(listLink(id), at.list === id, name))}
      <ActButton type="button" className="plain" onClick={create}>
        + List
      </ActButton>
    </nav>
  );
}

function Middle({ me, at, turn, changed }: { me: Me; at: Where; turn: number; changed: () => void }) {
  const props = { api: API, link: personLink, changed };
  const user = me.user!;
  const timeline = (path: string, empty: string) => (
    <Timeline key={path} path={path} me={user} turn={turn} empty={empty} changed={changed} />
  );
  if (at.people) return <People {...props} />;
  if (at.person !== null) {
    return (
      <>
        <Person key={at.person} {...props} login={at.person} lists={me.lists ?? []} />
        {timeline(`${API}/people/${encodeURIComponent(at.person)}/statuses`, "There is nothing of theirs to be seen.")}
      </>
    );
  }
  if (at.list !== null) {
    return (
      <>
        <ListHead
          key={at.list}
          {...props}
          list={at.list}
          left={() => {
            go(PATH);
            changed();
          }}
        />
        {timeline(`${API}/lists/${encodeURIComponent(at.list)}/statuses`, "Its members have posted nothing.")}
      </>
    );
  }
  return timeline(`${API}/home`, "Post something, or follow somebody: People are in the tab above.");
}

function Network({ me, changed }: { me: Me; changed: () => void }) {
  const { query } = usePlace();
  const at = { person: query.get("person"), list: query.get("list"), people: query.has("people") };
  const [turn, setTurn] = useState(0);
  const [fresh, setFresh] = useState(0);
  const [creating, setCreating] = useState(false);
  const refresh = () => {
    setFresh(0);
    setTurn((old) => old + 1);
  };
  const all = () => {
    refresh();
    changed();
  };
  const heard = (event: StatusEvent) => {
    if (event.kind === "delete") refresh();
    else if (me.following?.includes(event.userId)) setFresh((old) => old + 1);
  };
  useRowKeys();
  return (
    <div className="social">
      <div className="social-main">
        <Tabs me={me} at={at} create={() => setCreating(true)} />
        <Composer posted={all} fresh={fresh} refresh={refresh} />
        <Middle me={me} at={at} turn={turn} changed={all} />
      </div>
      <aside className="social-side">
        <You api={API} me={me} link={personLink} changed={changed} />
        <Live api={API} link={personLink} heard={heard} />
      </aside>
      {creating && (
        <NewList
          close={() => setCreating(false)}
          made={(id) => {
            setCreating(false);
            changed();
            go(`${PATH}?${new URLSearchParams({ list: id })}`);
          }}
        />
      )}
    </div>
  );
}

export function SocialNetwork() {
  const { name } = useVisitor();
  const loaded = useKept(useLoad<Me>(`${API}/me`));
  useEvents("social", loaded.reload);
  const total = loaded.data?.total ?? 0;
  return (
    <ExamplePage
      name="social"
      title="Social network"
      changed={loaded.reload}
      note={loaded.data && `${total} ${total === 1 ? "account" : "accounts"}`}
    >
      <States of={loaded}>
        {(me) =>
          me.user === null ? (
            <>
              <SignUp key={name} api={API} visitor={name!} changed={loaded.reload} />
              {me.total === 0 && (
                <NothingYet title="Nobody is here yet.">Be the first, or take some people to follow.</NothingYet>
              )}
            </>
          ) : (
            <Network key={me.user.id} me={me} changed={loaded.reload} />
          )
        }
      </States>
    </ExamplePage>
  );
}
