/** Parts of a view's state that are in its address, each under a name: a link or a reload shows the same. */
import { useMemo } from "react";
import { usePlace } from "./router.ts";

export type Changes = Readonly<Record<string, string | null>>;

export interface Address {
  /** Empty where the address does not have it. */
  get(name: string): string;
  /** The address with other values; null and the empty text leave one out. */
  href(changes: Changes): string;
  /** Goes there; the way back leads to where it was. */
  go(changes: Changes): void;
  /** Goes there in place of this: for what is typed. */
  replace(changes: Changes): void;
}

export function useAddress(): Address {
  const { path, query } = usePlace();
  return useMemo(() => {
    const href = (changes: Changes): string => {
      const next = new URLSearchParams(query);
      for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === "") next.delete(name);
        else next.set(name, value);
      }
      const words = next.toString();
      return `#/${path}${words === "" ? "" : `?${words}`}`;
    };
    return {
      get: (name) => query.get(name) ?? "",
      href,
      go: (changes) => {
        location.hash = href(changes).slice(1);
      },
      replace: (changes) => {
        history.replaceState(history.state, "", href(changes));
        dispatchEvent(new HashChangeEvent("hashchange"));
      },
    };
  }, [path, query]);
}
