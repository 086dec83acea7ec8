/** Undoing changes over the API: everything comes back as it was, nothing of others is overwritten, and only one's own. */
import { open } from "cinnabar";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { type Backend, backends, type Served, serve } from "./support.ts";

const BYTES = Buffer.from([0xff, 0x00, 0x0d, 0x0a]);

describe.each(backends(installed("redis-server") ? startRedis : undefined))("undo on %s", (_name, start) => {
  let backend: Backend;
  let api: Served;
  const call = (...words: (string | number | Buffer)[]) => backend.store.call(...words);
  const bytesOf = (...words: string[]) => backend.store.send(words, { buffers: true });
  const put = async (body: object) => (await api.send("PUT", "/api/key", body)).body;
  const undo = (id: string) => api.send("POST", "/api/undo", { id });
  const refused = { status: 409, body: { code: "CHANGED" } };

  beforeAll(async () => {
    backend = await start();
    api = await serve(backend.store);
  });
  afterAll(async () => {
    await api?.console.close();
    await backend?.stop();
  });
  beforeEach(() => call("FLUSHALL"));

  /** What a change does is undone, bytes and time to live included; a second change in between is kept. */
  const CHANGES: [string, string[][], object, string[][]][] = [
    [
      "a string's value",
      [["SET", "k", "old", "PX", "900000"]],
      { action: "set", value: "new" },
      [["SET", "k", "other"]],
    ],
    [
      "a field",
      [["HSET", "k", "f", "old"]],
      { action: "setField", field: "f", value: "new" },
      [["HSET", "k", "f", "x"]],
    ],
    ["a new field", [["HSET", "k", "f", "1"]], { action: "setField", field: "g", value: "new" }, [["HDEL", "k", "g"]]],
    [
      "a field that goes",
      [["HSET", "k", "f", "1", "g", "2"]],
      { action: "removeField", field: "f" },
      [["HSET", "k", "f", "x"]],
    ],
    [
      "the last field",
      [
        ["HSET", "k", "f", "1"],
        ["PEXPIRE", "k", "900000"],
      ],
      { action: "removeField", field: "f" },
      [["SET", "k", "x"]],
    ],
    ["an item", [["RPUSH", "k", "a", "b"]], { action: "setIndex", index: 1, value: "new" }, [["LPUSH", "k", "x"]]],
    [
      "the first item",
      [["RPUSH", "k", "a", "b"]],
      { action: "removeIndex", index: 0, value: "a" },
      [["LPUSH", "k", "x"]],
    ],
    [
      "a middle item",
      [["RPUSH", "k", "a", "b", "c"]],
      { action: "removeIndex", index: 1, value: "b" },
      [["RPOP", "k"]],
    ],
    [
      "the last item",
      [["RPUSH", "k", "a", "b"]],
      { action: "removeIndex", index: -1, value: "b" },
      [["RPUSH", "k", "x"]],
    ],
    ["the only item", [["RPUSH", "k", "a"]], { action: "removeIndex", index: 0, value: "a" }, [["RPUSH", "k", "x"]]],
    ["a member", [["SADD", "k", "a", "b"]], { action: "removeMember", value: "a" }, [["SADD", "k", "a"]]],
    [
      "a sorted member",
      [["ZADD", "k", "1.5", "a", "2", "b"]],
      { action: "removeMember", value: "a" },
      [["ZADD", "k", "9", "a"]],
    ],
    ["a score", [["ZADD", "k", "1.5", "a"]], { action: "setScore", field: "a", value: "2" }, [["ZADD", "k", "9", "a"]]],
    [
      "an entry",
      [
        ["XADD", "k", "1-0", "n", "1"],
        ["XADD", "k", "2-0", "n", "2"],
        ["XGROUP", "CREATE", "k", "g", "0"],
      ],
      { action: "removeEntry", field: "1-0" },
      [["XADD", "k", "3-0", "n", "3"]],
    ],
  ];
  /** The type, the content and whether it expires. Fields and members have no order. */
  const state = async () => {
    const type = String(await call("TYPE", "k"));
    const expires = Number(await call("PTTL", "k")) > 0;
    const of = (...words: string[]) => call(...words) as Promise<string[]>;
    if (type === "hash") {
      const flat = await of("HGETALL", "k");
      return [type, expires, flat.flatMap((each, at) => (at % 2 === 0 ? [`${each}=${flat[at + 1]}`] : [])).sort()];
    }
    return [type, expires, type === "set" ? (await of("SMEMBERS", "k")).sort() : await bytesOf("DUMP", "k")];
  };

  test.each(CHANGES)("%s comes back", async (_what, before, body) => {
    for (const words of before) await call(...words);
    const was = await state();
    const { undo: id } = await put({ key: "k", ...body });
    expect(await state()).not.toEqual(was);
    expect(await undo(id)).toMatchObject({ status: 200 });
    expect(await state()).toEqual(was);
    expect(await undo(id), "it is undone once").toMatchObject({ status: 404 });
  });

  test.each(CHANGES)("%s does not come back over what somebody else has done", async (_what, before, body, others) => {
    for (const words of before) await call(...words);
    const { undo: id } = await put({ key: "k", ...body });
    for (const words of others) await call(...words);
    const is = await state();
    expect(await undo(id)).toMatchObject(refused);
    expect(await state()).toEqual(is);
  });

  test("a change says whether the key went with its last element", async () => {
    await call("SADD", "k", "a", "b");
    expect(await put({ key: "k", action: "removeMember", value: "a" })).toMatchObject({ answer: 1, gone: false });
    expect(await put({ key: "k", action: "removeMember", value: "b" })).toMatchObject({ answer: 1, gone: true });
    expect(await put({ key: "k", action: "removeMember", value: "b" })).toEqual({ answer: 0, gone: false, undo: null });
  });

  test("a value is not changed over what somebody else has written since it was shown", async () => {
    const send = (body: object) => api.send("PUT", "/api/key", { key: "k", ...body });
    const digestOf = async (query: string) => (await api.get(`/api/key/value?key=k&as=auto&${query}`)).body.digest;
    await call("HSET", "k", "f", "old");
    const body = { action: "setField", field: "f", value: "new", digest: await digestOf("field=f") };
    await call("HSET", "k", "f", "other");
    expect(await send(body)).toMatchObject(refused);
    await call("DEL", "k");
    expect(await send(body)).toMatchObject(refused);
    expect(await call("EXISTS", "k")).toBe(0);
    await call("SET", "k", "old");
    const set = { action: "set", value: "new", digest: await digestOf("") };
    expect(await send(set)).toMatchObject({ status: 200 });
    expect(await send(set)).toMatchObject(refused);
  });

  test("bytes come back as they were", async () => {
    await call("SET", BYTES, BYTES);
    const key = `base64:${BYTES.toString("base64")}`;
    const { undo: id } = await put({ key, action: "set", value: "text" });
    await undo(id);
    expect(await backend.store.send(["GET", BYTES], { buffers: true })).toEqual(BYTES);
  });

  test("a deleted key comes back with its time to live, but not over a new one, and not if it is too large", async () => {
    const remove = async () => (await api.send("POST", "/api/keys/delete", { keys: ["k"] })).body;
    await call("HSET", "k", "f", "1");
    await call("PEXPIRE", "k", 900_000);
    const was = await state();
    let { undo: id } = await remove();
    expect(await call("EXISTS", "k")).toBe(0);
    await undo(id);
    expect(await state()).toEqual(was);
    expect(Number(await call("PTTL", "k"))).toBeGreaterThan(800_000);
    ({ undo: id } = await remove());
    await call("SET", "k", "somebody else's");
    expect(await undo(id)).toMatchObject(refused);
    expect(await call("GET", "k")).toBe("somebody else's");
    await call("SET", "k", "x".repeat(2_000_000));
    expect((await api.get("/api/key?key=k")).body.restorable).toBe(false);
    expect(await remove()).toEqual({ removed: 1, undo: null });
    expect(await remove()).toEqual({ removed: 0, undo: null });
  });

  test("a time to live comes back, unless it was changed again or would be over", async () => {
    const expire = async (ttlMs: number | null) =>
      (await api.send("POST", "/api/key/ttl", { key: "k", ttlMs })).body.undo;
    await call("SET", "k", "1", "PX", 900_000);
    await undo(await expire(null));
    expect(Number(await call("PTTL", "k"))).toBeGreaterThan(800_000);
    await undo(await expire(50_000));
    expect(Number(await call("PTTL", "k"))).toBeGreaterThan(800_000);
    let id = await expire(50_000);
    await call("PERSIST", "k");
    expect(await undo(id)).toMatchObject(refused);
    await call("PEXPIRE", "k", 2_000);
    const over = Number(await call("PEXPIRETIME", "k"));
    id = await expire(null);
    await expect.poll(() => Date.now(), { timeout: 10_000, interval: 100 }).toBeGreaterThan(over);
    expect(await undo(id), "it would be gone at once").toMatchObject(refused);
    expect(await call("GET", "k")).toBe("1");
  });

  test("a renamed key gets its name back, unless that is taken", async () => {
    const rename = async () => (await api.send("POST", "/api/key/rename", { key: "k", to: "l" })).body.undo;
    await call("SET", "k", "1");
    await undo(await rename());
    expect(await call("EXISTS", "k", "l")).toBe(1);
    expect(await call("GET", "k")).toBe("1");
    const id = await rename();
    await call("SET", "k", "2");
    expect(await undo(id)).toMatchObject(refused);
    expect(await call("GET", "k")).toBe("2");
  });

  test("a directive comes back, unless it was set again; secrets are not kept", async () => {
    const set = async (name: string, value: string) =>
      (await api.send("PUT", `/api/config/${name}`, { value })).body.undo as string | null;
    const [, was] = (await call("CONFIG", "GET", "slowlog-max-len")) as string[];
    await undo((await set("slowlog-max-len", "77"))!);
    expect(await call("CONFIG", "GET", "slowlog-max-len")).toEqual(["slowlog-max-len", was]);
    const id = (await set("slowlog-max-len", "77"))!;
    await call("CONFIG", "SET", "slowlog-max-len", 78);
    expect(await undo(id)).toMatchObject(refused);
    expect(await call("CONFIG", "GET", "slowlog-max-len")).toEqual(["slowlog-max-len", "78"]);
    await call("CONFIG", "SET", "slowlog-max-len", was!);
    expect(await set("masterauth", "")).toBeNull();
  });

  test("only who has made a change may undo it, with the role that it asks for; the audit log has it", async () => {
    const users = ["ann", "ben"].map((name) => ({ name, role: "admin" as const, password: "pw" }));
    const served = await serve(backend.store, { users });
    const signIn = async (name: string) => ({
      cookie: (await served.send("POST", "/api/login", { name, password: "pw" })).headers
        .get("set-cookie")!
        .split(";")[0]!,
    });
    const [ann, ben] = [await signIn("ann"), await signIn("ben")];
    await call("SET", "k", "old");
    const { body } = await served.send("PUT", "/api/key", { key: "k", action: "set", value: "new" }, ann);
    const undoAs = (who: Record<string, string>) => served.send("POST", "/api/undo", { id: body.undo }, who);
    expect(await undoAs(ben)).toMatchObject({ status: 404, body: { code: "NO_UNDO" } });
    expect(await undoAs(ann)).toMatchObject({ status: 200 });
    expect(await call("GET", "k")).toBe("old");
    // It is noted when the answer is on its way.
    await expect
      .poll(async () => (await served.get("/api/audit", ann)).body.entries)
      .toContainEqual(
        expect.objectContaining({
          user: "ann",
          action: "POST /api/undo",
          target: "action=undo set key=k",
          outcome: "done",
        }),
      );
    await served.console.close();
    const looking = await serve(backend.store, { readOnly: true });
    expect(await looking.send("POST", "/api/undo", { id: "x" })).toMatchObject({
      status: 403,
      body: { code: "READ_ONLY" },
    });
    await looking.console.close();
  });

  test("who may run no scripts changes things all the same, without an undo", async () => {
    if (backend.store.topology === "embedded") return;
    await call("ACL", "SETUSER", "plain", "on", ">pw", "~*", "&*", "+@all", "-@scripting");
    const { hostname, port } = new URL(backend.url!);
    const store = await open(`redis://plain:pw@${hostname}:${port}`);
    const served = await serve(store);
    await call("ZADD", "k", 1, "a", 2, "b");
    const body = { key: "k", action: "removeMember", value: "a" };
    expect((await served.send("PUT", "/api/key", body)).body).toEqual({ answer: 1, undo: null, gone: false });
    const gone = await served.send("POST", "/api/keys/delete", { keys: ["k"] });
    expect(gone.body).toEqual({ removed: 1, undo: null });
    await served.console.close();
    await store.close();
  });
});
