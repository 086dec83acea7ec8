/** What was done is told for a moment; where it can be undone, with a button that does, and by Ctrl Z. */
import { notifications } from "@mantine/notifications";
import { ActButton, acting } from "./acting.tsx";
import { act, type Failure } from "./api.ts";
import { queries } from "./load.ts";
import { useOutside, Watchers } from "./outside.ts";

/** Long enough to read it and to reach the button. */
const UNDO_MS = 15_000;

export const UNDO_KEYS = /mac|iphone|ipad/i.test(navigator.platform) ? "⌘ Z" : "Ctrl Z";

/** How often something was undone: views that keep what they have loaded load it again then. */
let undone = 0;
const watchers = new Watchers();
export const useUndone = (): number => useOutside(() => undone, watchers.subscribe);

/** The newest that is still told. */
let latest: { readonly toast: string; undo(): void } | undefined;

/** Undoes what was done last, if it is still told; answers whether there was anything. */
export function undoLast(): boolean {
  latest?.undo();
  return latest !== undefined;
}

/** Says what was done, for a moment. */
export function toast(message: string): void {
  notifications.show({ message, color: "var(--healthy)", withBorder: true });
}

function toastFailure(message: string): void {
  notifications.show({ message, color: "var(--failed)", withBorder: true, autoClose: false });
}

/** What an answer may have: the id that undoes it. */
export interface Undoable {
  readonly undo?: string | null;
}

/** Says what was done, and offers to undo it. `then` is called when it is undone. */
export function toastUndo(message: string, { undo: id }: Undoable, then: () => void = () => {}): void {
  if (id == null) {
    toast(message);
    return;
  }
  const toastId = `undo ${id}`;
  const undo = () => {
    if (latest?.toast === toastId) latest = undefined;
    notifications.hide(toastId);
    void acting(() => act("POST", "/api/undo", { id })).then(
      () => {
        toast("Undone.");
        undone++;
        watchers.tell();
        void queries.invalidateQueries();
        then();
      },
      (failure: Failure) => toastFailure(`${failure.message.charAt(0).toUpperCase()}${failure.message.slice(1)}.`),
    );
  };
  latest = { toast: toastId, undo };
  notifications.show({
    id: toastId,
    message: (
      <span className="row toast-undo">
        <span>{message}</span>
        <ActButton type="button" className="small" title={`Undo (${UNDO_KEYS})`} onClick={undo}>
          Undo
        </ActButton>
      </span>
    ),
    color: "var(--healthy)",
    withBorder: true,
    autoClose: UNDO_MS,
    onClose: () => {
      if (latest?.toast === toastId) latest = undefined;
    },
  });
}
