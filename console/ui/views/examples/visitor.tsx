/** Who this browser is in the examples, and the means to be somebody else. */
import { type SubmitEvent, useEffect, useState } from "react";
import { ActButton, acting } from "../../acting.tsx";
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
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const wanted = String(new FormData(event.currentTarget as HTMLFormElement).get("name"));
    try {
      become((await acting(() => act<{ name: string }>("POST", "/api/examples/visitor", { name: wanted }))).name);
      close();
      changed();
    } catch (failure) {
      setError(failure as Failure);
    }
  };
  return (
    <Dialog title="Who are you?" close={close}>
      <form className="stack" onSubmit={submit}>
        <p className="dim">This browser keeps the name. Open another browser, or a private window, to be two people.</p>
        <label>
          Name
          <input name="name" maxLength={40} required data-autofocus defaultValue={name} />
        </label>
        {error && (
          <p className="bad" role="alert">
            {error.message}
          </p>
        )}
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="main">
            Be that
          </ActButton>
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
      <button type="button" className="visitor" title="Be somebody else" onClick={() => setOpen(true)}>
        <span className="dim">You are</span> <b>{mine}</b>
      </button>
      {open && <NameDialog close={() => setOpen(false)} changed={changed} />}
    </>
  );
}
