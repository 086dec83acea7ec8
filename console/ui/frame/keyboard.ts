/** The keyboard of the whole page: `/`, `?`, ⌘K, ⌘Z, and `g` or `e` with a letter; nothing while somebody types or a dialog is open. */
import { useLayoutEffect, useRef } from "react";
import { go } from "../router.ts";
import { undoLast } from "../undo.tsx";
import { goToSearch, isDialogOpen, isTyping, leaveField } from "./search-key.ts";
import { EXAMPLE_VIEWS, OPERATE_VIEWS, type View } from "./views.ts";

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
      leaveField(event);
      const isBehindDialog = isDialogOpen();
      if ((event.ctrlKey || event.metaKey) && event.key === "k" && !isBehindDialog) {
        event.preventDefault();
        return latest.current.palette();
      }
      if ((event.ctrlKey || event.metaKey) && event.key === "z" && !isBehindDialog && !isTyping(event)) {
        if (undoLast()) event.preventDefault();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || isBehindDialog) return;
      if (going) {
        const view = going.find(({ key }) => key === event.key);
        going = null;
        if (view === undefined) return;
        event.preventDefault();
        go(view.path);
      } else if (event.key === "g") going = OPERATE_VIEWS;
      else if (event.key === "e") going = EXAMPLE_VIEWS;
      else if (event.key === "?") latest.current.help();
      else if (event.key === "/") goToSearch(event);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}
