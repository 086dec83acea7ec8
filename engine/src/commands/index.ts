/** The command table: every group, once. */
import type { Group } from "../command.ts";
import { bitmaps } from "./bitmaps.ts";
import { cluster } from "./cluster.ts";
import { command } from "./command.ts";
import { connection } from "./connection.ts";
import { geo } from "./geo.ts";
import { hashes } from "./hashes.ts";
import { hyperloglog } from "./hyperloglog.ts";
import { keys } from "./keys.ts";
import { lists } from "./lists.ts";
import { modules } from "./modules.ts";
import { monitor } from "./monitor.ts";
import { pubsub } from "./pubsub.ts";
import { replication, waiting } from "./replication.ts";
import { scripting } from "./scripting.ts";
import { server } from "./server.ts";
import { sets } from "./sets.ts";
import { sorting } from "./sort.ts";
import { sortedSets } from "./sorted-sets.ts";
import { streams } from "./streams.ts";
import { strings } from "./strings.ts";
import { transactions } from "./transactions.ts";

export const groups: readonly Group[] = [
  bitmaps,
  cluster,
  geo,
  hashes,
  hyperloglog,
  keys,
  lists,
  scripting,
  server,
  sets,
  streams,
  sortedSets,
  sorting,
  strings,
  transactions,
  command,
  connection,
  modules,
  monitor,
  pubsub,
  replication,
  waiting,
];
