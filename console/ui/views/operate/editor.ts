/**
 * The editor of the workbench: CodeMirror, with the server's own commands, their options and key names to complete. Loaded when the
 * workbench is opened.
 *
 * It lives in a shadow root: there CodeMirror's styles are constructed sheets, which the page's security policy allows, while it
 * forbids the style elements that it would write into the document.
 */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, type StreamParser, syntaxHighlighting } from "@codemirror/language";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { CommandHelp } from "../../../src/operate/command.ts";

export type Language = "commands" | "lua";

export interface EditorOptions {
  readonly text: string;
  readonly language: Language;
  readonly label: string;
  /** The command table, as far as it is known. */
  table(): readonly CommandHelp[];
  /** Keys that begin so. */
  keys(beginning: string): Promise<readonly string[]>;
  changed(text: string): void;
  /** The line in which the cursor is. */
  moved(line: string): void;
  run(): void;
}

export interface Editor {
  text(): string;
  /** What is selected; empty where nothing is. */
  selection(): string;
  set(text: string): void;
  language(language: Language): void;
  focus(): void;
  destroy(): void;
}

/** One command a line: its name, options in capitals, strings, numbers, comments. */
const commands: StreamParser<{ isFirst: boolean }> = {
  name: "commands",
  startState: () => ({ isFirst: true }),
  token(stream, state) {
    if (stream.sol()) state.isFirst = true;
    if (stream.eatSpace()) return null;
    if (state.isFirst && (stream.match("#") || stream.match("//"))) {
      stream.skipToEnd();
      return "comment";
    }
    const isFirst = state.isFirst;
    state.isFirst = false;
    if (stream.match(/^"(?:\\.|[^"\\])*"?/) || stream.match(/^'(?:\\'|[^'])*'?/)) return "string";
    if (stream.match(/^-?\d+(?:\.\d+)?(?=\s|$)/)) return "number";
    stream.match(/^\S+/);
    if (isFirst) return "keyword";
    return /^[A-Z][A-Z-]+$/.test(stream.current()) ? "atom" : "variableName";
  },
};

const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent)", fontWeight: "600" },
  { tag: tags.atom, color: "var(--active)" },
  { tag: tags.string, color: "var(--healthy)" },
  { tag: tags.number, color: "var(--delayed)" },
  { tag: tags.comment, color: "var(--dim)", fontStyle: "italic" },
  { tag: [tags.standard(tags.variableName), tags.function(tags.variableName)], color: "var(--active)" },
]);

const LOOK = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--panel)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--dim)", border: "0" },
  ".cm-placeholder": { color: "var(--dim)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, ::selection": {
    backgroundColor: "var(--hover)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--panel)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    boxShadow: "0 6px 24px rgb(0 0 0 / 18%)",
  },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "14em" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent, #fff)",
  },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "0.75", marginLeft: "1em" },
  ".cm-completionInfo": { maxWidth: "26rem", padding: "8px 10px", whiteSpace: "pre-wrap" },
});

/** Words in capitals of a command's syntax, which are its options. */
const optionsOf = (syntax: string): string[] => [
  ...new Set(syntax.split(/[\s[\]|<>…]+/).filter((word) => /^[A-Z][A-Z-]*$/.test(word))),
];

function infoOf({ syntax, summary, complexity, since }: CommandHelp): string {
  const parts = [syntax, summary];
  if (complexity !== "") parts.push(`Complexity: ${complexity}`);
  if (since !== "") parts.push(`Since ${since}`);
  return parts.join("\n");
}

/** The command of a line: its name may have two words. */
export function commandAt(table: readonly CommandHelp[], line: string): CommandHelp | undefined {
  const [first = "", second = ""] = line.trim().toUpperCase().split(/\s+/);
  return table.find(({ name }) => name === `${first} ${second}`) ?? table.find(({ name }) => name === first);
}

async function complete(context: CompletionContext, options: EditorOptions): Promise<CompletionResult | null> {
  const { text, from } = context.state.doc.lineAt(context.pos);
  const before = text.slice(0, context.pos - from);
  if (/^\s*(?:#|\/\/)/.test(before)) return null;
  const word = /\S*$/.exec(before)![0];
  const at = context.pos - word.length;
  const table = options.table();
  const typed = before.trimStart().toUpperCase();
  const named: Completion[] = table
    .filter(({ name }) => name.startsWith(typed) && name !== typed)
    .map((help) => ({
      label: help.name,
      type: "keyword",
      detail: help.group,
      info: infoOf(help),
      apply: `${help.name} `,
    }));
  if (!/\s/.test(typed)) {
    if (word === "" && !context.explicit) return null;
    return { from: from + before.length - before.trimStart().length, options: named, filter: false };
  }
  if (named.length > 0)
    return { from: from + before.length - before.trimStart().length, options: named, filter: false };
  const command = commandAt(table, before);
  if (word === "" && !context.explicit) return null;
  const words: Completion[] =
    command === undefined
      ? []
      : optionsOf(command.syntax.slice(command.name.length)).map((label) => ({ label, type: "constant" }));
  // A key stands near the beginning; further on a guess would be in the way.
  const place = before.trim().split(/\s+/).length - (word === "" ? 0 : 1);
  const isKeyPlace = command === undefined || (/\bkey\b/i.test(command.syntax) && place <= 3);
  const keys = isKeyPlace && word.length > 0 ? await options.keys(word).catch(() => []) : [];
  if (context.aborted) return null;
  const found = [...keys.map((label): Completion => ({ label, type: "variable", detail: "key", boost: 1 })), ...words];
  return found.length === 0 ? null : { from: at, options: found };
}

const parserOf = (language: Language) => StreamLanguage.define(language === "lua" ? lua : commands);

export function openEditor(host: HTMLElement, options: EditorOptions): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const parser = new Compartment();
  let language = options.language;
  const ran = () => {
    options.run();
    return true;
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(),
        history(),
        closeBrackets(),
        parser.of(parserOf(language)),
        syntaxHighlighting(COLOURS),
        LOOK,
        placeholder("SET greeting hello\nGET greeting"),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false", autocapitalize: "off" }),
        autocompletion({
          override: [(context) => (language === "lua" ? null : complete(context, options))],
          icons: false,
        }),
        keymap.of([
          { key: "Mod-Enter", preventDefault: true, run: ran },
          ...completionKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.changed(update.state.doc.toString());
          if (update.docChanged || update.selectionSet) {
            options.moved(update.state.doc.lineAt(update.state.selection.main.head).text);
          }
        }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    selection: () => {
      const { from, to } = view.state.selection.main;
      return view.state.sliceDoc(from, to);
    },
    set: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    language: (next) => {
      language = next;
      view.dispatch({ effects: parser.reconfigure(parserOf(next)) });
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
