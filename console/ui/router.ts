/** Where the page is, kept in the address after `#`: `#/keys?key=a`. A reload or a link comes back to the same place. */
import { useMemo } from "react";
import { useOutside } from "./outside.ts";

export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

function placeOf(hash: string): Place {
  const [path = "", query = ""] = hash.slice(1).split("?", 2);
  return { path: path.replace(/^\//, ""), query: new URLSearchParams(query) };
}

export const currentPlace = (): Place => placeOf(location.hash);

export function go(path: string, query: Readonly<Record<string, string>> = {}): void {
  const words = new URLSearchParams(query).toString();
  location.hash = `/${path}${words === "" ? "" : `?${words}`}`;
}

function whenMoved(moved: () => void): () => void {
  addEventListener("hashchange", moved);
  return () => removeEventListener("hashchange", moved);
}

export function usePlace(): Place {
  const hash = useOutside(() => location.hash, whenMoved);
  return useMemo(() => placeOf(hash), [hash]);
}
