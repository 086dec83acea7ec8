/** INFO as sections of fields, and the few sums over several nodes that charts need. */

export type Info = Record<string, Record<string, string>>;

export function parseInfo(text: string): Info {
  const info: Info = {};
  let section: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("# ")) {
      section = {};
      info[line.slice(2).trim()] = section;
    } else {
      const at = line.indexOf(":");
      if (at > 0) section[line.slice(0, at)] = line.slice(at + 1);
    }
  }
  return info;
}

/** `calls=1,usec=5` as numbers. */
export function numbersOf(list: string | undefined): Record<string, number> {
  const numbers: Record<string, number> = {};
  for (const part of (list ?? "").split(",")) {
    const at = part.indexOf("=");
    if (at > 0) numbers[part.slice(0, at)] = Number(part.slice(at + 1));
  }
  return numbers;
}

/** A field's sum over nodes; what a node does not tell counts nothing. */
export function total(nodes: readonly Info[], section: string, field: string): number {
  return nodes.reduce((sum, node) => sum + (Number(node[section]?.[field]) || 0), 0);
}

export function keysIn(nodes: readonly Info[]): number {
  let keys = 0;
  for (const node of nodes) for (const db of Object.values(node.Keyspace ?? {})) keys += numbersOf(db).keys ?? 0;
  return keys;
}
