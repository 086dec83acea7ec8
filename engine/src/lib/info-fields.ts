/** The text of INFO, of any server that speaks Redis's protocol, as fields. */

export type InfoFields = ReadonlyMap<string, string>;

export function infoFields(text: string): InfoFields {
  const fields = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const at = line.indexOf(":");
    if (at > 0 && !line.startsWith("#")) fields.set(line.slice(0, at), line.slice(at + 1));
  }
  return fields;
}

/** `calls=1,usec=5`, as in commandstats, keyspace and the list of replicas. */
export function pairsOf(list: string): ReadonlyMap<string, string> {
  const parts = list.split(",").map((part) => part.split("="));
  return new Map(parts.flatMap(([name, value]) => (name && value !== undefined ? [[name, value] as const] : [])));
}

/** Why a server should get no requests now, in short words; none where it is ready. */
export function unreadiness(fields: InfoFields): string[] {
  const is = (name: string, value: string): boolean => fields.get(name) === value;
  const reasons: readonly (readonly [reason: string, isSo: boolean])[] = [
    ["loading", is("loading", "1")],
    ["append-only file cannot be written", is("aof_enabled", "1") && is("aof_last_write_status", "err")],
    ["heap is full", is("heap_full", "1")],
    ["link to the primary is down", is("role", "slave") && is("master_link_status", "down")],
    ["shutting down", fields.has("shutdown_in_milliseconds")],
  ];
  return reasons.flatMap(([reason, isSo]) => (isSo ? [reason] : []));
}
