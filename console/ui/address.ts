/** Parts of a view's state that are in its address, each under a name: a link or a reload shows the same. */
import { useMemo } from "react";
import { currentPlace, usePlace } from "./router.ts";

export type Changes = Readonly<Record<string, string | null>>;

export interface Address {
  readonly query: URLSearchParams;
  /** Empty where the address does not have it. */
  get(name: string): string;
  /** The address with other values; null and the empty text leave one out. */
  href(changes: Changes): string;
  /** Goes there; the way back leads to where it was. */
  go(changes: Changes): void;
  /** Goes there in place of this: for what is typed. */
  replace(changes: Changes): void;
}

/** The address that differs in these from the one that is open now, which may be newer than what is drawn. */
function changed(changes: Changes): string {
  const { path, query } = currentPlace();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  const words = query.toString();
  return `#/${path}${words === "" ? "" : `?${words}`}`;
}

/** Goes to the address that differs in these. */
export function changeAddress(changes: Changes): void {
  location.hash = changed(changes).slice(1);
}

/** A text of the address that somebody types: what it is, and what changes it. */
export function useTyped(name: string): readonly [string, (typed: string) => void] {
  const address = useAddress();
  return [address.get(name), (typed) => address.replace({ [name]: typed })];
}

export function useAddress(): Address {
  const { query } = usePlace();
  return useMemo(
    () => ({
      query,
      get: (name) => query.get(name) ?? "",
      href: changed,
      go: changeAddress,
      replace: (changes) => {
        history.replaceState(history.state, "", changed(changes));
        dispatchEvent(new HashChangeEvent("hashchange"));
      },
    }),
    [query],
  );
}
