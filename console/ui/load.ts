/** Loading from the console's API: one cache for all views, so that two that ask for the same share the answer. */
import { QueryClient, useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { type Failure, get, type Query } from "./api.ts";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: false,
      networkMode: "always",
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      staleTime: 0,
      // What was left is loaded anew: a console that shows what was is worse than one that shows nothing for a moment.
      gcTime: 0,
    },
  },
});

export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: Failure | undefined;
  reload(): void;
}

/**
 * Loads, and again when what is asked for changes, when the server is back, and every so often while the page is seen. Keeps what
 * it has meanwhile.
 */
export function useLoad<T>(path: string | null, query: Query = {}, everyMs?: number): Loaded<T> {
  const { data, error, refetch } = useQuery<T, Failure>({
    queryKey: [path, query],
    queryFn: ({ signal }) => get<T>(path!, query, signal),
    enabled: path !== null,
    refetchInterval: everyMs ?? false,
  });
  const reload = useCallback(() => void refetch(), [refetch]);
  // A server that is lost has its banner; what is shown stays.
  const isShown = error === null || (error.code === "LOST" && data !== undefined);
  return { data: isShown ? data : undefined, error: isShown ? undefined : error, reload };
}
