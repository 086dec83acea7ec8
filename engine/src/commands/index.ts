/** The command table: every group, once. */
import type { Group } from "../table/command.ts";
import { bitmaps } from "./bitmaps/bitmaps.ts";
import { connection } from "./connection/connection.ts";
import { geo } from "./geo/geo.ts";
import { hashes } from "./hashes/hashes.ts";
import { hyperloglog } from "./hyperloglog/hyperloglog.ts";
import { keys } from "./keys/keys.ts";
import { sorting } from "./keys/sort.ts";
import { lists } from "./lists/lists.ts";
import { pubsub } from "./pubsub/pubsub.ts";
import { scripting } from "./scripting/scripting.ts";
import { cluster } from "./server/cluster.ts";
import { command } from "./server/command.ts";
import { modules } from "./server/modules.ts";
import { monitor } from "./server/monitor.ts";
import { replication, waiting } from "./server/replication.ts";
import { server } from "./server/server.ts";
import { sets } from "./sets/sets.ts";
import { streams } from "./streams/streams.ts";
import { strings } from "./strings/strings.ts";
import { transactions } from "./transactions/transactions.ts";
import { sortedSets } from "./zsets/sorted-sets.ts";

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
