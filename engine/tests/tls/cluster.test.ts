/** Cluster clients over TLS, on a Cluster in one process whose ports take nothing else. */

import { spawn, spawnSync } from "node:child_process";
import { Cluster } from "ioredis";
import { createCluster } from "redis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EngineCluster } from "../../src/index.ts";
import { keySlot } from "../../src/lib/key-slot.ts";
import { TestCertificates } from "../kit/certificates.ts";

const certificates = new TestCertificates();
const { trust } = certificates;
let cluster: EngineCluster;

beforeAll(async () => {
  const tls = { cert: certificates.cert, key: certificates.key, ca: certificates.ca };
  cluster = await EngineCluster.open({ nodeTimeoutMs: 300, listen: { tls } });
});
afterAll(async () => {
  await cluster.close();
  certificates.remove();
});

const KEYS = Array.from({ length: 50 }, (_, i) => `key:${i}`);

test("ioredis finds keys, and goes on while slots move, a replica takes over and a node starts again", async () => {
  const redis = new Cluster(cluster.addresses, {
    redisOptions: { tls: trust, maxRetriesPerRequest: null },
    clusterRetryStrategy: () => 20,
    retryDelayOnFailover: 20,
    retryDelayOnTryAgain: 5,
    maxRedirections: 1000,
  });
  redis.on("error", () => {});
  await Promise.all(KEYS.map((key) => redis.set(key, key)));
  await cluster.moveSlots(KEYS.map(keySlot), 0, { keysAtOnce: 1 });
  expect(await Promise.all(KEYS.map((key) => redis.get(key)))).toEqual(KEYS);
  const heir = await cluster.failover(0);
  expect(await Promise.all(KEYS.map((key) => redis.get(key)))).toEqual(KEYS);
  await cluster.kill(heir);
  await cluster.restart(heir);
  await cluster.synced();
  await expect.poll(() => redis.set("after", "1")).toBe("OK");
  redis.disconnect();
});

test("node-redis follows redirections", async () => {
  const redis = createCluster({
    rootNodes: cluster.addresses.map((socket) => ({ socket })),
    defaults: { socket: { tls: true as const, ...trust } },
  });
  redis.on("error", () => {});
  await redis.connect();
  for (const key of KEYS) await redis.set(key, "again");
  for (const key of KEYS) expect(await redis.get(key)).toBe("again");
  redis.destroy();
});

test("a client without TLS, or without a certificate, is told why it does not get in", async () => {
  const port = String(cluster.nodes[0]!.port);
  const said = (...args: string[]) =>
    new Promise<string>((resolve) => {
      const child = spawn("redis-cli", ["-p", port, ...args, "PING"]);
      let text = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (text += String(chunk)));
      child.on("error", () => resolve("no redis-cli"));
      child.on("close", () => resolve(text));
    });
  if (spawnSync("redis-cli", ["--version"]).error !== undefined) return;
  expect(await said()).toContain("This port takes TLS only");
  expect(await said("--tls", "--cacert", certificates.ca)).toContain("asks clients for a certificate");
  const own = [
    "--tls",
    "--cacert",
    certificates.ca,
    "--cert",
    certificates.clientCert,
    "--key",
    certificates.clientKey,
  ];
  expect(await said(...own)).toBe("PONG\n");
});
