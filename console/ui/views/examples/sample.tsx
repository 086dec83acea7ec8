/** Sample data of an example: whether it is there, one click to make it, one to remove everything the example wrote. */
import { createContext, useContext, useEffect, useState } from "react";
import type { SampleState } from "../../../src/examples/sample.ts";
import { ActButton, acting } from "../../acting.tsx";
import { act, type Failure, get } from "../../api.ts";
import { useRecoveries } from "../../live.ts";
import { Confirm } from "../../parts.tsx";
import { ExampleEmpty } from "./look.tsx";

const LOOK_MS = 300;
const UNKNOWN: SampleState = { state: "absent", done: 0, total: 0 };

export interface Sample {
  readonly state: SampleState;
  readonly busy: boolean;
  readonly error: Failure | null;
  make(): void;
  remove(): void;
  forget(): void;
}

export function useSample(name: string, changed: () => void): Sample {
  const path = `/api/examples/${name}/sample`;
  const [state, setState] = useState(UNKNOWN);
  const [error, setError] = useState<Failure | null>(null);
  const [working, setWorking] = useState(false);
  const recoveries = useRecoveries();
  const busy = working || state.state === "making" || state.state === "removing";
  const look = () => get<SampleState>(path).then(setState, () => {});
  useEffect(() => void look(), [path, recoveries]);
  useEffect(() => {
    if (!busy) return;
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [busy, path]);
  const run = async (method: "POST" | "DELETE") => {
    setError(null);
    setWorking(true);
    setState({ state: method === "POST" ? "making" : "removing", done: 0, total: 0 });
    try {
      await acting(() => act(method, path));
    } catch (failure) {
      setError(failure as Failure);
    }
    setWorking(false);
    await look();
    changed();
  };
  return {
    state,
    busy,
    error,
    make: () => void run("POST"),
    remove: () => void run("DELETE"),
    forget: () => setError(null),
  };
}

export const SampleOf = createContext<Sample | null>(null);

function Progress({ state: { state, done, total } }: Sample) {
  const text = state === "making" ? "Making" : "Removing";
  return (
    <span className="sampling" role="status">
      {total > 0 ? <progress value={done} max={total} /> : <progress />} {text}
      {done > 0 && ` ${done}${total > 0 ? ` of ${total}` : ""}`}
    </span>
  );
}

/** In the head of an example. */
export function SampleButtons({ title }: { title: string }) {
  const sample = useContext(SampleOf)!;
  const [asking, ask] = useState(false);
  if (sample.busy) return <Progress {...sample} />;
  return (
    <>
      <ActButton type="button" className="sample-make" title="What is there already stays" onClick={sample.make}>
        Make sample data
      </ActButton>
      <ActButton type="button" onClick={() => ask(true)}>
        Remove data
      </ActButton>
      {asking && (
        <Confirm
          close={() => ask(false)}
          question={{
            title: `Remove the data of ${title}?`,
            text: "Everything that this example has written goes, also what you and others have added. Nothing else is touched.",
            button: "Remove data",
            run: sample.remove,
          }}
        />
      )}
    </>
  );
}

/** What stands where an example has nothing to show: says what would be here, and offers the sample. */
export function NothingYet({ title, children }: { title: string; children?: string }) {
  const sample = useContext(SampleOf)!;
  return (
    <ExampleEmpty
      title={title}
      action={
        sample.busy ? (
          <Progress {...sample} />
        ) : (
          <ActButton type="button" className="main" onClick={sample.make}>
            Make sample data
          </ActButton>
        )
      }
    >
      {children}
    </ExampleEmpty>
  );
}
