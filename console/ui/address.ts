/** The rest of a view's place: filters, tabs and dialogs as words of the address, of which one is changed while the others stay. */
import { useMemo } from "react";
import { usePlace } from "./router.ts";

/** Null takes a word out. */
export type Changes = Readonly<Record<string, string | null>>;

export interface Address {
  readonly query: URLSearchParams;
  /** The link to this place with some words changed. */
  with(changes: Changes): string;
  /** Goes there. */
  go(changes: Changes): void;
  /** Goes there without a step of its own in the browser's history: for what is typed. */
  replace(changes: Changes): void;
}

export function useAddress(): Address {
  const { path, query } = usePlace();
  return useMemo(() => {
    const changed = (changes: Changes): string => {
      const words = new URLSearchParams(query);
      for (const [name, value] of Object.entries(changes)) {
        if (value === null) words.delete(name);
        else words.set(name, value);
      }
      return `#/${path}${words.size === 0 ? "" : `?${words}`}`;
    };
    return {
      query,
      with: changed,
      go: (changes) => {
        location.hash = changed(changes);
      },
      replace: (changes) => {
        location.replace(changed(changes));
      },
    };
  }, [path, query]);
}
