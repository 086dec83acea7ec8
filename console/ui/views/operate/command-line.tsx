/** The command line: history, completion and help from the server's own command table, dangerous commands confirmed. */
import { type KeyboardEvent, type SubmitEvent, useEffect, useMemo, useRef, useState } from "react";
import type { CommandHelp } from "../../../src/operate/command.ts";
import type { Value } from "../../../src/values.ts";
import { ActButton } from "../../acting.tsx";
import { act, type Failure } from "../../api.ts";
import { micros, splitWords } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Confirm, Head, type Question, ValueView } from "../../parts.tsx";

interface Exchange {
  readonly id: number;
  readonly line: string;
  readonly value?: Value;
  readonly error?: string;
  readonly micros?: number;
}

const HISTORY = "cinnabar.history";
const MOST_HISTORY = 500;
const MOST_SHOWN = 200;
const MOST_OFFERED = 8;

function readHistory(): string[] {
  try {
    return JSON.parse(localStorage.getItem(HISTORY) ?? "[]") as string[];
  } catch {
    return [];
  }
}

/** Passwords are not remembered. */
const isSecret = (line: string) => /^\s*(auth|acl\s+setuser|config\s+set\s+\S*(pass|auth))/i.test(line);

let exchanges: readonly Exchange[] = [];
let nextId = 0;

function useHelp(line: string) {
  const { data } = useLoad<{ commands: CommandHelp[] }>("/api/commands");
  return useMemo(() => {
    const table = data?.commands ?? [];
    const typed = line.trimStart().toUpperCase();
    const words = typed.split(/\s+/);
    const exact =
      table.find(({ name }) => name === words.slice(0, 2).join(" ")) ??
      table.find(({ name }) => name === words[0] && words.length > 0);
    const offered =
      typed === "" ? [] : table.filter(({ name }) => name.startsWith(typed.trimEnd()) && name !== typed.trimEnd());
    return { exact, offered: offered.slice(0, MOST_OFFERED) };
  }, [data, line]);
}

export function CommandLine() {
  const [line, setLine] = useState("");
  const [shown, setShown] = useState(exchanges);
  const [question, setQuestion] = useState<Question | null>(null);
  const history = useRef(readHistory());
  const at = useRef(history.current.length);
  const draft = useRef("");
  const input = useRef<HTMLInputElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const { exact, offered } = useHelp(line);

  useEffect(() => void input.current?.focus(), []);
  // Browsers may answer a promise, which is no end of an effect.
  useEffect(() => void end.current?.scrollIntoView({ block: "nearest" }), [shown]);

  const add = (exchange: Omit<Exchange, "id">) => {
    exchanges = [...exchanges.slice(1 - MOST_SHOWN), { ...exchange, id: nextId++ }];
    setShown(exchanges);
  };

  const send = async (text: string, words: string[], confirm: boolean) => {
    try {
      const answer = await act<{ value: Value; micros: number }>("POST", "/api/command", {
        words,
        ...(confirm && { confirm }),
      });
      add({ line: text, ...answer });
    } catch (failure) {
      const { code, message } = failure as Failure;
      if (code === "CONFIRM" && !confirm) {
        setQuestion({
          title: `Run ${words[0]!.toUpperCase()}?`,
          text: `${message}.`,
          button: `Run ${words[0]!.toUpperCase()}`,
          run: () => send(text, words, true),
        });
      } else add({ line: text, error: message });
    }
  };

  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const text = line.trim();
    if (text === "") return;
    const words = splitWords(text);
    setLine("");
    if (!isSecret(text) && history.current.at(-1) !== text) {
      history.current = [...history.current.slice(1 - MOST_HISTORY), text];
      localStorage.setItem(HISTORY, JSON.stringify(history.current));
    }
    at.current = history.current.length;
    draft.current = "";
    if (typeof words === "string") add({ line: text, error: words });
    else void send(text, words, false);
  };

  const pressed = (event: KeyboardEvent) => {
    const past = history.current;
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      event.preventDefault();
      // What was being typed is the newest line, to come back to.
      if (at.current === past.length) draft.current = line;
      at.current = Math.min(past.length, Math.max(0, at.current + (event.key === "ArrowUp" ? -1 : 1)));
      setLine(past[at.current] ?? draft.current);
    } else if (event.key === "Tab" && offered.length > 0 && !event.shiftKey) {
      event.preventDefault();
      setLine(`${offered[0]!.name} `);
    } else if (event.key === "l" && event.ctrlKey) {
      event.preventDefault();
      exchanges = [];
      setShown(exchanges);
    }
  };

  return (
    <div className="terminal">
      <Head title="Command line" note="Tab completes, ↑ ↓ go through history, Ctrl-L clears" />
      <div className="exchanges" role="log" aria-label="Answers">
        {shown.length === 0 && (
          <p className="hint">
            Type a command, such as <code>SET greeting hello</code>. Quotes and \xff are read as redis-cli reads them.
          </p>
        )}
        {shown.map((each) => (
          <div key={each.id} className="exchange">
            <p>
              <code>{each.line}</code>
              {each.micros !== undefined && <small>{micros(each.micros)}</small>}
            </p>
            {each.error === undefined ? (
              <ValueView value={each.value ?? null} />
            ) : (
              <span className="bad">{each.error}</span>
            )}
          </div>
        ))}
        <div ref={end} />
      </div>
      <form onSubmit={submit}>
        <p className="helpline" aria-live="polite">
          {exact && (
            <>
              <code className="syntax">{exact.syntax}</code> <span>{exact.summary}</span>
            </>
          )}
        </p>
        <div className="prompt">
          <span aria-hidden="true">›</span>
          <input
            ref={input}
            data-search
            aria-label="Command"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            value={line}
            onChange={(event) => setLine(event.currentTarget.value)}
            onKeyDown={pressed}
          />
          <ActButton type="submit" className="main">
            Run
          </ActButton>
        </div>
        <ul className="offers" aria-label="Completions">
          {offered.map(({ name }) => (
            <li key={name}>
              <button
                type="button"
                className="plain"
                tabIndex={-1}
                onClick={() => {
                  setLine(`${name} `);
                  input.current?.focus();
                }}
              >
                {name}
              </button>
            </li>
          ))}
        </ul>
      </form>
      {question && <Confirm question={question} close={() => setQuestion(null)} />}
    </div>
  );
}
