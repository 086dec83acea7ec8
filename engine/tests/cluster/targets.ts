/**
 * The two Clusters of every comparison: six real servers, and one `EngineCluster`. Both have the primaries A, B and C with a
 * third of the slots each, and the replicas R, S and T of these. What differs between them by nature (ids, ports, times) is
 * written as names, so that answers can be compared as texts.
 */
import { EngineCluster } from "../../src/index.ts";
import type { Answer } from "../conformance/answer.ts";
import { print } from "../conformance/print.ts";
import { type RealServer, startRedis } from "../conformance/redis-server.ts";
import { openWire } from "../conformance/target.ts";
import type { Wire } from "../conformance/wire.ts";

export const NAMES = ["A", "B", "C", "R", "S", "T"] as const;
export type NodeName = (typeof NAMES)[number];

const RANGES = [
  [0, 5460],
  [5461, 10922],
  [10923, 16383],
] as const;

export class ClusterTarget {
  readonly name: string;
  readonly ports: readonly number[];
  readonly #stop: () => Promise<unknown>;
  readonly #wires = new Map<NodeName, Wire>();
  #ids: string[] = [];
  /** The ids that nodes had before CLUSTER RESET HARD. */
  readonly #oldIds = new Map<NodeName, string>();

  constructor(name: string, ports: readonly number[], stop: () => Promise<unknown>) {
    this.name = name;
    this.ports = ports;
    this.#stop = stop;
  }

  async open(): Promise<this> {
    for (const name of NAMES) this.#ids.push((await this.call(name, "CLUSTER", "MYID")).text);
    return this;
  }

  idOf(name: NodeName): string {
    return this.#ids[NAMES.indexOf(name)]!;
  }

  /** The connection to a node that the scene has. */
  async wire(name: NodeName): Promise<Wire> {
    let wire = this.#wires.get(name);
    if (wire === undefined) {
      wire = await openWire(this.ports[NAMES.indexOf(name)]!);
      this.#wires.set(name, wire);
    }
    return wire;
  }

