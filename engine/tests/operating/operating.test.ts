/**
 * docs/operating.md, done: what it says to type is typed, on servers of ours and on real ones, and must print what it says. Each
 * section has a test that makes the situation it begins in. What the guide claims beside its sessions is checked after them.
 */
import { appendFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { full } from "../../../scripts/full.ts";
import { freePort, redisAvailable } from "../conformance/redis-server.ts";
import { caughtUp, figures, follow, PATIENCE_MS, Process, Server, stopAll, until } from "../replication/servers.ts";
import { fileIn, readGuide, type Section, type Session, settingsIn } from "./guide.ts";
import { Stage } from "./stage.ts";

vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

const guide = readGuide();
const played = new Set<string>();

function sectionOf(title: string): Section {
  const found = guide.find((section) => section.title === title);
  if (found === undefined) throw new Error(`the guide has no section ${title}`);
  return found;
}

function sessionOf(section: Section, number: number): Session {
  const session = section.sessions[number - 1];
  if (session === undefined) throw new Error(`${section.title} has no session ${number}`);
  played.add(session.name);
  return session;
}

async function startSentinels(stage: Stage, machines: readonly string[], file: string): Promise<void> {
  const primary = stage.server("machine-a").port;
  for (const name of machines) {
    const machine = stage.machine(name);
    machine.sentinelPort = await freePort();
    const text = file
      .replace("port 26379", `port ${machine.sentinelPort}\nbind 127.0.0.1\ndir ${machine.folder}`)
      .replace("machine-a 6379", `127.0.0.1 ${primary}`);
    const path = join(machine.folder, "sentinel.conf");
    writeFileSync(path, text);
    const sentinel = new Process("sentinel", machine.folder, path);
    stage.endFirst({ stop: () => sentinel.kill() });
    await until("the sentinel watches", () => sentinel.log.includes("+monitor master"), {
      state: async () => sentinel.log,
    });
  }
}

describe.runIf(redisAvailable())("the operator's guide", () => {
  afterEach(stopAll);
  it("names settings that both servers take, and understand alike", async () => {
    const rows = settingsIn(sectionOf("Settings by use"));
    expect(rows.length).toBeGreaterThan(4);
    const servers = [await Server.start("ours"), await Server.start("redis")];
    for (const row of rows) {
      const [ours, real] = await Promise.all(
        servers.map(async (server) => {
          await server.ask("CONFIG", "SET", ...row.flat());
          const answers = row.map(async ([name]) =>
            (await server.call("CONFIG", "GET", name)).items.map(({ text }) => text),
          );
          return Promise.all(answers);
        }),
      );
      expect(ours).toEqual(real);
      expect(ours?.map(([name]) => name)).toEqual(row.map(([name]) => name));
    }
  });

  describe.each(full ? (["ours", "redis"] as const) : (["ours"] as const))("on %s", (kind) => {
    it("shows how much memory is left, and saves without a fork", async () => {
      const section = sectionOf("Memory to leave free");
      const stage = new Stage(kind);
      await stage.start("machine-a");
      await stage.play(sessionOf(section, 1));
      await stage.play(sessionOf(section, 2));
    });

    it("takes, checks, copies and restores a snapshot", async () => {
      const section = sectionOf("Snapshots: take, check, copy, restore");
      const stage = new Stage(kind);
      await (await stage.start("machine-a")).ask("SET", "greeting", "hello");
      await stage.play(sessionOf(section, 1));
      await stage.play(sessionOf(section, 2));
      // A snapshot alone, where an append-only file is wanted, is ignored by Redis.
      await stage.server("machine-a").kill();
      const alone = await stage.start("machine-a", { appendonly: "yes" });
      expect(await alone.ask("DBSIZE")).toBe(kind === "redis" ? "0" : "1");
      // What is written after appendonly was turned on is in the file, beside what was in the snapshot.
      const restored = stage.server("machine-b");
      await restored.ask("SET", "later", "too");
      await restored.call("CONFIG", "SET", "appendfsync", "always");
      await restored.ask("SET", "synced", "yes");
      await restored.kill();
      const again = await stage.start("machine-b", { appendonly: "yes" });
      expect(await again.ask("GET", "greeting")).toBe("hello");
      expect(await again.ask("GET", "later")).toBe("too");
    });

    it("repairs a damaged append-only file", async () => {
      const section = sectionOf("A damaged append-only file");
      const stage = new Stage(kind);
      const server = await stage.start("machine-a", { appendonly: "yes", appendfsync: "always" });
      await server.ask("SET", "greeting", "hello");
      await server.kill();
      const folder = join(server.folder, "appendonlydir");
      const last = readdirSync(folder).find((name) => name.endsWith(".incr.aof"));
      appendFileSync(join(folder, last ?? ""), "*3\r\n$3\r\nSET\r\nnonsense\r\n");
      await expect(stage.start("machine-a", { appendonly: "yes" })).rejects.toThrow("did not start");
      await stage.play(sessionOf(section, 1));
    });

    it("replaces a failed primary by hand", async () => {
      const section = sectionOf("A failed primary, by hand");
      const stage = new Stage(kind);
      await stage.startWithReplicas("machine-b", "machine-c");
      await stage.server("machine-a").kill();
      const third = stage.server("machine-c");
      await stage.play(sessionOf(section, 1));
      // The third server went on where it was: the new primary made no copy for it.
      expect((await stage.server("machine-b").info()).sync_full).toBe("0");
      await stage.server("machine-b").ask("SET", "after", "the failover");
      await caughtUp(stage.server("machine-b"), third);
      expect(await third.ask("GET", "after")).toBe("the failover");
      await stage.play(sessionOf(section, 2));
      await stage.play(sessionOf(section, 3));
      expect(await stage.server("machine-b").ask("GET", "after")).toBe("the failover");
    });

    it("changes the roles when nothing has failed", async () => {
      const stage = new Stage(kind);
      await stage.startWithReplicas("machine-b");
      await stage.play(sessionOf(sectionOf("A failed primary, by hand"), 4));
      expect(await stage.server("machine-b").ask("GET", "greeting")).toBe("hello");
    });

    it("lets sentinels fail it over when they are told to", async () => {
      const section = sectionOf("A failed primary, with Sentinel");
      const stage = new Stage(kind);
      await stage.startWithReplicas("machine-b", "machine-c");
      await startSentinels(stage, ["machine-a", "machine-b", "machine-c"], fileIn(section));
      await stage.play(sessionOf(section, 1));
      await stage.play(sessionOf(section, 2));
    });

    it("lets searches write to a replica, until the next full copy", async () => {
      const section = sectionOf("Reads on replicas, and searches that write");
      const stage = new Stage(kind);
      await stage.startWithReplicas("machine-b");
      const [primary, replica] = [stage.server("machine-a"), stage.server("machine-b")];
      await stage.start("machine-c");
      await stage.play(sessionOf(section, 1));
      await primary.ask("SADD", "words:redis", "article:1", "article:3");
      await primary.ask("SADD", "words:lua", "article:3", "article:9");
      await caughtUp(primary, replica);
      await stage.play(sessionOf(section, 2));
      // Another history: what follows is a full copy.
      await replica.ask("REPLICAOF", "NO", "ONE");
      await primary.ask("DEBUG", "CHANGE-REPL-ID");
      await follow(replica, primary.port);
      expect(await replica.ask("EXISTS", "found:17", "words:lua")).toBe("1");
    });

    it("replicates through a tunnel that compresses", async () => {
      const stage = new Stage(kind);
      await stage.start("machine-a");
      await stage.start("machine-b");
      await stage.play(sessionOf(sectionOf("Links between sites"), 1));
      const primary = stage.server("machine-a");
      for (let i = 0; i < 500; i++) {
        const order = {
          id: i,
          customer: `customer ${i % 50}`,
          items: [i % 7, i % 11],
          status: "shipped",
          note: "by post",
        };
        await primary.ask("SET", `order:${i}`, JSON.stringify(order));
      }
      await caughtUp(primary, stage.server("machine-b"));
      const { plainBytes = 0, lineBytes = 0 } = stage.tunnel ?? {};
      expect(plainBytes).toBeGreaterThan(50_000);
      expect(lineBytes).toBeLessThan(plainBytes / 2);
      figures("a compressed link", { kind, plainBytes, lineBytes });
    });

    it("is measured with redis-benchmark", async () => {
      const section = sectionOf("Reading a benchmark of your own");
      const stage = new Stage(kind);
      await stage.start("machine-a");
      await stage.play(sessionOf(section, 1));
      await stage.play(sessionOf(section, 2));
    });
  });

  it("needs nobody when the primary is gone and sentinels watch", async () => {
    const stage = new Stage("ours");
    await stage.startWithReplicas("machine-b", "machine-c");
    const section = sectionOf("A failed primary, with Sentinel");
    await startSentinels(stage, ["machine-a", "machine-b", "machine-c"], fileIn(section));
    await stage.play(sessionOf(section, 1));
    await stage.server("machine-a").kill();
    const replicas = [stage.server("machine-b"), stage.server("machine-c")];
    const roles = async () =>
      (await Promise.all(replicas.map((server) => server.info("replication")))).map(({ role }) => role);
    await until("one of the two is the primary", async () => (await roles()).includes("master"));
    const promoted = replicas[(await roles()).indexOf("master")];
    expect(await promoted?.ask("GET", "greeting")).toBe("hello");
  });

  it("has no session that was not run", () => {
    expect([...played].sort()).toEqual(guide.flatMap(({ sessions }) => sessions.map(({ name }) => name)).sort());
  });
});
