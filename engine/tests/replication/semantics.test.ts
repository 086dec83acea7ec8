/** What replication promises to its users: WAIT, refused writes, expiry, promotion. On three servers of ours. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Wire } from "../conformance/wire.ts";
import { Link } from "./link.ts";
import { caughtUp, follow, linkUp, PATIENCE_MS, type Server, startAll, stopAll, until } from "./servers.ts";

vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

let primary: Server;
let replicas: [Server, Server];
let links: [Link, Link];

afterAll(stopAll);

/** Two replicas through links, everything as at the start. */
async function attach(): Promise<void> {
  for (const [i, replica] of replicas.entries()) {
    links[i]!.restore();
    await follow(replica, links[i]!.port);
  }
  await until("both replicas are online", async () => {
    const info = await primary.info("replication");
    return [info.slave0, info.slave1].every((line) => line?.includes("state=online"));
  });
}

beforeAll(async () => {
  const [first, ...others] = await startAll(["ours", "ours", "ours"], { "min-replicas-max-lag": "1" });
  primary = first!;
  replicas = [others[0]!, others[1]!];
  links = [await Link.to(primary), await Link.to(primary)];
});

async function withWires<T>(count: number, use: (wires: Wire[]) => Promise<T>): Promise<T> {
  const wires = await Promise.all(Array.from({ length: count }, () => primary.wire()));
  try {
    return await use(wires);
  } finally {
    await Promise.all(wires.map((wire) => wire.close()));
  }
}

describe("WAIT", () => {
  describe("without replicas", () => {
    beforeAll(async () => {
      for (const replica of replicas) await replica.ask("REPLICAOF", "NO", "ONE");
      await until("nobody follows", async () => (await primary.number("connected_slaves")) === 0);
    });

    it("answers 0 at once when nobody is asked for, and after the timeout otherwise", async () => {
      await primary.ask("SET", "k", "v");
      expect(await primary.ask("WAIT", "0", "0")).toBe("0");
      const started = performance.now();
      expect(await primary.ask("WAIT", "1", "120")).toBe("0");
      expect(performance.now() - started).toBeGreaterThanOrEqual(119);
    });

    it("refuses timeouts and numbers that are none", async () => {
      expect((await primary.call("WAIT", "1", "-1")).text).toBe("ERR timeout is negative");
      expect((await primary.call("WAIT", "x", "1")).text).toBe("ERR value is not an integer or out of range");
      expect((await primary.call("WAIT", "1", "x")).text).toBe("ERR timeout is not an integer or out of range");
    });

    it("is woken by CLIENT UNBLOCK", async () => {
      await withWires(1, async ([wire]) => {
        const id = (await wire!.call("CLIENT", "ID")).text;
        await wire!.call("SET", "k", "v");
        wire!.send(["WAIT", "3", "0"]);
        await until("it waits", async () => (await primary.number("blocked_clients")) === 1);
        expect(await primary.ask("CLIENT", "UNBLOCK", id)).toBe("1");
        expect((await wire!.receive(1))[0]!.text).toBe("0");
        wire!.send(["WAIT", "3", "0"]);
        await until("it waits", async () => (await primary.number("blocked_clients")) === 1);
        await primary.ask("CLIENT", "UNBLOCK", id, "ERROR");
        expect((await wire!.receive(1))[0]!.text).toMatch(/^UNBLOCKED /);
      });
    });
  });

  describe("with two replicas", () => {
    beforeEach(attach);

    it("says how many have the write, for many clients at once", async () => {
      await withWires(25, async (wires) => {
        const answers = await Promise.all(
          wires.map(async (wire, i) => {
            const [, waited] = await wire.pipeline([
              ["SET", `wait:${i}`, String(i)],
              ["WAIT", "2", "20000"],
            ]);
            return waited!.text;
          }),
        );
        expect(answers).toEqual(wires.map(() => "2"));
        for (const replica of replicas) expect(await replica.ask("GET", "wait:24")).toBe("24");
      });
    });

    it("counts only those that have it: one is cut off", async () => {
      links[1].stall();
      await withWires(10, async (wires) => {
        const waits = wires.map(async (wire, i) => {
          // Every other asks for more than there is.
          const wanted = i % 2 === 0 ? "1" : "2";
          const [, waited] = await wire.pipeline([
            ["INCR", "n"],
            ["WAIT", wanted, wanted === "1" ? "20000" : "400"],
          ]);
          return waited!.text;
        });
        expect(await Promise.all(waits)).toEqual(wires.map(() => "1"));
        // A client that waits for both is answered when the second is there again.
        const both = wires[0]!.pipeline([
          ["INCR", "n"],
          ["WAIT", "2", "20000"],
        ]);
        await until("it waits", async () => (await primary.number("blocked_clients")) === 1);
        links[1].restore();
        expect((await both)[1]!.text).toBe("2");
      });
    });

    it("is about one's own last write: who wrote before the cut does not wait for what others wrote after it", async () => {
      await withWires(2, async ([early, late]) => {
        await early!.call("SET", "k", "early");
        expect((await early!.call("WAIT", "2", "20000")).text).toBe("2");
        links[0].stall();
        links[1].stall();
        await late!.call("SET", "k", "late");
        expect((await early!.call("WAIT", "2", "0")).text).toBe("2");
        expect((await late!.call("WAIT", "1", "50")).text).toBe("0");
      });
    });

    it("does not wait inside MULTI or a script", async () => {
      links[0].stall();
      links[1].stall();
      await withWires(1, async ([wire]) => {
        const answers = await wire!.pipeline([["MULTI"], ["SET", "k", "in multi"], ["WAIT", "2", "0"], ["EXEC"]]);
        // How many have what came before the transaction: that depends on when the primary last said something.
        expect(answers[3]!.items.map(({ tag, text }) => tag + text)).toEqual([
          "+OK",
          expect.stringMatching(/^:[012]$/),
        ]);
        expect((await wire!.call("EVAL", "return redis.pcall('WAIT', '2', '0')", "0")).text).toMatch(
          /^ERR This Redis command is not allowed from script/,
        );
      });
    });

    it("is refused by a replica", async () => {
      expect((await replicas[0].call("WAIT", "1", "1")).text).toMatch(
        /^ERR WAIT cannot be used with replica instances/,
      );
    });
  });
});

