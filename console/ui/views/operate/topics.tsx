/** Topics: messages that are kept, consumer groups with their lag, dead letters, and replaying them. */
import { IconBroadcast } from "@tabler/icons-react";
import { useState } from "react";
import { ActButton } from "../../acting.tsx";
import { useAddress } from "../../address.ts";
import { act } from "../../api.ts";
import { number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { When } from "../../moments.tsx";
import { Dialog, Empty, Head, States, Table, useActions } from "../../parts.tsx";

interface Stats {
  readonly count: number;
  readonly published: number;
  readonly firstAt: string | null;
  readonly lastAt: string | null;
}

interface Listed extends Stats {
  readonly name: string;
  readonly prefix: string;
  readonly groups: number;
  readonly lag: number;
  readonly pending: number;
  readonly dead: number;
}

interface Group {
  readonly name: string;
  readonly lag: number;
  readonly pending: number;
  readonly dead: number;
  readonly position: string;
  readonly delivered: number;
  readonly acknowledged: number;
  readonly failed: number;
  readonly missed: number;
}

interface OneTopic extends Stats {
  readonly groups: readonly Group[];
  readonly messages: readonly { readonly id: string; readonly data: unknown; readonly publishedAt: string }[];
}

interface Letter {
  readonly id: string;
  readonly data: unknown;
  readonly attempts: number;
  readonly error: string;
  readonly publishedAt: string;
  readonly diedAt: string;
}

const badge = (count: number, meaning: string) =>
  count === 0 ? <span className="dim">0</span> : <span className={`badge ${meaning}`}>{number(count)}</span>;

const linkTo = ({ name, prefix }: Pick<Listed, "name" | "prefix">) =>
  `#/topics?${new URLSearchParams({ name, ...(prefix !== "topic" && { prefix }) })}`;

function All() {
  const loaded = useLoad<{
    topics: Listed[];
    channels: { name: string; prefix: string; subscribers: number }[];
    complete: boolean;
  }>("/api/topics", {}, 3_000);
  return (
    <>
      <Head
        title="Topics"
        note={loaded.data && `${loaded.data.topics.length} durable, ${loaded.data.channels.length} plain`}
      />
      <States of={loaded}>
        {({ topics, channels }) =>
          topics.length + channels.length === 0 ? (
            <Empty title="There is no topic." icon={IconBroadcast}>
              new DurableTopic(db, "orders").publish(…) makes one that keeps its messages.
            </Empty>
          ) : (
            <>
              {topics.length > 0 && (
                <Table
                  label="Durable topics"
                  rows={topics}
                  id={({ name, prefix }) => `${prefix} ${name}`}
                  columns={[
                    { title: "Topic", wide: true, cell: (topic) => <a href={linkTo(topic)}>{topic.name}</a> },
                    { title: "Kept", numeric: true, cell: ({ count }) => number(count) },
                    { title: "Published", numeric: true, cell: ({ published }) => number(published) },
                    { title: "Groups", numeric: true, cell: ({ groups }) => number(groups) },
                    { title: "Worst lag", numeric: true, cell: ({ lag }) => badge(lag, "delayed") },
                    { title: "Pending", numeric: true, cell: ({ pending }) => badge(pending, "active") },
                    { title: "Dead", numeric: true, cell: ({ dead }) => badge(dead, "dead") },
                    { title: "Last message", cell: ({ lastAt }) => <When at={lastAt} /> },
                  ]}
                />
              )}
              {channels.length > 0 && (
                <>
                  <h2 className="section">Plain topics</h2>
                  <Table
                    label="Plain topics"
                    rows={channels}
                    id={({ name, prefix }) => `${prefix} ${name}`}
                    columns={[
                      { title: "Topic", wide: true, cell: ({ name }) => <code>{name}</code> },
                      { title: "Subscribers now", numeric: true, cell: ({ subscribers }) => number(subscribers) },
                    ]}
                  />
                </>
              )}
            </>
          )
        }
      </States>
    </>
  );
}

interface DialogProps {
  readonly url: (rest: string) => string;
  readonly close: () => void;
  readonly done: () => void;
}

function Publish({ url, close, done }: DialogProps) {
  const [data, setData] = useState("{}");
  const actions = useActions(done);
  let isJson = true;
  try {
    JSON.parse(data);
  } catch {
    isJson = false;
  }
  return (
    <Dialog title="Publish message" close={close}>
      <form
        className="stack"
        onSubmit={async (event) => {
          event.preventDefault();
          const send = () => act("POST", url("/messages"), { data: JSON.parse(data) });
          if (await actions.run(send, "Message published")) close();
        }}
      >
        {actions.view}
        <label>
          Data (JSON)
          <textarea
            rows={6}
            data-autofocus
            spellCheck={false}
            value={data}
            onChange={({ target }) => setData(target.value)}
          />
        </label>
        {!isJson && <small className="bad">This is not JSON.</small>}
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="main" disabled={!isJson || actions.isBusy}>
            Publish message
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

function Replay({ url, close, done, group }: DialogProps & { group: string }) {
  const [from, setFrom] = useState("start");
  const [id, setId] = useState("");
  const actions = useActions(done);
  return (
    <Dialog title={`Replay messages to ${group}`} close={close}>
      <form
        className="stack"
        onSubmit={async (event) => {
          event.preventDefault();
          const body = { action: "replay", from: from === "id" ? id : from };
          if (
            await actions.run(() => act("POST", url(`/groups/${encodeURIComponent(group)}`), body), `${group} was set`)
          )
            close();
        }}
      >
        {actions.view}
        <label>
          From
          <select value={from} onChange={({ target }) => setFrom(target.value)}>
            <option value="start">the first message that is kept</option>
            <option value="id">after a message or a time</option>
            <option value="now">now: skip what it has not read</option>
          </select>
        </label>
        {from === "id" && (
          <label>
            Id of a message, or a time such as 2026-01-31T12:00:00Z
            <input required value={id} onChange={({ target }) => setId(target.value)} />
          </label>
        )}
        <p>
          The group gets the messages from there on, those that it has done before too. What its consumers have under
          way ends, and is not counted.
        </p>
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="danger">
            Replay messages
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

function DeadLetters({
  url,
  close,
  done,
  group,
  query,
}: DialogProps & { group: string; query: Record<string, string> }) {
  const [path = ""] = url(`/groups/${encodeURIComponent(group)}/dead`).split("?");
  const loaded = useLoad<{ items: Letter[] }>(path, query, 3_000);
  const actions = useActions(() => {
    loaded.reload();
    done();
  });
  const replay = (id?: string) =>
    actions.run(
      () => act("POST", url(`/groups/${encodeURIComponent(group)}`), { action: "replayDead", ...(id && { id }) }),
      id === undefined ? "All are delivered again" : "It is delivered again",
    );
  return (
    <Dialog title={`Dead letters of ${group}`} close={close} size="lg">
      {actions.view}
      <States of={loaded}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No message has failed for good." />
          ) : (
            <>
              <Table
                label="Dead letters"
                rows={items}
                id={({ id }) => id}
                columns={[
                  { title: "Message", cell: ({ id }) => <code>{id}</code> },
                  { title: "Data", wide: true, cell: ({ data }) => <code>{JSON.stringify(data)?.slice(0, 200)}</code> },
                  { title: "Error", wide: true, cell: ({ error }) => <span className="bad">{error}</span> },
                  { title: "Attempts", numeric: true, cell: ({ attempts }) => attempts },
                  { title: "Died", cell: ({ diedAt }) => <When at={diedAt} /> },
                  {
                    title: "",
                    cell: ({ id }) => (
                      <ActButton
                        data-acts="operator"
                        type="button"
                        className="small"
                        aria-label={`Deliver ${id} again`}
                        onClick={() => replay(id)}
                      >
                        Deliver again
                      </ActButton>
                    ),
                  },
                ]}
              />
              <div className="row end">
                <ActButton data-acts="operator" type="button" onClick={() => replay()}>
                  Deliver all again
                </ActButton>
              </div>
            </>
          )
        }
      </States>
    </Dialog>
  );
}

function One({ name, prefix }: { name: string; prefix: string | null }) {
  const { query, go } = useAddress();
  const words: Record<string, string> = prefix === null ? {} : { prefix };
  const path = `/api/topics/${encodeURIComponent(name)}`;
  const url = (rest: string) => `${path}${rest}${prefix === null ? "" : `?${new URLSearchParams(words)}`}`;
  const loaded = useLoad<OneTopic>(path, words, 2_000);
  const actions = useActions(loaded.reload);
  const dialog = query.get("dialog");
  const group = query.get("group");
  const close = () => go({ dialog: null, group: null });
  const remove = (each: string) =>
    actions.ask({
      title: `Delete group ${each}?`,
      text: "Its place and its dead letters are gone. A consumer that starts again begins where it is told to.",
      button: "Delete group",
      run: () => actions.run(() => act("DELETE", url(`/groups/${encodeURIComponent(each)}`)), `Group ${each} deleted`),
    });
  const shared = { url, close, done: loaded.reload };
  return (
    <>
      <Head title={name} note={<a href="#/topics">All topics</a>}>
        <ActButton
          data-acts="operator"
          type="button"
          className="main"
          disabled={!loaded.data}
          onClick={() => go({ dialog: "publish" })}
        >
          Publish message…
        </ActButton>
      </Head>
      {actions.view}
      <States of={loaded}>
        {({ groups, messages, count, published, firstAt, lastAt }) => (
          <>
            <dl className="figures">
              {(
                [
                  ["Messages kept", number(count), firstAt === null ? "" : "the oldest ", firstAt],
                  ["Ever published", number(published), lastAt === null ? "" : "the last ", lastAt],
                  [
                    "Worst lag",
                    number(Math.max(0, ...groups.map(({ lag }) => lag))),
                    `${groups.length} ${groups.length === 1 ? "group" : "groups"}`,
                    null,
                  ],
                  ["Dead letters", number(groups.reduce((sum, { dead }) => sum + dead, 0)), "", null],
                ] as const
              ).map(([title, value, note, at]) => (
                <div key={title}>
                  <dt>{title}</dt>
                  <dd>
                    <span className="figure">{value}</span>
                    <small>
                      {note}
                      {at !== null && <When at={at} />}
                    </small>
                  </dd>
                </div>
              ))}
            </dl>
            <h2 className="section">Consumer groups</h2>
            {groups.length === 0 ? (
              <Empty title="No group reads this topic.">
                topic.subscriber("billing", {"{}"}, handler).start() makes one.
              </Empty>
            ) : (
              <Table
                label="Consumer groups"
                rows={groups}
                id={(each) => each.name}
                columns={[
                  { title: "Group", wide: true, cell: (each) => <strong>{each.name}</strong> },
                  { title: "Lag", numeric: true, cell: ({ lag }) => badge(lag, "delayed") },
                  { title: "Pending", numeric: true, cell: ({ pending }) => badge(pending, "active") },
                  { title: "Acknowledged", numeric: true, cell: ({ acknowledged }) => number(acknowledged) },
                  { title: "Failed attempts", numeric: true, cell: ({ failed }) => badge(failed, "failed") },
                  { title: "Dead", numeric: true, cell: ({ dead }) => badge(dead, "dead") },
                  { title: "Missed", numeric: true, cell: ({ missed }) => number(missed) },
                  {
                    title: "",
                    cell: (each) => (
                      <>
                        <ActButton
                          data-acts="operator"
                          type="button"
                          className="small"
                          aria-label={`Replay ${each.name}`}
                          onClick={() => go({ dialog: "replay", group: each.name })}
                        >
                          Replay…
                        </ActButton>
                        <button
                          type="button"
                          className="small"
                          disabled={each.dead === 0}
                          aria-label={`Dead letters of ${each.name}`}
                          onClick={() => go({ dialog: "dead", group: each.name })}
                        >
                          Dead letters…
                        </button>
                        <ActButton
                          data-acts="operator"
                          type="button"
                          className="small danger"
                          aria-label={`Delete ${each.name}`}
                          onClick={() => remove(each.name)}
                        >
                          Delete
                        </ActButton>
                      </>
                    ),
                  },
                ]}
              />
            )}
            <h2 className="section">Last messages</h2>
            {messages.length === 0 ? (
              <Empty title="No message is kept." />
            ) : (
              <Table
                label="Messages"
                rows={messages}
                id={({ id }) => id}
                columns={[
                  { title: "Message", cell: ({ id }) => <code>{id}</code> },
                  { title: "Published", cell: ({ publishedAt }) => <When at={publishedAt} /> },
                  { title: "Data", wide: true, cell: ({ data }) => <code>{JSON.stringify(data)?.slice(0, 400)}</code> },
                ]}
              />
            )}
          </>
        )}
      </States>
      {dialog === "publish" && <Publish {...shared} />}
      {dialog === "replay" && group !== null && <Replay {...shared} group={group} />}
      {dialog === "dead" && group !== null && <DeadLetters {...shared} group={group} query={words} />}
    </>
  );
}

export function Topics() {
  const { query } = useAddress();
  const name = query.get("name");
  return name === null ? <All /> : <One key={name} name={name} prefix={query.get("prefix")} />;
}
