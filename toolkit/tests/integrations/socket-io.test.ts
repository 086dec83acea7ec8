/** The adapter and the emitter between real Socket.IO servers and clients. */
import { createServer } from "node:http";
import { Server } from "socket.io";
import { io as connect, type Socket } from "socket.io-client";
import { afterEach, expect, test } from "vitest";
import { decode, encode } from "../../src/integrations/shared/bytes-json.ts";
import { createAdapter, Emitter } from "../../src/integrations/socket.io/index.ts";
import { describeBackends } from "../kit/index.ts";
import { addressOf } from "./browser.ts";

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describeBackends("Socket.IO", { backends: ["embedded", "redis", "cluster"] }, (backend) => {
  /** Two servers, each with a store of its own, and a client of each. */
  async function cluster() {
    const both = [];
    for (let at = 0; at < 2; at++) {
      const http = createServer();
      const io = new Server(http, { adapter: createAdapter(await backend.open()) });
      io.on("connection", (socket) => {
        socket.on("join", async (room: string, done: () => void) => {
          await socket.join(room);
          done();
        });
      });
      http.listen(0, "127.0.0.1");
      const url = await addressOf(http);
      const client: Socket = connect(url, { transports: ["websocket"] });
      closing.push(
        () => client.disconnect(),
        () => io.close(),
      );
      await new Promise<void>((resolve) => client.once("connect", () => resolve()));
      both.push({ io, client, url });
    }
    const [a, b] = both;
    await expect.poll(async () => [await count(a!.io), await count(b!.io)]).toEqual([2, 2]);
    return { a: a!, b: b! };
  }

  const count = (io: Server): Promise<number> =>
    (io.of("/").adapter as unknown as { serverCount(): Promise<number> }).serverCount();
  const heard = (client: Socket, event: string): Promise<unknown[]> =>
    new Promise((resolve) => client.once(event, (...args) => resolve(args)));

  test("packets reach the clients of other servers, bytes among them", async () => {
    const { a, b } = await cluster();
    const both = [heard(a.client, "news"), heard(b.client, "news")];
    a.io.emit("news", { title: "hello", at: [1, null] }, Buffer.from([0, 255, 1]));
    for (const [news, bytes] of await Promise.all(both)) {
      expect(news).toEqual({ title: "hello", at: [1, null] });
      expect(Buffer.from(bytes as Uint8Array)).toEqual(Buffer.from([0, 255, 1]));
    }
  });

  test("rooms, sockets and acknowledgements are those of all servers", async () => {
    const { a, b } = await cluster();
    await b.client.emitWithAck("join", "blue");
    const first: unknown[] = [];
    a.client.on("only", (text) => first.push(text));
    const only = heard(b.client, "only");
    a.io.to("blue").emit("only", "for blue");
    expect(await only).toEqual(["for blue"]);
    expect(first).toEqual([]);
    expect((await a.io.fetchSockets()).map(({ id }) => id).sort()).toEqual([a.client.id, b.client.id].sort());
    a.client.on("ask", (answer: (text: string) => void) => answer("from a"));
    b.client.on("ask", (answer: (text: string) => void) => answer("from b"));
    expect((await a.io.timeout(10_000).emitWithAck("ask")).sort()).toEqual(["from a", "from b"]);
    b.io.on("question", (text: string, answer: (text: string) => void) => answer(`${text}!`));
    expect(await a.io.serverSideEmitWithAck("question", "well")).toEqual(["well!"]);
    await expect.poll(async () => (await a.io.in("blue").fetchSockets()).length).toBe(1);
    a.io.in("blue").disconnectSockets();
    await expect.poll(() => b.client.connected).toBe(false);
    expect(a.client.connected).toBe(true);
  });

  test("a server that closes is no longer counted", async () => {
    const { a, b } = await cluster();
    await b.io.close();
    await expect.poll(() => count(a.io)).toBe(1);
  });

  test("an emitter speaks to clients and servers without a server of its own", async () => {
    const { a, b } = await cluster();
    const emitter = new Emitter(await backend.open());
    await b.client.emitWithAck("join", "blue");
    const news = heard(b.client, "news");
    const missed: unknown[] = [];
    a.client.on("news", (text) => missed.push(text));
    await emitter.to("blue").emit("news", "hello", Buffer.from("bytes"));
    const [text, bytes] = await news;
    expect([text, Buffer.from(bytes as Uint8Array).toString()]).toEqual(["hello", "bytes"]);
    await emitter.socketsJoin("everybody");
    await expect.poll(async () => (await a.io.in("everybody").fetchSockets()).length).toBe(2);
    const all = [heard(a.client, "end"), heard(b.client, "end")];
    await emitter.in("everybody").except("blue").emit("rest");
    await emitter.emit("end");
    await Promise.all(all);
    expect(missed).toEqual([]);
    const served: unknown[] = [];
    a.io.on("told", (value: unknown) => served.push(value));
    await emitter.serverSideEmit("told", { a: 1 });
    await expect.poll(() => served).toEqual([{ a: 1 }]);
    await emitter.to("blue").disconnectSockets(true);
    await expect.poll(() => b.client.connected).toBe(false);
  });
});

test("what looks like bytes in a packet stays what it is", () => {
  const message = {
    a: { "~bytes": "x" },
    b: { "~~bytes": { "~": "y" } },
    c: [new Uint8Array([1]), "~bytes"],
    d: new Map([["k", Buffer.from("v")]]),
  };
  const read = decode(encode(message)) as typeof message;
  expect(read).toEqual({ ...message, c: [Buffer.from([1]), "~bytes"] });
});
