/** Small things that several examples use. */
import { useLayoutEffect, useRef } from "react";
import { Failure } from "../../api.ts";
import type { Loaded } from "../../load.ts";

/** Keeps what was shown last until what is asked for now is there: a list that is turned over does not vanish in between. */
export function useKept<T>(loaded: Loaded<T>): Loaded<T> {
  const last = useRef<T | undefined>(undefined);
  if (loaded.data !== undefined) last.current = loaded.data;
  return loaded.error === undefined ? { ...loaded, data: last.current } : loaded;
}

/** An id that makes a request safe to send twice. Not `randomUUID`, which browsers have only on TLS and localhost. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The id of a text that is sent: a second try of the same text is the same message until it has arrived; another text is another
 * message, also while the first is on its way.
 */
export function useSending(): { idOf: (text: string) => string; arrived: (id: string) => void } {
  const latest = useRef({ id: "", text: "" });
  return {
    idOf: (text) => {
      if (latest.current.text !== text) latest.current = { id: newId(), text };
      return latest.current.id;
    },
    arrived: (id) => {
      if (latest.current.id === id) latest.current = { id: "", text: "" };
    },
  };
}

/** Whether a key is the second of `g` or `e` and a letter, which is noted before anybody else hears of the key. */
let isSecond = false;
let before = "";
addEventListener(
  "keydown",
  ({ key }) => {
    isSecond = before === "g" || before === "e";
    before = isSecond ? "" : key;
  },
  true,
);

/** Keys that stand for themselves: not in a field or a dialog, and not the second of two that go somewhere. */
export function useKeys(run: (key: string) => void): void {
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const other = event.ctrlKey || event.metaKey || event.altKey || document.querySelector("[role=dialog]");
      const isTyped = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
      if (!isSecond && !other && !isTyped) run(event.key);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

/** `j` and `k` go to the next and the previous element with `data-row`. */
export function useRowKeys(): void {
  useKeys((key) => {
    if (key !== "j" && key !== "k") return;
    const rows = [...document.querySelectorAll<HTMLElement>(".example-body [data-row]")];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    const next = key === "j" ? at + 1 : at === -1 ? rows.length - 1 : at - 1;
    rows[next]?.focus();
  });
}

/** A price as people write it, in cents. Throws what a page shows. */
export function centsOf(text: unknown): number {
  const price = Number(String(text).trim().replace(",", "."));
  if (Number.isFinite(price) && price >= 0.01) return Math.round(price * 100);
  throw new Failure(400, "PRICE", "a price is a number such as 12.50");
}

/** Money in the smallest unit, for people. */
export const money = (cents: number): string =>
  `€ ${(cents / 100).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
