/**
 * What the larger things of an engine are made of in a browser: until their code is loaded (parts.browser.ts), stand-ins that answer
 * as the real ones do while nothing concerns them: no files, no replicas, no scripts, no users. Whatever would concern them is a
 * command, or an option of `open`, that has them loaded first.
 */
import type { ClusterMember, ClusterPlace } from "../cluster/member.ts";
import type { Migrations } from "../migration/index.ts";
import type { Persistence } from "../persist/persistence.ts";
import { randomHex } from "../replication/ids.ts";
import type { Replication, ReplicationEvent } from "../replication/index.ts";
import type { Functions } from "../scripting/functions.ts";
import type { Scripts } from "../scripting/scripts.ts";
import type { AccessControl, UsersError } from "./acl/index.ts";
import type { Client } from "./client.ts";
import type { Clock } from "./clock.ts";
import { AUTH_WITHOUT_PASSWORD, WRONGPASS } from "./errors.ts";
import type { UserPort } from "./ports.ts";
import type { FileReplayer } from "./replayer.ts";

type ServerPart = Pick<
  typeof import("./parts/server.browser.ts"),
  "ClusterMember" | "FileReplayer" | "infoText" | "Migrations" | "Persistence" | "Replication"
>;
type ScriptsPart = Pick<
  typeof import("./parts/scripts.browser.ts"),
  "AccessControl" | "Functions" | "Scripts" | "UsersError"
>;

let server: ServerPart | null = null;
let scripts: ScriptsPart | null = null;

type HostOf<Class extends new (...given: never[]) => unknown> = ConstructorParameters<Class>[0];

/** An engine, as far as it is completed. */
export type StandInHost = HostOf<typeof AccessControl> &
  HostOf<typeof Scripts> &
  HostOf<typeof Persistence> &
  HostOf<typeof Migrations> &
  HostOf<typeof Replication> & {
    acl: AccessControl;
    scripts: Scripts;
    functions: Functions;
    persistence: Persistence;
    migrations: Migrations;
    replication: Replication;
  };

/** No stand-in has all that the real one has. What is missing is never reached, and would throw. */
const standIn = <Real>(answers: object): Real => answers as Real;

const nothing = () => {};

/** No files: nothing waits to be written, and nothing is refused. */
const noFiles = () =>
  standIn<Persistence>({
    active: false,
    troubled: false,
    lost: null,
    aof: { state: "off", appender: { holdsReplies: false, bufferedBytes: 0 } },
    commit: () => true,
    flush: () => true,
    refusal: () => null,
    flushedAll: nothing,
    cron: nothing,
    shutdown: () => true,
    idle: () => Promise.resolve(),
  });

/** A primary without replicas. */
class NoReplicas {
  readonly #clock: Clock;
  #id: string | null = null;
  readonly feeding = false;
  readonly guarded = false;
  readonly isReplica = false;
  readonly isWritableReplica = false;
  readonly asyncLoading = false;
  readonly linkIsUp = false;
  readonly isStale = false;
  readonly following = null;
  readonly feed = { offset: 0, backlog: null, flush: nothing };
  readonly replicas = new Set();
  readonly listeners = new Set<(event: ReplicationEvent) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get id(): string {
    this.#id ??= randomHex(this.#clock);
    return this.#id;
  }

  bytes() {
    return { backlog: 0, replicas: 0 };
  }

  promote(): void {}
  detach(): void {}
  cron(): void {}
  stop(): void {}

  /** The real one takes over the id and the listeners. */
  leaveTo(real: Replication): void {
    if (this.#id !== null) real.takeId(this.#id);
    for (const listener of this.listeners) real.listeners.add(listener);
  }
}

/** Everybody is the default user, who may do everything, or the program around the store. */
class NoUsers {
  readonly defaultUser = unlimited("default");
  readonly superuser = unlimited("(superuser)");
  /** Who could not come in: the log of the real one has them. */
  readonly #refused: ((real: AccessControl) => void)[] = [];

  find(name: string): UserPort | undefined {
    return name === this.defaultUser.name ? this.defaultUser : undefined;
  }

  start(): void {}
  setDefaultPassword(): void {}

  execRefusal(): null {
    return null;
  }

