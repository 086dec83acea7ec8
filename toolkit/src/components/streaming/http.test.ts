/** The stream over HTTP, over real sockets, on every backend. */
import { createServer } from "node:http";
import { type AddressInfo, connect as dial } from "node:net";
import express from "express";
import fastify from "fastify";
import { afterEach, describe, expect, test, vi } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import type { Store } from "../../connection/store.ts";
import {
  type ConnectionInfo,
  readStream,
  StreamEndpoint,
  type StreamEndpointOptions,
  StreamRefusedError,
} from "./http.ts";
import { networkOf } from "./http-request.ts";
import { AccessTokens, type StatusEvent, StatusStream, type StatusStreamOptions } from "./index.ts";
import { type Ask, type Connection, connect } from "./testing/http-client.ts";

const closing: (() => Promise<unknown> | undefined)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const status = (id: string, text: string): Extract<StatusEvent, { kind: "status" }> => ({
  kind: "status",
  id,
  userId: "4",
  login: "ann",
  text,
  atMs: 1_700_000_000_000,
});

interface Served {
  readonly stream: StatusStream;
  readonly endpoint: StreamEndpoint;
  readonly url: string;
  /** Opens a stream, which must be given, and reads its first message. */
  open(query: string, ask?: Ask): Promise<Connection>;
}