  async call(name: NodeName, ...words: string[]): Promise<Answer> {
    const wire = await this.wire(name);
    const answer = await wire.call(...words.map((word) => this.#fill(word)));
    if (words.join(" ").toUpperCase() === "CLUSTER RESET HARD" && answer.tag === "+") {
      this.#oldIds.set(name, this.idOf(name));
      this.#ids[NAMES.indexOf(name)] = (await wire.call("CLUSTER", "MYID")).text;
    }
    return answer;
  }

  /** `<A>` is a node's id, `<A:port>` its port, `<A:old>` the id that it had before CLUSTER RESET HARD. */
  #fill(word: string): string {
    return word.replace(/<([A-T])(?::(port|old))?>/g, (_, name: NodeName, what?: string) => {
      if (what === "port") return String(this.ports[NAMES.indexOf(name)]);
      return what === "old" ? this.#oldIds.get(name)! : this.idOf(name);
    });
  }

  /** An answer as text, with names for what differs from Cluster to Cluster. */
  show(words: readonly string[], answer: Answer): string {
    const call = words.slice(0, 2).join(" ").toUpperCase();
    if (call === "CLUSTER LINKS" && answer.items.length > 0) {
      // A link's times and buffers are its own; whether it is being written to at the moment, too.
      const links = answer.items.map((link) => this.#named(print(link)));
      return links
        .map((link) => link.replace(/\(integer\) \d+/g, "<number>").replace(/"rw?"/, "<events>"))
        .toSorted()
        .join("\n");
    }
    const sorted = call === "CLUSTER SHARDS" ? { ...answer, items: answer.items.toSorted(byText) } : answer;
    let text = this.#named(print(sorted));
    if (["CLUSTER NODES", "CLUSTER REPLICAS", "CLUSTER SLAVES"].includes(call)) text = withoutTimes(text);
    if (call.startsWith("HELLO")) text = text.replace(/("id" => )\(integer\) \d+/, "$1<id>");
    if (call === "ROLE") text = text.replace(/^(2\) )\(integer\) \d+/m, "$1(integer) <offset>");
    if (call === "CLUSTER INFO")
      text = text.replace(/cluster_stats_messages_[\w-]+:\d+\\r\\n/g, "").replace(/(_epoch:)\d+/g, "$1<epoch>");
    if (call === "CLUSTER SHARDS")
      text = text.replace(/("replication-offset"[^(]*)\(integer\) \d+/g, "$1(integer) <offset>");
    return text;
  }

  /** A text with names in place of ids and ports. */
  #named(printed: string): string {
    let text = printed;
    NAMES.forEach((name, i) => {
      text = text.replaceAll(this.#ids[i]!, `<${name}>`);
      text = text.replace(new RegExp(`(?<!\\d)${this.ports[i]}(@\\d+)?(?!\\d)`, "g"), (_, bus?: string) =>
        bus === undefined ? `<${name}:port>` : `<${name}:port>@<bus>`,
      );
    });
    for (const [name, id] of this.#oldIds) text = text.replaceAll(id, `<${name}:old>`);
    return text;
  }

  /** New connections, nothing in the databases, every slot where it was. */
  async reset(): Promise<void> {
    for (const wire of this.#wires.values()) await wire.close();
    this.#wires.clear();
    for (const name of ["A", "B", "C"] as const) await this.call(name, "FLUSHALL");
    await this.settled();
  }

  /** Waits until all nodes say the same of slots and roles, and the Cluster is up. */
  async settled(): Promise<void> {
    for (;;) {
      const views = new Set<string>();
      for (const name of NAMES) {
        const nodes = this.show(["CLUSTER", "NODES"], await this.call(name, "CLUSTER", "NODES"));
        const lines = nodes
          .replaceAll("myself,", "")
          .replaceAll(/ \[[^\]]*\]/g, "")
          .split("\\n");
        views.add(lines.toSorted().join("\n"));
        const isUp = (await this.call(name, "CLUSTER", "INFO")).text.includes("cluster_state:ok");
        // A replica that has not heard how far it is counts as one that loads.
        const loads = print(await this.call(name, "CLUSTER", "SHARDS")).includes("loading");
        if (!isUp || loads) views.add(name);
      }
      if (views.size === 1) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Waits until a node says that this is its role. */
  async becomes(name: NodeName, role: string): Promise<void> {
    while ((await this.call(name, "ROLE")).items[0]!.text !== role)
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** Waits until a node's CLUSTER NODES has a line with this text. */
  async shows(name: NodeName, text: string): Promise<void> {
    const words = ["CLUSTER", "NODES"];
    while (!this.show(words, await this.call(name, ...words)).includes(text))
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async close(): Promise<void> {
    for (const wire of this.#wires.values()) await wire.close();
    await this.#stop();
  }
}

const byText = (a: Answer, b: Answer): number => (print(a) < print(b) ? -1 : 1);

/** Lines of CLUSTER NODES in the order of ids, without the times of pings and the numbers of elections. */
function withoutTimes(text: string): string {
  const lines = text
    .replace(/ \d+ \d+ \d+ ((?:dis)?connected)/g, " <ping> <pong> <epoch> $1")
    .replaceAll('"', "")
    .split("\\n");
  return lines
    .filter((line) => line !== "")
    .toSorted()
    .join("\n");
}

export async function realCluster(): Promise<ClusterTarget> {
  const args = ["--cluster-enabled", "yes", "--cluster-node-timeout", "6000", "--repl-diskless-sync-delay", "0"];
  const servers: RealServer[] = [];
  for (const _ of NAMES) servers.push(await startRedis(args));
  const ports = servers.map(({ port }) => port);
  const target = new ClusterTarget("redis", ports, () => Promise.all(servers.map((server) => server.stop())));
  for (const [i, name] of NAMES.entries()) {
    if (i >= RANGES.length) continue;
    await target.call(name, "CLUSTER", "SET-CONFIG-EPOCH", String(i + 1));
    await target.call(name, "CLUSTER", "ADDSLOTSRANGE", ...RANGES[i]!.map(String));
  }
  for (const port of ports.slice(1)) await target.call("A", "CLUSTER", "MEET", "127.0.0.1", String(port));
  await target.open();
  for (const [replica, primary] of [
    ["R", "A"],
    ["S", "B"],
    ["T", "C"],
  ] as const) {
    while ((await target.call(replica, "CLUSTER", "REPLICATE", `<${primary}>`)).tag !== "+") {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  await target.settled();
  return target;
}

export async function engineCluster(): Promise<ClusterTarget> {
  const cluster = await EngineCluster.open({ nodeTimeoutMs: 6000 });
  return new ClusterTarget(
    "cinnabar",
    cluster.nodes.map(({ port }) => port),
    () => cluster.close(),
  ).open();
}
