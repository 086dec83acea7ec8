/** The replica's end against a primary made of bytes: what it says, what it takes, in whatever pieces it comes. */
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventually } from "../../tests/kit/test-peer.ts";
import { ManualClock } from "../core/clock.ts";
import { Engine as Core } from "../core/engine.ts";
import type { LocalClient } from "../embed/local-client.ts";
import { Engine as Store } from "../index.ts";
import { writeRdb } from "../persist/rdb/file.ts";

const ID = "a".repeat(40);
const OTHER_ID = "b".repeat(40);
const MARK = "0123456789abcdef0123456789abcdef01234567";

const commands = (...lines: string[]) =>
  lines
    .map((line) => {
      const words = line.split(" ");
      return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;
    })
    .join("");

/** Waits for something to be so. */
const until = async (what: () => boolean) => expect(await eventually(what)).toBe(true);

/** A primary that answers as it is told, and keeps what it hears. */
class FakePrimary {
  /** Answers by a command's first word; what is not here is answered with +OK. */
  answers: Record<string, string | ((words: string[]) => string)> = { PING: "+PONG\r\n" };
  readonly heard: string[] = [];
  socket!: Socket;
  connections = 0;
  /** Sends answers to PSYNC in two pieces, parted here. */
  cut = 0;
  readonly #server: Server;

  constructor() {
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.socket = socket;
      this.connections++;
      let text = "";
      socket.on("error", () => {});
      socket.on("data", (chunk) => {
        text += chunk.latin1Slice();
        for (;;) {
          const found = /^\n|^\*(\d+)\r\n/.exec(text);
          if (found === null) return;
          if (found[0] === "\n") {
            this.heard.push("\\n");
            text = text.slice(1);
            continue;
          }
          const pattern = `^\\*\\d+\\r\\n${"\\$\\d+\\r\\n([^\\r]*)\\r\\n".repeat(Number(found[1]))}`;
          const whole = new RegExp(pattern).exec(text);
          if (whole === null) return;
          text = text.slice(whole[0].length);
          this.#answer(whole.slice(1));
        }
      });
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as { port: number }).port;
  }

  #answer(words: string[]): void {
    this.heard.push(words.join(" "));
    if (words[1] === "ACK") return;
    const answer = this.answers[words[0]!] ?? "+OK\r\n";
    this.send(typeof answer === "string" ? answer : answer(words), words[0] === "PSYNC" ? this.cut : 0);
  }

  send(text: string, cut = 0): void {
    if (cut === 0) {
      this.socket.write(text, "latin1");
      return;
    }
    const { socket } = this;
    socket.write(text.slice(0, cut), "latin1", () => setImmediate(() => socket.write(text.slice(cut), "latin1")));
  }

  async close(): Promise<void> {
    this.socket?.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A snapshot with these keys. */
function snapshot(...lines: string[]): string {
  const core = new Core();
  for (const line of lines) {
    const [key, value] = line.split("=");
    core.databases[0]!.load(key!, value!, undefined, undefined);
  }
  const chunks: Buffer[] = [];
  writeRdb(core, (chunk) => chunks.push(Buffer.from(chunk)), { functions: [] });
  core.stop();
  return Buffer.concat(chunks).latin1Slice();
}

/** A snapshot of a library of functions. */
function snapshotWith(library: string): string {
  const core = new Core();
  const chunks: Buffer[] = [];
  writeRdb(core, (chunk) => chunks.push(Buffer.from(chunk)), { functions: [library] });
  core.stop();
  return Buffer.concat(chunks).latin1Slice();
}

let primary: FakePrimary;
let primaryPort: number;
let store: Store;
let client: LocalClient;
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock();
  primary = new FakePrimary();
  primaryPort = await primary.listen();
  store = await Store.open({ clock });
  client = store.connect();
});

afterEach(async () => {
  await store.close();
  await primary.close();
});

const info = async (field: string) =>
  new RegExp(`^${field}:(.*)\r$`, "m").exec(String(await client.call("INFO")))?.[1] ?? null;

const counted = (rdb: string, offset = 100) => `+FULLRESYNC ${ID} ${offset}\r\n$${rdb.length}\r\n${rdb}`;
const marked = (rdb: string, offset = 100) => `+FULLRESYNC ${ID} ${offset}\r\n\n\n$EOF:${MARK}\r\n${rdb}${MARK}`;
const follow = () => store.replicaOf("127.0.0.1", primaryPort);

