/** Who this browser is in the examples, and the means to be somebody else. */
import { useEffect, useState } from "preact/hooks";
import { act, type Failure, get } from "../../api.ts";
import { useOutside, Watchers } from "../../outside.ts";
import { Dialog } from "../../parts.tsx";

let name: string | undefined;
const watchers = new Watchers();

function become(next: string): void {
  name = next;
  watchers.tell();
}

/** The visitor's name at this moment; undefined until it is known. */
export const visitorName = (): string | undefined => name;

export interface Visitor {
  /** Undefined until it is known. */
  readonly name: string | undefined;
  readonly error: Failure | undefined;
  again(): void;
}

/** The visitor's name. The first to ask gets one made up, and their browser keeps it. */
export function useVisitor(): Visitor {
  const value = useOutside(visitorName, watchers.subscribe);
  const [error, setError] = useState<Failure>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (name !== undefined) return;
    setError(undefined);
    get<{ name: string }>("/api/examples/visitor").then(({ name: got }) => become(got), setError);
  }, [turn]);
  return { name: value, error, again: () => setTurn(turn + 1) };
}

function NameDialog({ close, changed }: { close: () => void; changed: () => void }) {
  const [error, setError] = useState<Failure | null>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const wanted = String(new FormData(event.currentTarget as HTMLFormElement).get("name"));
    try {
      become((await act<{ name: string }>("POST", "/api/examples/visitor", { name: wanted })).name);
      close();
      changed();
    } catch (failure) {
      setError(failure as Failure);
    }
  };
  return (
    <Dialog title="Who are you?" close={close}>
      <form class="stack" onSubmit={submit}>
        <p class="dim">This browser keeps the name. Open another browser, or a private window, to be two people.</p>
        <label>
          Name
          <input name="name" maxLength={40} required autofocus value={name} />
        </label>
        {error && (
          <p class="bad" role="alert">
            {error.message}
          </p>
        )}
        <div class="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="main">
            Be that
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function VisitorButton({ changed }: { changed: () => void }) {
  const { name: mine } = useVisitor();
  const [open, setOpen] = useState(false);
  if (mine === undefined) return null;
  return (
    <>
      <button type="button" class="visitor" title="Be somebody else" onClick={() => setOpen(true)}>
        <span class="dim">You are</span> <b>{mine}</b>
      </button>
      {open && <NameDialog close={() => setOpen(false)} changed={changed} />}
    </>
  );
}
