/** Clients that a program already has, of both libraries and both versions: taken as they are, left as they were. */
import { connectorFor, Engine } from "@cinnabar/engine";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis5";
import { Cluster as Cluster6, Redis as Redis6 } from "ioredis6";
import * as nodeRedis6 from "redis";
import * as nodeRedis5 from "redis5";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  installed,
  type SentinelProcesses,
  type ServerProcess,
  startRedis,
  startSentinel,
} from "../../tests/kit/servers.ts";
import { sharedCluster } from "../../tests/kit/shared.ts";
import { InputError } from "../base/errors.ts";
import { defineScript } from "../base/script.ts";
import { open } from "./open.ts";
import type { Store } from "./store.ts";

const add = defineScript({ name: "add", keys: ["n"], args: ["by"], lua: `return redis.call("INCRBY", n, by)` });
const BYTES = Buffer.from([0, 255, 13, 10]);

/** The part of the contract where an adapter could differ. */
async function worksAsAStore(store: Store): Promise<void> {
  const tag = `{${Math.random()}}`;
  expect(await store.call("SET", `${tag}k`, BYTES)).toBe("OK");
  expect(await store.callBuffer("GET", `${tag}k`)).toEqual(BYTES);
  expect(await store.call("INCRBY", `${tag}big`, "9007199254740993")).toBe("9007199254740993");
  await store.call("HSET", `${tag}h`, "f", "v");
  expect(await store.call("HGETALL", `${tag}h`)).toEqual(["f", "v"]);
  expect(await store.run(add, { n: `${tag}n`, by: 2 })).toBe(2);
  expect(await store.pipeline([add.with({ n: `${tag}n`, by: 1 }), ["GET", `${tag}n`]])).toEqual([3, "3"]);
  expect(
    await store.multi([
      ["INCR", `${tag}n`],
      ["GET", `${tag}n`],
    ]),
  ).toEqual([4, "4"]);
  expect(await store.transaction({ watch: [`${tag}n`] }, () => [["INCR", `${tag}n`]])).toEqual([5]);
  const heard = new Promise<string>((resolve) => {
    void store
      .subscribe(`${tag}c`, (message) => resolve(message.toString()))
      .then(() => store.call("PUBLISH", `${tag}c`, "hello"));
  });
  expect(await heard).toBe("hello");
  const waiting = store.blocking(`${tag}q`).call(["BLPOP", `${tag}q`, 10], { timeoutMs: 10_000 });
  await store.call("RPUSH", `${tag}q`, "x");
  expect(await waiting).toEqual([`${tag}q`, "x"]);
  expect(await store.sendToAll(["PING"])).toContain("PONG");
}

interface Existing {
  readonly client: object;
  /** Still works, after our store is closed. */
  ping(): Promise<unknown>;
  end(): Promise<unknown> | unknown;
}

