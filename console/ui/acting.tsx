/** What is being done right now: buttons that do something wait for it. */
import { type ComponentProps, useLayoutEffect, useRef } from "react";
import { useOutside, Watchers } from "./outside.ts";

let running = 0;
const watchers = new Watchers();

function count(step: 1 | -1): void {
  running += step;
  watchers.tell();
}

/** Does something; until it is over, no other button acts. */
export async function acting<T>(work: () => Promise<T>): Promise<T> {
  count(1);
  try {
    return await work();
  } finally {
    count(-1);
  }
}

const useActing = (): boolean => useOutside(() => running > 0, watchers.subscribe);

/** A button that changes something; disabled while something is being changed. `data-acts` names the role that it needs. */
export function ActButton({ disabled = false, ...rest }: ComponentProps<"button">) {
  const isOff = useActing() || disabled;
  const own = useRef<HTMLButtonElement>(null);
  // A disabled button loses the focus: it comes back with the button, unless it has gone elsewhere.
  const hadFocus = useRef(false);
  if (isOff && own.current !== null && own.current === document.activeElement) hadFocus.current = true;
  useLayoutEffect(() => {
    if (isOff || !hadFocus.current) return;
    hadFocus.current = false;
    if (document.activeElement === document.body) own.current?.focus();
  }, [isOff]);
  return <button ref={own} disabled={isOff} {...rest} />;
}
