/** The commands that are there at the start in a browser. core/parts.browser.ts has the others. */
import type { Group } from "../table/command.ts";
import { connection } from "./connection/connection.ts";
import { hashes } from "./hashes/hashes.ts";
import { keys } from "./keys/keys.ts";
import { lists } from "./lists/lists.ts";
import { pubsub } from "./pubsub/pubsub.ts";
import { server } from "./server/server.ts";
import { sets } from "./sets/sets.ts";
import { strings } from "./strings/strings.ts";
import { transactions } from "./transactions/transactions.ts";
import { sortedSets } from "./zsets/sorted-sets.ts";

export const groups: readonly Group[] = [
  hashes,
  keys,
  lists,
  server,
  sets,
  sortedSets,
  strings,
  transactions,
  connection,
  pubsub,
];
