/** What `open()` makes of its first argument, and what it says when a folder cannot be opened. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CinnabarError, ConnectionError, InputError, OpenError } from "../base/errors.ts";
import { open } from "./open.ts";

let folder: string;
let before: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cinnabar-open-"));
  before = process.cwd();
  process.chdir(folder);
});

afterEach(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});

const failed = (opening: Promise<unknown>): Promise<CinnabarError> =>
  opening.then(
    () => expect.fail("it was opened"),
    (error) => error,
  );

describe("what looks like a mistyped URL", () => {
  test.each([
    ["rediss//host", "rediss://host"],
    ["redis//host:6379/0", "redis://host:6379/0"],
    ["redis:/host", "redis://host"],
    ["redis:host", "redis://host"],
    ["redis:6379", "redis://redis:6379"],
    ["redis;//host", "redis://host"],
    ["REDIS//host", "REDIS://host"],
    ["reids//host", "redis://host"],
    ["redis+cluster//h1,h2", "redis+cluster://h1,h2"],
    ["valkey//host", "valkey://host"],
    ["unix//run/redis.sock", "unix://run/redis.sock"],
    ["http//host", "redis://host"],
    ["localhost:6379", "redis://localhost:6379"],
    ["localhost:6379/0", "redis://localhost:6379/0"],
    ["127.0.0.1:6379", "redis://127.0.0.1:6379"],
    ["[::1]:6379", "redis://[::1]:6379"],
    ["data:base", "redis://base"],
  ])("%s is refused; %s is meant", async (name, meant) => {
    const error = await failed(open(name));
    expect(error).toBeInstanceOf(InputError);
    expect(error.message).toContain(`did you mean "${meant}"?`);
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each([
    ["redsi://h", "redis://"],
    ["redis+clutser://h", "redis+cluster://"],
    ["reddis://h", "redis://"],
  ])("%s is refused; %s is meant", async (url, meant) => {
    expect((await failed(open(url))).message).toContain(`Did you mean "${meant}"?`);
  });

  test.each(["user:sekret@host", "redis//user:sekret@host:6379", "redis:user:sekret@host", "sekret@host:6379"])(
    "%s is refused without telling the password",
    async (name) => {
      const error = await failed(open(name));
      expect(error).toBeInstanceOf(InputError);
      expect(error.message).toContain("host");
      expect(String(error.stack)).not.toContain("sekret");
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  test.each(["data", "./redis:1", "redis/data", "data//more", "redis", ".hidden", "my data"])(
    "%s is a folder",
    async (name) => {
      const store = await open(name);
      await store.close();
      expect(readdirSync(join(folder, name)).length).toBeGreaterThan(0);
    },
  );

  test.each(["", " ", "a\nb", "a\0b", "a\ud800"])("%j is no folder", async (name) => {
    expect(await failed(open(name))).toBeInstanceOf(InputError);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("anything but text", () => {
  test.each<[unknown, string]>([
    [6379, "redis://localhost:6379"],
    [null, "null"],
    [true, "true"],
    [() => {}, "a function"],
    [Promise.resolve(), "await it first"],
    [{}, "none of them"],
  ])("%s is refused", async (target, why) => {
    const error = await failed(open(target as never));
    expect(error).toBeInstanceOf(InputError);
    expect(error.message).toContain(why);
  });

  test("undefined opens memory with a warning, once; nothing and memory: without", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    try {
      for (const given of [[], ["memory:"], ["memory:", { retryMs: 1 }]] as const) await (await open(...given)).close();
      expect(warned).not.toHaveBeenCalled();
      for (let nth = 0; nth < 2; nth++) {
        const store = await open(process.env.NOT_SET_ANYWHERE);
        expect(store.topology).toBe("embedded");
        await store.close();
      }
      await (await open(undefined, {})).close();
      expect(warned.mock.calls).toEqual([
        [
          expect.stringContaining("open(undefined) keeps everything in memory"),
          { type: "CinnabarWarning", code: "CINNABAR_MEMORY" },
        ],
      ]);
    } finally {
      warned.mockRestore();
    }
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("a folder that cannot be opened", () => {
  test("is in use", async () => {
    const first = await open("./data");
    const error = await failed(open("./data", { shared: false }));
    expect(error).toBeInstanceOf(OpenError);
    expect(error).toMatchObject({
      name: "OpenError",
      code: "LOCKED",
      cause: expect.objectContaining({ name: "DirectoryLocked" }),
    });
    expect(error.message).toContain('"./data" cannot be opened');
    await first.close();
    await (await open("./data")).close();
  });

  test("has a damaged append-only file", async () => {
    const store = await open("./data");
    await store.call("SET", "k", "v");
    await store.close();
    const aof = join(folder, "data/appendonlydir");
    const name = readdirSync(aof).find((each) => each.endsWith(".incr.aof"))!;
    writeFileSync(join(aof, name), Buffer.concat([Buffer.from("nonsense"), readFileSync(join(aof, name))]));
    const error = await failed(open("./data"));
    expect(error).toMatchObject({
      name: "OpenError",
      code: "DAMAGED",
      cause: expect.objectContaining({ name: "AofError" }),
    });
    expect(error.message).toContain("cinnabar-check-aof");
  });

  test("has a damaged snapshot", async () => {
    mkdirSync("data");
    writeFileSync("data/dump.rdb", "REDIS0010 nonsense");
    const error = await failed(open("./data", { config: { appendonly: "no" } }));
    expect(error).toMatchObject({ name: "OpenError", code: "DAMAGED" });
    expect(error.cause).toBeInstanceOf(Error);
  });

  test("is a file, or lies in one", async () => {
    writeFileSync("file", "");
    expect(await failed(open("./file"))).toMatchObject({
      name: "OpenError",
      code: "NOT_A_FOLDER",
      cause: expect.anything(),
    });
    expect(await failed(open("./file/data"))).toMatchObject({ code: "NOT_A_FOLDER" });
  });

  test.skipIf(process.getuid?.() === 0)("may not be written", async () => {
    mkdirSync("data");
    chmodSync("data", 0o500);
    expect(await failed(open("./data"))).toMatchObject({
      code: "NO_PERMISSION",
      cause: expect.objectContaining({ code: "EACCES" }),
    });
  });

  test("has directives that are none", async () => {
    const error = await failed(open("memory:", { config: { maxmemory: "lots" } }));
    expect(error).toBeInstanceOf(InputError);
    expect(error.message).toContain("maxmemory");
    expect(await failed(open("memory:", { config: { nonsense: "1" } }))).toBeInstanceOf(InputError);
  });
});

describe("a server that cannot be opened", () => {
  test("does not speak the protocol, or is not there", async () => {
    const server = createServer((_, response) => response.end("hello"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const options = { connectTimeoutMs: 500 };
    const error = await failed(open(`redis://127.0.0.1:${port}`, options));
    expect(error).toBeInstanceOf(CinnabarError);
    await new Promise((resolve) => server.close(resolve));
    const gone = await failed(open(`redis://127.0.0.1:${port}`, options));
    expect(gone).toBeInstanceOf(ConnectionError);
    expect(gone).toMatchObject({ code: "UNREACHABLE", cause: expect.anything() });
  });
});
