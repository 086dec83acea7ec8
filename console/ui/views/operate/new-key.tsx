/** Makes a key of any type with its first element. */
import { type SubmitEvent, useState } from "react";
import { ActButton, acting } from "../../acting.tsx";
import type { Failure } from "../../api.ts";
import { Dialog } from "../../parts.tsx";

export interface NewKeyBody {
  readonly key: string;
  readonly type: string;
  readonly field: string;
  readonly value: string;
}

const TYPES = ["string", "hash", "list", "set", "zset", "stream"];
const FIELD: Readonly<Record<string, string>> = { hash: "Field", zset: "Member", stream: "Field" };
const VALUE: Readonly<Record<string, string>> = { set: "Member", zset: "Score" };

export function NewKey({ close, make }: { close: () => void; make: (body: NewKeyBody) => Promise<void> }) {
  const [type, setType] = useState("string");
  const [error, setError] = useState<Failure | null>(null);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? "");
    try {
      await acting(() => make({ key: text("key"), type, field: text("field"), value: text("value") }));
      close();
    } catch (failure) {
      setError(failure as Failure);
    }
  };
  return (
    <Dialog title="New key" close={close}>
      <form className="stack" onSubmit={submit}>
        <label>
          Key
          <input name="key" required data-autofocus autoComplete="off" />
        </label>
        <label>
          Type
          <select value={type} onChange={(event) => setType(event.currentTarget.value)}>
            {TYPES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        {FIELD[type] && (
          <label>
            {FIELD[type]}
            <input name="field" required autoComplete="off" />
          </label>
        )}
        <label>
          {VALUE[type] ?? "Value"}
          <textarea name="value" rows={3} />
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
            Create key
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}
