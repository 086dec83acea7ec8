/** The command table: every group, once. */
import type { Group } from "../table/command.ts";
import { bitmaps } from "./bitmaps/bitmaps.ts";
import { clients } from "./connection/client.ts";
import { connection } from "./connection/connection.ts";
import { geo } from "./geo/geo.ts";
import { hashes } from "./hashes/hashes.ts";
import { hyperloglog } from "./hyperloglog/hyperloglog.ts";
import { dumping } from "./keys/dump.ts";
import { keys } from "./keys/keys.ts";
import { migration } from "./keys/migrate.ts";
import { inspection } from "./keys/object.ts";
import { sorting } from "./keys/sort.ts";
import { lists } from "./lists/lists.ts";
import { pubsub } from "./pubsub/pubsub.ts";
import { scripting } from "./scripting/scripting.ts";
import { users } from "./server/acl.ts";
import { cluster } from "./server/cluster.ts";
import { command } from "./server/command.ts";
import { settings } from "./server/config.ts";
import { debugging } from "./server/debug.ts";
import { modules } from "./server/modules.ts";
import { monitor } from "./server/monitor.ts";
import { operation } from "./server/operation.ts";
import { replication, waiting } from "./server/replication.ts";
import { server } from "./server/server.ts";
import { sets } from "./sets/sets.ts";
import { streams } from "./streams/streams.ts";
import { lcs } from "./strings/lcs.ts";
import { strings } from "./strings/strings.ts";
import { transactions } from "./transactions/transactions.ts";
import { sortedSets } from "./zsets/sorted-sets.ts";

export const groups: readonly Group[] = [
  bitmaps,
  users,
  settings,
  debugging,
  clients,
  cluster,
  dumping,
  geo,
  hashes,
  hyperloglog,
  inspection,
  keys,
  lcs,
  lists,
  migration,
  operation,
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
