/**
 * Past one machine: four servers with shards, two of them with a replica, and a home. The social network on a fleet that grows
 * while everybody is busy; its parts on different servers; reads from replicas; search over all of them.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Fleet, type FleetOptions } from "../../../src/components/fleet/index.ts";
import { SearchIndex, ShardedSearch } from "../../../src/components/search/index.ts";
import { Social } from "../../../src/components/social/index.ts";
import { type OpenOptions, open } from "../../../src/connection/open.ts";
import type { Store } from "../../../src/connection/store.ts";
import { cli, installed, type ServerProcess, startRedis } from "../../kit/servers.ts";
import { LISTS, networkFaults, SETTINGS, USERS } from "../social/network.ts";
import { randomFrom } from "../web/acts.ts";

const REDIS = installed("redis-server") && installed("redis-cli");
const AT_ONCE = ["--repl-diskless-sync-delay", "0"];

describe.skipIf(!REDIS)("on many servers", () => {
  let servers: ServerProcess[] = [];
  let replicas: ServerProcess[] = [];
  let closing: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    servers = await Promise.all(Array.from({ length: 5 }, () => startRedis({ args: AT_ONCE })));
    const follow = ({ port }: ServerProcess) => startRedis({ args: ["--replicaof", "127.0.0.1", String(port)] });
    replicas = await Promise.all(servers.slice(1, 3).map(follow));
    for (const { port } of replicas) {
      await vi.waitFor(() => expect(cli(port, "INFO", "replication")).toContain("master_link_status:up"), 30_000);
    }
  }, 60_000);
  afterAll(() => Promise.all([...servers, ...replicas].map((server) => server.stop())));

  beforeEach(() => {
    for (const { port } of servers) cli(port, "FLUSHALL");
  });
  afterEach(async () => {
    for (const each of closing.reverse()) await each.close();
    closing = [];
  });

  const url = (at: number): string => servers[at]!.url;

  async function store(at: number, options: OpenOptions = {}): Promise<Store> {
    const opened = await open(url(at), options);
    closing.push(opened);
    return opened;
  }

  async function fleet(options: FleetOptions = {}): Promise<Fleet> {
    const opened = await Fleet.open(await store(0), { leaseMs: 5_000, ...options });
    closing.push(opened);
    return opened;
  }

  /** How often a server has run a command. */
  function calls(port: number, command: string): number {
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(cli(port, "INFO", "commandstats"))?.[1] ?? 0);
  }

  async function quiet(social: Social): Promise<void> {
    const left = async (): Promise<number> => {
      const { jobs, open: underWay } = await social.stats();
      return jobs.waiting + jobs.active + jobs.delayed + underWay;
    };
    await vi.waitFor(async () => expect(await left()).toBe(0), { timeout: 60_000, interval: 20 });
  }

  test("the social network keeps its promises while its fleet grows and shrinks under it", async () => {
    const members = [await fleet(), await fleet(), await fleet()];
    await members[0]!.define("social", { a: url(1), b: url(2) });
    await vi.waitFor(() => members.map((each) => each.store("social")), 10_000);
    const networks = members.map((each) => new Social(each.store("social"), SETTINGS));
    const [social] = networks as [Social, Social, Social];
    for (const id of USERS) expect((await social.users.join(id, { id })).status).toBe("joined");
    for (const id of LISTS) await social.lists.create(USERS[0]!, id, { id });
    const workers = networks.map((each) => each.worker({ concurrency: 2 }).start());

    const [posted, deleted] = [new Set<string>(), new Set<string>()];
    let stop = false;
    let acts = 0;
    const load = networks.map(async (each, process) => {
      const random = randomFrom(process + 1);
      const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
      const mine: string[] = [];
      while (!stop) {
        const [user, other] = [pick(USERS), pick(USERS)];
        const act = random(10);
        if (act < 4) {
          const id = await each.statuses.post(user, `from ${process}`);
          posted.add(id!);
          mine.push(id!);
        } else if (act < 5 && mine.length > 2) {
          const [id] = mine.splice(random(mine.length), 1) as [string];
          await each.statuses.delete(id.slice(8), id);
          posted.delete(id);
          deleted.add(id);
        } else if (act < 6) await each.timelines.home(user);
        else if (act < 7) await each.lists.addMember(pick(LISTS), user);
        else if (user !== other)
          await (act < 9 ? each.follows.follow(user, other) : each.follows.unfollow(user, other));
        acts++;
      }
    });
    await members[0]!.addShard("social", "c", url(3));
    await members[1]!.addShard("social", "d", url(4));
    await members[2]!.removeShard("social", "a");
    const before = acts;
    await vi.waitFor(() => expect(acts).toBeGreaterThan(before + 50), 30_000);
    stop = true;
    await Promise.all(load);
    await quiet(social);
    for (const user of USERS) await social.timelines.home(user);
    for (const list of LISTS) await social.timelines.list(list);
    await quiet(social);
    expect((await social.stats()).jobs.dead).toBe(0);
    const { faults, statuses } = await networkFaults(social, members[0]!.store("social"), posted, deleted);
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(faults).toEqual([]);
    expect(statuses).toBe(posted.size);
    expect((await members[0]!.inspect("social")).map(({ shard }) => shard)).toEqual(["b", "c", "d"]);
  }, 180_000);

  test("its parts are on different servers, and profiles are read from a replica", async () => {
    const people = await store(1);
    const graph = await store(2);
    const home = await store(0);
    const timelines = await store(3);
    const social = new Social({ users: people, statuses: people, follows: graph, timelines, queue: home }, SETTINGS);
    const worker = social.worker().start();
    for (const id of USERS) await social.users.join(id, { id });
    for (const id of USERS.slice(1)) await social.follows.follow(id, USERS[0]!);
    const ids: string[] = [];
    for (let n = 0; n < 10; n++) ids.unshift((await social.statuses.post(USERS[0]!, `status ${n}`))!);
    await quiet(social);
    for (const id of USERS.slice(1)) {
      expect((await social.timelines.home(id)).items.map((status) => status.id)).toEqual(ids);
    }
    await quiet(social);
    const keys = servers.map(({ port }) => Number(/\d+/.exec(cli(port, "DBSIZE"))![0]));
    expect(keys.map((count) => count > 0)).toEqual([true, true, true, true, false]);

    // Another process reads profiles from the replica of the server with the statuses, no older than what was written.
    const after = await people.position();
    const reading = await store(1, { reads: { from: "replicas", maxLagMs: 60_000, after } });
    const reader = new Social({ users: reading, statuses: reading, follows: graph, timelines, queue: home }, SETTINGS);
    const READS = ["get", "hgetall", "hmget", "zrange", "zrevrange", "zrangebylex", "zrevrangebylex", "evalsha"];
    const served = () => READS.reduce((sum, command) => sum + calls(replicas[0]!.port, command), 0);
    const before = served();
    await vi.waitFor(
      async () => {
        const { items: statuses } = await reader.timelines.profile(USERS[0]!);
        expect(statuses.map((status) => status.id)).toEqual(ids);
        expect(served()).toBeGreaterThan(before);
      },
      { timeout: 20_000, interval: 20 },
    );
    await worker.stop();
  }, 120_000);

  test("a fleet reads from the replicas of its shards", async () => {
    const members = await fleet({ open: { reads: { from: "replicas", maxLagMs: 60_000 } } });
    await members.define("pages", { a: url(1), b: url(2) });
    const pages = members.store("pages");
    const keys = Array.from({ length: 50 }, (_, at) => `page:{${at}}`);
    for (const key of keys) await pages.call("SET", key, key);
    for (const { port } of replicas) {
      const before = calls(port, "get");
      await vi.waitFor(
        async () => {
          await pages.pipeline(keys.map((key) => ["GET", key] as const));
          expect(calls(port, "get")).toBeGreaterThan(before);
        },
        { timeout: 20_000, interval: 20 },
      );
    }
    const read = () => pages.pipeline(keys.map((key) => ["GET", key] as const));
    await vi.waitFor(async () => expect(await read()).toEqual(keys), { timeout: 20_000, interval: 20 });
  }, 60_000);

  test("a search over four servers answers as one index with everything does", async () => {
    const fields = { text: { type: "text" }, year: { type: "number" }, tags: { type: "tags" } } as const;
    const places = await Promise.all([1, 2, 3, 4].map(async (at) => ({ store: await store(at), name: `shard${at}` })));
    const many = new ShardedSearch(places, { fields });
    const whole = new SearchIndex(await store(0), "whole", { fields });
    const random = randomFrom(3);
    const WORDS = "sand sea tide salt dune wind rock shell wave storm reef coral".split(" ");
    const documents = Array.from({ length: 300 }, (_, at) => {
      const text = Array.from({ length: 3 + random(12) }, () => WORDS[random(WORDS.length)]).join(" ");
      const document = { text, year: 1990 + random(30), tags: [WORDS[random(4)]!] };
      return [`doc${at}`, document] as const;
    });
    await many.setMany(documents);
    await whole.setMany(documents);
    for (const { store: each } of places) expect(Number(await each.call("DBSIZE"))).toBeGreaterThan(0);
    for (const query of [
      "sea",
      "sea salt",
      "sea OR coral",
      "wave -storm",
      '"sea tide"',
      "co*",
      "year:[1995 TO 2000] sand",
    ]) {
      const options = { limit: 20, facets: { tags: true } } as const;
      const [a, b] = await Promise.all([many.search(query, options), whole.search(query, options)]);
      expect([query, a.count]).toEqual([query, b.count]);
      expect(a.facets).toEqual(b.facets);
      a.hits.forEach((hit, nth) => {
        expect(Math.abs(hit.score - b.hits[nth]!.score)).toBeLessThan(1e-9);
      });
      const order = (hits: typeof a.hits) => hits.map(({ id, score }) => `${score.toFixed(9)} ${id}`).sort();
      expect(order(a.hits)).toEqual(order(b.hits));
    }
  }, 60_000);
});
