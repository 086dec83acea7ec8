/** The client libraries over TLS, with certificates on both sides. */
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EmbeddedEngine } from "../../src/embed/embedded.ts";
import { TestCertificates } from "../kit/certificates.ts";

const certificates = new TestCertificates();
const { trust } = certificates;
let engine: EmbeddedEngine;
let port: number;

beforeAll(async () => {
  engine = await EmbeddedEngine.open({ config: { ...certificates.directives, requirepass: "secret" } });
  ({ port } = await engine.listen({ port: 0, tls: true }));
});
afterAll(async () => {
  await engine.close();
  certificates.remove();
});

test("ioredis", async () => {
  const client = new Redis({ host: "localhost", port, password: "secret", tls: trust });
  const subscriber = client.duplicate();
  await subscriber.subscribe("news");
  const heard = new Promise((resolve) => subscriber.once("message", (_channel, message) => resolve(message)));
  await client.publish("news", "hello");
  expect(await heard).toBe("hello");
  const many = await Promise.all(Array.from({ length: 2000 }, (_, i) => client.incrby("n", i)));
  expect(many.at(-1)).toBe((1999 * 2000) / 2);
  client.disconnect();
  subscriber.disconnect();
});

test("node-redis, with RESP3", async () => {
  const socket = { host: "localhost", port, tls: true as const, ...trust };
  const client = createClient({ RESP: 3, password: "secret", socket });
  await client.connect();
  await client.hSet("hash", { field: "x".repeat(200_000) });
  expect((await client.hGetAll("hash")).field).toHaveLength(200_000);
  client.destroy();
});
