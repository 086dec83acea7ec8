/** `--scan`, `--bigkeys` and `--memkeys`: walks over the keys of a store; in a Cluster over those of every primary. */
import type { Link } from "../link/link.ts";
import { checked } from "../link/link.ts";
import { type Reached, slotRanges } from "../link/reach.ts";
import { itemsIn, type Reply, textIn } from "../link/reply.ts";
import { shown } from "./words.ts";

export interface WalkOptions {
  readonly pattern: string | undefined;
  readonly count: number | undefined;
  readonly isCluster: boolean;
  /** Between SCAN commands (of bigkeys: a hundred of them). */
  readonly pauseMs: number;
}

type Batch = { readonly link: Link; readonly keys: readonly Buffer[] };

async function* batches(reached: Reached, options: WalkOptions): AsyncGenerator<Batch> {
  const first = await reached.connect();
  const links = [first];
  if (options.isCluster && typeof reached.endpoint === "object") {
    const ranges = await slotRanges(first, reached.endpoint);
    const primaries = new Map(ranges.map(({ primary }) => [`${primary.host}:${primary.port}`, primary]));
    links.pop();
    first.close();
    for (const primary of primaries.values()) links.push(await reached.connectTo(primary));
  }
  const matching = options.pattern === undefined ? [] : ["MATCH", Buffer.from(options.pattern)];
  const counting = options.count === undefined ? [] : ["COUNT", String(options.count)];
  for (const link of links) {
    let cursor = "0";
    do {
      const [next, keys] = itemsIn(await link.call("SCAN", cursor, ...matching, ...counting));
      cursor = textIn(next);
      yield { link, keys: itemsIn(keys).flatMap((key) => ("bytes" in key ? [key.bytes] : [])) };
    } while (cursor !== "0");
    link.close();
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function printKeys(
  reached: Reached,
  options: WalkOptions,
  isStandard: boolean,
  print: (text: string) => void,
): Promise<void> {
  for await (const { keys } of batches(reached, options)) {
    const texts = keys.map((key) => (isStandard ? shown(key.toString("latin1")) : key.toString("latin1")));
    if (texts.length > 0) print(`${texts.join("\n")}\n`);
    if (options.pauseMs > 0) await pause(options.pauseMs);
  }
}

interface Kind {
  readonly name: string;
  readonly command: string;
  readonly unit: string;
  biggest: number;
  biggestKey: string | null;
  total: number;
  count: number;
}

const kind = (name: string, command: string, unit: string): Kind => ({
  name,
  command,
  unit,
  biggest: 0,
  biggestKey: null,
  total: 0,
  count: 0,
});

const kinds = (): Kind[] => [
  kind("string", "STRLEN", "bytes"),
  kind("list", "LLEN", "items"),
  kind("set", "SCARD", "members"),
  kind("hash", "HLEN", "fields"),
  kind("zset", "ZCARD", "members"),
  kind("stream", "XLEN", "entries"),
];

const percent = (part: number, whole: number): string =>
  `${(whole === 0 ? 0 : (100 * part) / whole).toFixed(2).padStart(5, "0")}%`;

const HEAD = (what: string): string => `
# Scanning the entire keyspace to find biggest keys as well as
# average sizes per key type.  You can use -i 0.1 to sleep 0.1 sec
# per 100 SCAN commands (not usually needed).
${what}
`;

/** The biggest key of each type, by elements or by memory. */
export async function printBigKeys(
  reached: Reached,
  options: WalkOptions & { readonly byMemory: boolean },
  print: (text: string) => void,
): Promise<void> {
  const byType = new Map(kinds().map((each) => [each.name, each]));
  const unitOf = (each: Kind): string => (options.byMemory ? "bytes" : each.unit);
  let [sampled, keyBytes, rounds] = [0, 0, 0];
  const totals = new Map<Link, number>();
  print(HEAD(""));
  for await (const { link, keys } of batches(reached, options)) {
    if (!totals.has(link)) totals.set(link, Number(await link.text("DBSIZE")));
    const done = percent(
      sampled,
      [...totals.values()].reduce((sum, each) => sum + each, 0),
    );
    const types = await link.callMany(keys.map((key) => ["TYPE", key]));
    const sizes = await Promise.all(
      link.sendMany(keys.map((key, at) => sizing(key, byType.get(textIn(types[at])), options.byMemory))),
    );
    for (const [at, key] of keys.entries()) {
      sampled++;
      keyBytes += key.length;
      const type = byType.get(textIn(types[at]));
      if (type === undefined) continue;
      const size = sizeIn(sizes[at]!);
      type.total += size;
      type.count++;
      if (type.biggest >= size) continue;
      [type.biggest, type.biggestKey] = [size, shown(key.toString("latin1"))];
      print(
        `[${done}] Biggest ${type.name.padEnd(6)} found so far '${type.biggestKey}' with ${size} ${unitOf(type)}\n`,
      );
    }
    if (options.pauseMs > 0 && ++rounds % 100 === 0) await pause(options.pauseMs);
  }
  print(`\n-------- summary -------\n\nSampled ${sampled} keys in the keyspace!\n`);
  print(
    `Total key length in bytes is ${keyBytes} (avg len ${(sampled === 0 ? 0 : keyBytes / sampled).toFixed(2)})\n\n`,
  );
  for (const type of byType.values()) {
    if (type.biggestKey === null) continue;
    print(`Biggest ${type.name.padStart(6)} found '${type.biggestKey}' has ${type.biggest} ${unitOf(type)}\n`);
  }
  print("\n");
  for (const type of byType.values()) {
    const average = (type.count === 0 ? 0 : type.total / type.count).toFixed(2);
    const share = percent(type.count, sampled);
    print(`${type.count} ${type.name}s with ${type.total} ${unitOf(type)} (${share} of keys, avg size ${average})\n`);
  }
}

/** A key that is gone, or of a type that is not known, has the size 0. */
const sizing = (key: Buffer, type: Kind | undefined, byMemory: boolean): (string | Buffer)[] =>
  type === undefined ? ["EXISTS", key] : byMemory ? ["MEMORY", "USAGE", key] : [type.command, key];

function sizeIn(reply: Reply): number {
  if (reply.type === "error" && textIn(reply).startsWith("WRONGTYPE")) return 0;
  return Number(textIn(checked(reply))) || 0;
}