async function serve(
  store: Store,
  options: StreamEndpointOptions = {},
  streamOptions: StatusStreamOptions = {},
): Promise<Served> {
  const stream = new StatusStream(store, "public", streamOptions);
  const endpoint = new StreamEndpoint(stream, options);
  const server = createServer(endpoint.handler);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    await endpoint.close({ timeoutMs: 0 });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await stream.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/stream`;
  const open = async (query: string, ask?: Ask): Promise<Connection> => {
    const connection = await connect(`${url}?${query}`, ask);
    if (connection.status !== 200) throw new Error(`refused: ${JSON.stringify(await connection.problem())}`);
    closing.push(async () => connection.close());
    return connection;
  };
  return { stream, endpoint, url, open };
}

const bearer = (token: string): Ask => ({ headers: { authorization: `Bearer ${token}` } });

describeBackends("streaming over http", (backend) => {
  test("NDJSON by chunked transfer: first where it begins, then a line for each event", async () => {
    const { stream, open } = await serve(backend.store);
    const connection = await open("track=redis,big%20news");
    expect(connection.headers).toMatchObject({
      "content-type": "application/x-ndjson; charset=utf-8",
      "transfer-encoding": "chunked",
      "cache-control": "no-store",
    });
    const beginning = await connection.message();
    expect(beginning).toEqual({ kind: "heartbeat", cursor: expect.stringMatching(/^\d+-\d+$/) });
    await stream.publish(status("1", "Redis ☕\nnews"));
    await stream.publish(status("2", "no"));
    await stream.publish(status("3", "news that are big"));
    expect(await connection.event()).toEqual({ cursor: expect.any(String), ...status("1", "Redis ☕\nnews") });
    expect(await connection.event()).toMatchObject({ id: "3" });
  });

  test("server-sent events, with ids to come back by", async () => {
    const { stream, open } = await serve(backend.store, { heartbeatEveryMs: 10 });
    const accept = { accept: "text/event-stream" };
    const connection = await open("track=x", { headers: accept });
    expect(connection.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(await connection.piece("\n\n")).toMatch(/^id: \d+-\d+$/);
    await stream.publish(status("1", "x\r\ny"));
    await stream.publish(status("2", "x"));
    let event = await connection.piece("\n\n");
    while (event?.includes("data") === false) event = await connection.piece("\n\n");
    const [id, data] = event!.split("\n") as [string, string];
    expect(JSON.parse(data.replace("data: ", ""))).toEqual({
      cursor: id.replace("id: ", ""),
      ...status("1", "x\r\ny"),
    });
    connection.close();
    const again = await open("track=x&after=1-1", { headers: { ...accept, "last-event-id": id.replace("id: ", "") } });
    let next = await again.piece("\n\n");
    while (next?.includes("data") === false) next = await again.piece("\n\n");
    expect(next).toContain('"id":"2"');
  });

  test("POST with a form or with JSON asks for the same", async () => {
    const { stream, url } = await serve(backend.store);
    const json = { track: ["a, b", "x"], follow: ["@ann"], locations: [[0, 0, 1, 1]], sample: 1 };
    const asks: Ask[] = [
      { body: "track=a%20b,x&follow=@ann", headers: { "content-type": "application/x-www-form-urlencoded" } },
      { body: JSON.stringify(json), headers: { "content-type": "application/json" } },
    ];
    for (const ask of asks) {
      const connection = await connect(url, { method: "POST", ...ask });
      expect((await connection.message())?.kind).toBe("heartbeat");
      await stream.publish(status(`by ${ask.headers!["content-type"]}`, "x"));
      expect(await connection.event()).toMatchObject({ kind: "status" });
      connection.close();
    }
  });

  test("who comes back with a cursor goes on where they were; one that is too old is told so", async () => {
    const { stream, open, url } = await serve(backend.store, {}, { maxEvents: 3, recentEvents: 2 });
    const first = await open("track=x");
    const { cursor } = (await first.message())!;
    await stream.publish(status("1", "x"));
    const seen = await first.event();
    first.close();
    await stream.publish(status("2", "x"));
    const second = await open(`track=x&after=${seen!.cursor}`);
    expect(await second.event()).toMatchObject({ id: "2" });
    for (const id of ["3", "4", "5", "6"]) await stream.publish(status(id, "x"));
    const { oldest } = await stream.inspect();
    const refused = await connect(`${url}?track=x&after=${cursor}`);
    expect([refused.status, refused.headers["content-type"]]).toEqual([410, "application/problem+json"]);
    expect(await refused.problem()).toMatchObject({ title: "Gone", status: 410, oldest });
    const told = await open(`track=x&gap=continue&after=${cursor}`);
    expect(await told.message()).toEqual({ kind: "gap", after: cursor, cursor: oldest });
    const sse = await open(`track=x&format=sse&after=${cursor}`);
    expect(await sse.piece("\n\n")).toContain('"kind":"gap"');
    const rest = await open("track=x&after=oldest");
    expect((await rest.message())?.kind).toBe("heartbeat");
    expect(Number((await rest.event())!.id)).toBeGreaterThan(3);
  });

  test("what cannot be is refused with a problem that says why", async () => {
    const { url } = await serve(backend.store, { limits: { connectsPerMinutePerAddress: null } });
    const wrong: [string, number, string][] = [
      ["", 400, "needs track"],
      ["track=,", 400, "needs track"],
      ["track=%21", 400, "has no words"],
      ["tracks=x", 400, "no parameter"],
      ["locations=1,2,3", 400, "west,south,east,north"],
      ["locations=1,2,3,x", 400, "must be a number"],
      ["locations=1,2,3,100", 400, "-90 to 90"],
      ["sample=", 400, "must be a number"],
      ["sample=50", 403, "10 percent"],
      ["all=true", 403, "firehose"],
      ["all=maybe", 400, "true or false"],
      ["track=x&after=now", 400, "after must be"],
      ["track=x&format=xml", 400, "ndjson or sse"],
      ["track=x&gap=maybe", 400, "continue or fail"],
    ];
    for (const [query, code, detail] of wrong) {
      const refused = await connect(`${url}?${query}`);
      expect([query, refused.status]).toEqual([query, code]);
      expect(refused.headers["content-type"]).toBe("application/problem+json");
      expect(await refused.problem()).toMatchObject({ status: code, detail: expect.stringContaining(detail) });
    }
    const posts: [Ask, number][] = [
      [{ method: "PUT" }, 405],
      [{ method: "POST", body: "{", headers: { "content-type": "application/json" } }, 400],
      [{ method: "POST", body: "[]", headers: { "content-type": "application/json" } }, 400],
      [{ method: "POST", body: '{"track":5}', headers: { "content-type": "application/json" } }, 400],
      [{ method: "POST", body: "<x/>", headers: { "content-type": "text/xml" } }, 415],
      [{ method: "POST", body: "x".repeat(300_000), headers: { "content-type": "application/json" } }, 413],
    ];
    for (const [ask, code] of posts) {
      const refused = await connect(url, ask);
      expect(refused.status).toBe(code);
      expect(await refused.problem()).toMatchObject({ status: code });
    }
    expect((await connect(url, { method: "PUT" })).headers.allow).toBe("GET, POST");
  });

  test("only with a token that is good for it, which no hook and no answer shows", async () => {
    const tokens = new AccessTokens(backend.store);
    const seen: unknown[] = [];
    const onOpen = (info: ConnectionInfo): void => void seen.push(info);
    const { url, open } = await serve(backend.store, {
      ...{ tokens, scope: "stream", onOpen, onClose: (...args) => void seen.push(args) },
      limits: { connectsPerMinutePerAddress: null, connectsPerMinutePerUser: null, connectionsPerUser: null },
    });
    const good = await tokens.issue("ann", { scopes: ["stream"] });
    const all = await tokens.issue("ann", { scopes: ["stream", "firehose"] });
    const useless = await tokens.issue("ann");
    const other = good.token.replace(/.$/, (last) => (last === "A" ? "Q" : "A"));
    const cases: [string, Ask, number, string | undefined][] = [
      ["track=x", {}, 401, "Bearer"],
      ["track=x", bearer("nonsense"), 401, 'Bearer error="invalid_token"'],
      ["track=x", bearer(other), 401, 'Bearer error="invalid_token"'],
      ["track=x", bearer(useless.token), 403, 'Bearer error="insufficient_scope", scope="stream"'],
      ["all=true", bearer(good.token), 403, 'Bearer error="insufficient_scope", scope="firehose"'],
      [`track=x&access_token=${good.token}`, {}, 401, "Bearer"],
    ];
    for (const [query, ask, code, challenge] of cases) {
      const refused = await connect(`${url}?${query}`, ask);
      expect([refused.status, refused.headers["www-authenticate"]]).toEqual([code, challenge]);
      seen.push(await refused.problem());
    }
    (await open("track=x", bearer(good.token))).close();
    (await open("all=true", bearer(all.token))).close();
    const inQuery = await serve(backend.store, { tokens, tokenInQuery: true, onOpen });
    (await inQuery.open(`track=x&access_token=${good.token}`)).close();
    expect(seen).toContainEqual(expect.objectContaining({ user: "ann", tokenId: good.id }));
    for (const { token } of [good, all, useless]) expect(JSON.stringify(seen)).not.toContain(token.split(".")[2]);
  });

  test("who uses a token that is revoked is cut off with a reason, also when the message of it is lost", async () => {
    const tokens = new AccessTokens(backend.store);
    const { open } = await serve(backend.store, { tokens, heartbeatEveryMs: 10, recheckEveryMs: 1 });
    const first = await tokens.issue("ann");
    const second = await tokens.issue("ann");
    const kept = await open("track=x", bearer((await tokens.issue("ben")).token));
    const one = await open("track=x", bearer(first.token));
    const two = await open("track=x", bearer(second.token));
    expect(await tokens.revoke("ann", first.id)).toBe(true);
    expect(await one.event()).toMatchObject({ kind: "end", reason: "revoked", cursor: expect.any(String) });
    expect(await one.event()).toBeNull();
    const [key] = (await backend.store.sendToAll(["KEYS", "stream-token:*:tokens"])).flat() as string[];
    expect(key).toBeDefined();
    const keys = (await backend.store.sendToAll(["KEYS", "stream-token:*:tokens"])).flat() as string[];
    for (const each of keys) await backend.store.call("HDEL", each, second.id);
    expect(await two.event()).toMatchObject({ kind: "end", reason: "revoked" });
    expect((await kept.message())?.kind).toBe("heartbeat");
  });

  test("nobody connects more often than allowed, over all processes", async () => {
    const tokens = new AccessTokens(backend.store);
    const { token } = await tokens.issue("ann");
    const limits = { connectsPerMinutePerUser: 2, connectsPerMinutePerAddress: 4 };
    const here = await serve(backend.store, { tokens, limits });
    const there = await serve(await backend.open(), { tokens, limits });
    (await here.open("track=x", bearer(token))).close();
    (await there.open("track=x", bearer(token))).close();
    const user = await connect(`${here.url}?track=x`, bearer(token));
    expect([user.status, Number(user.headers["retry-after"]) > 0]).toEqual([429, true]);
    expect((await user.problem()).detail).toContain("you connect more than 2 times");
    // A client without a token counts too.
    expect((await connect(`${there.url}?track=x`)).status).toBe(401);
    const address = await connect(`${there.url}?track=x`);
    expect(address.status).toBe(429);
    expect((await address.problem()).detail).toContain("your address connects more than 4 times");
  });

  test("nobody has more connections at once than allowed, over all processes, and each that ends makes room", async () => {
    const tokens = new AccessTokens(backend.store);
    const ann = await tokens.issue("ann");
    const ben = await tokens.issue("ben");
    const limits = {
      ...{ connectionsPerUser: 2, connectionsPerAddress: 3 },
      ...{ connectsPerMinutePerUser: null, connectsPerMinutePerAddress: null },
    };
    const here = await serve(backend.store, { tokens, limits });
    const there = await serve(await backend.open(), { tokens, limits });
    const first = await here.open("track=x", bearer(ann.token));
    await there.open("track=x", bearer(ann.token));
    const user = await connect(`${here.url}?track=x`, bearer(ann.token));
    expect(user.status).toBe(429);
    expect((await user.problem()).detail).toContain("you have too many connections");
    await there.open("track=x", bearer(ben.token));
    const address = await connect(`${here.url}?track=x`, bearer(ben.token));
    expect((await address.problem()).detail).toContain("your address has too many connections");
    first.close();
    const again = await vi.waitFor(() => here.open("track=x", bearer(ann.token)), { timeout: 20_000 });
    expect((await again.message())?.kind).toBe("heartbeat");
  });

  test("an idle connection gets signs of life, which move its place on", async () => {
    const { stream, open } = await serve(backend.store, { heartbeatEveryMs: 10 }, { maxEvents: 5 });
    const connection = await open("track=never");
    const first = (await connection.message())!;
    for (let nth = 0; nth < 20; nth++) await stream.publish(status(`n${nth}`, "something"));
    const { newest } = await stream.inspect();
    let beat = await connection.message();
    while (beat?.cursor !== newest) beat = await connection.message();
    connection.close();
    await stream.publish(status("last", "never"));
    // From there on nothing is missing, though what the connection began with is no longer in the log.
    expect(await (await open(`track=never&after=${newest}`)).event()).toMatchObject({ id: "last" });
    await expect(open(`track=never&after=${first.cursor}`)).rejects.toThrow("410");
  });

  test("closing tells everybody why and when to come back, and lets nobody in", async () => {
    const ended: unknown[] = [];
    const { endpoint, open, url } = await serve(backend.store, { onClose: (_, end) => void ended.push(end) });
    const connections = await Promise.all(Array.from({ length: 10 }, () => open("track=x")));
    const over = endpoint.close({ spreadMs: 1_000 });
    expect((await connect(`${url}?track=x`)).status).toBe(503);
    for (const connection of connections) {
      const last = await connection.event();
      expect(last).toMatchObject({ kind: "end", reason: "closing", retryMs: expect.any(Number) });
      expect(await connection.event()).toBeNull();
    }
    await over;
    expect(endpoint.connections).toBe(0);
    expect(ended).toEqual(Array.from({ length: 10 }, () => ({ reason: "closing", events: 0 })));
  });

  test("many connections get the same event, and leave nothing behind", async () => {
    const limits = { connectionsPerAddress: 200, connectsPerMinutePerAddress: null };
    const { stream, endpoint, open } = await serve(backend.store, { limits, maxConnections: 101 });
    const connections = await Promise.all(Array.from({ length: 100 }, (_, nth) => open(`track=x,only${nth}`)));
    await stream.publish(status("1", "x"));
    for (const connection of connections) expect(await connection.event()).toMatchObject({ id: "1" });
    await stream.publish(status("2", "only17"));
    expect(await connections[17]!.event()).toMatchObject({ id: "2" });
    await open("track=x");
    await expect(open("track=x")).rejects.toThrow("this server is full");
    for (const connection of connections) connection.close();
    await vi.waitFor(() => expect(endpoint.connections).toBe(1), { timeout: 20_000 });
    expect((await stream.inspect()).listeners).toBe(1);
  });

  test("the client comes back by itself, hears about a gap, and gives up where that is right", async () => {
    const tokens = new AccessTokens(backend.store);
    const { token, id } = await tokens.issue("ann", { scopes: ["firehose"] });
    const { stream, url, endpoint } = await serve(backend.store, { tokens }, { maxEvents: 4 });
    const ending = new AbortController();
    const options = { filter: { all: true }, token, signal: ending.signal, maxBackoffMs: 20 };
    const reading = readStream(url, { ...options, from: "oldest" });
    await stream.publish(status("1", "x"));
    expect((await reading.next()).value).toMatchObject({ id: "1" });
    expect(endpoint.connections).toBe(1);
    for (let nth = 2; nth <= 9; nth++) await stream.publish(status(`${nth}`, "x"));
    const late = readStream(url, { ...options, from: "1-1" });
    expect((await late.next()).value).toMatchObject({ kind: "gap", after: "1-1" });
    expect(Number((await late.next()).value?.cursor.split("-")[0])).toBeGreaterThan(1);
    await tokens.revoke("ann", id);
    const last: unknown[] = [];
    for await (const message of reading) last.push(message);
    expect(last.at(-1)).toMatchObject({ kind: "end", reason: "revoked" });
    await expect(readStream(url, options).next()).rejects.toBeInstanceOf(StreamRefusedError);
    ending.abort();
    await late.return();
  });
});

describeBackends("streaming over http, as to sockets", { backends: ["embedded"] }, (backend) => {
  test("a slow reader is cut off with a reason that it finds when it reads on", async () => {
    const ended: unknown[] = [];
    const options = { maxBufferBytes: 32_768, onClose: (_: unknown, end: unknown) => void ended.push(end) };
    const { stream, open } = await serve(backend.store, options, { readTimeoutMs: 50, recentEvents: 100_000 });
    const slow = await open("track=x");
    const quick = await open("track=last");
    expect((await slow.message())?.kind).toBe("heartbeat");
    slow.response.pause();
    const text = `x ${"y".repeat(15_000)}`;
    let published = 0;
    // Until what the system takes for a socket is full too.
    while ((await stream.inspect()).listeners === 2) {
      await Promise.all(Array.from({ length: 50 }, () => stream.publish(status(`n${published++}`, text))));
      expect(published).toBeLessThan(20_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    slow.response.resume();
    const log = (await backend.store.call("XRANGE", "stream:{public}:log", "-", "+")) as [string, string[]][];
    const order = log.map(([, [, member]]) => member!.slice(1));
    let got = 0;
    let message = await slow.event();
    while (message?.kind === "status") {
      expect(message.id).toBe(order[got++]);
      message = await slow.event();
    }
    expect(message).toMatchObject({ kind: "end", reason: "slow", message: expect.stringContaining("cut off") });
    expect(await slow.event()).toBeNull();
    expect(got).toBeLessThan(published);
    await vi.waitFor(() => expect(ended).toEqual([{ reason: "slow", events: got }]), { timeout: 20_000 });
    // From the cursor of the last message on, nothing is missing.
    const again = await open(`track=x&after=${message!.cursor}`);
    expect(await again.event()).toMatchObject({ id: order[got] });
    await stream.publish(status("last", "last"));
    expect(await quick.event()).toMatchObject({ id: "last" });
  });

  test("one who never reads on is cut all the same", async () => {
    const options = { maxBufferBytes: 32_768, lingerTimeoutMs: 10 };
    const { stream, open, endpoint } = await serve(backend.store, options, {
      readTimeoutMs: 10,
      recentEvents: 100_000,
    });
    const slow = await open("track=x");
    slow.response.pause();
    const text = `x ${"y".repeat(15_000)}`;
    for (let nth = 0; endpoint.connections > 0; nth++) {
      await Promise.all(Array.from({ length: 50 }, (_, each) => stream.publish(status(`${nth}-${each}`, text))));
      expect(nth).toBeLessThan(400);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await stream.inspect()).listeners).toBe(0);
  });

  test("HTTP/1.0, as old proxies speak it, gets the same without chunks", async () => {
    const { stream, url } = await serve(backend.store);
    const socket = dial(Number(new URL(url).port), "127.0.0.1");
    closing.push(async () => void socket.destroy());
    let text = "";
    const has = (what: string): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => (text.includes(what) ? resolve() : void socket.once("data", () => setImmediate(look)));
        look();
      });
    socket.on("data", (data) => {
      text += data.toString("utf8");
    });
    socket.write("GET /stream?track=x HTTP/1.0\r\n\r\n");
    await has("heartbeat");
    await stream.publish(status("1", "x"));
    await has('"id":"1"');
    expect(text.toLowerCase()).not.toContain("transfer-encoding");
    const [, body] = text.split("\r\n\r\n") as [string, string];
    const lines = body.trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual(["heartbeat", "status"]);
  });

  test("in Express, also behind its body parsers, and in Fastify", async () => {
    const stream = new StatusStream(backend.store, "public");
    const endpoint = new StreamEndpoint(stream);
    const app = express();
    app.use(express.json(), express.urlencoded({ extended: false }));
    app.all("/stream", endpoint.handler);
    const server = app.listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const quick = fastify();
    quick.get("/stream", (request, reply) => {
      reply.hijack();
      endpoint.handler(request.raw, reply.raw);
    });
    const fastifyUrl = await quick.listen({ port: 0, host: "127.0.0.1" });
    closing.push(async () => {
      await endpoint.close({ timeoutMs: 0 });
      server.closeAllConnections();
      server.close();
      await quick.close();
      await stream.close();
    });
    const expressUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const asks: [string, Ask][] = [
      [`${expressUrl}/stream?track=x`, {}],
      [
        `${expressUrl}/stream`,
        { method: "POST", body: "track=x", headers: { "content-type": "application/x-www-form-urlencoded" } },
      ],
      [
        `${expressUrl}/stream`,
        { method: "POST", body: '{"track":["x"]}', headers: { "content-type": "application/json" } },
      ],
      [`${fastifyUrl}/stream?track=x`, {}],
    ];
    for (const [nth, [url, ask]] of asks.entries()) {
      const connection = await connect(url, ask);
      expect((await connection.message())?.kind).toBe("heartbeat");
      await stream.publish(status(`${nth}`, "x"));
      expect(await connection.event()).toMatchObject({ id: `${nth}` });
      connection.close();
    }
  });

  test("a store that cannot be reached is 503, and says to come back", async () => {
    const store = await backend.open();
    const { url } = await serve(store);
    await store.close();
    const refused = await connect(`${url}?track=x`);
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "5"]);
  });
});

describe("the address that a connection counts for", () => {
  test.each([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["unknown", "unknown"],
  ])("%s is %s", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
