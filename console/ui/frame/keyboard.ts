/** The keyboard of the whole page: `/`, `?`, ⌘K, ⌘Z, and `g` or `e` with a letter; nothing while somebody types or a dialog is open. */
import { useLayoutEffect, useRef } from "react";
import { go } from "../router.ts";
import { undoLast } from "../undo.tsx";
import { EXAMPLE_VIEWS, OPERATE_VIEWS, type View } from "./views.ts";

/** What is typed into; an editor may stand in a shadow root, of which the event's own target knows nothing. */
const fieldOf = (event: KeyboardEvent): EventTarget | null => event.composedPath()[0] ?? event.target;

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable);

export const PALETTE_KEYS = /mac|iphone|ipad/i.test(navigator.platform) ? "⌘ K" : "Ctrl K";

export interface Keys {
  help(): void;
  palette(): void;
}

export function useKeyboard(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  // With the first picture, not after it: who sees the page may type.
  useLayoutEffect(() => {
    let going: readonly View[] | null = null;
    const pressed = (event: KeyboardEvent) => {
      const target = fieldOf(event);
      if (event.key === "Escape" && isField(target) && !event.defaultPrevented) (target as HTMLElement).blur();
      const isDialogOpen = document.querySelector("[role=dialog]") !== null;
      if ((event.ctrlKey || event.metaKey) && event.key === "k" && !isDialogOpen) {
        event.preventDefault();
        return latest.current.palette();
      }
      if ((event.ctrlKey || event.metaKey) && event.key === "z" && !isDialogOpen && !isField(target)) {
        if (undoLast()) event.preventDefault();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isField(target) || isDialogOpen) return;
      if (going) {
        const view = going.find(({ key }) => key === event.key);
        going = null;
        if (view === undefined) return;
        event.preventDefault();
        go(view.path);
      } else if (event.key === "g") going = OPERATE_VIEWS;
      else if (event.key === "e") going = EXAMPLE_VIEWS;
      else if (event.key === "?") latest.current.help();
      else if (event.key === "/") {
        event.preventDefault();
        document.querySelector<HTMLElement>("[data-search]")?.focus();
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}
