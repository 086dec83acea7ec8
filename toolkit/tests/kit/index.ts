/**
 * One contract suite, every backend.
 *
 *   describeBackends("locks", (backend) => {
 *     test("a lock is held by one", async () => {
 *       const locks = new Locks(backend.store);
 *       …
 *     });
 *   });
 *
 * See README.md for what a suite gets and what it may rely on.
 */

import { Engine } from "@cinnabar/engine";
import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
import { type OpenOptions, open } from "../../src/connection/open.ts";
import type { Store } from "../../src/connection/store.ts";
import { KeyAudit } from "./audit.ts";
import { Failovers } from "./failovers.ts";
import { Reshards } from "./reshards.ts";
import { installed, type SentinelProcesses, startSentinel } from "./servers.ts";
import { cleanSlate, ownCluster, ownServer, sharedCluster, sharedRedis } from "./shared.ts";
import { SlotMoves } from "./slot-moves.ts";

export type BackendName = "embedded" | "tcp" | "redis" | "cluster" | "embedded-cluster" | "sentinel";

/** Those that every component must be right on. Sentinel is for suites about failover, which ask for it. */
export const EVERY_BACKEND: readonly BackendName[] = ["embedded", "tcp", "redis", "cluster"];

/** For the suites that show at every `npm test` that components run on an `EngineCluster` as well. */
export const EVERY_BACKEND_AND_OWN_CLUSTER: readonly BackendName[] = [...EVERY_BACKEND, "embedded-cluster"];

/**
 * While writing: `BACKENDS=embedded,redis npx vitest run …`. With `embedded-cluster` all
 * suites that run on a Cluster run on an `EngineCluster` in another process; without, only those that name it do.
 */
const ONLY = (process.env.BACKENDS ?? "").split(",").filter((name) => name !== "");

/**
 * `MOVE_SLOTS=1 BACKENDS=cluster npx vitest run toolkit/src`: the slots of the Cluster that have keys are moved while the suites run,
 * with pauses between the steps of a move. `MOVE_SLOTS=reshard`: `redis-cli --cluster reshard` moves them.
 */
const MOVE_SLOTS = ["1", "reshard"].includes(process.env.MOVE_SLOTS ?? "");

function movesOf(ports: readonly number[]): SlotMoves | Reshards | undefined {
  if (!MOVE_SLOTS) return undefined;
  return process.env.MOVE_SLOTS === "reshard" ? new Reshards({ ports }).start() : new SlotMoves({ ports }).start();
}

/** `FAILOVERS=1 npx vitest run toolkit/src`: the suites run under Sentinel alone, which replaces the primary meanwhile. */
const FAILOVERS = process.env.FAILOVERS === "1";

export interface Backend {
  readonly name: BackendName;
  /** The suite's own store; empty at the beginning of each test. */
  readonly store: Store;
  /** Another store on the same server, as another process would have it. Closed after the suite if the suite did not. */
  open(options?: OpenOptions): Promise<Store>;
  /** Where the server is, for what is not a store; undefined for the embedded one. */
  readonly url: string | undefined;
  /** The servers' ports; of a Cluster all six. */
  readonly ports: readonly number[];
  /** Its primary is replaced again and again: for a second or two nobody can be reached. */
  readonly failsOver: boolean;
  /** It fails over, or its slots move: requests are refused on the way and sent again, so nobody can count them. */
  readonly isDisturbed: boolean;
  /** Empties it. */
  flush(): Promise<void>;
}

export interface SuiteOptions {
  readonly backends?: readonly BackendName[];
  /** Whether each test begins with an empty store (the default), or only the suite. */
  readonly flush?: "test" | "suite";
  /** For the suite's own store. */
  readonly open?: OpenOptions;
  /**
   * On Redis, everything that scripts do is compared with the keys they declare. False for suites that send so much that
   * watching would slow them down, or whose subject are wrong scripts. "tags": for scripts that find some of their keys in the
   * data; those must have the tag of a declared key.
   */
  readonly audit?: boolean | "tags";
  /** The suite needs its servers as they are: it does not run under failovers or while slots move. */
  readonly fixedServer?: boolean;
}

export function describeBackends(name: string, suite: (backend: Backend) => void): void;
export function describeBackends(name: string, options: SuiteOptions, suite: (backend: Backend) => void): void;
export function describeBackends(
  name: string,
  optionsOrSuite: SuiteOptions | ((backend: Backend) => void),
  maybeSuite?: (backend: Backend) => void,
): void {
  const options = typeof optionsOrSuite === "function" ? {} : optionsOrSuite;
  const suite = typeof optionsOrSuite === "function" ? optionsOrSuite : maybeSuite!;
  const usual = options.backends ?? EVERY_BACKEND;
  // A suite that runs on a single server runs on one that Sentinel watches.
  const wanted: readonly BackendName[] =
    FAILOVERS && usual.includes("redis") && options.fixedServer !== true ? ["sentinel"] : usual;
  const onOwnCluster = ONLY.includes("embedded-cluster") && wanted.includes("cluster");
  for (const backend of new Set([...wanted, ...(onOwnCluster ? (["embedded-cluster"] as const) : [])])) {
    const isAllowed = options.fixedServer !== true || !MOVE_SLOTS;
    const isWanted = isAllowed && (FAILOVERS ? backend === "sentinel" : ONLY.length === 0 || ONLY.includes(backend));
    const missing = isWanted ? missingFor(backend) : undefined;
    if (missing !== undefined) console.log(`Skipped: ${name} on ${backend}, since ${missing} is not installed.`);
    describe.skipIf(!isWanted || missing !== undefined)(`${name} on ${backend}`, () =>
      suite(prepared(backend, options)),
    );
  }
}