  refusal(): null {
    return null;
  }

  authenticateDefault(): void {
    throw AUTH_WITHOUT_PASSWORD;
  }

  authenticate(client: Client, name: string, password: string, by: string): void {
    if (name === this.defaultUser.name) {
      client.user = this.defaultUser;
      client.authenticated = true;
      return;
    }
    this.#refused.push((real) => real.authenticate(client, name, password, by));
    throw WRONGPASS;
  }

  forget(client: Client): void {
    if (client.home !== null) client.beginAs(client.home);
    else {
      client.user = this.defaultUser;
      client.authenticated = true;
    }
  }

  leaveTo(real: AccessControl, clients: Iterable<Client>): void {
    for (const client of clients) {
      if (client.home !== null) client.home = this.#same(client.home, real);
      client.user = this.#same(client.user, real);
    }
    for (const again of this.#refused) {
      try {
        again(real);
      } catch (error) {
        if (error !== WRONGPASS) throw error;
      }
    }
  }

  #same(user: UserPort, real: AccessControl): UserPort {
    return user === this.superuser ? real.superuser : real.defaultUser;
  }
}

const unlimited = (name: string): UserPort => ({
  name,
  limited: false,
  flags: ["on", "nopass"],
  passwords: [],
  selectors: [],
  denial: () => null,
  mayReadEveryKey: () => true,
});

/** No scripts that run or are kept. */
const noScripts = () => standIn<Scripts>({ running: null, count: 0, sizeBytes: 0 });

const noFunctions = () =>
  standIn<Functions>({ count: 0, libraryCount: 0, sources: () => [], flush: nothing, restore: nothing });

const noMigrations = () => standIn<Migrations>({ cron: nothing, close: nothing });

export const makeAcl = (host: HostOf<typeof AccessControl>): AccessControl =>
  scripts === null ? standIn(new NoUsers()) : new scripts.AccessControl(host);
export const makeScripts = (host: HostOf<typeof Scripts>): Scripts =>
  scripts === null ? noScripts() : new scripts.Scripts(host);
export const makeFunctions = (host: { readonly clock: Clock; readonly scripts: Scripts }): Functions =>
  scripts === null ? noFunctions() : new scripts.Functions(host.clock, host.scripts);
export const makePersistence = (host: HostOf<typeof Persistence>): Persistence =>
  server === null ? noFiles() : new server.Persistence(host);
export const makeMigrations = (host: HostOf<typeof Migrations>): Migrations =>
  server === null ? noMigrations() : new server.Migrations(host);
export const makeReplication = (host: HostOf<typeof Replication>): Replication =>
  server === null ? standIn(new NoReplicas(host.clock)) : new server.Replication(host);

/** The part with these has been loaded for whatever leads here: settings, files, INFO. */
export const makeMember = (host: HostOf<typeof ClusterMember>, place: ClusterPlace | undefined): ClusterMember =>
  new server!.ClusterMember(host, place);
export const makeReplayer = (host: HostOf<typeof FileReplayer>): FileReplayer => new server!.FileReplayer(host);
export const infoText: ServerPart["infoText"] = (engine, names) => server!.infoText(engine, names);
export const isUsersError = (error: unknown): error is UsersError =>
  scripts !== null && error instanceof scripts.UsersError;

/** A part has been loaded. */
export function take(part: object): void {
  if ("Persistence" in part) server = part as ServerPart;
  if ("Scripts" in part) scripts = part as ScriptsPart;
}

/** Puts what has been loaded in the place of an engine's stand-ins. */
export function adopt(engine: StandInHost): void {
  // As far as its type knows, it has no stand-ins.
  const replication: unknown = engine.replication;
  const acl: unknown = engine.acl;
  if (server !== null && replication instanceof NoReplicas) {
    engine.persistence = makePersistence(engine);
    engine.migrations = makeMigrations(engine);
    engine.replication = makeReplication(engine);
    replication.leaveTo(engine.replication);
  }
  if (scripts !== null && acl instanceof NoUsers) {
    engine.acl = makeAcl(engine);
    acl.leaveTo(engine.acl, engine.clients.values());
    engine.scripts = makeScripts(engine);
    engine.functions = makeFunctions(engine);
  }
}
