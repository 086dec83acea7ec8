/**
 * Whatever can happen to a replica and its link, in seeded random order, while the primary is written to: cuts, silence, slow
 * and shredding links, kills, restarts, promotions and returns, backlogs too small. At the end it has what the primary has.
 * The events are printed when it has not.
 */
import { afterEach, describe, expect, it, vi } from "vitest";
import { Prng } from "../conformance/prng.ts";
import { redisAvailable } from "../conformance/redis-server.ts";
import { compare, shortLivedGone } from "./content.ts";
import { Link } from "./link.ts";
import { Load } from "./load.ts";
import {
  caughtUp,
  figures,
  follow,
  type Kind,
  linkUp,
  PATIENCE_MS,
  ROUNDS,
  type Server,
  startAll,
  stopAll,
  until,
} from "./servers.ts";

vi.setConfig({ testTimeout: PATIENCE_MS * ROUNDS, hookTimeout: PATIENCE_MS });

afterEach(stopAll);

const SEED = Number(process.env.REPLICATION_SEED ?? 1);
const EVENTS = 10 * ROUNDS;

class Chaos {
  readonly events: string[] = [];
  readonly #rng: Prng;
  readonly #primary: Server;
  readonly #replica: Server;
  readonly #link: Link;
  readonly #load: Load;

  constructor(seed: number, primary: Server, replica: Server, link: Link, load: Load) {
    this.#rng = new Prng(seed);
    this.#primary = primary;
    this.#replica = replica;
    this.#link = link;
    this.#load = load;
  }

  async event(): Promise<void> {
    const kinds: Record<string, () => void | Promise<void>> = {
      cut: () => this.#link.cut(),
      "many cuts": () => this.#manyCuts(),
      "cut in the copy": () => this.#cutInTheCopy(),
      swallow: () => this.#link.swallow(),
      delay: () => this.#link.delay(this.#rng.between(5, 60)),
      shred: () => this.#link.shred(this.#rng.between(1, 200)),
      throttle: () => this.#link.throttle(this.#rng.between(50_000, 2_000_000)),
      restore: () => this.#link.restore(),
      "kill client": async () => void (await this.#primary.ask("CLIENT", "KILL", "TYPE", "replica")),
      "kill link": async () => void (await this.#replica.ask("CLIENT", "KILL", "TYPE", "master")),
      "kill -9": () => this.#restart(),
      "stop and go on": () => this.#freeze(),
      "promote and return": () => this.#promote(),
      backlog: async () =>
        void (await this.#primary.ask("CONFIG", "SET", "repl-backlog-size", this.#rng.pick(["16384", "64mb"]))),
    };
    // Misfortunes come together, but not always.
    if (this.#rng.chance(0.4)) {
      this.#link.restore();
      await linkUp(this.#replica);
    }
    const name = this.#rng.pick(Object.keys(kinds));
    this.events.push(name);
    await kinds[name]!();
    await this.#load.goesOn(this.#rng.between(1, 15));
  }

  async #manyCuts(): Promise<void> {
    for (let i = 0; i < 4; i++) {
      this.#link.cut();
      await this.#load.goesOn(1);
    }
  }

  async #cutInTheCopy(): Promise<void> {
    this.#link.throttle(100_000);
    await this.#primary.ask("DEBUG", "CHANGE-REPL-ID");
    this.#link.cut();
    await this.#load.goesOn(10);
    this.#link.cut();
    this.#link.restore();
  }

  async #restart(): Promise<void> {
    await this.#replica.ask("CONFIG", "REWRITE");
    await this.#replica.restart();
  }

  async #freeze(): Promise<void> {
    this.#replica.signal("SIGSTOP");
    await this.#load.goesOn(20);
    this.#replica.signal("SIGCONT");
  }

  async #promote(): Promise<void> {
    await this.#replica.ask("REPLICAOF", "NO", "ONE");
    if (this.#rng.chance(0.5)) await this.#replica.ask("SET", "own", "write");
    await this.#load.goesOn(2);
    await this.#replica.ask("REPLICAOF", "127.0.0.1", String(this.#link.port));
  }
}

async function survive(kinds: readonly [Kind, Kind], seed: number): Promise<void> {
  const [primary, replica] = (await startAll(kinds, { "repl-timeout": "3" })) as [Server, Server];
  const load = await Load.start(primary, { seed, connections: 2 });
  await load.goesOn(20);
  const link = await Link.to(primary);
  await follow(replica, link.port);
  const chaos = new Chaos(seed, primary, replica, link, load);
  try {
    for (let i = 0; i < EVENTS; i++) await chaos.event();
    link.restore();
    await load.stop();
    await shortLivedGone(primary);
    await linkUp(replica);
    await caughtUp(primary, replica);
    expect((await compare(primary, replica)).differences.slice(0, 10)).toEqual([]);
    expect(await load.ledgerFaults(replica)).toEqual([]);
    await until("the primary has forgotten all former links", async () => {
      return (await primary.number("connected_slaves")) === 1;
    });
  } catch (error) {
    console.error(`seed ${seed}: ${chaos.events.join(", ")}\n${replica.log.slice(-2000)}`);
    throw error;
  }
  figures(`chaos, ${kinds.join(" → ")}`, {
    events: chaos.events.length,
    commands: load.commands,
    partial: await primary.number("sync_partial_ok"),
    full: await primary.number("sync_full"),
  });
}

describe("whatever happens in between, the replica ends up with what the primary has", () => {
  for (const [i, kinds] of (
    [
      ["ours", "ours"],
      ["ours", "redis"],
      ["redis", "ours"],
    ] as const
  ).entries()) {
    const missing = (kinds as readonly Kind[]).includes("redis") && !redisAvailable();
    it.skipIf(missing)(kinds.join(" → "), () => survive(kinds, SEED + i));
  }
});
