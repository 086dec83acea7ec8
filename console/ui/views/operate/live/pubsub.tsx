/** Publish/subscribe: listening to channels or patterns, publishing, and who listens to what. */
import { IconRss } from "@tabler/icons-react";
import { useState } from "react";
import { ActButton } from "../../../acting.tsx";
import { useAddress } from "../../../address.ts";
import { act } from "../../../api.ts";
import { counted, number } from "../../../format.ts";
import { useLoad } from "../../../load.ts";
import { Empty, Head, States, Table, toast, useActions } from "../../../parts.tsx";
import { Messages } from "./messages.tsx";

const isPattern = (name: string): boolean => /[*?[]/.test(name);

const urlFor = (names: string): string => {
  const words = new URLSearchParams();
  for (const name of names.split(/[\s,]+/).filter((each) => each !== ""))
    words.append(isPattern(name) ? "patterns" : "channels", name);
  return `/api/stream/messages?${words}`;
};

function Publish({ done }: { done: () => void }) {
  const { query, replace } = useAddress();
  const [message, setMessage] = useState("");
  const actions = useActions(done);
  const channel = query.get("to") ?? "";
  const send = async () => {
    const { receivers } = await act<{ receivers: number }>("POST", "/api/pubsub", { channel, message });
    toast(receivers === 0 ? "Published; nobody listens" : `Published; ${number(receivers)} heard it`);
    setMessage("");
  };
  return (
    <>
      {actions.view}
      <form
        className="live-form"
        onSubmit={(event) => {
          event.preventDefault();
          void actions.run(send);
        }}
      >
        <label>
          Publish to channel
          <input
            value={channel}
            required
            onChange={({ target }) => replace({ to: target.value === "" ? null : target.value })}
          />
        </label>
        <label>
          Message
          <input value={message} onChange={({ target }) => setMessage(target.value)} />
        </label>
        <ActButton data-acts="operator" type="submit" disabled={actions.isBusy || channel === ""}>
          Publish message
        </ActButton>
      </form>
    </>
  );
}

export function PubSub() {
  const { query, replace } = useAddress();
  const [url, setUrl] = useState<string | null>(null);
  const names = query.get("names") ?? "*";
  const loaded = useLoad<{ channels: { name: string; subscribers: number }[]; patterns: number }>(
    "/api/pubsub",
    {},
    3_000,
  );
  return (
    <>
      <Head
        title="Pub/sub"
        note={
          loaded.data &&
          `${counted(loaded.data.channels.length, "channel")}, ${counted(loaded.data.patterns, "pattern")}`
        }
      />
      <form
        className="live-form"
        onSubmit={(event) => {
          event.preventDefault();
          setUrl(url === null ? urlFor(names) : null);
        }}
      >
        <label>
          Channels or patterns
          <input
            value={names}
            required
            placeholder="news, orders:*"
            disabled={url !== null}
            onChange={({ target }) => replace({ names: target.value })}
          />
        </label>
        <ActButton type="submit" className={url === null ? "main" : "danger"} disabled={names.trim() === ""}>
          {url === null ? "Start listening" : "Stop listening"}
        </ActButton>
      </form>
      <Publish done={loaded.reload} />
      <Messages
        url={url}
        onEnd={() => setUrl(null)}
        empty={
          <Empty title={url === null ? "Not listening." : "No message came yet."} icon={IconRss}>
            Messages are shown as they come and are kept nowhere. Listening ends after ten minutes, and when this page
            is hidden.
          </Empty>
        }
      />
      <h2 className="section">Channels with subscribers</h2>
      <States of={loaded}>
        {({ channels }) =>
          channels.length === 0 ? (
            <Empty title="No channel has subscribers." />
          ) : (
            <Table
              label="Channels"
              rows={channels}
              id={({ name }) => name}
              columns={[
                { title: "Channel", wide: true, cell: ({ name }) => <code>{name}</code> },
                { title: "Subscribers", numeric: true, cell: ({ subscribers }) => number(subscribers) },
                {
                  title: "",
                  cell: ({ name }) => (
                    <button
                      type="button"
                      className="small"
                      aria-label={`Listen to ${name}`}
                      disabled={url !== null}
                      onClick={() => {
                        replace({ names: name });
                        setUrl(urlFor(name));
                      }}
                    >
                      Listen
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