describe("the introduction", () => {
  it("says in order who is there, what it can do, and what it wants", async () => {
    await store.listen({ port: 0 });
    primary.answers.PSYNC = counted(snapshot("k=v"));
    await follow();
    const port = store.core.listeningPort;
    const told = [`REPLCONF listening-port ${port}`, "REPLCONF capa eof capa psync2"];
    expect(primary.heard.slice(0, 3)).toEqual(["PING", ...told]);
    expect(primary.heard[3]).toMatch(/^PSYNC [0-9a-f]{40} 1$/);
    await until(() => primary.heard.includes("REPLCONF ACK 100"));
  });

  it("has a password, a user and another address where they are configured, and survives refusals of what is new", async () => {
    primary.answers = { PING: "-NOAUTH Authentication required.\r\n", REPLCONF: "-ERR what\r\n" };
    primary.answers.PSYNC = counted(snapshot("k=v"));
    const set = (name: string, value: string) => client.call("CONFIG", "SET", name, value);
    await set("masterauth", "secret");
    await set("masteruser", "someone");
    await set("replica-announce-ip", "10.0.0.7");
    await set("replica-announce-port", "7777");
    await follow();
    expect(primary.heard.slice(1, 5)).toEqual([
      "AUTH someone secret",
      "REPLCONF listening-port 7777",
      "REPLCONF ip-address 10.0.0.7",
      "REPLCONF capa eof capa psync2",
    ]);
    expect(await client.call("GET", "k")).toBe("v");
  });

  it("is begun again after a second where the primary is not ready, refuses the password, or speaks no protocol", async () => {
    const refusals: Record<string, string>[] = [
      { PING: "-LOADING not yet\r\n" },
      { PING: "+PONG\r\n", PSYNC: "-NOMASTERLINK Can't SYNC while not connected with my master\r\n" },
      { PING: "+PONG\r\n", PSYNC: "-LOADING Redis is loading the dataset in memory\r\n" },
      { PING: "+PONG\r\n", PSYNC: "+WHAT\r\n" },
      { PING: "+PONG\r\n", PSYNC: `+FULLRESYNC ${ID} 1\r\n+OK\r\n` },
      { PING: "+PONG\r\n", AUTH: "-WRONGPASS no\r\n" },
    ];
    await client.call("CONFIG", "SET", "masterauth", "secret");
    const following = follow();
    for (const [i, answers] of refusals.entries()) {
      primary.answers = answers;
      await until(() => primary.connections === i + 1 && store.core.replication.link!.state === "connect");
      clock.advance(1001);
      if (i === refusals.length - 1) primary.answers = { PING: "+PONG\r\n", PSYNC: counted(snapshot("k=v")) };
      store.core.tick();
      if (i < refusals.length - 1) primary.answers = refusals[i + 1]!;
    }
    await following;
    expect(await client.call("GET", "k")).toBe("v");
  });

  it("asks a primary that does not know PSYNC with SYNC, and acknowledges nothing to it", async () => {
    const rdb = snapshot("k=v");
    primary.answers = {
      PING: "+PONG\r\n",
      PSYNC: "-ERR unknown command 'PSYNC'\r\n",
      SYNC: `$${rdb.length}\r\n${rdb}`,
    };
    await follow();
    primary.send(commands("SELECT 0", "SET k w"));
    await until(() => store.core.databases[0]!.peek("k") === "w");
    clock.advance(1001);
    store.core.tick();
    expect(primary.heard.some((line) => line.includes("ACK"))).toBe(false);
  });
});

