/** What an operator can do to a component: a dialog with its fields and its warning, kept in the address. */
import { useState } from "react";
import { useAddress } from "../../../address.ts";
import { act } from "../../../api.ts";
import { Dialog, toast, useActions } from "../../../parts.tsx";
import { apiOf, type Offered, type Thing } from "./model.ts";

interface Props {
  readonly kind: string;
  readonly thing: Thing;
  readonly actions: readonly Offered[];
  readonly changed: () => void;
}

function ActionDialog({
  kind,
  thing,
  action,
  row,
  changed,
  close,
}: Props & { action: Offered; row: string; close: () => void }) {
  const { go } = useAddress();
  const running = useActions(changed);
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(action.fields.map(({ name, initial }) => [name, initial])),
  );
  const url = `${apiOf(kind)}?${new URLSearchParams({ prefix: thing.prefix, name: thing.name })}`;
  const send = async () => {
    let said = "";
    const isDone = await running.run(async () => {
      ({ said } = await act<{ said: string }>("POST", url, { action: action.name, row, values }));
    });
    if (!isDone) return;
    toast(said);
    if (action.ends) go({ action: null, row: null, name: null, prefix: null, item: null, after: null });
    else close();
  };
  return (
    <Dialog title={row === "" ? action.title : `${action.title}: ${row}`} close={close}>
      {running.view}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {action.warning !== null && <p>{action.warning}</p>}
        {action.fields.map(({ name, label, kind: type }, nth) => (
          <label key={name}>
            {label}
            <input
              required
              type={type === "integer" ? "number" : "text"}
              step={type === "integer" ? 1 : undefined}
              value={values[name] ?? ""}
              data-autofocus={nth === 0 ? true : undefined}
              onChange={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          </label>
        ))}
        <div className="row end">
          <button type="button" onClick={close} data-autofocus={action.fields.length === 0 ? true : undefined}>
            Cancel
          </button>
          <button type="submit" className={action.warning === null ? "main" : "danger"} disabled={running.isBusy}>
            {action.title}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The dialog that the address names, where the thing has that action. */
export function OpenAction(props: Props) {
  const { query, go } = useAddress();
  const action = props.actions.find(({ name }) => name === query.get("action"));
  if (action === undefined) return null;
  const row = action.on === "row" ? (query.get("row") ?? "") : "";
  return (
    <ActionDialog
      key={`${action.name} ${row}`}
      {...props}
      action={action}
      row={row}
      close={() => go({ action: null, row: null })}
    />
  );
}

export function ThingButtons({ actions }: { actions: readonly Offered[] }) {
  const { go } = useAddress();
  return (
    <>
      {actions
        .filter(({ on }) => on === "thing")
        .map(({ name, title, ends }) => (
          <button
            key={name}
            type="button"
            className={ends ? "danger" : ""}
            data-acts="operator"
            onClick={() => go({ action: name, row: null })}
          >
            {title}…
          </button>
        ))}
    </>
  );
}

export function RowButtons({
  actions,
  names,
  row,
}: {
  actions: readonly Offered[];
  names: readonly string[];
  row: string;
}) {
  const { go } = useAddress();
  return (
    <span className="row-buttons">
      {names
        .flatMap((name) => actions.find((each) => each.name === name) ?? [])
        .map(({ name, title, short, warning }) => (
          <button
            key={name}
            type="button"
            className={`small ${warning === null ? "" : "danger"}`}
            data-acts="operator"
            aria-label={`${short} ${row}`}
            title={title}
            onClick={() => go({ action: name, row })}
          >
            {short}…
          </button>
        ))}
    </span>
  );
}
