/**
 * The keys of a table. The schema and the dictionaries have the table's tag; each shard of rows has one of its own, so that a table
 * spreads over a Cluster, and one script stays within one shard.
 */

import { InputError } from "../../base/errors.ts";
import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("packed-table");

export interface TableKeys {
  /** String: the schema as JSON. */
  readonly schema: string;
  /** Set: numbers of the shards that there may be. */
  readonly shards: string;
  /** Hash: word → code. */
  dictionary(column: string): string;
  /** String: the rows of a shard, one behind the other. */
  segment(shard: number, segment: number): string;
  /** String: a bit for each row of a shard, set if there is one. */
  present(shard: number): string;
}

export function tableKeys(prefix: string, name: string): TableKeys {
  const base = tagged(prefix, name, "packed table");
  if (name.includes("}")) throw new InputError('the name of a packed table must not contain "}"');
  const shardBase = (shard: number): string => tagged(prefix, `${name}:${shard}`, "packed table");
  return {
    schema: `${base}:schema`,
    shards: `${base}:shards`,
    dictionary: (column) => `${base}:words:${column}`,
    segment: (shard, segment) => `${shardBase(shard)}:rows:${segment}`,
    present: (shard) => `${shardBase(shard)}:present`,
  };
}
