/** Actions that components of several kinds have. */
import { type Action, type Doing, type Field, gone } from "./kind.ts";

/** `warning`: what is lost with what is in it. */
export const clearing = (what: string, warning: string, run: (doing: Doing) => Promise<unknown>): Action => ({
  name: "clear",
  title: `Clear ${what}`,
  on: "thing",
  ends: true,
  fields: [],
  warning,
  run: async (doing) => {
    await run(doing);
    return `The ${what} ${doing.thing.name} is empty.`;
  },
});

/** Of the thing itself. `run` says whether it was there. */
export const deleting = (what: string, warning: string, run: (doing: Doing) => Promise<boolean>): Action => ({
  name: "delete",
  title: `Delete ${what}`,
  on: "thing",
  ends: true,
  fields: [],
  warning,
  run: async (doing) => {
    if (!(await run(doing))) throw gone(`the ${what} ${doing.thing.name}`);
    return `The ${what} ${doing.thing.name} was deleted.`;
  },
});

/** Of a row. */
export const deletingRow = (what: string, run: (doing: Doing) => Promise<boolean>): Action => ({
  name: "delete",
  title: `Delete ${what}`,
  short: "Delete",
  on: "row",
  fields: [],
  warning: "This cannot be undone.",
  run: async (doing) => {
    if (!(await run(doing))) throw gone(`the ${what} ${doing.row}`);
    return `The ${what} ${doing.row} was deleted.`;
  },
});

/** On a row; with a warning where it cannot be undone, or may surprise. */
export const onRow = (name: string, title: string, short: string, run: Action["run"], warning?: string): Action => ({
  ...{ name, title, short, on: "row", fields: [], run },
  ...(warning !== undefined && { warning }),
});

export const KEY_FIELD: Field = { name: "key", label: "Key", kind: "text" };
export const VALUE_FIELD: Field = { name: "value", label: "Value, as JSON", kind: "text" };
