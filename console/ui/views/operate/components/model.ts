/** What the console tells of a component (src/operate/kinds/kind.ts), as the page gets it, and the addresses of its parts. */
import type { Action, Figure, Line, List } from "../../../../src/operate/kinds/kind.ts";

export type { Figure, Line, List, Unit } from "../../../../src/operate/kinds/kind.ts";

export interface Thing {
  readonly name: string;
  readonly prefix: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface OneKind {
  readonly title: string;
  readonly about: string | null;
  readonly page: string | null;
  readonly shardMark: string | null;
  readonly isShown: boolean;
  readonly items: readonly (Thing & { readonly figures: readonly Figure[] })[];
  readonly cursor: string | null;
}

export type Offered = Omit<Action, "run" | "short" | "warning" | "ends" | "fields"> & {
  readonly short: string;
  readonly warning: string | null;
  readonly ends: boolean;
  readonly fields: readonly (Action["fields"][number] & { readonly initial: string })[];
};

export interface Look {
  readonly kind: string;
  readonly title: string;
  readonly about: string | null;
  readonly thing: Thing;
  readonly shardMark: string | null;
  readonly figures: readonly Figure[];
  readonly lists: readonly List[];
  readonly lines: readonly Line[];
  readonly question: { readonly label: string; readonly button: string } | null;
  readonly answer: readonly Figure[] | null;
  readonly actions: readonly Offered[];
}

export const pathOf = (kind: string, { prefix, name }: Pick<Thing, "prefix" | "name">): string =>
  `#/components?${new URLSearchParams({ kind, prefix, name })}`;

/** The keys of one thing and of its shards, whatever characters its name has. */
export function keysOf({ prefix, name }: Pick<Thing, "prefix" | "name">, shardMark: string | null): string {
  const begin = `${prefix}:{${name}`.replace(/[*?[\]\\]/g, "\\$&");
  return `#/keys?${new URLSearchParams({ match: `${begin}${shardMark === null ? "}" : `[${shardMark}}]`}*` })}`;
}

export const apiOf = (kind: string): string => `/api/components/${encodeURIComponent(kind)}/one`;
