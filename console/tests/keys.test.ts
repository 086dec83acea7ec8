/** The API of the keys page and the analysis, on our store and on a real Redis: scans, bulk actions, files, forms of values. */
import zlib, { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { type Answer, type Backend, backends, type Served, serve } from "./support.ts";

const sample = 300;

describe.each(backends(installed("redis-server") ? startRedis : undefined))("keys on %s", (_name, start) => {
  let backend: Backend;
  let api: Served;
  const call = (...words: (string | number | Buffer)[]) => backend.store.call(...words);

  beforeAll(async () => {
    backend = await start();
    api = await serve(backend.store);
  });
  afterAll(async () => {
    await api?.console.close();
    await backend?.stop();
  });
  beforeEach(async () => {
    await call("FLUSHALL");
  });

  const settled = async (path: string): Promise<Answer["body"]> => {
    for (;;) {
      const { status, body } = await api.get(path);
      expect(status).toBe(200);
      if (body.state !== "running") return body;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const survey = async (filter: object = {}) => {
    const { status, body } = await api.send("POST", "/api/surveys", { separator: ":", fresh: true, ...filter });
    expect(status).toBe(200);
    return settled(`/api/surveys/${body.id}`);
  };
  const bulk = async (body: object) => {
    const started = await api.send("POST", "/api/keys/bulk", body);
    expect(started).toMatchObject({ status: 200 });
    return settled(`/api/keys/bulk/${started.body.id}`);
  };
  const fill = async () => {
    for (let nth = 0; nth < sample; nth++)
      await call("SET", `user:${nth % 10}:visit:${nth}`, "x".repeat(nth), "EX", 100 + nth);
    await call("HSET", "user:1:profile", "name", "Ada");
    await call("RPUSH", "job/{a:b}/list", "one", "two");
    await call("SET", "plain", "y".repeat(5_000));
    await call("SET", Buffer.from([0xff, 0x3a, 0x01]), "bytes");
  };

  describe("a scan", () => {
    test("gives true counts and memory of every folder, by any separator", async () => {
      await fill();
      const found = await survey();
      expect(found).toMatchObject({
        state: "done",
        done: sample + 4,
        total: sample + 4,
        matched: sample + 4,
        exact: true,
      });
      const folders = async (path: string[]) =>
        (await api.get(`/api/surveys/${found.id}/folders?path=${encodeURIComponent(JSON.stringify(path))}`)).body;
      const root = await folders([]);
      expect(root.folders).toMatchObject([{ name: "user", count: sample + 1 }]);
      expect(root.direct).toBe(3);
      const users = await folders(["user"]);
      expect(users.folders.map(({ name, count }: { name: string; count: number }) => [name, count])).toEqual(
        Array.from({ length: 10 }, (_, nth) => [String(nth), sample / 10 + (nth === 1 ? 1 : 0)]),
      );
      const sum = users.folders.reduce((total: number, { bytes }: { bytes: number }) => total + bytes, 0);
      expect(sum).toBe(root.folders[0].bytes);
      expect(await folders(["user", "1"])).toMatchObject({
        direct: 1,
        folders: [{ name: "visit", direct: sample / 10 }],
      });
      const slashes = await survey({ separator: "/" });
      const parted = (await api.get(`/api/surveys/${slashes.id}/folders`)).body;
      expect(parted.folders).toMatchObject([{ name: "job", count: 1, folders: 1 }]);
      expect((await api.get(`/api/surveys/${found.id}/folders?path=["none"]`)).status).toBe(404);
      expect((await api.get(`/api/surveys/${found.id}/folders?path=7`)).status).toBe(400);
      expect((await api.get("/api/surveys/none")).status).toBe(404);
    });

    test("finds keys by type, time to live and size", async () => {
      await fill();
      const names = async (filter: object) => {
        const { id, matched } = await survey(filter);
        const { keys } = (await api.get(`/api/surveys/${id}/keys`)).body;
        expect(keys).toHaveLength(matched);
        return keys.map(({ key }: { key: unknown }) => key).sort();
      };
      expect(await names({ type: "hash" })).toEqual(["user:1:profile"]);
      expect(await names({ ttl: "none", match: "user:*" })).toEqual(["user:1:profile"]);
      expect(await names({ minTtlMs: 200_000, maxTtlMs: 10_000_000 })).toContain("user:9:visit:299");
      expect(await names({ maxTtlMs: 105_000, ttl: "some" })).not.toContain("plain");
      expect(await names({ minBytes: 5_000 })).toEqual(["plain"]);
      expect(await names({ minBytes: 5_000, maxBytes: 5_001 })).toEqual([]);
      expect(await names({ match: "user:[13]:visit:?" })).toEqual(["user:1:visit:1", "user:3:visit:3"]);
    });

    test("is shared by two callers who ask for the same, and stopped by either", async () => {
      await fill();
      const body = { separator: ":" };
      const [a, b] = await Promise.all([
        api.send("POST", "/api/surveys", body),
        api.send("POST", "/api/surveys", body),
      ]);
      expect(a.body.id).toBe(b.body.id);
      expect((await api.send("DELETE", `/api/surveys/${a.body.id}`)).status).toBe(200);
      const { state } = (await api.get(`/api/surveys/${a.body.id}/progress`)).body;
      expect(["stopped", "done"]).toContain(state);
    });

    test("says what takes the memory, and what to do about it", async () => {
      await fill();
      await call("SET", "huge", "z".repeat(2_000_000));
      for (let nth = 0; nth < 5; nth++) await call("PERSIST", `user:2:visit:${nth * 10 + 2}`);
      const found = await survey();
      expect(found.biggest[0]).toMatchObject({ key: "huge", type: "string" });
      expect(found.types.map(({ name }: { name: string }) => name).sort()).toEqual(["hash", "list", "string"]);
      expect(found.lasting.count).toBe(5 + 5);
      const counts = found.ttls.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
      expect(counts + found.lasting.count).toBe(found.matched);
      expect(found.hottest).toBeNull();
      const titles = found.advice.map(({ title }: { title: string }) => title).join("\n");
      expect(titles).toMatch(/"huge" takes \d\.\d MB/);
      expect(titles).toContain("5 of 30 keys of user:2:visit:* do not expire");
      for (const format of ["markdown", "html", "json"]) {
        const { status, headers, body } = await api.get(`/api/surveys/${found.id}/report?format=${format}`);
        expect(status).toBe(200);
        expect(headers.get("content-disposition")).toContain("cinnabar-analysis.");
        expect(format === "json" ? JSON.stringify(body) : body).toContain("huge");
      }
    });

    test("lists hot keys where the server counts how often keys are used", async () => {
      await call("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu");
      // Redis shares small numbers among keys, and their counters with them.
      await call("SET", "cold", "cold");
      await call("SET", "hot", "hot");
      for (let nth = 0; nth < 500; nth++) await call("GET", "hot");
      const { hottest, policy } = await survey();
      expect(policy).toBe("allkeys-lfu");
      expect(hottest[0]).toMatchObject({ key: "hot" });
      expect(hottest[0].frequency).toBeGreaterThan(hottest[1].frequency);
      await call("CONFIG", "SET", "maxmemory-policy", "noeviction");
    });

    test("keeps a report free of markup that keys bring", async () => {
      await call("SET", "<script>alert(1)</script>|x", "1");
      const { id } = await survey();
      expect((await api.get(`/api/surveys/${id}/report?format=html`)).body).not.toContain("<script>");
      expect((await api.get(`/api/surveys/${id}/report?format=markdown`)).body).not.toContain("<script>");
    });
  });

  describe("a bulk action", () => {
    test("deletes what is named, and all that a filter fits", async () => {
      await fill();
      const named = await bulk({ action: "delete", selection: { keys: ["plain", "absent", "base64:/zoB"] } });
      expect(named).toMatchObject({ state: "done", changed: 2, skipped: 1, failed: 0 });
      const all = await bulk({ action: "delete", selection: { filter: { match: "user:*", type: "string" } } });
      expect(all).toMatchObject({ changed: sample, failed: 0 });
      expect(((await call("KEYS", "*")) as string[]).sort()).toEqual(["job/{a:b}/list", "user:1:profile"]);
    });

    test("gives and takes times to live", async () => {
      await fill();
      expect(await bulk({ action: "persist", selection: { filter: { match: "user:1:*" } } })).toMatchObject({
        changed: sample / 10,
        skipped: 1,
      });
      expect(await call("TTL", "user:1:visit:1")).toBe(-1);
      await bulk({ action: "expire", ttlMs: 50_000, selection: { keys: ["plain"] } });
      expect(Number(await call("PTTL", "plain"))).toBeGreaterThan(40_000);
      expect(
        (await api.send("POST", "/api/keys/bulk", { action: "expire", selection: { keys: ["plain"] } })).status,
      ).toBe(400);
      expect((await api.send("POST", "/api/keys/bulk", { action: "delete", selection: {} })).status).toBe(400);
    });

    test("renames by a pattern, after a preview that shows conflicts", async () => {
      await fill();
      await call("SET", "member:1:profile", "taken");
      const selection = { filter: { match: "user:1:*" } };
      const rename = { selection, from: "user:*:*", to: "member:*:*" };
      const { body } = await api.send("POST", "/api/keys/rename-preview", rename);
      expect(body).toMatchObject({ renamed: sample / 10 + 1, conflicts: 1, complete: true });
      expect(body.pairs[0]).toEqual({ from: "user:1:profile", to: "member:1:profile", conflict: true });
      expect(await bulk({ action: "rename", ...rename })).toMatchObject({
        changed: sample / 10,
        skipped: 1,
        failed: 0,
      });
      expect(await call("GET", "member:1:profile")).toBe("taken");
      expect(await call("EXISTS", "member:1:visit:1", "user:1:profile", "user:1:visit:1")).toBe(2);
      // New names that fit the filter again are not renamed twice.
      const again = { selection: { filter: { match: "user:2:*" } }, from: "user:*", to: "user:2:old:*" };
      expect(await bulk({ action: "rename", ...again })).toMatchObject({ changed: sample / 10 });
      expect(await call("EXISTS", "user:2:old:2:visit:2")).toBe(1);
      const wrong = { selection, from: "user:*", to: "a:*:*" };
      expect((await api.send("POST", "/api/keys/rename-preview", wrong)).status).toBe(400);
    });
  });

  describe("a file", () => {
    const download = async (format: string, selection: object = { filter: {} }): Promise<string> => {
      const { status, body } = await api.send("POST", "/api/exports", { format, selection });
      expect(status).toBe(200);
      const file = await fetch(`${api.url}/api/exports/${body.id}/file`);
      expect(file.headers.get("content-disposition")).toContain("attachment");
      const text = await file.text();
      expect((await settled(`/api/exports/${body.id}`)).bytes).toBe(Buffer.byteLength(text));
      expect((await api.get(`/api/exports/${body.id}/file`)).status).toBe(409);
      return text;
    };
    const upload = async (format: string, text: string, existing = "replace") => {
      const response = await fetch(`${api.url}/api/imports?format=${format}&existing=${existing}`, {
        method: "POST",
        headers: { "x-cinnabar": "1", "content-type": "application/octet-stream" },
        body: text,
      });
      return { status: response.status, body: (await response.json()) as Answer["body"] };
    };
    const digest = async () => {
      const keys = (await backend.store.send(["KEYS", "*"], { buffers: true })) as Buffer[];
      const dumps = await Promise.all(
        keys.map(async (key) => {
          const type = await call("TYPE", key);
          const words =
            type === "string"
              ? ["GET", key]
              : type === "list"
                ? ["LRANGE", key, 0, -1]
                : type === "hash"
                  ? ["HGETALL", key]
                  : type === "set"
                    ? ["SMEMBERS", key]
                    : type === "zset"
                      ? ["ZRANGE", key, 0, -1, "WITHSCORES"]
                      : ["XRANGE", key, "-", "+"];
          const reply = await backend.store.send(words, { buffers: true });
          // The order of a set is the server's.
          const value = JSON.stringify(type === "set" ? (reply as Buffer[]).sort(Buffer.compare) : reply);
          return `${key.toString("latin1")} ${value} ${Number(await call("TTL", key)) > 0}`;
        }),
      );
      return dumps.sort();
    };

    test.each(["jsonl", "csv", "commands", "dump"])("of %s holds everything, and makes it again", async (format) => {
      await call("SET", "text", 'line one\r\n"quoted", with comma', "EX", 1_000);
      await call("SET", "base64:looks like bytes", "base64:bm8=");
      await call("SET", Buffer.from([0xff, 0x00, 0x0a]), Buffer.from([0, 13, 10, 255]));
      await call("RPUSH", "list", "a,b", "", Buffer.from([0xfe]), "ü");
      await call("HSET", "hash", "f", "1", "g", "two\nlines");
      await call("ZADD", "zset", "1.5", "m", "-inf", "n");
      await call("SADD", "set", "x", "y");
      await call("XADD", "stream", "1-1", "f", "v");
      const before = await digest();
      const text = await download(format);
      await call("FLUSHALL");
      const { body } = await upload(format, text);
      expect(body).toMatchObject({ state: "done", failed: 0, failures: [] });
      expect(await digest()).toEqual(before);
    });

    test("has only what was selected", async () => {
      await fill();
      const lines = (await download("jsonl", { keys: ["plain", "absent"] })).trim().split("\n");
      expect(lines.map((line) => JSON.parse(line).key)).toEqual(["plain"]);
      expect(
        (await download("csv", { filter: { match: "user:1:*", type: "hash" } })).trim().split("\r\n"),
      ).toHaveLength(2);
    });

    test("leaves keys that are there as they are where that is wanted, and tells which lines are wrong", async () => {
      await call("SET", "a", "old");
      const row = (key: string) => JSON.stringify({ db: 0, key, type: "string", value: "new" });
      const { body } = await upload("jsonl", `${row("a")}\n\nnonsense\n${row("b")}\n{"key":"c"}`, "keep");
      expect(body).toMatchObject({ imported: 1, skipped: 1, failed: 2 });
      expect(body.failures.map(({ line }: { line: number }) => line)).toEqual([2, 4]);
      expect(await call("MGET", "a", "b")).toEqual(["old", "new"]);
    });

    test("of commands runs none that reaches further than its keys", async () => {
      await call("SET", "kept", "1");
      const { body } = await upload(
        "commands",
        'SELECT 0\nSET "a b" "\\x00\\xff"\nFLUSHALL\nCONFIG SET maxmemory 1\nEVAL "return 1" 0\n',
      );
      expect(body).toMatchObject({ imported: 1, failed: 3 });
      expect(await call("EXISTS", "kept", "a b")).toBe(2);
    });

    test("is stopped although no more of it comes, or nobody reads on", async () => {
      let send: (line: string) => void = () => {};
      let end: () => void = () => {};
      const body = new ReadableStream({
        start: (controller) => {
          send = (line) => controller.enqueue(new TextEncoder().encode(line));
          end = () => controller.close();
        },
      });
      const uploading = fetch(`${api.url}/api/imports?id=slow&format=jsonl&existing=replace`, {
        method: "POST",
        headers: { "x-cinnabar": "1", "content-type": "application/octet-stream" },
        body,
        duplex: "half",
      } as RequestInit);
      send(`${JSON.stringify({ db: 0, key: "first", type: "string", value: "1" })}\n`);
      await expect.poll(async () => (await api.get("/api/imports/slow")).body.done).toBeGreaterThan(0);
      expect((await api.send("DELETE", "/api/imports/slow")).status).toBe(200);
      expect((await api.get("/api/imports/slow")).body.state).toBe("stopped");
      // The client reads no answer before it has sent everything.
      end();
      expect(((await (await uploading).json()) as Answer["body"]).state).toBe("stopped");
      for (let nth = 0; nth < 40; nth++) await call("SET", `large:${nth}`, "x".repeat(500_000));
      const { id } = (await api.send("POST", "/api/exports", { format: "jsonl", selection: { filter: {} } })).body;
      const file = await fetch(`${api.url}/api/exports/${id}/file`);
      const reader = file.body!.getReader();
      await reader.read();
      expect((await api.send("DELETE", `/api/exports/${id}`)).status).toBe(200);
      expect((await api.get(`/api/exports/${id}`)).body.state).toBe("stopped");
      await reader.cancel().catch(() => {});
    });

    test("is taken as a file only, and only where one is expected", async () => {
      expect((await api.send("POST", "/api/imports?format=jsonl&existing=keep", {})).status).toBe(415);
      const elsewhere = await fetch(`${api.url}/api/keys/delete`, {
        method: "POST",
        headers: { "x-cinnabar": "1", "content-type": "application/octet-stream" },
        body: "x",
      });
      expect(elsewhere.status).toBe(415);
    });
  });

  describe("a value", () => {
    const shown = async (key: string, query: Record<string, string> = {}) => {
      const answer = await api.get(`/api/key/value?${new URLSearchParams({ as: "auto", key, ...query })}`);
      return answer.status === 200 ? answer.body : { problem: answer.status, ...answer.body };
    };

    test("is found to be what it is", async () => {
      const json = '{"b":1,"a":12345678901234567890,"c":1.10}';
      const stored: [string, Buffer | string, string[], string][] = [
        ["json", json, ["json"], json],
        ["text", "a\r\nb", ["text"], "a\r\nb"],
        ["gzip", gzipSync(json), ["gzip", "json"], json],
        ["deflate", deflateSync("hello"), ["deflate", "text"], "hello"],
        ["brotli", brotliCompressSync("hello hello hello"), ["brotli", "text"], "hello hello hello"],
        [
          "msgpack",
          Buffer.from("82a161cf112210f47de98115a16293c0c3cb3ff8000000000000", "hex"),
          ["msgpack"],
          '{"a":1234567890123456789,"b":[null,true,1.5]}',
        ],
        [
          "protobuf",
          Buffer.from("089601120774657374696e671a03089601", "hex"),
          ["protobuf"],
          '{"1":150,"2":"testing","3":{"1":150}}',
        ],
        [
          "php",
          'a:2:{s:1:"x";i:9223372036854775807;i:0;O:3:"Foo":1:{s:4:"\0*\0p";b:1;}}',
          ["php"],
          '{"x":9223372036854775807,"0":{"$class":"Foo","p":true}}',
        ],
        ["bytes", Buffer.from([0xff, 0xff, 0xff]), ["hex"], "ffffff"],
      ];
      for (const [key, value, forms, text] of stored) {
        await call("SET", key, value);
        expect(await shown(key), key).toMatchObject({ forms, text, next: null });
      }
      expect(await shown("json", { as: "hex" })).toMatchObject({ text: Buffer.from(json).toString("hex") });
      expect(await shown("bytes", { as: "base64" })).toMatchObject({ text: "////" });
      expect(await shown("bytes", { as: "text" })).toMatchObject({ problem: 422 });
      expect(await shown("text", { as: "gzip" })).toMatchObject({ problem: 422, detail: "it is no gzip" });
      expect(await shown("absent")).toMatchObject({ problem: 404 });
    });

    test("of Java is shown as text", async () => {
      // An ArrayList of "a" and 7, as ObjectOutputStream writes it.
      const java =
        "aced0005737200136a6176612e7574696c2e41727261794c6973747881d21d99c7619d03000149000473697a65787000000002770400000002" +
        "740001617372" +
        "00116a6176612e6c616e672e496e746567657212e2a0a4f781873802000149000576616c7565787200106a6176612e6c616e672e4e756d62657286ac951d0b94e08b02000078700000000778";
      await call("SET", "java", Buffer.from(java, "hex"));
      expect(await shown("java")).toMatchObject({
        forms: ["java"],
        text: '{"$class":"java.util.ArrayList","size":2,"$data":["\\u0000\\u0000\\u0000\\u0002","a",7]}',
      });
    });

    test("that would unpack to a gigabyte does not", async () => {
      await call("SET", "bomb", gzipSync(Buffer.alloc(64 * 1_048_576)));
      const before = process.memoryUsage().arrayBuffers;
      expect(await shown("bomb")).toMatchObject({ problem: 422 });
      expect(await shown("bomb", { as: "gzip" })).toMatchObject({
        problem: 422,
        detail: "it unpacks to more than 8 MB, which is not shown",
      });
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40 * 1_048_576);
      // The reader can still look at what is stored.
      expect(await shown("bomb", { as: "hex" })).toMatchObject({ forms: ["hex"] });
    });

    test("that is broken is never shown as what it is not, and breaks nothing", async () => {
      for (const hex of ["dfffffffff", "9f", "aced0005", "aced000573", "0aff", "1f8b08", "28b52ffd00", "c1"]) {
        await call("SET", "broken", Buffer.from(hex, "hex"));
        expect(await shown("broken")).toMatchObject({ forms: ["hex"], text: hex });
        for (const as of ["msgpack", "protobuf", "java", "php", "gzip", "brotli", "zstd"])
          expect(await shown("broken", { as }), `${hex} as ${as}`).toMatchObject({ problem: 422 });
      }
    });

    test("that is large comes in pieces, without half a character", async () => {
      const text = `${"x".repeat(9_000_001)}${"ü".repeat(300_000)}`;
      await call("SET", "large", text);
      let [read, from]: [string, number | null] = ["", 0];
      while (from !== null) {
        const piece = await shown("large", { from: String(from) });
        expect(piece.forms).toEqual(["text"]);
        read += piece.text;
        from = piece.next;
      }
      expect(read === text).toBe(true);
      expect(await shown("large", { as: "gzip" })).toMatchObject({ problem: 422, code: "TOO_LARGE" });
    });

    test("of Zstandard is shown where Node has it, and else called what it is not able to show", async () => {
      const text = '{"in":"zstd"}';
      // A frame with one block that is not compressed.
      const frame = Buffer.concat([Buffer.from("28b52ffd200d690000", "hex"), Buffer.from(text)]);
      await call("SET", "zstd", frame);
      if ("zstdDecompress" in zlib) {
        expect(await shown("zstd")).toMatchObject({ forms: ["zstd", "json"], text });
        expect(await shown("zstd", { as: "zstd" })).toMatchObject({ text });
      } else {
        const found = await shown("zstd");
        expect(found.known).not.toContain("zstd");
        expect(found.forms).toEqual(["hex"]);
        expect(await shown("zstd", { as: "zstd" })).toMatchObject({ problem: 422 });
      }
    });

    test("of an element is shown as that of a string is", async () => {
      const packed = gzipSync('{"in":"element"}');
      await call("HSET", "hash", "f", packed);
      await call("RPUSH", "list", "other", packed);
      await call("XADD", "stream", "5-5", "f", packed);
      await call("SADD", "set", packed);
      const text = '{"in":"element"}';
      expect(await shown("hash", { field: "f" })).toMatchObject({ text });
      expect(await shown("list", { index: "1" })).toMatchObject({ text });
      expect(await shown("stream", { id: "5-5", field: "f" })).toMatchObject({ text });
      expect(await shown("set", { field: `base64:${packed.toString("base64")}` })).toMatchObject({ text });
      expect(await shown("list", { index: "9" })).toMatchObject({ problem: 404 });
    });

    test("is written as text, bytes and compressed, and read back", async () => {
      const put = (body: object) => api.send("PUT", "/api/key", body);
      await call("SET", "s", "old", "EX", 500);
      await put({ key: "s", action: "set", value: "base64:not bytes\r\n", as: "text" });
      expect(await call("GET", "s")).toBe("base64:not bytes\r\n");
      expect(Number(await call("TTL", "s"))).toBeGreaterThan(0);
      await put({ key: "s", action: "set", value: "00 ff 0d0a", as: "hex" });
      expect(await backend.store.send(["GET", "s"], { buffers: true })).toEqual(Buffer.from([0, 255, 13, 10]));
      expect((await put({ key: "s", action: "set", value: "0", as: "hex" })).status).toBe(400);
      await put({ key: "h", action: "setField", field: "f", value: '{"n":1}', as: "gzip" });
      expect(await shown("h", { field: "f" })).toMatchObject({ forms: ["gzip", "json"], text: '{"n":1}' });
    });
  });

  describe("a collection", () => {
    const rows = async (key: string, search: string) => {
      const found: unknown[][] = [];
      let cursor: string | null = "0";
      while (cursor !== null) {
        const { body }: Answer = await api.get(`/api/key?${new URLSearchParams({ key, search, cursor, count: "5" })}`);
        found.push(...body.rows);
        cursor = body.next;
      }
      return found;
    };

    test("is searched by names and values", async () => {
      for (let nth = 0; nth < 1_200; nth++) {
        await call("HSET", "hash", `field ${nth}`, `value ${nth}`);
        await call("RPUSH", "list", `item ${nth}`);
        await call("SADD", "set", `member ${nth}`);
        await call("ZADD", "zset", nth, `member ${nth}`);
        await call("XADD", "stream", `${nth + 1}-0`, "n", `entry ${nth}`);
      }
      expect(await rows("hash", "value 777")).toEqual([["field 777", "value 777"]]);
      expect(await rows("hash", "field 11?9")).toHaveLength(10);
      expect(await rows("list", "item 1199")).toEqual([[1_199, "item 1199"]]);
      expect(await rows("set", "*99")).toHaveLength(12);
      expect(await rows("zset", "member 5")).toHaveLength(111);
      expect(await rows("stream", "entry 1000")).toEqual([["1001-0", { map: [["n", "entry 1000"]] }]]);
      expect(await rows("list", "nowhere")).toEqual([]);
    });

    test("shows the beginning of what is long", async () => {
      await call("HSET", "hash", "f", "ü".repeat(5_000));
      const { body } = await api.get("/api/key?key=hash");
      expect(body.cut).toEqual([{ row: 0, column: 1, bytes: 10_000 }]);
      expect(body.rows[0][1]).toBe("ü".repeat(2_048));
    });

    test("takes an item at any place of a list, if the list is as it is shown", async () => {
      await call("RPUSH", "list", "a", "a", "b");
      const insert = (index: number, shown: string) =>
        api.send("PUT", "/api/key", { key: "list", action: "insertIndex", index, shown, value: "new" });
      expect((await insert(1, "a")).body).toMatchObject({ answer: 4 });
      expect(await call("LRANGE", "list", 0, -1)).toEqual(["a", "new", "a", "b"]);
      expect((await insert(1, "a")).status).toBe(409);
      expect(await call("LRANGE", "list", 0, -1)).toEqual(["a", "new", "a", "b"]);
    });

    test("of entries has groups, whose entries are claimed and acknowledged", async () => {
      for (let nth = 1; nth <= 3; nth++) await call("XADD", "stream", `${nth}-0`, "n", nth);
      const act = async (action: string, more: object = {}) =>
        (await api.send("POST", "/api/key/groups", { key: "stream", group: "g", action, ...more })).body;
      await act("create", { from: "0" });
      await call("XREADGROUP", "GROUP", "g", "one", "COUNT", 2, "STREAMS", "stream", ">");
      const groups = async () => (await api.get("/api/key/groups?key=stream")).body.groups;
      expect(await groups()).toMatchObject([
        { name: "g", pending: 2, lag: 1, consumers: [{ name: "one", pending: 2 }] },
      ]);
      expect(await act("claim", { ids: ["1-0"], consumer: "two" })).toEqual({ answer: ["1-0"] });
      expect(await act("acknowledge", { ids: ["2-0"] })).toEqual({ answer: 1 });
      const [group] = await groups();
      expect(group.unacknowledged).toMatchObject([{ id: "1-0", consumer: "two" }]);
      await act("removeConsumer", { consumer: "two" });
      await act("destroy");
      expect(await groups()).toEqual([]);
      expect((await api.send("POST", "/api/key/groups", { key: "stream", group: "g", action: "claim" })).status).toBe(
        400,
      );
    });
  });
});
