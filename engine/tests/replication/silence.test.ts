/**
 * Links that are neither up nor down: stalled, or half open. Both sides must notice by themselves, the primary goes on
 * serving, and the replica goes on where it was.
 */
import { afterAll, describe, expect, it, vi } from "vitest";
import { redisAvailable } from "../conformance/redis-server.ts";
import { Bystander } from "./bystander.ts";
import { Link } from "./link.ts";
import {
  caughtUp,
  figures,
  follow,
  type Kind,
  linkUp,
  PATIENCE_MS,
  type Server,
  startAll,
  stopAll,
  until,
} from "./servers.ts";

vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

afterAll(stopAll);

const PAIRS: readonly (readonly [Kind, Kind])[] = [
  ["ours", "ours"],
  ["ours", "redis"],
  ["redis", "ours"],
];

const NOTICES = { "repl-timeout": "2", "repl-ping-replica-period": "1" };

const connected = (primary: Server): Promise<number> => primary.number("connected_slaves");
const isDown = async (replica: Server): Promise<boolean> => (await replica.info()).master_link_status === "down";

async function stallAndSilence(from: Kind, to: Kind): Promise<void> {
  const [primary, replica] = (await startAll([from, to], NOTICES)) as [Server, Server];
  const link = await Link.to(primary);
  await follow(replica, link.port);
  const bystander = new Bystander(primary);

  link.stall();
  await until("the replica gives the stalled link up", () => isDown(replica));
  await until("so does the primary", async () => (await connected(primary)) === 0);
  await primary.ask("SET", "during", "the stall");
  link.restore();
  await linkUp(replica);
  await caughtUp(primary, replica);
  expect(await replica.ask("GET", "during")).toBe("the stall");

  const partial = await primary.number("sync_partial_ok");
  link.swallow();
  await until("the replica gives the half-open link up", async () => {
    return (await isDown(replica)) || (await primary.number("sync_partial_ok")) > partial;
  });
  await primary.ask("SET", "after", "the silence");
  await linkUp(replica);
  await until("the primary has dropped the dead one", async () => (await connected(primary)) === 1);
  figures(`${from} → ${to}, bystander`, await bystander.stop());
  await caughtUp(primary, replica);
  expect(await replica.ask("GET", "after")).toBe("the silence");
  expect(await primary.number("sync_full")).toBe(1);
  expect(await primary.number("sync_partial_ok")).toBeGreaterThan(partial);
}

describe.concurrent("a stalled or half-open link is noticed on both sides by repl-timeout, and resumed where it was", () => {
  for (const [from, to] of PAIRS) {
    const missing = (from === "redis" || to === "redis") && !redisAvailable();
    it.skipIf(missing)(`${from} → ${to}`, () => stallAndSilence(from, to));
  }
});
