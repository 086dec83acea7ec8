/** Changes to keys as they happen, where the server is set to tell of them; else what to set, and a button that does. */
import { IconBell } from "@tabler/icons-react";
import { useState } from "react";
import { ActButton } from "../../../acting.tsx";
import { useAddress } from "../../../address.ts";
import { act } from "../../../api.ts";
import { useLoad } from "../../../load.ts";
import { Empty, Head, States, useActions } from "../../../parts.tsx";
import { type Message, Messages } from "./messages.tsx";

const CHANNEL = /^__keyevent@(\d+)__:(.*)$/;
const STREAM = `/api/stream/messages?${new URLSearchParams({ patterns: "__keyevent@*__:*" })}`;

const MEANINGS: Readonly<Record<string, string>> = {
  del: "failed",
  unlink: "failed",
  expired: "delayed",
  evicted: "dead",
  expire: "delayed",
};

/** `user:*` against a key. */
function globOf(pattern: string): RegExp {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s");
}

function show({ channel, text }: Message) {
  const [, db, event = channel] = CHANNEL.exec(channel) ?? [];
  return {
    from: (
      <>
        <span className={`badge ${MEANINGS[event] ?? "active"}`}>{event}</span> db {db}
      </>
    ),
    what: <a href={`#/keys?${new URLSearchParams({ key: text })}`}>{text}</a>,
  };
}

export function KeyEvents() {
  const { query, replace } = useAddress();
  const [url, setUrl] = useState<string | null>(null);
  const setting = useLoad<{ setting: string; wanted: string; enabled: boolean }>("/api/keyspace-events");
  const actions = useActions(setting.reload);
  const key = query.get("key") ?? "";
  const kind = query.get("event") ?? "";
  const glob = key === "" ? null : globOf(key);
  const accepts = ({ channel, text }: Message) =>
    (glob === null || glob.test(text)) && (kind === "" || (CHANNEL.exec(channel)?.[2] ?? "") === kind);
  const enable = (wanted: string, before: string) =>
    actions.ask({
      title: "Let the server tell of changes?",
      text: `This sets notify-keyspace-events to ${wanted} (it is ${before === "" ? "empty" : before}) until the server restarts. Each change of a key then publishes a message, which costs a busy server some time.`,
      button: `Set ${wanted}`,
      run: () =>
        actions.run(
          () => act("PUT", "/api/config/notify-keyspace-events", { value: wanted }),
          "The server tells of changes now",
        ),
    });
  return (
    <>
      <Head title="Key events" note={setting.data && `notify-keyspace-events is ${setting.data.setting || "empty"}`} />
      {actions.view}
      <States of={setting}>
        {({ enabled, wanted, setting: before }) =>
          enabled ? (
            <>
              <form
                className="live-form"
                onSubmit={(event) => {
                  event.preventDefault();
                  setUrl(url === null ? STREAM : null);
                }}
              >
                <label>
                  Key
                  <input
                    value={key}
                    placeholder="all, or user:*"
                    onChange={({ target }) => replace({ key: target.value === "" ? null : target.value })}
                  />
                </label>
                <label>
                  Event
                  <input
                    value={kind}
                    placeholder="all, or expired"
                    onChange={({ target }) => replace({ event: target.value === "" ? null : target.value })}
                  />
                </label>
                <ActButton type="submit" className={url === null ? "main" : "danger"}>
                  {url === null ? "Start listening" : "Stop listening"}
                </ActButton>
              </form>
              <Messages
                url={url}
                onEnd={() => setUrl(null)}
                show={show}
                accepts={accepts}
                empty={
                  <Empty title={url === null ? "Not listening." : "No key has changed yet."} icon={IconBell}>
                    Each change of a key is shown as it happens: set, del, expired, evicted and the others.
                  </Empty>
                }
              />
            </>
          ) : (
            <Empty
              title="The server does not tell of changes to keys."
              icon={IconBell}
              action={
                <ActButton data-acts="admin" type="button" className="main" onClick={() => enable(wanted, before)}>
                  Set notify-keyspace-events to {wanted}
                </ActButton>
              }
            >
              The setting notify-keyspace-events needs E, for events by their names, and A, for all kinds of them.
            </Empty>
          )
        }
      </States>
    </>
  );
}
