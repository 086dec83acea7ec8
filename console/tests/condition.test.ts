/** What the overview says about a store's health, from what INFO says. */
import { describe, expect, test } from "vitest";
import type { Info } from "../src/info.ts";
import { findingsOf, replicasOf } from "../ui/condition.ts";

const WELL: Info = {
  Clients: { connected_clients: "3", maxclients: "10000" },
  Memory: { used_memory: "100", maxmemory: "1000" },
  Persistence: {
    loading: "0",
    rdb_last_bgsave_status: "ok",
    aof_last_write_status: "ok",
    aof_last_bgrewrite_status: "ok",
  },
  Replication: { role: "master" },
  Stats: { evicted_keys: "7", rejected_connections: "2" },
};

const changed = (section: string, fields: Record<string, string>): Info => ({
  ...WELL,
  [section]: { ...WELL[section], ...fields },
});

const textsOf = (node: Info, before: readonly Info[] = [WELL]) =>
  findingsOf({ nodes: [node], before, queues: [], slow: 0 }).map(({ weight, text }) => `${weight}: ${text}`);

describe("findings", () => {
  test("there are none while all is well, whatever was long ago", () => {
    expect(textsOf(WELL)).toEqual([]);
    expect(textsOf(WELL, [])).toEqual([]);
  });

  test.each([
    ["Persistence", { rdb_last_bgsave_status: "err" }, "failed: The last snapshot failed."],
    ["Persistence", { aof_last_write_status: "err" }, "failed: The last write to the AOF failed."],
    ["Persistence", { aof_last_bgrewrite_status: "err" }, "delayed: The last rewrite of the AOF failed."],
    ["Persistence", { loading: "1" }, "delayed: The dataset is being loaded."],
    ["Replication", { master_link_status: "down" }, "failed: The replica has lost its primary."],
    ["Memory", { used_memory: "900" }, "delayed: 900 B of 1000 B memory are in use."],
    ["Clients", { connected_clients: "9500" }, "delayed: 9500 of 10000 client connections are in use."],
    ["Stats", { evicted_keys: "9" }, "delayed: 2 keys were evicted in the last seconds."],
    ["Stats", { rejected_connections: "3" }, "failed: 1 connection was rejected just now."],
  ])("%s %o", (section, fields, finding) => {
    expect(textsOf(changed(section, fields))).toEqual([finding]);
  });

  test("a store without a limit is never full, and one that began again has evicted nothing", () => {
    expect(textsOf(changed("Memory", { used_memory: "900", maxmemory: "0" }))).toEqual([]);
    expect(textsOf(changed("Stats", { evicted_keys: "0" }))).toEqual([]);
  });

  test("dead jobs and slow commands are told, what failed first", () => {
    const queues = [
      { name: "mails", shards: 2, dead: 1 },
      { name: "quiet", shards: 1, dead: 0 },
    ];
    expect(findingsOf({ nodes: [WELL], before: [], queues, slow: 4 })).toEqual([
      { weight: "failed", text: "1 dead job in queue mails.", path: "queues?name=mails&shards=2" },
      { weight: "delayed", text: "4 slow commands in the last five minutes.", path: "slow" },
    ]);
  });

  test("a node of several is named", () => {
    const nodes = [WELL, changed("Persistence", { rdb_last_bgsave_status: "err" })];
    expect(findingsOf({ nodes, before: [], queues: [], slow: 0 })[0]!.text).toBe("Node 2: The last snapshot failed.");
  });
});

test("replicas are counted, with how far the last one is behind", () => {
  const Replication = {
    role: "master",
    master_repl_offset: "1000",
    slave0: "ip=10.0.0.1,port=6379,state=online,offset=990,lag=0",
    slave1: "ip=10.0.0.2,port=6379,state=online,offset=400,lag=1",
  };
  expect(replicasOf([{ Replication }])).toEqual({ count: 2, worstBehind: 600 });
  expect(replicasOf([WELL])).toEqual({ count: 0, worstBehind: 0 });
});
