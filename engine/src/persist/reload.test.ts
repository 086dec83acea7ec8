/** DEBUG RELOAD and DEBUG LOADAOF where a transcript cannot follow: files, effects, and what would end a Redis. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EmbeddedEngine } from "../embed/embedded.ts";
import type { LocalClient } from "../embed/local-client.ts";

let dir: string;
let engine: EmbeddedEngine;
let client: LocalClient;

async function open(config: Record<string, string> = {}): Promise<void> {
  engine = await EmbeddedEngine.open({ dir, config: { "enable-debug-command": "yes", ...config } });
  client = engine.connect();
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "cinnabar-reload-"));
});
afterEach(async () => {
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
});

const increment = () => readFileSync(join(dir, "appendonlydir", "appendonly.aof.1.incr.aof"), "latin1");

describe("DEBUG LOADAOF", () => {
  test("brings back what the file says, and tells the file nothing of it", async () => {
    await open({ appendfsync: "always" });
    await client.call("SET", "a", "1");
    await client.call("RPUSH", "list", "x", "y");
    await client.call(
      "FUNCTION",
      "LOAD",
      "#!lua name=lib\nredis.register_function('answer', function() return 42 end)",
    );
    // Behind the file's back.
    engine.core.databases[0]!.clear();
    engine.core.databases[2]!.put("stray", "v");
    expect(await client.call("DEBUG", "LOADAOF")).toBe("OK");
    expect(await client.call("LRANGE", "list", "0", "-1")).toEqual(["x", "y"]);
    expect(engine.core.databases.map((db) => db.size).slice(0, 3)).toEqual([2, 0, 0]);
    expect(await client.call("FCALL", "answer", "0")).toBe(42);
    expect((await client.call("INFO", "persistence")) as string).toContain("rdb_changes_since_last_save:0");
    await client.call("INCR", "a");
    const before = increment();
    expect(await client.call("DEBUG", "LOADAOF")).toBe("OK");
    expect(increment()).toBe(before);
    expect(await client.call("GET", "a")).toBe("2");
  });

  test("is an error where there are no files, and drops nothing", async () => {
    await open({ appendonly: "no" });
    await client.call("SET", "a", "1");
    await expect(client.call("DEBUG", "LOADAOF")).rejects.toThrow("ERR Error trying to load the AOF files");
    expect(await client.call("GET", "a")).toBe("1");
  });

  test("finds files of before where the append-only file is off", async () => {
    await open();
    await client.call("SET", "a", "1");
    await client.call("CONFIG", "SET", "appendonly", "no");
    await client.call("SET", "a", "2");
    expect(await client.call("DEBUG", "LOADAOF")).toBe("OK");
    expect(await client.call("GET", "a")).toBe("1");
  });
});

describe("DEBUG RELOAD", () => {
  test("tells the append-only file nothing, and a snapshot that is being taken stays what it is", async () => {
    await open();
    await client.call("MSET", "a", "file", "b", "file");
    await client.call("SAVE");
    await client.call("DEL", "b");
    await client.call("SET", "a", "memory");
    const before = increment();
    const rewrite = client.call("BGREWRITEAOF");
    expect(await client.call("DEBUG", "RELOAD", "NOSAVE", "NOFLUSH", "MERGE")).toBe("OK");
    expect(await client.call("MGET", "a", "b")).toEqual(["file", "file"]);
    await rewrite;
    await engine.core.persistence.idle();
    expect(before).not.toContain("RELOAD");
    // As when the rewrite began: what came from the file is not in it.
    await client.call("DEBUG", "LOADAOF");
    expect(await client.call("MGET", "a", "b")).toEqual(["memory", null]);
  });

  test("a key that is in the file and in memory is an error unless the file may win", async () => {
    await open({ appendonly: "no" });
    await client.call("SET", "a", "1");
    await expect(client.call("DEBUG", "RELOAD", "NOFLUSH")).rejects.toThrow("ERR Error trying to load the RDB dump");
    expect(await client.call("GET", "a")).toBe("1");
  });

  test("without a file nothing is dropped", async () => {
    await open({ appendonly: "no" });
    await client.call("SET", "a", "1");
    await expect(client.call("DEBUG", "RELOAD", "NOSAVE")).rejects.toThrow("ERR Error trying to load the RDB dump");
    expect(await client.call("GET", "a")).toBe("1");
  });

  test("a file that cannot be written is an error before anything is dropped", async () => {
    await open({ appendonly: "no", dbfilename: "dump.rdb" });
    await client.call("SET", "a", "1");
    engine.core.config.values.dir = join(dir, "nowhere");
    await expect(client.call("DEBUG", "RELOAD")).rejects.toThrow("ERR");
    expect(await client.call("GET", "a")).toBe("1");
    engine.core.config.values.dir = dir;
  });
});
