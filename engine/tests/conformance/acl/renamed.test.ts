/** Rules for commands that rename-command gave another name, on the engine and on a real server. */
import { expect, test } from "vitest";
import { Engine } from "../../../src/index.ts";
import { redisMissing, startRedis } from "../redis-server.ts";
import { openWire } from "../target.ts";

const CALLS = [
  ["ACL", "SETUSER", "a", "on", ">p", "~*", "+get"],
  ["ACL", "SETUSER", "d", "on", ">p", "+config|get"],
  ["ACL", "SETUSER", "b", "+fetch"],
  ["ACL", "SETUSER", "b", "+settings"],
  ["ACL", "LIST"],
  ["ACL", "DRYRUN", "a", "get", "k"],
  ["ACL", "DRYRUN", "a", "fetch", "k"],
  ["ACL", "DRYRUN", "a", "settings", "set", "x", "y"],
  ["ACL", "DRYRUN", "d", "settings", "get", "x"],
  ["ACL", "DRYRUN", "d", "settings", "set", "x", "y"],
  ["ACL", "SETUSER", "c", "on", ">p", "~*", "+flushall"],
  ["AUTH", "a", "p"],
  ["fetch", "k"],
  ["get", "k"],
  ["settings", "set", "x", "y"],
];

test.skipIf(redisMissing() !== undefined)("rules name commands as they were called first", async () => {
  const renames = [
    ["GET", "fetch"],
    ["CONFIG", "settings"],
    ["FLUSHALL", ""],
  ] as const;
  const real = await startRedis(renames.flatMap(([from, to]) => ["--rename-command", from, to]));
  const engine = await Engine.open({ renamedCommands: renames });
  try {
    const { port } = await engine.listen({ port: 0 });
    const wires = await Promise.all([openWire(real.port), openWire(port)]);
    const [theirs, ours] = await Promise.all(wires.map((wire) => wire.pipeline(CALLS)));
    expect(ours).toEqual(theirs);
    await Promise.all(wires.map((wire) => wire.close()));
  } finally {
    await engine.close();
    await real.stop();
  }
});