const HOUR_MS = 3_600_000;

/** Runs a test of something that is counted by the hour; once more, on an empty store, where the server's hour ended meanwhile. */
export async function withinAnHour({ store, flush }: Backend, run: () => Promise<void>): Promise<void> {
  const hour = async () => Math.floor((Number(((await store.call("TIME")) as string[])[0]) * 1_000) / HOUR_MS);
  for (;;) {
    const before = await hour();
    const failure = await run().then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if (failure === null) return;
    if ((await hour()) === before) throw failure.error;
    await flush();
  }
}

function missingFor(backend: BackendName): string | undefined {
  const needed: Record<BackendName, readonly string[]> = {
    embedded: [],
    tcp: [],
    "embedded-cluster": [],
    redis: ["redis-server", "redis-cli"],
    cluster: ["redis-server", "redis-cli"],
    sentinel: ["redis-server", "redis-cli", "redis-sentinel"],
  };
  return needed[backend].find((program) => !installed(program));
}

/** What a backend needs to be started, opened and ended. */
interface Running {
  readonly url: string | undefined;
  readonly ports: readonly number[];
  open(options?: OpenOptions): Promise<Store>;
  end(): Promise<void> | void;
}

function prepared(name: BackendName, options: SuiteOptions): Backend {
  let running: Running | undefined;
  let store: Store | undefined;
  let audit: KeyAudit | undefined;
  const opened: Store[] = [];
  const there = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("the backend is there only inside of tests and hooks");
    return value;
  };
  const backend: Backend = {
    name,
    failsOver: FAILOVERS,
    isDisturbed: FAILOVERS || MOVE_SLOTS,
    get store() {
      return there(store);
    },
    get url() {
      return there(running).url;
    },
    get ports() {
      return there(running).ports;
    },
    open: async (openOptions) => {
      const another = await there(running).open(openOptions);
      opened.push(another);
      return another;
    },
    flush: async () => {
      for (const answer of await there(store).sendToAll(["FLUSHALL"])) expect(answer).toBe("OK");
    },
  };
  beforeAll(async () => {
    running = await START[name]();
    store = await backend.open(options.open);
    if (options.flush === "suite") await backend.flush();
    if (name === "redis" && options.audit !== false) {
      audit = await KeyAudit.begin(running.ports[0]!, options.audit === "tags");
    }
  });
  if (options.flush !== "suite") beforeEach(() => backend.flush());
  afterAll(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
    const offences = await audit?.end();
    await running?.end();
    expect(offences ?? [], "scripts touch only the keys that they declare").toEqual([]);
  });
  return backend;
}

/** While slots move, on a busy machine, a large one is on its way for longer than calls wait by default. */
const patient = (options?: OpenOptions): OpenOptions => ({ ...(MOVE_SLOTS && { retryMs: 60_000 }), ...options });

const START: Record<BackendName, () => Promise<Running>> = {
  embedded: async () => {
    const engine = await Engine.open();
    return { url: undefined, ports: [], open: (options) => open(engine, options), end: () => engine.close() };
  },
  tcp: async () => {
    const { url, ports, close } = await ownServer();
    return { url, ports, open: (options) => open(url, options), end: close };
  },
  redis: async () => {
    const { url, ports } = await sharedRedis();
    cleanSlate(ports);
    return { url, ports, open: (options) => open(url, options), end: () => {} };
  },
  cluster: async () => {
    const { url, ports } = await sharedCluster();
    const moves = movesOf(ports);
    return { url, ports, open: (options) => open(url, patient(options)), end: () => moves?.stop() };
  },
  "embedded-cluster": async () => {
    const { url, ports, close } = await ownCluster();
    const moves = movesOf(ports);
    const end = async (): Promise<void> => {
      await moves?.stop();
      close();
    };
    return { url, ports, open: (options) => open(url, patient(options)), end };
  },
  sentinel: async () => {
    const processes: SentinelProcesses = await startSentinel();
    const { url } = processes;
    const ports = [processes.primary, ...processes.replicas].map(({ port }) => port);
    const sentinels = processes.sentinels.map(({ port }) => port);
    const failovers = FAILOVERS ? new Failovers({ sentinels, servers: ports }).start() : undefined;
    const end = async (): Promise<void> => {
      await failovers?.stop();
      await processes.stop();
    };
    return { url, ports, open: (options) => open(url, options), end };
  },
};
