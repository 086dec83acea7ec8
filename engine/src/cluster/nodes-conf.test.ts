/** nodes.conf: what is written is read back, Redis's own files are read, and a node alone starts where it ended. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EmbeddedEngine } from "../embed/embedded.ts";
import { parseNodesConf, readNodesConf } from "./nodes-conf.ts";

const A = "a".repeat(40);
const B = "b".repeat(40);

/** As redis-server 7.0 writes it. */
const REDIS = `${A} 127.0.0.1:7001@17001,a.example myself,master - 0 1794864705000 7 connected 0-10 12 [12->-${B}] [40-<-${B}]
${B} 127.0.0.1:7002@17002 slave ${A} 0 1794864705801 2 connected
vars currentEpoch 9 lastVoteEpoch 3
`;

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "cinnabar-nodes-"));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("reads what Redis writes", () => {
  const { state, self, migrating, importing } = parseNodesConf(REDIS);
  const node = state.nodes.get(A)!;
  expect(self).toBe(A);
  expect(state.currentEpoch).toBe(9);
  expect(node).toMatchObject({ ip: "127.0.0.1", port: 7001, busPort: 17001, hostname: "a.example", configEpoch: 7 });
  expect(state.rangesOf(node)).toEqual([
    [0, 10],
    [12, 12],
  ]);
  expect(state.nodes.get(B)!.primary).toBe(node);
  expect([...migrating]).toEqual([[12, B]]);
  expect([...importing]).toEqual([[40, B]]);
});

test.each([
  ["a line that is none", `${A} nonsense`],
  ["a slot out of range", `${A} :0@0 myself,master - 0 0 0 connected 16384`],
  ["no line of its own", `${A} :0@0 master - 0 0 0 connected`],
])("refuses a file with %s", (_, text) => {
  expect(() => parseNodesConf(text)).toThrow("corrupted cluster config file");
});

test("a node alone starts with the id and the slots that it ended with", async () => {
  const open = () => EmbeddedEngine.open({ dir, config: { "cluster-enabled": "yes" } });
  const before = await open();
  const client = before.connect();
  await client.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
  await client.call("CLUSTER", "SET-CONFIG-EPOCH", "4");
  await client.call("SET", "a", "1");
  const id = await client.call("CLUSTER", "MYID");
  await before.close();
  expect(readFileSync(join(dir, "nodes.conf"), "utf8")).toMatch(
    /^[0-9a-f]{40} :\d+@\d+ myself,master - 0 0 4 connected 0-16383\nvars currentEpoch 4 lastVoteEpoch 0\n$/,
  );
  expect(readNodesConf(join(dir, "nodes.conf"))!.self).toBe(id);

  const after = await open();
  expect(await after.connect().call("CLUSTER", "MYID")).toBe(id);
  expect(await after.connect().call("GET", "a")).toBe("1");
  await after.close();
});

test("a node whose file names others does not start without them", async () => {
  writeFileSync(join(dir, "nodes.conf"), REDIS);
  const opening = EmbeddedEngine.open({ dir, config: { "cluster-enabled": "yes" } });
  await expect(opening).rejects.toThrow(/names 1 other nodes.*Redis or Valkey/);
});