describe.skipIf(!installed("redis-server"))("an existing client", () => {
  let server: ServerProcess;
  let cluster: { readonly ports: readonly number[] };
  let sentinel: SentinelProcesses;

  beforeAll(async () => {
    server = await startRedis({ args: ["--requirepass", "pass/word"] });
    cluster = await sharedCluster();
    sentinel = await startSentinel();
  });
  afterAll(async () => {
    await server?.stop();
    await sentinel?.stop();
  });

  const ioredis = (Redis: typeof Redis6, Cluster: typeof Cluster6) => ({
    single: async (): Promise<Existing> => {
      const client = new Redis({ port: server.port, password: "pass/word", db: 3 });
      return { client, ping: () => client.ping(), end: () => client.quit() };
    },
    cluster: async (): Promise<Existing> => {
      const client = new Cluster([{ host: "127.0.0.1", port: cluster.ports[0]! }]);
      return { client, ping: () => client.ping(), end: () => client.quit() };
    },
    sentinel: async (): Promise<Existing> => {
      const sentinels = sentinel.sentinels.map(({ port }) => ({ host: "127.0.0.1", port }));
      const client = new Redis({ sentinels, name: "main" });
      return { client, ping: () => client.ping(), end: () => client.quit() };
    },
  });
  const nodeRedis = ({ createClient, createCluster, createSentinel }: typeof nodeRedis6) => {
    return {
      single: async (): Promise<Existing> => {
        const url = `redis://:pass%2Fword@127.0.0.1:${server.port}/3`;
        const client = await createClient({ url }).connect();
        return { client, ping: () => client.ping(), end: () => client.close() };
      },
      cluster: async (): Promise<Existing> => {
        const client = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${cluster.ports[0]}` }] });
        await client.connect();
        return { client, ping: () => client.sendCommand(undefined, true, ["PING"]), end: () => client.close() };
      },
      sentinel: async (): Promise<Existing> => {
        const sentinelRootNodes = sentinel.sentinels.map(({ port }) => ({ host: "127.0.0.1", port }));
        const client = createSentinel({ name: "main", sentinelRootNodes });
        client.on("error", () => {});
        await client.connect();
        return { client, ping: () => client.sendCommand(false, ["PING"]), end: () => client.close() };
      },
    };
  };

  const libraries = [
    ["ioredis 5", ioredis(Redis5 as never, Cluster5 as never)],
    ["ioredis 6", ioredis(Redis6, Cluster6)],
    ["node-redis 5", nodeRedis(nodeRedis5 as never)],
    ["node-redis 6", nodeRedis(nodeRedis6)],
  ] as const;

  describe.each(libraries)("of %s", (name, make) => {
    test.each(["single", "cluster", "sentinel"] as const)(
      "to %s works, and is not closed with the store",
      async (topology) => {
        const existing = await make[topology]();
        if (name === "node-redis 5" && topology === "sentinel") {
          await expect(open(existing.client)).rejects.toThrow("redis+sentinel://");
          return void (await existing.end());
        }
        const store = await open(existing.client);
        expect(store.topology).toBe(topology);
        await worksAsAStore(store);
        if (topology === "single") expect(await store.call("CLIENT", "INFO")).toContain("db=3");
        await store.close();
        expect(await existing.ping()).toBe("PONG");
        await existing.end();
      },
    );

    test("with a key prefix is refused", async () => {
      const client = name.startsWith("ioredis") ? new Redis5({ lazyConnect: true, keyPrefix: "app:" }) : prefixed();
      await expect(open(client)).rejects.toBeInstanceOf(InputError);
    });
  });

  test("is known to threads by a URL with which they reach the same server", async () => {
    const existing = await libraries[0][1].single();
    const store = await open(existing.client);
    const address = store.workerAddress!;
    const other = await open(address.url, address.options);
    await store.call("SET", "shared", "yes");
    expect(await other.call("GET", "shared")).toBe("yes");
    await Promise.all([store.close(), other.close(), existing.end()]);
  });

  test("with credentials that change in time is asked for them before each sign-in", async () => {
    let asked = 0;
    const client = nodeRedis6.createClient({
      socket: { host: "127.0.0.1", port: server.port },
      credentialsProvider: {
        type: "async-credentials-provider",
        credentials: async () => {
          asked++;
          return { username: "default", password: "pass/word" };
        },
      },
    });
    const store = await open(client);
    expect(await store.call("PING")).toBe("PONG");
    await store.transaction({ watch: ["k"] }, () => [["SET", "k", 1]]);
    expect(asked).toBe(2);
    expect(store.workerAddress).toBeNull();
    await store.close();
  });
});

function prefixed(): object {
  return nodeRedis6.createClient({ keyPrefix: "app:" } as never);
}

describe("without a server", () => {
  test.each([
    ["ioredis 5", Redis5],
    ["ioredis 6", Redis6],
  ])("%s on an engine's connector works", async (_, Redis) => {
    const engine = await Engine.open();
    const client = new (Redis as typeof Redis6)({ Connector: connectorFor(engine) });
    const store = await open(client);
    await worksAsAStore(store);
    await store.close();
    expect(await client.ping()).toBe("PONG");
    client.disconnect();
    await engine.close();
  });

  test("an engine works, and is not closed with the store", async () => {
    const engine = await Engine.open();
    const store = await open(engine);
    await worksAsAStore(store);
    await store.close();
    expect(await engine.connect().call("PING")).toBe("PONG");
    await engine.close();
  });
});
