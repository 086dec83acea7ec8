/** `cinnabar doctor` on stores with and without what it looks for. The commands that it names mend what it has found. */
import { Engine } from "@cinnabar/engine";
import { expect, test } from "vitest";
import { cli, installed, startRedis } from "../../../toolkit/tests/kit/servers.ts";
import { cinnabar } from "./kit.ts";

test("a store of ours in memory is told apart from one that is kept", async () => {
  const engine = await Engine.open({ config: { save: "" } });
  const { port } = await engine.listen({ port: 0 });
  const { code, out } = await cinnabar(["doctor", `redis://127.0.0.1:${port}`]);
  await engine.close();
  expect(out).toContain("ok       reachable: 127.0.0.1:");
  expect(out).toContain("ok       version: Redis 7.0.15");
  expect(out).toContain("ok       rights: 'default' may do everything");
  expect(out).toContain("problem  persistence: nothing is kept on disk");
  expect(code).toBe(2);
});

test.runIf(installed("redis-server"))("what is wrong is found, and mended by the command that is named", async () => {
  const redis = await startRedis({ args: ["--save", "", "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"] });
  const first = await cinnabar(["doctor", redis.url]);
  expect(first.code).toBe(2);
  expect(first.out).toContain("problem  persistence: nothing is kept on disk");
  expect(first.out).toContain("problem  eviction: maxmemory-policy is allkeys-lru");
  const fixes = [...first.out.matchAll(/do: {3}(CONFIG SET [\w-]+ \w+)/g)].map(([, fix]) => fix!);
  expect(fixes).toHaveLength(2);
  for (const fix of fixes) expect(cli(redis.port, ...fix.split(" "))).toBe("OK");
  const mended = await cinnabar(["doctor", redis.url]);
  expect(mended.out).toContain("ok       persistence: append-only file");
  expect(mended.out).toContain("ok       eviction: noeviction");
  expect(mended.code).toBe(0);

  cli(
    redis.port,
    "ACL",
    "SETUSER",
    "app",
    "on",
    ">s3cret",
    "~*",
    "+@read",
    "+@write",
    "+info",
    "+acl",
    "+ping",
    "+config|get",
  );
  const env = { CINNABAR_USERNAME: "app", CINNABAR_PASSWORD: "s3cret" };
  const limited = await cinnabar(["doctor", redis.url, "--json"], { env });
  expect(limited.code).toBe(2);
  const found = JSON.parse(limited.out) as { level: string; what: string; fix?: string }[];
  const rights = found.filter(({ what, level }) => level === "problem" && what.startsWith("rights"));
  expect(rights.some(({ what }) => what.includes("evalsha"))).toBe(true);
  for (const { fix } of rights) expect(cli(redis.port, ...fix!.split(" "))).toBe("OK");
  const after = await cinnabar(["doctor", redis.url], { env });
  expect(after.out).toContain("ok       rights: 'app' may do everything that components need");
  expect(after.out + limited.out).not.toContain("s3cret");
  await redis.stop();
});

test("a store that is not there is a failure with advice", async () => {
  const { code, err } = await cinnabar(["doctor", "redis://127.0.0.1:1"]);
  expect(code).toBe(1);
  expect(err).toContain("What to do: start the server");
});
