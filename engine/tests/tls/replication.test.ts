/** Links between servers over TLS, with a real Redis at the other end: replication, MIGRATE, Sentinel. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { full } from "../../../scripts/full.ts";
import { freePort, realProgram, redisAvailable } from "../conformance/redis-server.ts";
import type { Wire } from "../conformance/wire.ts";
import { makeAuthority, TestCertificates } from "../kit/certificates.ts";
import { openTlsWire } from "../kit/tls-wire.ts";
import {
  caughtUp,
  type Directives,
  fileOf,
  follow,
  type Kind,
  linkUp,
  PATIENCE_MS,
  Process,
  stopAll,
  stopLater,
  until,
} from "../replication/servers.ts";
import { startTls } from "./servers.ts";

vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

const certificates = new TestCertificates();
const other = makeAuthority("another");
const otherCa = certificates.folder.write("other-ca.pem", other.cert);
afterEach(stopAll);
afterAll(() => certificates.remove());

const OVER_TLS: Directives = { "tls-replication": "yes", "tls-cluster": "yes" };
const available = redisAvailable();
if (!available) console.warn("only with ourselves: redis-server is not installed (node scripts/ensure-redis.js)");

const pairs: readonly [Kind, Kind][] = available
  ? [
      ["redis", "ours"],
      ["ours", "redis"],
      ["ours", "ours"],
    ]
  : [["ours", "ours"]];

describe.each(pairs)("a primary (%s) and a replica (%s)", (first, second) => {
  test("are linked over TLS: snapshot, stream, and again after a cut", async () => {
    const [primary, replica] = await Promise.all([
      startTls(first, certificates, OVER_TLS),
      startTls(second, certificates, OVER_TLS),
    ]);
    await primary.server.ask("DEBUG", "POPULATE", "20000", "key", "100");
    await follow(replica.server, primary.tlsPort);
    expect(await replica.server.ask("DBSIZE")).toBe("20000");
    // The primary tells others of its replica where that is reached over TLS.
    expect((await primary.server.info("replication")).slave0).toContain(`port=${replica.tlsPort},state=online`);
    await primary.server.ask("SET", "large", "x".repeat(3_000_000));
    await primary.server.ask("CLIENT", "KILL", "TYPE", "replica");
    await primary.server.ask("SET", "after", "the cut");
    await linkUp(replica.server);
    await caughtUp(primary.server, replica.server);
    expect(await replica.server.ask("GET", "after")).toBe("the cut");
    expect(await replica.server.ask("STRLEN", "large")).toBe("3000000");
    expect((await primary.server.info("stats")).sync_partial_ok).toBe("1");
  });

  test("hand keys over with MIGRATE, also inside of a transaction", async () => {
    const [source, target] = await Promise.all([
      startTls(first, certificates, OVER_TLS),
      startTls(second, certificates, OVER_TLS),
    ]);
    const to = ["127.0.0.1", String(target.tlsPort)];
    await source.server.ask("SET", "one", "1");
    await source.server.ask("SET", "two", "x".repeat(1_000_000));
    await source.server.ask("SET", "three", "3");
    expect(await source.server.ask("MIGRATE", ...to, "", "0", "10000", "KEYS", "one", "two")).toBe("OK");
    expect(await target.server.ask("STRLEN", "two")).toBe("1000000");
    await source.server.ask("MULTI");
    await source.server.ask("MIGRATE", ...to, "three", "0", "10000");
    const [answer] = (await source.server.call("EXEC")).items;
    expect(answer!.text).toBe("OK");
    expect(await target.server.ask("GET", "three")).toBe("3");
    expect(await source.server.ask("DBSIZE")).toBe("0");
    // Nobody speaks TLS at the plain port.
    await source.server.ask("SET", "stays", "here");
    const refused = await source.server.call("MIGRATE", "127.0.0.1", String(target.server.port), "stays", "0", "1000");
    expect(refused.text).toMatch(/^IOERR error or timeout/);
    expect(await source.server.ask("GET", "stays")).toBe("here");
  });
});

test("a primary whose certificate is another authority's is not followed, and the log says so", async () => {
  const primary = await startTls("ours", certificates, OVER_TLS);
  const replica = await startTls("ours", certificates, { ...OVER_TLS, "tls-ca-cert-file": otherCa });
  await replica.server.ask("REPLICAOF", "127.0.0.1", String(primary.tlsPort));
  await until("the log says why", () =>
    /Error condition on socket for SYNC: .*(self-signed|unable to verify)/.test(replica.server.log),
  );
  expect((await replica.server.info("replication")).master_link_status).toBe("down");
  // Trusting it again is enough.
  await replica.server.ask("CONFIG", "SET", "tls-ca-cert-file", certificates.ca);
  await linkUp(replica.server);
});

test("a replica that should use TLS does not follow a plain port", async () => {
  const primary = await startTls("ours", certificates);
  const replica = await startTls("ours", certificates, OVER_TLS);
  await replica.server.ask("REPLICAOF", "127.0.0.1", String(primary.server.port));
  await until("the log says why", () => replica.server.log.includes("Error condition on socket for SYNC"));
  expect((await replica.server.info("replication")).master_link_status).toBe("down");
});

// -------------------------------------------------------------------------------------------------- Sentinel

class Sentinel {
  readonly port: number;
  readonly #folder: string;
  readonly #process: Process;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
    this.#process = new Process("sentinel", folder, join(folder, "sentinel.conf"));
  }

  static async watch(primary: number): Promise<Sentinel> {
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), "cinnabar-sentinel-"));
    const file = fileOf({
      port: "0",
      "tls-port": String(port),
      "tls-replication": "yes",
      ...certificates.directives,
      bind: "127.0.0.1",
      dir: folder,
      "sentinel monitor": `main 127.0.0.1 ${primary} 1`,
      "sentinel down-after-milliseconds": "main 1500",
      "sentinel failover-timeout": "main 6000",
    });
    writeFileSync(join(folder, "sentinel.conf"), file);
    const sentinel = stopLater(new Sentinel(port, folder));
    await until("the sentinel watches", () => sentinel.#process.log.includes("+monitor master"), {
      state: async () => sentinel.#process.log,
    });
    return sentinel;
  }

  wire(): Promise<Wire> {
    return openTlsWire(this.port, certificates.trust);
  }

  get log(): string {
    return this.#process.log;
  }

  async stop(): Promise<void> {
    await this.#process.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const hasSentinel = available && spawnSync(realProgram("sentinel"), ["--version"]).error === undefined;

test.runIf(full && hasSentinel)("a real Sentinel fails over between servers of ours with TLS alone", async () => {
  const only = { ...OVER_TLS, port: "0" };
  const [primary, replica] = await Promise.all([
    startTls("ours", certificates, only),
    startTls("ours", certificates, only),
  ]);
  const [first, second] = await Promise.all([primary.wire(), replica.wire()]);
  await first!.call("SET", "key", "value");
  await second!.call("REPLICAOF", "127.0.0.1", String(primary.tlsPort));
  const role = async (wire: Wire) => (await wire.call("ROLE")).items.map(({ text }) => text).join(" ");
  await until("the replica follows", async () => (await role(second!)).includes("connected"));
  const sentinel = await Sentinel.watch(primary.tlsPort);
  await until(
    "the sentinel knows the replica",
    () => sentinel.log.includes(`+slave slave 127.0.0.1:${replica.tlsPort}`),
    {
      state: async () => sentinel.log,
    },
  );
  await primary.server.kill();
  await until(
    "the replica is promoted",
    () => sentinel.log.includes(`+switch-master main 127.0.0.1 ${primary.tlsPort} 127.0.0.1 ${replica.tlsPort}`),
    {
      state: async () => sentinel.log,
    },
  );
  const asked = await sentinel.wire();
  const address = await asked.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main");
  expect(address.items.map(({ text }) => text)).toEqual(["127.0.0.1", String(replica.tlsPort)]);
  const promoted = await replica.wire();
  expect((await promoted.call("SET", "key", "changed")).text).toBe("OK");
  await primary.server.restart();
  // Sentinel ends the connections of those whose roles it changes.
  const asOldPrimary = async <T>(use: (wire: Wire) => Promise<T>): Promise<T> => {
    const wire = await primary.wire();
    return use(wire).finally(() => wire.close());
  };
  await until(
    "the old primary follows",
    async () => (await asOldPrimary(role)).includes(`${replica.tlsPort} connected`),
    {
      state: async () => sentinel.log,
    },
  );
  await until(
    "it has what was written",
    async () => (await asOldPrimary((wire) => wire.call("GET", "key"))).text === "changed",
  );
});
