/** Keys as rows of a tree: folders by a separator, with what is loaded and, where there is a scan, with its true counts. */
import type { KeyFacts } from "../../../src/operate/keys.ts";
import { literally, partsOf } from "../../../src/operate/prefixes.ts";
import type { FolderRow } from "../../../src/operate/survey.ts";
import { counted, sendable, shown } from "../../format.ts";
import type { Folders } from "./survey.tsx";

/** A key with the moment in which its time to live was read. */
export interface LoadedKey extends KeyFacts {
  readonly at: number;
}

export interface FolderView {
  readonly kind: "folder";
  readonly id: string;
  readonly label: string;
  readonly depth: number;
  readonly count: number;
  readonly bytes: number;
  /** Whether the count is of all keys, not only of those that are loaded. */
  readonly isTrue: boolean;
  /** The pattern of the keys in it. */
  readonly match: string;
}

interface KeyRow {
  readonly kind: "key";
  readonly id: string;
  readonly label: string;
  readonly depth: number;
  readonly facts: LoadedKey;
}

/** Keys of a folder that are not loaded. */
interface MoreRow {
  readonly kind: "more";
  readonly id: string;
  readonly label: string;
  readonly depth: number;
  readonly match: string;
}

interface NoteRow {
  readonly kind: "note";
  readonly id: string;
  readonly label: string;
  readonly depth: number;
}

export type Row = FolderView | KeyRow | MoreRow | NoteRow;

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly keys: [string, LoadedKey][];
  count: number;
  bytes: number;
}

const folder = (): Folder => ({ folders: new Map(), keys: [], count: 0, bytes: 0 });

function treeOf(keys: readonly LoadedKey[], separator: string): Folder {
  const root = folder();
  for (const facts of keys) {
    const parts = typeof facts.key === "string" ? partsOf(facts.key, separator) : [shown(facts.key)];
    let at = root;
    for (const part of parts.slice(0, -1)) {
      let next = at.folders.get(part);
      if (next === undefined) {
        next = folder();
        at.folders.set(part, next);
      }
      next.count++;
      next.bytes += facts.bytes ?? 0;
      at = next;
    }
    at.keys.push([parts.at(-1)!, facts]);
  }
  return root;
}

export interface TreeOptions {
  readonly keys: readonly LoadedKey[];
  readonly separator: string;
  /** Ids of folders that are open. */
  readonly open: ReadonlySet<string>;
  /** What a scan has found, by path. */
  readonly scanned: ReadonlyMap<string, Folders>;
  /** Whether all keys are loaded. */
  readonly isAll: boolean;
}

export const idOf = (path: readonly string[]): string => JSON.stringify(path);

/** The rows that show, folders first. Folders that hold nothing but one folder are one row: `user:1:`. */
export function treeRows(options: TreeOptions): Row[] {
  const { separator, open, scanned, isAll } = options;
  const rows: Row[] = [];
  const level = (at: Folder | undefined, path: readonly string[], depth: number) => {
    const known = scanned.get(idOf(path));
    const byName = new Map<string, FolderRow>(known?.folders.map((each) => [each.name, each]));
    for (const first of [...new Set([...(at?.folders.keys() ?? []), ...byName.keys()])].sort()) {
      const row = byName.get(first);
      let [inner, names] = [at?.folders.get(first), [first]];
      const isOne = row === undefined || (row.folders === 1 && row.direct === 0);
      while (isOne && inner !== undefined && inner.folders.size === 1 && inner.keys.length === 0) {
        const [name, next] = [...inner.folders][0]!;
        names = [...names, name];
        inner = next;
        // Deeper folders are one row only where the scan cannot say otherwise.
        if (row !== undefined) break;
      }
      const [full, label] = [[...path, ...names], `${names.join(separator)}${separator}`];
      const [id, match] = [idOf(full), `${literally(full.join(separator) + separator)}*`];
      const sums = { count: row?.count ?? inner?.count ?? 0, bytes: row?.bytes ?? inner?.bytes ?? 0 };
      rows.push({ kind: "folder", id, label, depth, ...sums, isTrue: isAll || row !== undefined, match });
      if (open.has(id)) level(inner, full, depth + 1);
    }
    const keys = at?.keys ?? [];
    for (const [name, facts] of [...keys].sort(([a], [b]) => (a < b ? -1 : 1)))
      rows.push({ kind: "key", id: sendable(facts.key), label: name === "" ? "(empty)" : name, depth, facts });
    if (known === undefined || isAll) return;
    const prefix = path.length === 0 ? "" : path.join(separator) + separator;
    if (known.direct > keys.length) {
      const label = `Load keys ${prefix === "" ? "without folder" : `of ${prefix}`} (${keys.length} of ${known.direct})`;
      rows.push({ kind: "more", id: `more ${idOf(path)}`, label, depth, match: `${literally(prefix)}*` });
    }
    if (known.others.count > 0) {
      const label = `${counted(known.others.count, "key")} in folders that are not listed`;
      rows.push({ kind: "note", id: `note ${idOf(path)}`, label, depth });
    }
  };
  level(treeOf(options.keys, separator), [], 0);
  return rows;
}

/** All keys in one list. */
export const listRows = (keys: readonly LoadedKey[]): Row[] =>
  keys
    .map((facts): Row => ({ kind: "key", id: sendable(facts.key), label: shown(facts.key), depth: 0, facts }))
    .sort((a, b) => (a.label < b.label ? -1 : 1));
