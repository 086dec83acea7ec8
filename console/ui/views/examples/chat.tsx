/** Chat: rooms on the left, what is said in the middle, who is there on the right. Open it in two browsers to be two people. */
import type { MemberPosition } from "cinnabar/chats";
import { type SubmitEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { ActButton } from "../../acting.tsx";
import { act } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { States, Trouble, useActions } from "../../parts.tsx";
import { go, usePlace } from "../../router.ts";
import { type Said, useRoom } from "./chat-stream.ts";
import { useEvents } from "./events.ts";
import { ExamplePage } from "./frame.tsx";
import { ExampleEmpty } from "./look.tsx";
import { useKept, useSending } from "./pieces.ts";
import { NothingYet } from "./sample.tsx";
import { useVisitor, visitorName } from "./visitor.tsx";

const API = "/api/examples/chat";
const PATH = "examples/chat";
const TOGETHER_MS = 300;
const MEMBERS_MS = 5_000;

interface View {
  readonly mine: readonly {
    readonly room: string;
    readonly unread: number;
    readonly missed: number;
    readonly present: number;
  }[];
  readonly others: readonly { readonly room: string; readonly members: number; readonly messages: number }[];
}

interface Happening {
  readonly type: "message" | "members" | "seen" | "sample" | "removed";
  readonly room?: string;
}

type Actions = ReturnType<typeof useActions>;

const roomPath = (room: string): string => `${API}/rooms/${encodeURIComponent(room)}`;
const roomLink = (room: string): string => `#/${PATH}?${new URLSearchParams({ room })}`;

/** Calls that come together are one, a moment later. */
function useTogether(run: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => () => clearTimeout(timer.current), []);
  return () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      latest.current();
    }, TOGETHER_MS);
  };
}

function Rooms(props: { view: View | undefined; at: string; join: (room: string, from: "now" | "start") => void }) {
  const { view, at, join } = props;
  const create = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    join(String(new FormData(form).get("room")), "start");
    form.reset();
  };
  return (
    <section className="card chat-rooms" aria-label="Rooms">
      <h2>Your rooms</h2>
      {view?.mine.length === 0 && <p className="dim">You are in none yet.</p>}
      <ul>
        {view?.mine.map(({ room, unread, missed }) => (
          <li key={room}>
            <a href={roomLink(room)} aria-current={room === at ? "page" : undefined} data-row>
              <bdi>{room}</bdi>
              {unread + missed > 0 && (
                <b className="chat-unread" title={missed > 0 ? `${missed} more were dropped` : undefined}>
                  {unread + missed} <span className="chat-hidden">not seen</span>
                </b>
              )}
            </a>
          </li>
        ))}
      </ul>
      {view && view.others.length > 0 && (
        <>
          <h2>To join</h2>
          <ul>
            {view.others.map(({ room, members }) => (
              <li key={room}>
                <span>
                  <bdi>{room}</bdi> <span className="dim">{members}</span>
                </span>
                <ActButton
                  type="button"
                  className="small"
                  aria-label={`Join ${room}`}
                  onClick={() => join(room, "start")}
                >
                  Join
                </ActButton>
              </li>
            ))}
          </ul>
        </>
      )}
      <form className="row" onSubmit={create}>
        <input name="room" aria-label="Name of a room" placeholder="A new room" maxLength={40} required />
        <ActButton type="submit">Open</ActButton>
      </form>
    </section>
  );
}

