/** `cinnabar backup`: taken under load, kept as told, verified by loading, restored; damaged ones are refused. */

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Engine } from "@cinnabar/engine";
import { open } from "cinnabar";
import { afterAll, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../../toolkit/tests/kit/servers.ts";
import { temporaryFolder } from "../support.ts";
import { cinnabar } from "./kit.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const files = (path: string): string[] =>
  readdirSync(path)
    .filter((name) => name.endsWith(".rdb"))
    .sort();

describe.runIf(installed("redis-server"))("a backup of a redis-server", () => {
  test("is taken and restored under load, and is one moment of the store", async () => {
    const redis = await startRedis();
    const store = await open(redis.url);
    const into = join(folder.path, "load");
    for (let i = 0; i < 5_000; i += 1_000) {
      await store.pipeline(Array.from({ length: 1_000 }, (_, at) => ["SET", `k:${i + at}`, `v${i + at}`]));
    }
    await store.call("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 7 end)");
    let isWriting = true;
    let written = 0;
    const writer = (async () => {
      // Both or none: a backup of one moment has as many of one as of the other.
      while (isWriting) {
        await store.call(
          "EVAL",
          "redis.call('RPUSH', KEYS[1], ARGV[1]) redis.call('RPUSH', KEYS[2], ARGV[1])",
          2,
          "a",
          "b",
          ++written,
        );
      }
    })();
    const taken = await cinnabar(["backup", "take", redis.url, into]);
    expect(taken.code, taken.err).toBe(0);
    expect(taken.out).toContain("verified by loading");
    const before = written;
    await expect.poll(() => written).toBeGreaterThan(before);
    isWriting = false;
    await writer;
    const other = await startRedis();
    const restored = await cinnabar(["backup", "restore", into, other.url]);
    expect(restored.code, restored.err).toBe(0);
    const copy = await open(other.url);
    const [a, b] = [await copy.call("LRANGE", "a", 0, -1), await copy.call("LRANGE", "b", 0, -1)];
    expect(a).toEqual(b);
    expect(a).toEqual(Array.from({ length: (a as string[]).length }, (_, at) => String(at + 1)));
    expect(await copy.call("GET", "k:4999")).toBe("v4999");
    expect(await copy.call("FCALL", "f", 0)).toBe(7);
    const full = await cinnabar(["backup", "restore", into, other.url]);
    expect(full.err).toMatch(/has \d+ keys\nWhat to do: --replace/);
    expect((await cinnabar(["backup", "restore", into, other.url, "--replace"])).code).toBe(0);
    await Promise.all([store.close(), copy.close()]);
    await Promise.all([redis.stop(), other.stop()]);
    if (!installed("redis-check-rdb")) return;
    const check = spawnSync("redis-check-rdb", [join(into, files(into)[0]!)], { encoding: "utf8" });
    expect(check.stdout).toContain("RDB looks OK");
  });

  test("needs the password, which is not shown", async () => {
    const redis = await startRedis({ args: ["--requirepass", "s3cret"] });
    const into = join(folder.path, "password");
    const refused = await cinnabar(["backup", "take", redis.url, into]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("NOAUTH");
    const taken = await cinnabar(["backup", "take", redis.url, into], { env: { CINNABAR_PASSWORD: "s3cret" } });
    expect(taken.code, taken.err).toBe(0);
    expect(taken.out + readFileSync(join(into, files(into)[0]!.replace(".rdb", ".json")), "utf8")).not.toContain(
      "s3cret",
    );
    await redis.stop();
  });
});

describe("a backup of a folder", () => {
  const dir = join(folder.path, "data");
  const into = join(folder.path, "kept");

  test("is scheduled, and only as many stay as asked for", async () => {
    const engine = await Engine.open({ dir });
    await engine.connect().call("SET", "k", "v");
    await engine.close();
    const taken = await cinnabar(["backup", "take", dir, into, "--every", "1s", "--times", "3", "--keep", "2"]);
    expect(taken.code, taken.err).toBe(0);
    expect(files(into)).toHaveLength(2);
    expect(taken.out.match(/verified by loading/g)).toHaveLength(3);
    expect((await cinnabar(["backup", "list", into])).out.match(/1 key of/g)).toHaveLength(2);
  });

  test("that is damaged is refused", async () => {
    const newest = join(into, files(into).at(-1)!);
    const bytes = readFileSync(newest);
    bytes[bytes.length - 12]! ^= 0xff;
    writeFileSync(newest, bytes);
    const target = join(folder.path, "target");
    const refused = await cinnabar(["backup", "restore", newest, target]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("is damaged: its SHA-256");
    expect((await cinnabar(["backup", "verify", into])).code).toBe(1);
    expect((await cinnabar(["backup", "list", into])).code).toBe(2);
    const older = await cinnabar(["backup", "restore", join(into, files(into)[0]!), target]);
    expect(older.out).toContain("Restored 1 key");
    const store = await open(target);
    expect(await store.call("GET", "k")).toBe("v");
    await store.close();
  });

  test("whose snapshot does not load is refused though its checksum fits", async () => {
    const torn = join(into, "cinnabar-20200101T000000000Z.rdb");
    const bytes = readFileSync(join(into, files(into)[0]!)).subarray(0, 40);
    writeFileSync(torn, bytes);
    const { createHash } = await import("node:crypto");
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    writeFileSync(torn.replace(".rdb", ".json"), JSON.stringify({ takenAt: "2020", source: "x", keys: 1, sha256 }));
    const refused = await cinnabar(["backup", "verify", torn]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("cannot be loaded");
  });
});

test("what is mistyped is named", async () => {
  expect((await cinnabar(["backup", "resotre", "a", "b"])).err).toContain("did you mean 'restore'?");
  expect((await cinnabar(["backup", "take", "a"])).err).toContain("cinnabar backup take URL|FOLDER INTO");
});
