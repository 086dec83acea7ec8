/** `/` goes to the search, Escape leaves what is typed into. */
import { useLayoutEffect } from "react";

/** What is typed into; an editor may stand in a shadow root, of which the event's own target knows nothing. */
const fieldOf = (event: KeyboardEvent): EventTarget | null => event.composedPath()[0] ?? event.target;

export const isTyping = (event: KeyboardEvent): boolean => {
  const target = fieldOf(event);
  return target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable);
};

export const isDialogOpen = (): boolean => document.querySelector("[role=dialog]") !== null;

export function leaveField(event: KeyboardEvent): void {
  if (event.key === "Escape" && isTyping(event) && !event.defaultPrevented) (fieldOf(event) as HTMLElement).blur();
}

export function goToSearch(event: KeyboardEvent): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("[data-search]")?.focus();
}

/** For a view that stands by itself; the whole page has more keys (keyboard.ts). */
export function useSearchKey(): void {
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      leaveField(event);
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
      if (event.key === "/" && isPlain && !isTyping(event) && !isDialogOpen()) goToSearch(event);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}
