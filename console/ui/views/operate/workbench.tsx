/**
 * The workbench: several commands at once, with completion, documentation and costs before they run; Lua with colours; scripts and a
 * history that this browser keeps; answers as table, text or JSON.
 */
import "./workbench.css";
import {
  IconAlertTriangle,
  IconDeviceFloppy,
  IconEraser,
  IconHistory,
  IconPlayerPlay,
  IconTrash,
} from "@tabler/icons-react";
import { type SubmitEvent, useCallback, useEffect, useRef, useState } from "react";
import type { CommandHelp } from "../../../src/operate/command.ts";
import type { KeyFacts } from "../../../src/operate/keys.ts";
import type { Cost, Outcome } from "../../../src/operate/workbench.ts";
import type { Value } from "../../../src/values.ts";
import { ActButton } from "../../acting.tsx";
import { useAddress } from "../../address.ts";
import { act, type Failure, get } from "../../api.ts";
import { counted, micros, splitWords } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Confirm, Dialog, Empty, Head, type Question } from "../../parts.tsx";
import { commandAt, type Editor, type Language, openEditor } from "./editor.ts";
import { addHistory, type Saved, useKept } from "./workbench-kept.ts";
import { FORMS, type Form, type Result, ResultView } from "./workbench-results.tsx";

interface Line {
  readonly text: string;
  readonly words: readonly string[];
}

const MOST_RESULTS = 200;
const COST_WAIT_MS = 400;
const MOST_KEYS = 12;