describe("who may write", () => {
  beforeEach(attach);

  it("nobody but the primary, unless the replica is told otherwise", async () => {
    const [replica] = replicas;
    const refused = /^READONLY You can't write against a read only replica\./;
    expect((await replica.call("SET", "k", "v")).text).toMatch(refused);
    expect((await replica.call("EVAL", "return redis.call('SET', 'k', 'v')", "0")).text).toMatch(/READONLY/);
    expect((await replica.call("PUBLISH", "channel", "word")).tag).toBe(":");
    const wire = await replica.wire();
    const answers = await wire.pipeline([["MULTI"], ["SET", "k", "v"], ["EXEC"]]);
    expect(answers[1]!.text).toMatch(refused);
    expect(answers[2]!.text).toMatch(/^EXECABORT/);
    await wire.close();
    await replica.ask("CONFIG", "SET", "replica-read-only", "no");
    expect(await replica.ask("SET", "own", "v")).toBe("OK");
    expect((await primary.call("GET", "own")).tag).toBe("$-1");
    await replica.ask("CONFIG", "SET", "replica-read-only", "yes");
    expect((await replica.call("DEL", "own")).text).toMatch(refused);
  });

  it("not even the primary, when too few replicas keep up", async () => {
    await primary.ask("CONFIG", "SET", "min-replicas-to-write", "2");
    try {
      await until("it is taken while both keep up", async () => (await primary.call("SET", "k", "two")).text === "OK");
      links[1].stall();
      let refusal = "";
      await until("the lag of one is noticed", async () => {
        const answer = await primary.call("SET", "k", "three");
        refusal = answer.text;
        return answer.tag === "-";
      });
      expect(refusal).toBe("NOREPLICAS Not enough good replicas to write.");
      expect((await primary.call("EVAL", "return redis.call('INCR', 'n')", "0")).text).toMatch(/NOREPLICAS/);
      expect(await primary.ask("EXISTS", "k")).toBe("1");
      links[1].restore();
      await until("it is taken again", async () => (await primary.call("SET", "k", "four")).text === "OK");
    } finally {
      await primary.ask("CONFIG", "SET", "min-replicas-to-write", "0");
    }
  });

  it("a script that has begun to write goes on when its replicas leave, and the next one is refused", async () => {
    await primary.ask("CONFIG", "SET", "min-replicas-to-write", "2");
    const caller = await primary.wire();
    try {
      await until("it is taken while both keep up", async () => (await primary.call("SET", "k", "both")).text === "OK");
      const leaves = `
        redis.call('SET', 'k', 'begun')
        repeat until redis.call('INFO', 'replication'):find('connected_slaves:0')
        return redis.call('SET', 'k', 'alone')`;
      // Others are answered while a script runs for long: so it hears of the replicas that leave.
      await primary.ask("CONFIG", "SET", "busy-reply-threshold", "20");
      caller.send(["EVAL", leaves, "0"]);
      await until("it is busy", async () => (await primary.call("GET", "k")).text.startsWith("BUSY"));
      for (const link of links) link.refuse();
      expect((await caller.receive(1))[0]!.text).toBe("OK");
      expect(await primary.ask("GET", "k")).toBe("alone");
      expect((await primary.call("EVAL", "return redis.call('SET', 'k', 'next')", "0")).text).toMatch(/^NOREPLICAS/);
      // One that has only read so far is refused when it comes to write.
      const reads = `return { redis.call('GET', 'k'), redis.pcall('SET', 'k', 'next').err }`;
      expect((await primary.call("EVAL", reads, "0")).items.map(({ text }) => text)).toEqual([
        "alone",
        expect.stringMatching(/^NOREPLICAS/),
      ]);
    } finally {
      for (const link of links) link.restore();
      await caller.close();
      await primary.ask("CONFIG", "SET", "min-replicas-to-write", "0", "busy-reply-threshold", "5000");
    }
  });

  it("a transaction on a replica is refused when its primary was lost after it was queued", async () => {
    const [replica] = replicas;
    await primary.ask("SET", "old", "data");
    await caughtUp(primary, replica);
    const wire = await replica.wire();
    expect((await wire.pipeline([["MULTI"], ["GET", "old"], ["PING"]])).map(({ text }) => text)).toEqual([
      "OK",
      "QUEUED",
      "QUEUED",
    ]);
    links[0].refuse();
    await until("the link is down", async () => (await replica.info()).master_link_status === "down");
    await replica.ask("CONFIG", "SET", "replica-serve-stale-data", "no");
    expect((await wire.call("EXEC")).text).toBe(
      "EXECABORT Transaction discarded because of: MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    );
    expect((await wire.call("EXEC")).text).toBe("ERR EXEC without MULTI");
    // What does not read the data is answered, queued or not.
    const [, , echoed] = await wire.pipeline([["MULTI"], ["ECHO", "word"], ["EXEC"]]);
    expect(echoed!.items.map(({ text }) => text)).toEqual(["word"]);
    await replica.ask("CONFIG", "SET", "replica-serve-stale-data", "yes");
    links[0].restore();
    await linkUp(replica);
    await wire.close();
  });

  it("a replica without its primary answers from old data, or not at all, as it is told", async () => {
    const [replica] = replicas;
    await primary.ask("SET", "old", "data");
    await caughtUp(primary, replica);
    links[0].refuse();
    await until("the link is down", async () => (await replica.info()).master_link_status === "down");
    expect(await replica.ask("GET", "old")).toBe("data");
    await replica.ask("CONFIG", "SET", "replica-serve-stale-data", "no");
    expect((await replica.call("GET", "old")).text).toBe(
      "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    );
    expect((await replica.info()).role).toBe("slave");
    links[0].restore();
    await linkUp(replica);
    expect(await replica.ask("GET", "old")).toBe("data");
    await replica.ask("CONFIG", "SET", "replica-serve-stale-data", "yes");
  });
});

describe("expiry", () => {
  beforeEach(attach);

  it("is the primary's business: a replica hides what is due and keeps it until it is told", async () => {
    const [replica] = replicas;
    await primary.ask("FLUSHALL");
    // Nothing is removed before the link stands still, however long that takes.
    await primary.ask("DEBUG", "SET-ACTIVE-EXPIRE", "0");
    await primary.ask("SET", "due", "v", "PX", "150");
    await primary.ask("RPUSH", "due too", "v");
    await primary.ask("PEXPIRE", "due too", "150");
    await caughtUp(primary, replica);
    links[0].stall();
    await primary.ask("DEBUG", "SET-ACTIVE-EXPIRE", "1");
    await until("the primary has removed both", async () => (await primary.ask("DBSIZE")) === "0");
    expect((await replica.call("GET", "due")).tag).toBe("$-1");
    expect(await replica.ask("EXISTS", "due", "due too")).toBe("0");
    expect(await replica.ask("TTL", "due too")).toBe("-2");
    expect((await replica.call("KEYS", "*")).items).toEqual([]);
    expect(await replica.ask("DBSIZE")).toBe("2");
    links[0].restore();
    await until("the replica has removed both", async () => (await replica.ask("DBSIZE")) === "0");
    expect(await primary.number("expired_keys")).toBeGreaterThanOrEqual(2);
  });

  it("reaches the replica as a moment, not as a time from now", async () => {
    const [replica] = replicas;
    links[0].delay(200);
    await primary.ask("SET", "k", "v", "EX", "1000");
    await primary.ask("HSET", "h", "f", "v");
    await primary.ask("EXPIRE", "h", "1000");
    await caughtUp(primary, replica);
    for (const key of ["k", "h"]) {
      expect(await replica.ask("PEXPIRETIME", key)).toBe(await primary.ask("PEXPIRETIME", key));
    }
  });
});

describe("what is shown", () => {
  beforeEach(attach);

  it("by ROLE and INFO on both sides", async () => {
    await primary.ask("SET", "k", "v");
    await caughtUp(primary, replicas[0]);
    const role = (await primary.call("ROLE")).items;
    expect(role[0]!.text).toBe("master");
    expect(role[2]!.items.map(({ items }) => items[1]!.text).sort()).toEqual(
      replicas.map((replica) => String(replica.port)).sort(),
    );
    const own = (await replicas[0].call("ROLE")).items.map((item) => item.text);
    expect(own.slice(0, 4)).toEqual(["slave", "127.0.0.1", String(links[0].port), "connected"]);
    const [theirs, ours] = [await primary.info("replication"), await replicas[0].info("replication")];
    expect(theirs.master_replid).toMatch(/^[0-9a-f]{40}$/);
    expect(ours.master_replid).toBe(theirs.master_replid);
    expect(ours).toMatchObject({ role: "slave", slave_read_only: "1", slave_priority: "100", replica_announced: "1" });
    expect(theirs.slave0).toMatch(/^ip=127\.0\.0\.1,port=\d+,state=online,offset=\d+,lag=\d+$/);
    const listed = await primary.ask("CLIENT", "LIST", "TYPE", "replica");
    expect(listed.match(/ flags=S /g)).toHaveLength(2);
    expect(await replicas[0].ask("CLIENT", "LIST", "TYPE", "master")).toMatch(/ flags=M /);
  });

  it("by CLIENT KILL TYPE replica: the killed come back with what they missed", async () => {
    const before = await primary.number("sync_partial_ok");
    expect(await primary.ask("CLIENT", "KILL", "TYPE", "replica")).toBe("2");
    await primary.ask("SET", "after", "the kill");
    await until("both are back", async () => (await primary.number("sync_partial_ok")) === before + 2);
    for (const replica of replicas) {
      await caughtUp(primary, replica);
      expect(await replica.ask("GET", "after")).toBe("the kill");
    }
  });
});
