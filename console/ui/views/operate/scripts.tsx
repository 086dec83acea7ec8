/** Scripts and functions: a place to try one, what the server holds, and what runs. */
import { type SubmitEvent, useState } from "react";
import type { Value } from "../../../src/values.ts";
import { ActButton, acting } from "../../acting.tsx";
import { act, type Failure } from "../../api.ts";
import { bytes, duration, number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Dialog, Empty, Head, States, Table, useActions, ValueView } from "../../parts.tsx";

interface Library {
  readonly name: string;
  readonly engine: string;
  readonly code: string;
  readonly functions: readonly {
    readonly name: string;
    readonly description: string | null;
    readonly flags: string[];
  }[];
}
interface Shown {
  readonly cached: number;
  readonly bytes: number;
  readonly libraries: Library[] | null;
  readonly running: { readonly name: string; readonly command: string[]; readonly ms: number | null }[];
}

const lines = (text: FormDataEntryValue | null) =>
  String(text ?? "")
    .split("\n")
    .filter((line) => line !== "");

function Trial() {
  const [result, setResult] = useState<{ value: Value; ms: number } | null>(null);
  const [error, setError] = useState<Failure | null>(null);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const body = {
      script: String(form.get("script")),
      keys: lines(form.get("keys")),
      args: lines(form.get("args")),
      readOnly: form.get("writes") === null,
    };
    setError(null);
    setResult(null);
    await acting(() => act<{ value: Value; ms: number }>("POST", "/api/scripts/run", body)).then(setResult, setError);
  };
  return (
    <form className="trial" onSubmit={submit}>
      <label>
        Script
        <textarea
          name="script"
          rows={8}
          required
          spellCheck={false}
          data-search
          placeholder={'return redis.call("GET", KEYS[1])'}
        />
      </label>
      <div className="trial-words">
        <label>
          Keys, one in a line
          <textarea name="keys" rows={3} spellCheck={false} />
        </label>
        <label>
          Arguments, one in a line
          <textarea name="args" rows={3} spellCheck={false} />
        </label>
      </div>
      <div className="row">
        <ActButton type="submit" className="main" data-acts="admin">
          Run script
        </ActButton>
        <label className="check">
          <input type="checkbox" name="writes" /> may write
        </label>
      </div>
      <div className="trial-result" aria-live="polite">
        {error && <p className="bad">{error.message}</p>}
        {result && (
          <>
            <p className="note">{`${result.ms.toFixed(1)} ms`}</p>
            <ValueView value={result.value} />
          </>
        )}
      </div>
    </form>
  );
}

function Load({ close, done }: { close: () => void; done: () => void }) {
  const actions = useActions(done);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const body = { code: String(form.get("code")), replace: form.get("replace") !== null };
    if (await actions.run(() => act("POST", "/api/functions", body))) close();
  };
  return (
    <Dialog title="Load a library" close={close}>
      {actions.view}
      <form className="trial" onSubmit={submit}>
        <textarea
          name="code"
          rows={14}
          required
          spellCheck={false}
          aria-label="Code"
          placeholder={
            '#!lua name=shop\nredis.register_function("stock", function(keys) return redis.call("GET", keys[1]) end)'
          }
        />
        <label className="check">
          <input type="checkbox" name="replace" /> in place of the library of that name
        </label>
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="main">
            Load library
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

function Libraries({ libraries, remove }: { libraries: readonly Library[]; remove: (name: string) => void }) {
  if (libraries.length === 0) return <Empty title="No library is loaded." />;
  return (
    <>
      {libraries.map(({ name, engine, code, functions }) => (
        <details key={name} className="library">
          <summary>
            <code>{name}</code>{" "}
            <span className="note">{`${engine}, ${functions.map((each) => each.name).join(", ")}`}</span>
          </summary>
          <pre>{code}</pre>
          <ActButton type="button" className="danger small" data-acts="admin" onClick={() => remove(name)}>
            Delete library
          </ActButton>
        </details>
      ))}
    </>
  );
}

export function Scripts() {
  const loaded = useLoad<Shown>("/api/scripts", {}, 3_000);
  const actions = useActions(loaded.reload);
  const [loading, setLoading] = useState(false);
  const flush = () =>
    actions.ask({
      title: "Forget all cached scripts?",
      text: "Clients that know how load them again when they next need them; others get NOSCRIPT.",
      button: "Forget scripts",
      run: () => actions.run(() => act("POST", "/api/scripts/flush")),
    });
  const remove = (name: string) =>
    actions.ask({
      title: `Delete the library ${name}?`,
      text: "Its functions cannot be called any more.",
      button: "Delete library",
      run: () => actions.run(() => act("DELETE", `/api/functions/${encodeURIComponent(name)}`)),
    });
  const note = loaded.data && `${number(loaded.data.cached)} cached, ${bytes(loaded.data.bytes)}`;
  return (
    <>
      <Head title="Scripts" note={note}>
        <ActButton type="button" data-acts="admin" onClick={flush}>
          Forget cached scripts
        </ActButton>
        <ActButton type="button" data-acts="admin" onClick={() => setLoading(true)}>
          Load library…
        </ActButton>
      </Head>
      {actions.view}
      <States of={loaded}>
        {({ running }) =>
          running.length > 0 && (
            <Table
              label="Running"
              rows={running}
              id={({ name }) => name}
              columns={[
                { title: "Runs now", cell: ({ name }) => <code>{name}</code> },
                { title: "For", numeric: true, cell: ({ ms }) => (ms === null ? "a while" : duration(ms)) },
                { title: "Call", wide: true, cell: ({ command }) => <code>{command.join(" ").slice(0, 200)}</code> },
                {
                  title: "",
                  cell: () => (
                    <ActButton
                      type="button"
                      className="danger small"
                      data-acts="admin"
                      onClick={() => actions.run(() => act("POST", "/api/scripts/kill"))}
                    >
                      End script
                    </ActButton>
                  ),
                },
              ]}
            />
          )
        }
      </States>
      <Trial />
      <h2 className="section">Function libraries</h2>
      <States of={loaded}>
        {({ libraries }) =>
          libraries === null ? (
            <Empty title="This server has no functions, or is busy." />
          ) : (
            <Libraries libraries={libraries} remove={remove} />
          )
        }
      </States>
      {loading && <Load close={() => setLoading(false)} done={loaded.reload} />}
    </>
  );
}