/** The commands of a text, one a line; a text where a line cannot be read. */
function linesOf(text: string): Line[] | string {
  const lines: Line[] = [];
  for (const [nth, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#") || line.startsWith("//")) continue;
    const words = splitWords(line);
    if (typeof words === "string") return `Line ${nth + 1}: ${words}`;
    lines.push({ text: line, words });
  }
  return lines;
}

let nextId = 0;

function useCosts(text: string, language: Language): readonly { line: Line; cost: Cost }[] {
  const [found, setFound] = useState<readonly { line: Line; cost: Cost }[]>([]);
  useEffect(() => {
    const lines = language === "commands" ? linesOf(text) : "";
    if (typeof lines === "string" || lines.length === 0) return setFound([]);
    let isOver = false;
    const timer = setTimeout(async () => {
      try {
        const some = lines.slice(0, 100);
        const commands = some.map(({ words }) => words);
        const { costs } = await act<{ costs: Cost[] }>("POST", "/api/workbench/cost", { commands });
        if (isOver) return;
        setFound(costs.flatMap((cost, nth) => (cost.level === "cheap" ? [] : [{ line: some[nth]!, cost }])));
      } catch {
        if (!isOver) setFound([]);
      }
    }, COST_WAIT_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text, language]);
  return found;
}

/** Runs what is given, one after the other or in one round trip. */
function useRunner() {
  const [results, setResults] = useState<readonly Result[]>([]);
  const [question, setQuestion] = useState<Question | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [summary, setSummary] = useState("");
  const add = (result: Omit<Result, "id">) =>
    setResults((old) => [{ ...result, id: nextId++ }, ...old].slice(0, MOST_RESULTS));

  const ask = (failure: Failure, again: () => Promise<void>) =>
    new Promise<void>((resolve) =>
      setQuestion({
        title: "Run it?",
        text: `${failure.message}.`,
        button: "Run it",
        run: () => again().then(resolve),
      }),
    );

  const runOne = async (line: Line, confirm = false): Promise<void> => {
    try {
      const answer = await act<{ value: Value; micros: number }>("POST", "/api/command", {
        words: line.words,
        ...(confirm && { confirm }),
      });
      add({ line: line.text, ...answer });
    } catch (failure) {
      if ((failure as Failure).code === "CONFIRM" && !confirm) void ask(failure as Failure, () => runOne(line, true));
      else add({ line: line.text, error: (failure as Failure).message });
    }
  };

  const runTogether = async (lines: readonly Line[], confirm = false): Promise<void> => {
    try {
      const commands = lines.map(({ words }) => words);
      const body = { commands, ...(confirm && { confirm }) };
      const answer = await act<{ outcomes: Outcome[]; micros: number }>("POST", "/api/workbench/pipeline", body);
      for (const [nth, outcome] of answer.outcomes.entries()) add({ line: lines[nth]!.text, ...outcome });
      setSummary(`${counted(lines.length, "command")} in one round trip, ${micros(answer.micros)}`);
    } catch (failure) {
      if ((failure as Failure).code === "CONFIRM" && !confirm) {
        void ask(failure as Failure, () => runTogether(lines, true));
      } else add({ line: counted(lines.length, "command"), error: (failure as Failure).message });
    }
  };

  const busy = async (work: () => Promise<void>) => {
    setBusy(true);
    setSummary("");
    const begin = performance.now();
    try {
      await work();
      setSummary((said) => said || `Done in ${micros((performance.now() - begin) * 1_000)}`);
    } finally {
      setBusy(false);
    }
  };
  const clear = () => {
    setResults([]);
    setSummary("");
  };
  return { results, question, setQuestion, isBusy, summary, add, runOne, runTogether, busy, clear };
}

function Docs({ help }: { help: CommandHelp | undefined }) {
  return (
    <aside className="docs" aria-label="Documentation" aria-live="polite">
      {help === undefined ? (
        <p className="dim">Put the cursor into a line to read about its command.</p>
      ) : (
        <>
          <code className="syntax">{help.syntax}</code>
          <p>{help.summary}</p>
          <p className="dim">
            {[help.complexity, help.group, help.since && `since ${help.since}`].filter(Boolean).join(" · ")}
          </p>
        </>
      )}
    </aside>
  );
}

function Costs({ of }: { of: readonly { line: Line; cost: Cost }[] }) {
  if (of.length === 0) return null;
  return (
    <ul className="costs" aria-label="Costs">
      {of.map(({ line, cost }, nth) => (
        <li key={nth} className={cost.level}>
          <IconAlertTriangle size={15} stroke={1.8} aria-hidden="true" />
          <span>
            <code>{line.text.slice(0, 60)}</code> {cost.text}
          </span>
        </li>
      ))}
    </ul>
  );
}

function SaveDialog({ name, save, close }: { name: string; save: (name: string) => void; close: () => void }) {
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    save(String(new FormData(event.currentTarget).get("name")).trim());
    close();
  };
  return (
    <Dialog title="Save script" close={close}>
      <form className="stack" onSubmit={submit}>
        <p className="dim">This browser keeps it. A script of the same name is replaced.</p>
        <label>
          Name
          <input name="name" required maxLength={60} defaultValue={name} data-autofocus />
        </label>
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="main">
            Save script
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

function Shelf({ open, kept }: { open: (script: Saved) => void; kept: ReturnType<typeof useKept> }) {
  return (
    <aside className="shelf" aria-label="Scripts and history">
      <h2>Saved scripts</h2>
      {kept.saved.length === 0 && <p className="dim">None yet.</p>}
      <ul>
        {kept.saved.map((script) => (
          <li key={script.name}>
            <button type="button" className="plain" onClick={() => open(script)}>
              {script.name}
            </button>
            <span className="tag">{script.language === "lua" ? "Lua" : "commands"}</span>
            <button
              type="button"
              className="icon"
              aria-label={`Delete script ${script.name}`}
              title="Delete script"
              onClick={() => kept.remove(script.name)}
            >
              <IconTrash size={15} stroke={1.6} />
            </button>
          </li>
        ))}
      </ul>
      <h2>
        <IconHistory size={14} stroke={1.8} aria-hidden="true" /> History
      </h2>
      {kept.history.length === 0 && <p className="dim">What you run is listed here.</p>}
      <ul>
        {kept.history.map((script, nth) => (
          <li key={nth}>
            <button type="button" className="plain" title={script.text} onClick={() => open(script)}>
              <code>{script.text.split("\n")[0]!.slice(0, 48)}</code>
              {script.text.includes("\n") && <small> +{script.text.split("\n").length - 1}</small>}
            </button>
          </li>
        ))}
      </ul>
    </aside>
  );
}

interface EditorHostProps {
  readonly text: string;
  readonly language: Language;
  readonly table: readonly CommandHelp[];
  readonly editor: { current: Editor | null };
  readonly changed: (text: string) => void;
  readonly moved: (line: string) => void;
  readonly run: () => void;
}

function EditorHost({ text, language, table, editor, changed, moved, run }: EditorHostProps) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef({ table, changed, moved, run });
  latest.current = { table, changed, moved, run };
  useEffect(() => {
    const opened = openEditor(host.current!, {
      text,
      language,
      label: "Script",
      table: () => latest.current.table,
      keys: async (beginning) => {
        const match = `${beginning.replace(/[\\*?[\]^]/g, "\\$&")}*`;
        const { keys } = await get<{ keys: KeyFacts[] }>("/api/keys", { match, count: MOST_KEYS });
        return keys.flatMap(({ key }) => (typeof key === "string" && !/\s/.test(key) ? [key] : [])).slice(0, MOST_KEYS);
      },
      changed: (next) => latest.current.changed(next),
      moved: (line) => latest.current.moved(line),
      run: () => latest.current.run(),
    });
    editor.current = opened;
    opened.focus();
    return () => {
      editor.current = null;
      opened.destroy();
    };
  }, []);
  useEffect(() => editor.current?.language(language), [language]);
  return <div ref={host} className="editor" />;
}

const DRAFT = "cinnabar.workbench.draft";

export function Workbench() {
  const { data } = useLoad<{ commands: CommandHelp[] }>("/api/commands");
  const table = data?.commands ?? [];
  const editor = useRef<Editor | null>(null);
  const [text, setText] = useState(() => localStorage.getItem(DRAFT) ?? "");
  const [line, setLine] = useState("");
  const address = useAddress();
  const language: Language = address.get("language") === "lua" ? "lua" : "commands";
  const form: Form = FORMS.find((each) => each === address.get("form")) ?? "table";
  const isPipeline = address.get("trip") === "one";
  const setLanguage = (next: Language) => address.replace({ language: next === "lua" ? next : null });
  const [isSaving, setSaving] = useState(false);
  const [name, setName] = useState("");
  const [keys, setKeys] = useState("");
  const [args, setArgs] = useState("");
  const [mayWrite, setMayWrite] = useState(false);
  const kept = useKept();
  const runner = useRunner();
  const costs = useCosts(text, language);

  const changed = useCallback((next: string) => {
    localStorage.setItem(DRAFT, next);
    setText(next);
  }, []);

  const runLua = async (script: string): Promise<void> => {
    const [keyWords, argWords] = [splitWords(keys), splitWords(args)];
    if (typeof keyWords === "string" || typeof argWords === "string") {
      return runner.add({ line: "Lua", error: typeof keyWords === "string" ? keyWords : String(argWords) });
    }
    const first = script.trim().split("\n")[0]!.slice(0, 60);
    try {
      const body = { script, keys: keyWords, args: argWords, readOnly: !mayWrite };
      const { value, ms } = await act<{ value: Value; ms: number }>("POST", "/api/scripts/run", body);
      runner.add({ line: first, value, micros: ms * 1_000 });
    } catch (failure) {
      runner.add({ line: first, error: (failure as Failure).message });
    }
  };

  const run = () => {
    const selected = editor.current?.selection() ?? "";
    const source = selected.trim() === "" ? (editor.current?.text() ?? text) : selected;
    if (source.trim() === "" || runner.isBusy) return;
    kept.remember(addHistory(kept.history, { text: source, language }));
    if (language === "lua") return void runner.busy(() => runLua(source));
    const lines = linesOf(source);
    if (typeof lines === "string") return runner.add({ line: "Script", error: lines });
    if (isPipeline && lines.length > 1) return void runner.busy(() => runner.runTogether(lines));
    void runner.busy(async () => {
      for (const each of lines) await runner.runOne(each);
    });
  };

  const open = (script: Pick<Saved, "text" | "language"> & { name?: string }) => {
    setLanguage(script.language);
    setName(script.name ?? "");
    editor.current?.set(script.text);
    editor.current?.focus();
  };

  return (
    <div className="workbench">
      <Head title="Workbench" note="Ctrl Enter runs what is selected, or everything">
        <button type="button" className="main" disabled={runner.isBusy || text.trim() === ""} onClick={run}>
          <IconPlayerPlay size={16} stroke={1.8} aria-hidden="true" /> {runner.isBusy ? "Running…" : "Run script"}
        </button>
        <button type="button" disabled={text.trim() === ""} onClick={() => setSaving(true)}>
          <IconDeviceFloppy size={16} stroke={1.6} aria-hidden="true" /> Save script
        </button>
      </Head>
      <div className="bench">
        <div className="desk">
          <div className="tools">
            <fieldset className="choice" aria-label="Language">
              {(["commands", "lua"] as const).map((each) => (
                <label key={each}>
                  <input type="radio" name="language" checked={language === each} onChange={() => setLanguage(each)} />
                  {each === "lua" ? "Lua" : "Commands"}
                </label>
              ))}
            </fieldset>
            {language === "commands" ? (
              <label className="check">
                <input
                  type="checkbox"
                  checked={isPipeline}
                  onChange={() => address.replace({ trip: isPipeline ? null : "one" })}
                />{" "}
                One round trip
              </label>
            ) : (
              <>
                <input
                  aria-label="Keys"
                  placeholder="KEYS"
                  value={keys}
                  onChange={(e) => setKeys(e.currentTarget.value)}
                />
                <input
                  aria-label="Arguments"
                  placeholder="ARGV"
                  value={args}
                  onChange={(e) => setArgs(e.currentTarget.value)}
                />
                <label className="check" data-acts="admin">
                  <input type="checkbox" checked={mayWrite} onChange={() => setMayWrite(!mayWrite)} /> May write
                </label>
              </>
            )}
          </div>
          <EditorHost
            text={text}
            language={language}
            table={table}
            editor={editor}
            changed={changed}
            moved={setLine}
            run={run}
          />
          <Costs of={costs} />
          {language === "commands" && <Docs help={commandAt(table, line)} />}
          <section className="results" aria-label="Answers">
            <div className="tools">
              <fieldset className="choice" aria-label="Form of answers">
                {FORMS.map((each) => (
                  <label key={each}>
                    <input
                      type="radio"
                      name="form"
                      checked={form === each}
                      onChange={() => address.replace({ form: each === "table" ? null : each })}
                    />
                    {{ table: "Table", text: "Text", json: "JSON" }[each]}
                  </label>
                ))}
              </fieldset>
              <span className="dim" role="status">
                {runner.summary}
              </span>
              {runner.results.length > 0 && (
                <button type="button" className="clear" onClick={runner.clear}>
                  <IconEraser size={15} stroke={1.6} aria-hidden="true" /> Clear answers
                </button>
              )}
            </div>
            {runner.results.length === 0 && (
              <Empty title="No answers yet." icon={IconPlayerPlay}>
                One command a line, quotes as redis-cli reads them, # begins a comment. Ctrl Space completes.
              </Empty>
            )}
            {runner.results.map((result) => (
              <ResultView key={result.id} result={result} form={form} />
            ))}
          </section>
        </div>
        <Shelf open={open} kept={kept} />
      </div>
      {isSaving && (
        <SaveDialog
          name={name}
          close={() => setSaving(false)}
          save={(as) => {
            setName(as);
            kept.save({ name: as, text: editor.current?.text() ?? text, language });
          }}
        />
      )}
      {runner.question && <Confirm question={runner.question} close={() => runner.setQuestion(null)} />}
    </div>
  );
}