function Members({ members, me }: { members: readonly MemberPosition[] | undefined; me: string | undefined }) {
  return (
    <section className="card chat-members" aria-label="Members">
      <h2>
        Members <span className="dim">{members?.length}</span>
      </h2>
      <ul>
        {members?.map(({ member, present, unread, missed }) => (
          <li key={member}>
            <span className={present ? "chat-dot here" : "chat-dot"} title={present ? "here" : "away"} />
            <bdi className="chat-who">{member}</bdi>
            {member === me && <span className="dim">you</span>}
            <span className="chat-hidden">{present ? "is here" : "is away"}</span>
            <span className="dim chat-behind">{unread + missed === 0 ? "✓" : `${unread + missed} behind`}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const timeOf = (ms: number): string => new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

function Messages({ messages, seen, me }: { messages: readonly Said[]; seen: number; me: string | undefined }) {
  const list = useRef<HTMLOListElement>(null);
  const wasAtEnd = useRef(true);
  const last = messages.at(-1)?.id;
  // A reader who has scrolled up is left there.
  useLayoutEffect(() => {
    const { current } = list;
    if (current && wasAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [last]);
  const firstNew = seen > 0 ? messages.find(({ id, sender }) => id > seen && sender !== me)?.id : undefined;
  return (
    <ol
      ref={list}
      className="chat-log"
      aria-label="Messages"
      aria-live="polite"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        wasAtEnd.current = scrollHeight - scrollTop - clientHeight < 40;
      }}
    >
      {messages.length === 0 && <li className="dim chat-note">Nobody has said anything yet.</li>}
      {messages.map(({ id, sender, body, sentAt, missed }, nth) => (
        <li key={id} className={sender === me ? "mine" : ""}>
          {missed > 0 && <p className="chat-note">{missed} messages were dropped before you came.</p>}
          {id === firstNew && <p className="chat-note chat-new">New</p>}
          {(nth === 0 || messages[nth - 1]!.sender !== sender) && (
            <p className="chat-head">
              <bdi>{sender}</bdi> <time className="dim">{timeOf(Date.parse(sentAt))}</time>
            </p>
          )}
          <p className="chat-text" dir="auto">
            {body.text}
          </p>
        </li>
      ))}
    </ol>
  );
}

/** Tells that what is shown was seen, when somebody looks at it: several at once, and the rest when they leave the room. */
function useSeen(path: string, last: number | undefined, seen: number): void {
  const told = useRef(seen);
  const tell = useRef(() => {});
  tell.current = () => {
    if (document.hidden || last === undefined || last <= told.current) return;
    told.current = last;
    act("POST", `${path}/seen`, { id: last }).catch(() => {
      told.current = seen;
    });
  };
  const soon = useTogether(() => tell.current());
  useEffect(() => {
    told.current = Math.max(told.current, seen);
    soon();
  }, [last, seen]);
  useEffect(() => {
    const now = () => tell.current();
    const me = visitorName();
    document.addEventListener("visibilitychange", now);
    return () => {
      document.removeEventListener("visibilitychange", now);
      // Who has become somebody else would tell in that one's name.
      if (visitorName() === me) now();
    };
  }, []);
}

function Composer({ room, path, actions }: { room: string; path: string; actions: Actions }) {
  const sending = useSending();
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem("text") as HTMLInputElement;
    const text = field.value;
    if (text.trim() === "") return;
    const id = sending.idOf(text);
    if (!(await actions.run(() => act("POST", `${path}/messages`, { id, text })))) return;
    sending.arrived(id);
    // What was typed meanwhile is the next message.
    if (field.value === text) field.value = "";
  };
  return (
    <form className="row chat-composer" onSubmit={submit}>
      <input
        name="text"
        aria-label={`Message to ${room}`}
        placeholder="Say something"
        data-search
        maxLength={1_000}
        autoComplete="off"
      />
      {/* Not held while a message is on its way: people type on, and each message has an id of its own. */}
      <button type="submit" className="main">
        Send
      </button>
    </form>
  );
}

function Room(props: { room: string; me: string | undefined; actions: Actions; gone: () => void; leave: () => void }) {
  const { room, me, actions, leave } = props;
  const path = roomPath(room);
  const { messages, seen, error, isLive } = useRoom(path, props.gone);
  useSeen(path, messages?.at(-1)?.id, seen);
  return (
    <section className="card chat-room" aria-label={room}>
      <header className="row">
        <h2>
          <bdi>{room}</bdi>
        </h2>
        <span className="dim" role="status">
          {messages !== undefined && !isLive ? "connecting …" : ""}
        </span>
        <ActButton type="button" className="small" onClick={leave}>
          Leave
        </ActButton>
      </header>
      {error ? (
        <Trouble error={error} />
      ) : messages === undefined ? (
        <div className="chat-log" aria-busy="true" />
      ) : (
        <Messages messages={messages} seen={seen} me={me} />
      )}
      <Composer room={room} path={path} actions={actions} />
    </section>
  );
}

function Welcome({ view }: { view: View }) {
  if (view.mine.length + view.others.length === 0) {
    return (
      <NothingYet title="There is no room yet.">
        Open one with the field on the left, or take some in which people have talked.
      </NothingYet>
    );
  }
  return (
    <ExampleEmpty title="Choose a room.">
      Join one, or open your own. Another browser, or a private window, is another person.
    </ExampleEmpty>
  );
}

export function Chat() {
  const { name: me } = useVisitor();
  const wanted = usePlace().query.get("room") ?? "";
  const loaded = useKept(useLoad<View>(me === undefined ? null : `${API}/view`));
  const at = loaded.data?.mine.some(({ room }) => room === wanted) === true ? wanted : "";
  const members = useKept(
    useLoad<{ members: MemberPosition[] }>(at === "" ? null : `${roomPath(at)}/members`, {}, MEMBERS_MS),
  );
  const [life, setLife] = useState(0);
  const reload = () => {
    loaded.reload();
    if (at !== "") members.reload();
  };
  const soon = useTogether(reload);
  const actions = useActions(() => soon());
  useEvents<Happening>(me === undefined ? null : "chat", soon);
  const join = (room: string, from: "now" | "start") =>
    void actions.run(async () => {
      const joined = await act<{ room: string }>("POST", `${API}/rooms`, { room, from });
      loaded.reload();
      go(PATH, { room: joined.room });
    });
  const leave = () =>
    actions.ask({
      title: `Leave “${at}”?`,
      text: "When the last one leaves, the room and everything in it is deleted.",
      button: "Leave",
      run: () => actions.run(() => act("DELETE", roomPath(at))).then((done) => done && go(PATH)),
    });
  return (
    <ExamplePage
      name="chat"
      title="Chat"
      changed={() => {
        setLife((old) => old + 1);
        reload();
      }}
    >
      {actions.view}
      <div className="chat">
        <Rooms view={loaded.data} at={at} join={join} />
        {at === "" ? (
          <section className="card chat-room" aria-label="No room">
            <States of={loaded}>{(view) => <Welcome view={view} />}</States>
          </section>
        ) : (
          <Room key={`${at} ${me} ${life}`} room={at} me={me} actions={actions} gone={reload} leave={leave} />
        )}
        <Members members={at === "" ? undefined : members.data?.members} me={me} />
      </div>
    </ExamplePage>
  );
}
