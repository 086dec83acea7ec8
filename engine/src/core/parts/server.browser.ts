/** What looks into the store and after it: INFO, CLIENT, OBJECT, MEMORY; DUMP and files; replication. */
import { clients } from "../../commands/connection/client.ts";
import { dumping } from "../../commands/keys/dump.ts";
import { migration } from "../../commands/keys/migrate.ts";
import { inspection } from "../../commands/keys/object.ts";
import { cluster } from "../../commands/server/cluster.ts";
import { modules } from "../../commands/server/modules.ts";
import { monitor } from "../../commands/server/monitor.ts";
import { operation } from "../../commands/server/operation.ts";
import { replication, waiting } from "../../commands/server/replication.ts";

export { ClusterMember } from "../../cluster/member.ts";
export { Migrations } from "../../migration/index.ts";
export { infoText } from "../../observe/info.ts";
export { Persistence } from "../../persist/persistence.ts";
export { Replication } from "../../replication/index.ts";
export { FileReplayer } from "../replayer.ts";

export const groups = [
  clients,
  cluster,
  dumping,
  inspection,
  migration,
  modules,
  monitor,
  operation,
  replication,
  waiting,
];
