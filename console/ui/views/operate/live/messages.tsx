/** Messages of channels as they come: the newest first, and how many there are in a second. Pub/sub and key events are made of it. */
import { type ReactNode, useRef, useState } from "react";
import { clock, number } from "../../../format.ts";
import { Scroll } from "../../../parts.tsx";
import { useStream } from "../../../stream.ts";
import "./live.css";

export interface Message {
  readonly at: number;
  readonly channel: string;
  readonly text: string;
}

interface Second {
  readonly heard: number;
  readonly shown: number;
}

const KEEP = 500;

interface Props {
  readonly url: string | null;
  readonly onEnd: () => void;
  /** What stands there before anything was heard. */
  readonly empty: ReactNode;
  readonly show?: (message: Message) => { readonly from: ReactNode; readonly what: ReactNode };
  readonly accepts?: (message: Message) => boolean;
}

const plain = ({ channel, text }: Message) => ({ from: channel, what: text as ReactNode });

export function Messages({ url, onEnd, empty, show = plain, accepts = () => true }: Props) {
  const [messages, setMessages] = useState<readonly (Message & { readonly nth: number })[]>([]);
  const [second, setSecond] = useState<Second | null>(null);
  const count = useRef(0);
  const stream = useStream(
    url,
    {
      messages: ({ messages: more }: { messages: readonly Message[] }) => {
        const numbered = more.filter(accepts).map((message) => ({ ...message, nth: count.current++ }));
        setMessages((before) => [...numbered.reverse(), ...before].slice(0, KEEP));
      },
      second: (next: Second) => setSecond(next),
    },
    onEnd,
  );
  return (
    <>
      <div className="live-status" role="status">
        {stream.isOpen && <span className="badge active">listening</span>}
        {url !== null && !stream.isOpen && <span className="badge waiting">connecting</span>}
        {stream.ended !== null && <span className="badge delayed">stopped: {stream.ended}</span>}
        {second !== null && (
          <>
            <span>
              <b>{number(second.heard)}</b> messages/s
            </span>
            {second.heard > second.shown && (
              <span>
                <b>{number(second.heard - second.shown)}</b> not shown: more than 200 a second
              </span>
            )}
          </>
        )}
        {messages.length > 0 && (
          <button type="button" className="small" onClick={() => setMessages([])}>
            Clear list
          </button>
        )}
      </div>
      {messages.length === 0 ? (
        empty
      ) : (
        <div className="live-window">
          <Scroll label="Messages">
            <ol className="live-lines" aria-label="Messages">
              {messages.map((message) => {
                const { from, what } = show(message);
                return (
                  <li key={message.nth}>
                    <time>{clock(message.at)}</time>
                    <span className="from" title={message.channel}>
                      {from}
                    </span>
                    <span className="what">{what}</span>
                  </li>
                );
              })}
            </ol>
          </Scroll>
        </div>
      )}
    </>
  );
}
