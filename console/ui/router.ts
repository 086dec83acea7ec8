/** Where the page is, kept in the address after `#`: `#/keys?key=a`. A reload or a link comes back to the same place. */
import { useEffect, useState } from "preact/hooks";

export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

function read(): Place {
  const [path = "", query = ""] = location.hash.slice(1).split("?", 2);
  return { path: path.replace(/^\//, ""), query: new URLSearchParams(query) };
}

export function go(path: string, query: Readonly<Record<string, string>> = {}): void {
  const words = new URLSearchParams(query).toString();
  location.hash = `/${path}${words === "" ? "" : `?${words}`}`;
}

export function usePlace(): Place {
  const [place, setPlace] = useState(read);
  useEffect(() => {
    const moved = () => setPlace(read());
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return place;
}
