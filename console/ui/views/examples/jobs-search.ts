/** A search that follows what is asked for: what is typed waits a moment, what is shown stays until there is something new. */
import type { JobMatch, Page } from "cinnabar/job-search";
import { useEffect, useState } from "react";
import type { JobData } from "../../../src/examples/jobs-sample.ts";
import { act, type Failure } from "../../api.ts";
import type { Loaded } from "../../load.ts";
import type { Skill } from "./jobs-skills.tsx";

const WAIT_MS = 150;

export interface Wanted {
  readonly missing: number;
  readonly place: string;
  readonly city: string;
  readonly radiusKm: number;
}

export interface Found extends Loaded<Page<JobMatch<JobData>>> {
  readonly wanted: Wanted;
  want(change: Partial<Wanted>): void;
  readonly canGoBack: boolean;
  back(): void;
  forward(): void;
}

/** Null: it is not known yet what to look for. */
export function useFound(skills: readonly Skill[] | null): Found {
  const [wanted, setWanted] = useState<Wanted>({ missing: 1, place: "", city: "", radiusKm: 50 });
  const [behind, setBehind] = useState<readonly string[]>([]);
  const [state, setState] = useState<{ data?: Page<JobMatch<JobData>>; error?: Failure }>({});
  const [turn, setTurn] = useState(0);
  const { city, radiusKm, ...plain } = wanted;
  const after = behind.at(-1);
  const body = { skills, ...plain, ...(city !== "" && { city, radiusKm }), ...(after !== undefined && { after }) };
  const asked = JSON.stringify(body);
  const terms = JSON.stringify([skills, wanted]);
  useEffect(() => setBehind([]), [terms]);
  useEffect(() => {
    if (skills === null) return;
    let isOver = false;
    const timer = setTimeout(() => {
      act<Page<JobMatch<JobData>>>("POST", "/api/examples/jobs/search", body).then(
        (data) => !isOver && setState({ data }),
        (error: Failure) => !isOver && setState((old) => (error.code === "LOST" && old.data ? old : { error })),
      );
    }, WAIT_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [asked, turn]);
  return {
    data: state.data,
    error: state.error,
    reload: () => setTurn((old) => old + 1),
    wanted,
    want: (change) => setWanted({ ...wanted, ...change }),
    canGoBack: behind.length > 0,
    back: () => setBehind(behind.slice(0, -1)),
    forward: () => state.data?.cursor && setBehind([...behind, state.data.cursor]),
  };
}