describe("what comes", () => {
  it.each([
    ["counted", counted],
    ["marked", marked],
  ])("is understood wherever it is parted: a %s snapshot and the stream behind it", async (_name, answer) => {
    const rdb = snapshot("k=v");
    const stream = commands("SELECT 2", "SET x 1", "MULTI", "INCR x", "INCR x", "EXEC");
    const whole = answer(rdb) + stream;
    const inside = whole.indexOf(rdb) + 1;
    for (let cut = 1; cut < whole.length; cut += 2) {
      // Inside a snapshot is payload.test.ts's business.
      if (cut > inside && cut < inside + rdb.length - 2) cut = inside + rdb.length - 2;
      primary.cut = cut;
      primary.answers.PSYNC = whole;
      await follow();
      await until(() => store.replication.offset === 100 + stream.length);
      expect(store.core.databases[0]!.peek("k")).toBe("v");
      expect(store.core.databases[2]!.peek("x")).toBe(3);
      store.promote();
      for (const db of store.core.databases) db.clear();
    }
  });

  it("takes the place of what was there only when it is complete", async () => {
    await client.call("SET", "old", "1");
    const answer = marked(snapshot("k=v"));
    primary.answers.PSYNC = answer.slice(0, -20);
    const following = follow();
    await until(() => store.core.replication.link!.payload !== null);
    expect(await client.call("GET", "old")).toBe("1");
    expect(await client.call("EXISTS", "k")).toBe(0);
    expect(await info("loading")).toBe("0");
    expect(await info("master_sync_in_progress")).toBe("1");
    primary.send(answer.slice(-20));
    await following;
    expect(await client.call("EXISTS", "old", "k")).toBe(1);
    expect(await info("master_link_status")).toBe("up");
  });

  it("with repl-diskless-load swapdb is loaded beside its own history, which is served, and hides another one", async () => {
    await client.call("CONFIG", "SET", "repl-diskless-load", "swapdb");
    await client.call("CONFIG", "SET", "replica-read-only", "no");
    const answer = marked(snapshot("k=v"));
    primary.answers.PSYNC = answer.slice(0, -20);
    await client.call("SET", "other", "1");
    let following = follow();
    await until(() => store.core.loading);
    expect(await info("async_loading")).toBe("0");
    await expect(client.call("GET", "other")).rejects.toThrow("LOADING");
    primary.socket.destroy();
    await until(() => !store.core.loading);
    expect(await client.call("GET", "other")).toBe("1");
    primary.answers.PSYNC = answer;
    clock.advance(1001);
    store.core.tick();
    await following;

    await client.call("FUNCTION", "LOAD", "#!lua name=own\nredis.register_function('f', function() return 'old' end)");
    await client.call("SET", "own", "1");
    primary.answers.PSYNC = answer.slice(0, -20);
    primary.socket.destroy();
    await until(() => store.core.replication.asyncLoading);
    expect(await info("async_loading")).toBe("1");
    expect(await info("loading")).toBe("0");
    expect(await client.call("MGET", "own", "k")).toEqual(["1", "v"]);
    expect(await client.call("FCALL", "f", "0")).toBe("old");
    for (const refused of [
      ["REPLICAOF", "NO", "ONE"],
      ["BGSAVE"],
      ["CONFIG", "SET", "appendonly", "no"],
      ["CONFIG", "SET", "maxmemory", "0", "repl-diskless-load", "disabled"],
    ]) {
      await expect(client.call(...refused)).rejects.toThrow("LOADING");
    }
    await client.call("MULTI");
    await expect(client.call("REPLICAOF", "NO", "ONE")).rejects.toThrow("LOADING");
    await client.call("DISCARD");
    following = until(() => store.core.replication.linkIsUp);
    primary.send(answer.slice(-20));
    await following;
    expect(await client.call("MGET", "own", "k")).toEqual([null, "v"]);
    await expect(client.call("FCALL", "f", "0")).rejects.toThrow("Function not found");
  });

  it("costs nothing when it breaks off: the old data is there, and it is begun again", async () => {
    await client.call("SET", "old", "1");
    const answer = counted(snapshot("k=v"));
    primary.answers.PSYNC = answer.slice(0, -20);
    const following = follow();
    await until(() => store.core.replication.link!.payload !== null);
    primary.socket.destroy();
    await until(() => store.core.replication.link!.state === "connect");
    expect(await client.call("GET", "old")).toBe("1");
    primary.answers.PSYNC = answer;
    clock.advance(1001);
    store.core.tick();
    await following;
    expect(await client.call("KEYS", "*")).toEqual(["k"]);
  });

  it("takes the place of what was there at once where there is no room for both, and commands wait until it is there", async () => {
    await client.call("SET", "old", "1");
    vi.spyOn(store.core.heapGuard, "availableBytes").mockReturnValue(0);
    const answer = counted(snapshot("k=v"));
    primary.answers.PSYNC = answer.slice(0, -20);
    const following = follow();
    await until(() => store.core.loading);
    await expect(client.call("GET", "old")).rejects.toThrow("LOADING");
    primary.socket.destroy();
    await until(() => !store.core.loading);
    expect(await client.call("DBSIZE")).toBe(0);
    primary.answers.PSYNC = answer;
    clock.advance(1001);
    store.core.tick();
    await following;
    expect(await client.call("KEYS", "*")).toEqual(["k"]);
  });

  it("that does not fit beside the old data is asked for again after a while, and takes its place then", async () => {
    await client.call("SET", "old", "1");
    const fits = vi.spyOn(store.core.heapGuard, "fits").mockReturnValue(false);
    primary.answers.PSYNC = counted(snapshot("k=v"));
    const following = follow();
    await until(() => primary.connections === 1 && store.core.replication.link!.state === "connect");
    expect(await client.call("GET", "old")).toBe("1");
    clock.advance(1001);
    store.core.tick();
    expect(primary.connections).toBe(1);
    fits.mockRestore();
    clock.advance(30_000);
    store.core.tick();
    await following;
    expect(primary.connections).toBe(2);
    expect(await client.call("KEYS", "*")).toEqual(["k"]);
  });

  it("with functions that do not compile leaves everything as it was", async () => {
    await client.call("SET", "old", "1");
    const rdb = snapshotWith("#!lua name=bad\nthis is no Lua");
    primary.answers.PSYNC = counted(rdb);
    const following = expect(follow()).rejects.toThrow("no longer follows");
    await until(() => primary.connections === 1 && store.core.replication.link!.state === "connect");
    expect(await client.call("GET", "old")).toBe("1");
    store.promote();
    await following;
  });

  it("is seen by clients that watch, cache or wait, and by the append-only file", async () => {
    primary.answers.PSYNC = counted(snapshot("k=v", "s=1"));
    await follow();
    const watcher = store.connect();
    await watcher.call("WATCH", "k");
    await watcher.call("MULTI");
    await watcher.call("GET", "k");
    const cache = store.connect({ protocol: 3 });
    const invalid: unknown[] = [];
    cache.onPush((message) => invalid.push(message));
    await cache.call("CLIENT", "TRACKING", "ON");
    await cache.call("GET", "k");
    const waiting = store.connect().call("XREAD", "BLOCK", 0, "STREAMS", "stream", "$");
    const effects: string[] = [];
    store.core.effects.listen((batch) => {
      for (const { argv } of batch) effects.push(argv.join(" "));
    });
    primary.send(commands("SELECT 0", "SET k w", "XADD stream 1-1 f v", "PUBLISH c m"));
    expect(await waiting).toEqual([["stream", [["1-1", ["f", "v"]]]]]);
    expect(await watcher.call("EXEC")).toBeNull();
    expect(invalid).toEqual([["invalidate", ["k"]]]);
    expect(effects).toEqual(["SET k w", "XADD stream 1-1 f v", "PUBLISH c m"]);
  });

  it("is not answered, except for GETACK: with what was run before it", async () => {
    primary.answers.PSYNC = counted(snapshot("k=v"));
    await follow();
    const before = commands("SELECT 0", "SET k w");
    primary.send(before + commands("REPLCONF GETACK *", "SET k x"));
    await until(() => primary.heard.includes(`REPLCONF ACK ${100 + before.length}`));
    clock.advance(1001);
    store.core.tick();
    const all = before + commands("REPLCONF GETACK *", "SET k x");
    await until(() => primary.heard.at(-1) === `REPLCONF ACK ${100 + all.length}`);
  });

  it("keeps the primary informed while it is long in coming", async () => {
    const answer = counted(snapshot("k=v"));
    primary.answers.PSYNC = answer.slice(0, -20);
    const following = follow();
    await until(() => store.core.replication.link!.payload !== null);
    clock.advance(1001);
    store.core.tick();
    await until(() => primary.heard.includes("\\n"));
    primary.send(answer.slice(-20));
    await following;
  });

  it("is waited for no longer than repl-timeout, up or not", async () => {
    primary.answers.PSYNC = counted(snapshot("k=v"));
    await follow();
    clock.advance(59_000);
    store.core.tick();
    expect(store.core.replication.linkIsUp).toBe(true);
    clock.advance(2000);
    primary.answers.PSYNC = `+CONTINUE ${ID}\r\n`;
    store.core.tick();
    await until(() => primary.connections === 2 && store.core.replication.linkIsUp);
    expect(primary.heard).toContain(`PSYNC ${ID} 101`);
  });
});

