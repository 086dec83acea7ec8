/** appendfsync always: no reply leaves before what it acknowledges is on disk, whatever runs while a sync is under way. */
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { EmbeddedEngine } from "../../embed/embedded.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function start(quickSyncMs: number): Promise<{ engine: EmbeddedEngine; port: number; dir: string }> {
  const dir = mkdtempSync(join(tmpdir(), "cinnabar-group-"));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  const engine = await EmbeddedEngine.open({ dir, config: { appendonly: "yes", appendfsync: "always", save: "" } });
  cleanups.push(() => engine.close());
  engine.core.persistence.aof.appender.quickSyncMs = quickSyncMs;
  const { port } = await engine.listen({ port: 0 });
  return { engine, port, dir };
}

/** Where in the append-only file each key's last effect ends. */
function positions(engine: EmbeddedEngine): Map<string, number> {
  const ends = new Map<string, number>();
  const { appender } = engine.core.persistence.aof;
  engine.core.effects.listen((effects) => {
    for (const { argv } of effects) ends.set(argv[1]!, appender.writtenBytes + appender.bufferedBytes);
  });
  return ends;
}

const encode = (...words: string[]) =>
  `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;

function open(port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  cleanups.push(() => socket.destroy());
  return socket;
}

describe.each([
  ["a disk that is taken for a quick one", Number.POSITIVE_INFINITY],
  ["a disk that is taken for a slow one", -1],
])("%s", (_disk, quickSyncMs) => {
  test("replies come in order, and each after the sync of its write", async () => {
    const { engine, port } = await start(quickSyncMs);
    const ends = positions(engine);
    const { appender } = engine.core.persistence.aof;
    const each = 120;
    let early = 0;
    const client = (number: number) =>
      new Promise<void>((resolve) => {
        const socket = open(port);
        let sent = 0;
        let answered = 0;
        const send = () => {
          // Batches of changing size, some of them behind others that are not answered yet.
          for (let i = 0; i < 1 + ((sent * 7 + number) % 5) && sent < each; i++) {
            sent++;
            socket.write(encode("SET", `${number}:${sent}`, "x") + encode("INCR", `count:${number}`));
          }
        };
        let text = "";
        socket.on("data", (chunk) => {
          text += chunk.toString("latin1");
          const lines = text.split("\r\n");
          text = lines.pop()!;
          for (const line of lines) {
            if (line !== "+OK") {
              expect(line).toBe(`:${++answered}`);
              continue;
            }
            if (appender.syncedBytes < ends.get(`${number}:${answered + 1}`)!) early++;
          }
          if (answered === each) resolve();
          else if (sent - answered < 8) send();
        });
        send();
      });
    await Promise.all(Array.from({ length: 20 }, (_, i) => client(i)));
    expect(early).toBe(0);
    expect(appender.holdsReplies).toBe(false);
  });

  test("a blocked client's earlier reply takes no later one along", async () => {
    const { engine, port } = await start(quickSyncMs);
    const ends = positions(engine);
    const { appender } = engine.core.persistence.aof;
    const pusher = engine.connect();
    const socket = open(port);
    let early = 0;
    for (let round = 0; round < 50; round++) {
      const answered = new Promise<string>((resolve) => {
        let text = "";
        const listener = (chunk: Buffer) => {
          text += chunk.toString("latin1");
          if (text.includes("queue") && appender.syncedBytes < ends.get("queue")!) early++;
          if (!text.endsWith("element\r\n")) return;
          socket.off("data", listener);
          resolve(text);
        };
        socket.on("data", listener);
      });
      const blocked = new Promise<void>((resolve) => {
        const look = () => (engine.core.databases[0]!.awaited.size > 0 ? resolve() : setImmediate(look));
        look();
      });
      socket.write(encode("SET", "key", "x") + encode("BLPOP", "queue", "0"));
      await blocked;
      const pushed = pusher.call("RPUSH", "queue", "element");
      expect(await answered).toBe("+OK\r\n*2\r\n$5\r\nqueue\r\n$7\r\nelement\r\n");
      expect(await pushed).toBe(1);
    }
    expect(early).toBe(0);
  });

  test("a call that cannot wait, and turning the file off, answer the calls that wait", async () => {
    const { engine, port } = await start(quickSyncMs);
    const client = engine.connect();
    const waiting = [client.call("SET", "a", "1"), client.call("INCR", "b")];
    // By now a sync is under way, and more has gathered.
    await new Promise((resolve) => setImmediate(resolve));
    waiting.push(client.call("INCR", "b"));
    expect(client.callSync("INCR", "b")).toBe(3);
    expect(await Promise.all(waiting)).toEqual(["OK", 1, 2]);
    const socket = open(port);
    const answer = new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(chunk.toString("latin1"))));
    socket.write(encode("SET", "c", "1"));
    while (client.callSync("EXISTS", "c") === 0) await new Promise((resolve) => setImmediate(resolve));
    await client.call("CONFIG", "SET", "appendonly", "no");
    expect(await answer).toBe("+OK\r\n");
  });
});
