/** The editor of live programs; loaded when the reader begins to edit. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentUnit, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { typescript } from "@codemirror/legacy-modes/mode/javascript";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The colours are the theme's: style.css has them for light and dark. */
const colours = HighlightStyle.define([
  { tag: tags.keyword, class: "cm-keyword" },
  { tag: [tags.string, tags.special(tags.string)], class: "cm-string" },
  { tag: [tags.number, tags.bool, tags.null], class: "cm-number" },
  { tag: tags.comment, class: "cm-comment" },
  { tag: [tags.typeName, tags.className], class: "cm-type" },
  { tag: [tags.definition(tags.variableName), tags.propertyName], class: "cm-name" },
]);

export interface OpenEditor {
  readonly text: string;
  destroy(): void;
}

export function openEditor(
  parent: HTMLElement,
  text: string,
  options: { readonly label: string; run(): void },
): OpenEditor {
  const run = (): boolean => {
    options.run();
    return true;
  };
  const view = new EditorView({
    parent,
    doc: text.trimEnd(),
    extensions: [
      history(),
      bracketMatching(),
      indentUnit.of("  "),
      StreamLanguage.define(typescript),
      syntaxHighlighting(colours),
      EditorView.contentAttributes.of({ "aria-label": options.label }),
      // Escape first, then Tab leaves the editor: CodeMirror's own way out for keyboards.
      keymap.of([{ key: "Mod-Enter", run }, indentWithTab, ...defaultKeymap, ...historyKeymap]),
    ],
  });
  view.focus();
  return {
    get text() {
      return view.state.doc.toString();
    },
    destroy: () => view.destroy(),
  };
}
