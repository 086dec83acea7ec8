/**
 * Stores over TLS: one server (a real Redis, and our own), Sentinel, Cluster (also one in a process) and replicas, with
 * certificates on both sides; and what a program is told when something about them is wrong. All servers ask clients for a
 * certificate.
 */
import { Engine, EngineCluster } from "@cinnabar/engine";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { makeAuthority, TestCertificates } from "../../../engine/tests/kit/certificates.ts";
import { cli, freePort, installed, type ServerProcess, startOneSentinel, startRedis } from "../../tests/kit/servers.ts";
import { open } from "./open.ts";
import type { TlsOptions } from "./port.ts";
import type { Store } from "./store.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const certificates = new TestCertificates();
const { authority, trust } = certificates;
const stranger = makeAuthority("another");
const running: { stop(): Promise<unknown> }[] = [];
const stores: Store[] = [];

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
});
afterAll(async () => {
  await Promise.all(running.map((each) => each.stop()));
  certificates.remove();
});

const FLAGS = Object.entries(certificates.directives).flatMap(([name, value]) => [`--${name}`, value]);

interface Secured extends ServerProcess {
  readonly tlsPort: number;
}

/** A real server with a TLS port beside the plain one, over which the test gives orders. */
async function startSecured(...args: string[]): Promise<Secured> {
  const tlsPort = await freePort();
  const all = ["--tls-port", String(tlsPort), ...FLAGS, "--repl-diskless-sync-delay", "0", ...args];
  const server = await startRedis({ args: all });
  running.push(server);
  return Object.assign(server, { tlsPort });
}

async function opened(url: string, options: Parameters<typeof open>[1] = {}): Promise<Store> {
  const store = await open(url, { tls: trust, ...options });
  stores.push(store);
  return store;
}

async function until(so: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await so())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** What all kinds of connections do: commands, blocking ones, transactions, subscriptions. */
async function exercise(store: Store): Promise<void> {
  const large = "x".repeat(2_000_000);
  await store.call("SET", "{k}large", large);
  expect(await store.call("GET", "{k}large")).toBe(large);
  const heard: string[] = [];
  await store.subscribe("news", (message) => void heard.push(String(message)));
  await store.call("PUBLISH", "news", "hello");
  await until(() => heard.length > 0);
  const popped = store.blocking("{k}queue").call(["BLPOP", "{k}queue", 0], { timeoutMs: 30_000 });
  await store.call("RPUSH", "{k}queue", "element");
  expect(await popped).toEqual(["{k}queue", "element"]);
  await store.transaction({ watch: ["{k}n"] }, () => [["INCR", "{k}n"]]);
  expect(await store.call("GET", "{k}n")).toBe("1");
  await store.call("DEL", "{k}large", "{k}n");
}

/** Another connection's write arrives in a store that keeps replies. */
async function exerciseCache(url: string): Promise<void> {
  const [cached, other] = [await opened(url, { clientCache: { prefixes: ["c:"] } }), await opened(url)];
  await other.call("SET", "c:{k}", "old");
  await until(async () => (await cached.call("GET", "c:{k}")) === "old");
  await other.call("SET", "c:{k}", "new");
  await until(async () => (await cached.call("GET", "c:{k}")) === "new");
}

// -------------------------------------------------------------------------------------------------- one server

const NEITHER = /asks for a certificate of the client|asks clients for a certificate/;

interface Place {
  readonly port: number;
  readonly plainPort: number;
}

const places: readonly (readonly [string, boolean, () => Promise<Place>])[] = [
  [
    "our own server",
    true,
    async () => {
      const engine = await Engine.open();
      running.push({ stop: () => engine.close() });
      const { port } = await engine.listen({ port: 0, tls: { ...certificates.server, ca: authority.cert } });
      return { port, plainPort: (await engine.listen({ port: 0 })).port };
    },
  ],
  [
    "a real Redis",
    installed("redis-server"),
    async () => {
      const { port, tlsPort } = await startSecured();
      return { port: tlsPort, plainPort: port };
    },
  ],
];

