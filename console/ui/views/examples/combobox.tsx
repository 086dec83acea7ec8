/**
 * A field with completions below it, as the ARIA pattern of a combobox has it: arrows choose, Enter takes, Escape closes. What is
 * asked for while the answer to an earlier beginning is on its way replaces it.
 */
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";

export interface Offers {
  readonly title: string;
  readonly names: readonly string[];
}

interface Props {
  readonly label: string;
  readonly placeholder: string;
  readonly search?: boolean;
  readonly load: (beginning: string, signal: AbortSignal) => Promise<readonly Offers[]>;
  readonly choose: (name: string) => void;
}

export function Combobox({ label, placeholder, search, load, choose }: Props) {
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [offers, setOffers] = useState<readonly Offers[]>([]);
  const [at, setAt] = useState(-1);
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const all = offers.flatMap(({ names }) => names);
  useEffect(() => {
    if (!isOpen) return;
    const stop = new AbortController();
    load(text, stop.signal).then(
      (found) => {
        if (stop.signal.aborted) return;
        setOffers(found);
        setAt(-1);
      },
      // A lost server has its banner; a beginning that was typed over needs no answer.
      () => {},
    );
    return () => stop.abort();
  }, [text, isOpen]);
  const take = (name: string) => {
    if (name.trim() === "") return;
    choose(name);
    setText("");
    setOpen(false);
    setAt(-1);
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => (isOpen ? setAt(Math.min(at + 1, all.length - 1)) : setOpen(true)),
    ArrowUp: () => setAt(Math.max(at - 1, -1)),
    Enter: () => take(all[at] ?? text),
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "Escape") setOpen(false);
    const run = keys[event.key];
    if (run === undefined) return;
    event.preventDefault();
    run();
  };
  let nth = -1;
  return (
    <div className="combobox">
      <input
        ref={field}
        role="combobox"
        aria-label={label}
        aria-expanded={isOpen && all.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
        autoComplete="off"
        spellCheck={false}
        maxLength={60}
        placeholder={placeholder}
        data-search={search ? "" : undefined}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={pressed}
      />
      <div id={id} role="listbox" aria-label={label} className="combobox-list" hidden={!isOpen || all.length === 0}>
        {offers.map(({ title, names }) =>
          names.length === 0 ? null : (
            // biome-ignore lint/a11y/useSemanticElements: the group of a listbox is no fieldset.
            <div key={title} role="group" aria-label={title}>
              <p className="dim" aria-hidden="true">
                {title}
              </p>
              {names.map((name) => {
                nth++;
                const mine = nth;
                return (
                  // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus, and says which one is meant.
                  <div
                    key={name}
                    id={`${id}-${mine}`}
                    role="option"
                    aria-selected={mine === at}
                    // Before the field loses the focus, which closes the list.
                    onMouseDown={(event) => {
                      event.preventDefault();
                      take(name);
                    }}
                  >
                    <bdi>{name}</bdi>
                  </div>
                );
              })}
            </div>
          ),
        )}
      </div>
    </div>
  );
}