describe("after a cut", () => {
  it("the stream is taken up behind the last thing that was run to its end, and nothing is run twice", async () => {
    const { feed } = store.core.replication;
    primary.answers.PSYNC = counted(snapshot("n=1"));
    await follow();
    const stream = commands("SELECT 0", "INCR n", "MULTI", "INCR n", "INCR n", "EXEC", "INCR n");
    for (let cut = 1; cut < stream.length; cut += 5) {
      const had = feed.offset;
      const connections = primary.connections;
      primary.answers.PSYNC = ([, , from]) => `+CONTINUE ${ID}\r\n${stream.slice(Number(from) - had - 1)}`;
      primary.socket.end(stream.slice(0, cut), "latin1");
      await until(() => primary.connections === connections + 1 && feed.offset === had + stream.length);
    }
    const rounds = Math.ceil((stream.length - 1) / 5);
    expect(await client.call("GET", "n")).toBe(String(1 + 4 * rounds));
  });

  it("an answer with another id changes the history's name, and keeps the old one for others", async () => {
    primary.answers.PSYNC = counted(snapshot("k=v"));
    await follow();
    primary.answers.PSYNC = `+CONTINUE ${OTHER_ID}\r\n`;
    primary.socket.destroy();
    await until(() => primary.connections === 2 && store.core.replication.linkIsUp);
    expect(await info("master_replid")).toBe(OTHER_ID);
    expect(await info("master_replid2")).toBe(ID);
    expect(await info("second_repl_offset")).toBe("101");
  });

  it("CLIENT KILL TYPE master makes the link anew, and CLIENT LIST shows it", async () => {
    primary.answers.PSYNC = counted(snapshot("k=v"));
    await follow();
    expect(String(await client.call("CLIENT", "LIST", "TYPE", "master"))).toMatch(/ flags=M /);
    primary.answers.PSYNC = `+CONTINUE ${ID}\r\n`;
    expect(await client.call("CLIENT", "KILL", "TYPE", "master")).toBe(1);
    await until(() => primary.connections === 2 && store.core.replication.linkIsUp);
  });
});