for (const [name, isThere, start] of places) {
  describe.skipIf(!isThere)(name, () => {
    let place: Place;
    let url: string;
    beforeAll(async () => {
      place = await start();
      url = `rediss://127.0.0.1:${place.port}`;
    });

    const failing = (options: TlsOptions, at = url): Promise<Error> =>
      open(at, { tls: options, connectTimeoutMs: 3_000 }).then(
        (store) => {
          stores.push(store);
          throw new Error("it opened");
        },
        (error: Error) => error,
      );

    test("is used with certificates on both sides", async () => {
      await exercise(await opened(url));
      await exercise(await opened(`rediss://localhost:${place.port}/1`));
    });

    test("tells a store that keeps replies of changes", () => exerciseCache(url));

    test("takes certificates as bytes, lists of authorities, and an encrypted key", async () => {
      const { cert, key } = authority.issue({ name: "encrypted", passphrase: "sesame" });
      const ca = [stranger.cert, Buffer.from(authority.cert)];
      const tls = { ca, cert: Buffer.from(cert), key: Buffer.from(key), passphrase: "sesame" };
      const store = await opened(url, { tls });
      expect(await store.call("PING")).toBe("PONG");
      expect(store.workerAddress!.options.tls).toEqual(tls);
      // As it arrives in the thread that renews leases.
      const { url: same, options } = structuredClone(store.workerAddress!);
      expect(await (await opened(same, options)).call("PING")).toBe("PONG");
    });

    test("is not trusted without its authority", async () => {
      const error = await failing({ cert: trust.cert, key: trust.key });
      expect(error).toMatchObject({ name: "ConnectionError", code: "UNREACHABLE" });
      expect(error.message).toContain("give the certificate of its authority as tls.ca");
      expect((await failing({ ...trust, ca: stranger.cert })).message).toContain("tls.ca");
    });

    test("is not taken for another", async () => {
      const { message } = await failing({ ...trust, servername: "elsewhere.example" });
      expect(message).toContain("elsewhere.example");
      expect(message).toContain("tls.servername");
      expect((await opened(url, { tls: { ...trust, servername: "localhost" } })).topology).toBe("single");
    });

    test("refuses clients without a certificate, or with a stranger's, and they learn why", async () => {
      expect((await failing({ ca: trust.ca })).message).toMatch(NEITHER);
      expect((await failing({ ...trust, ...stranger.issue() })).message).toMatch(
        /is not accepted: UNABLE_TO_VERIFY|does not trust the authority|asks for a certificate/,
      );
    });

    test("without TLS is not spoken to with it, nor the other way round", async () => {
      const { message } = await failing(trust, `rediss://127.0.0.1:${place.plainPort}`);
      expect(message).toMatch(/does not use TLS on this port|nothing came in answer to TLS|did not answer within/);
      const plain = await open(`redis://127.0.0.1:${place.port}`, { connectTimeoutMs: 3_000 }).catch((error) => error);
      expect(plain).toBeInstanceOf(Error);
      expect(plain.message).toMatch(/takes TLS only|rediss:\/\//);
    });
  });
}

test("a certificate that has expired is named", async () => {
  const engine = await Engine.open();
  const expired = authority.issue({ hosts: ["127.0.0.1"], days: [-10, -1] });
  const { port } = await engine.listen({ port: 0, tls: expired });
  await expect(open(`rediss://127.0.0.1:${port}`, { tls: { ca: trust.ca } })).rejects.toThrow(
    "certificate has expired",
  );
  await engine.close();
});

describe("options", () => {
  const url = "rediss://127.0.0.1:1";
  test.each<[string, string, object, string]>([
    ["a URL without TLS", "redis://127.0.0.1:1", trust, "tls is for rediss:// URLs"],
    ["half of a certificate", url, { cert: trust.cert }, "tls.cert and tls.key belong together"],
    ["a key of another", url, { ...trust, key: stranger.key }, "tls cannot be used: "],
    ["a path", url, { ca: "/etc/ssl/ca.pem" }, "ca must be a PEM text"],
    ["a word that is none", url, { certificate: "x" }, "certificate"],
  ])("with %s are refused before anybody connects", async (_, at, tls, reason) => {
    await expect(open(at, { tls })).rejects.toMatchObject({ name: "InputError" });
    await expect(open(at, { tls })).rejects.toThrow(reason);
  });
});

// -------------------------------------------------------------------------------------------------- several servers

const OVER_TLS = ["--tls-replication", "yes", "--tls-cluster", "yes"];

describe.skipIf(!["redis-server", "redis-cli", "redis-sentinel"].every(installed))("several real servers", () => {
  test("replicas answer reads, and Sentinel names the primary, over TLS alone", async () => {
    const primary = await startSecured(...OVER_TLS);
    const replica = await startSecured(...OVER_TLS, "--replicaof", "127.0.0.1", String(primary.tlsPort));
    await until(() => /connected_slaves:1/.test(cli(primary.port, "INFO", "replication")));
    const sentinelPort = await freePort();
    const sentinel = await startOneSentinel(primary.tlsPort, false, [
      `tls-port ${sentinelPort}`,
      "tls-replication yes",
      ...Object.entries(certificates.directives).map(([name, value]) => `${name} ${value}`),
    ]);
    running.push(sentinel);
    const url = `rediss+sentinel://127.0.0.1:${sentinelPort}/main`;
    await exercise(await opened(url));
    await exerciseCache(url);
    const reading = await opened(url, { reads: { from: "replicas", maxLagMs: 60_000 } });
    await reading.call("SET", "read", "me");
    await until(async () => {
      await reading.call("GET", "read");
      return /cmdstat_get:/.test(cli(replica.port, "INFO", "commandstats"));
    });
    await expect(open(url, { tls: { ca: stranger.cert } })).rejects.toThrow(
      /no sentinel could name the primary.*tls\.ca/,
    );
  });

  test("a Cluster, whose nodes are known by address", async () => {
    const args = ["--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-config-file", "nodes.conf"];
    const nodes = await Promise.all([0, 1, 2].map(() => startSecured(...OVER_TLS, ...args)));
    const slots = ["0 5460", "5461 10922", "10923 16383"];
    nodes.forEach(({ port }, i) => {
      cli(port, "CLUSTER", "ADDSLOTSRANGE", ...slots[i]!.split(" "));
      if (i > 0) cli(port, "CLUSTER", "MEET", "127.0.0.1", String(nodes[0]!.tlsPort));
    });
    await until(() =>
      nodes.every(({ port }) => /cluster_state:ok[\s\S]*cluster_known_nodes:3/.test(cli(port, "CLUSTER", "INFO"))),
    );
    const url = `rediss+cluster://127.0.0.1:${nodes[1]!.tlsPort}`;
    const store = await opened(url);
    await exercise(store);
    for (let i = 0; i < 100; i++) await store.call("SET", `key:${i}`, i);
    for (const { port } of nodes) expect(Number(cli(port, "DBSIZE"))).toBeGreaterThan(10);
    await exerciseCache(url);
    // A name that the certificates have, for nodes that announce addresses.
    await exercise(await opened(url, { tls: { ...trust, servername: "localhost" } }));
    await expect(open(url, { tls: { ...trust, servername: "elsewhere" }, connectTimeoutMs: 2_000 })).rejects.toThrow(
      "tls.servername",
    );
  });
});

test("a Cluster in one process, while slots move and a replica takes over", async () => {
  const tls = { cert: certificates.cert, key: certificates.key, ca: certificates.ca };
  const cluster = await EngineCluster.open({ nodeTimeoutMs: 300, listen: { tls } });
  try {
    expect(cluster.url).toMatch(/^rediss\+cluster:/);
    const store = await opened(cluster.url);
    await exercise(store);
    for (let i = 0; i < 100; i++) await store.call("SET", `key:${i}`, i);
    await cluster.moveSlots({ from: 0, to: 400 }, 1);
    await cluster.failover(0);
    for (let i = 0; i < 100; i++) expect(await store.call("GET", `key:${i}`)).toBe(String(i));
    await expect(open(cluster.url, { tls: { ca: trust.ca }, connectTimeoutMs: 2_000 })).rejects.toThrow("certificate");
    await store.close();
  } finally {
    await cluster.close();
  }
});
