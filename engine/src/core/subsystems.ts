/**
 * The larger things that an engine consists of, and how each is made. subsystems.browser.ts makes stand-ins for those whose code is
 * not loaded yet.
 */
import { ClusterMember, type ClusterPlace } from "../cluster/member.ts";
import { Migrations } from "../migration/index.ts";
import { infoText } from "../observe/info.ts";
import { Persistence } from "../persist/persistence.ts";
import { Replication } from "../replication/index.ts";
import { Functions } from "../scripting/functions.ts";
import { Scripts } from "../scripting/scripts.ts";
import { AccessControl, UsersError } from "./acl/index.ts";
import type { Clock } from "./clock.ts";
import { FileReplayer } from "./replayer.ts";

type HostOf<Class extends new (...given: never[]) => unknown> = ConstructorParameters<Class>[0];

export { infoText };

export const makeAcl = (host: HostOf<typeof AccessControl>): AccessControl => new AccessControl(host);
export const makeScripts = (host: HostOf<typeof Scripts>): Scripts => new Scripts(host);
export const makePersistence = (host: HostOf<typeof Persistence>): Persistence => new Persistence(host);
export const makeFunctions = ({ clock, scripts }: { readonly clock: Clock; readonly scripts: Scripts }): Functions =>
  new Functions(clock, scripts);
export const makeMigrations = (host: HostOf<typeof Migrations>): Migrations => new Migrations(host);
export const makeReplication = (host: HostOf<typeof Replication>): Replication => new Replication(host);
export const makeMember = (host: HostOf<typeof ClusterMember>, place: ClusterPlace | undefined): ClusterMember =>
  new ClusterMember(host, place);
export const makeReplayer = (host: HostOf<typeof FileReplayer>): FileReplayer => new FileReplayer(host);
export const isUsersError = (error: unknown): error is UsersError => error instanceof UsersError;