describe("a replica", () => {
  it("hides keys whose time has come and keeps them until the primary removes them", async () => {
    primary.answers.PSYNC = counted(snapshot("k=v"));
    await follow();
    primary.send(commands("SELECT 0", `SET k w PXAT ${clock.now() + 1000}`));
    await until(() => store.core.databases[0]!.peek("k") === "w");
    clock.advance(1001);
    store.core.tick();
    expect(await client.call("GET", "k")).toBeNull();
    expect(await client.call("TTL", "k")).toBe(-2);
    expect(await client.call("RANDOMKEY")).toBe("k");
    expect(await client.call("DBSIZE")).toBe(1);
    // The primary's own commands see it: it decides when it is gone.
    primary.send(commands("APPEND k x", "PERSIST k"));
    await until(() => store.core.databases[0]!.expires.size === 0);
    expect(await client.call("GET", "k")).toBe("wx");
  });

  it("that may be written to expires what its own writers gave a deadline, and nothing else", async () => {
    primary.answers.PSYNC = counted(snapshot("k=v"));
    await follow();
    await client.call("CONFIG", "SET", "replica-read-only", "no");
    primary.send(commands("SELECT 0", `SET k w PXAT ${clock.now() + 1000}`));
    await until(() => store.core.databases[0]!.peek("k") === "w");
    await client.call("SET", "own", "1", "PX", 1000);
    expect(await info("slave_expires_tracked_keys")).toBe("1");
    clock.advance(1001);
    store.core.tick();
    expect(await client.call("DBSIZE")).toBe(1);
    // A write finds it gone, and must not leave two of it.
    await client.call("RPUSH", "k", "a");
    expect(await client.call("LRANGE", "k", 0, -1)).toEqual(["a"]);
    expect(await client.call("DBSIZE")).toBe(1);
    expect(await info("slave_expires_tracked_keys")).toBe("0");
  });

  it("does not evict, and obeys its primary whatever it has no room for", async () => {
    await client.call("CONFIG", "SET", "maxmemory", "100kb", "maxmemory-policy", "allkeys-lru");
    primary.answers.PSYNC = counted(snapshot("k=v"));
    await follow();
    const value = "x".repeat(50_000);
    primary.send(commands("SELECT 0", `SET a ${value}`, `SET b ${value}`, `SET c ${value}`));
    await until(() => store.core.databases[0]!.size === 4);
    expect(await info("evicted_keys")).toBe("0");
  });

  it("puts off its primary's commands too while clients are paused", async () => {
    primary.answers.PSYNC = counted(snapshot("k=v"));
    await follow();
    await client.call("CLIENT", "PAUSE", 100_000, "WRITE");
    primary.send(commands("SELECT 0", "SET k w", "SET k x"));
    await until(() => store.core.pause.size === 1);
    expect(await client.call("GET", "k")).toBe("v");
    await client.call("CLIENT", "UNPAUSE");
    await until(() => store.core.databases[0]!.peek("k") === "x");
  });

  it("that is promoted begins a history that the others can follow, and settles who waited for it to follow", async () => {
    primary.answers.PSYNC = "-LOADING not yet\r\n";
    const following = expect(follow()).rejects.toThrow("no longer follows");
    await until(() => primary.connections === 1);
    store.promote();
    await following;
    primary.answers.PSYNC = counted(snapshot("k=v"));
    await follow();
    store.promote();
    expect(store.replication).toMatchObject({ role: "primary", offset: 100, primary: null });
    expect(await info("master_replid2")).toBe(ID);
    expect(await info("second_repl_offset")).toBe("101");
    expect(await client.call("SET", "k", "mine")).toBe("OK");
  });
});
