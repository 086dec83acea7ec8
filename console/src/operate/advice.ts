/** What the figures of a scan suggest, each with the command that would do it. */
import type { Sum } from "./survey-sums.ts";

export interface Advice {
  readonly level: "warning" | "hint";
  readonly title: string;
  readonly text: string;
  readonly command: string | null;
}

interface Figures {
  readonly matched: number;
  readonly bytes: number;
  readonly lasting: Sum;
  readonly policy: string | null;
  readonly types: readonly ({ readonly name: string } & Sum)[];
  readonly encodings: readonly ({ readonly name: string } & Sum)[];
  readonly prefixes: readonly ({ readonly name: string; readonly lasting: Sum } & Sum)[];
  readonly biggest: readonly {
    readonly key: unknown;
    readonly type: string;
    readonly bytes: number | null;
    readonly encoding: string | null;
  }[];
}

const MEGABYTE = 1_048_576;
const BIG = { string: MEGABYTE, other: 10 * MEGABYTE } as const;
const MOST_NAMED = 3;
/** Of the keys of a prefix: where more of them stay, that is meant. */
const MOST_FORGOTTEN = 0.2;
const MANY = 1_000;

export const size = (bytes: number): string => {
  if (bytes >= MEGABYTE) return `${(bytes / MEGABYTE).toFixed(1)} MB`;
  return bytes >= 1_024 ? `${(bytes / 1_024).toFixed(1)} KB` : `${bytes} B`;
};
const percent = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((100 * part) / whole));
const quoted = (key: unknown): string =>
  typeof key === "string" ? JSON.stringify(key) : "the key with bytes in its name";
/** A command for every key of a prefix, as a shell runs it. */
const forEachKey = (prefix: string, command: string): string =>
  `redis-cli --scan --pattern '${prefix.replaceAll("'", "'\\''")}*' | xargs -d '\\n' -n 1 ${command}`;

function bigKeys({ biggest }: Figures): Advice[] {
  const large = biggest.filter(({ type, bytes }) => (bytes ?? 0) >= (type === "string" ? BIG.string : BIG.other));
  return large.slice(0, MOST_NAMED).map(({ key, type, bytes }) => ({
    level: "warning",
    title: `${quoted(key)} takes ${size(bytes ?? 0)}`,
    text:
      type === "string"
        ? "Every read and write moves all of it. Compress it, or split it into parts that are read on their own; UNLINK frees it without a pause."
        : "Commands over the whole of it keep other clients waiting. Split it by a hash of the member, and delete it with UNLINK.",
    command: typeof key === "string" ? `UNLINK ${quoted(key)}` : null,
  }));
}

function noExpiry({ matched, bytes, lasting, policy, prefixes }: Figures): Advice[] {
  const advice: Advice[] = [];
  if (policy?.startsWith("volatile-") && percent(lasting.bytes, bytes) >= 50) {
    advice.push({
      level: "warning",
      title: `Eviction can reach only ${100 - percent(lasting.bytes, bytes)} % of the memory`,
      text: `maxmemory-policy is ${policy}, which evicts only keys that expire. ${lasting.count} of ${matched} keys do not.`,
      command: `CONFIG SET maxmemory-policy ${policy.replace("volatile-", "allkeys-").replace("-ttl", "-lru")}`,
    });
  }
  // Where some keys of a prefix expire and some do not, a write has probably dropped the time to live.
  for (const { name, count, lasting: kept } of prefixes) {
    if (count < 10 || kept.count === 0 || kept.count > count * MOST_FORGOTTEN) continue;
    advice.push({
      level: "warning",
      title: `${kept.count} of ${count} keys of ${name}* do not expire`,
      text: "The others do. SET without KEEPTTL drops the time to live; so does a key that is made anew. They stay for ever.",
      command: forEachKey(name, "sh -c 'redis-cli EXPIRE \"$0\" 86400 NX'"),
    });
    if (advice.length >= MOST_NAMED) break;
  }
  const large = prefixes.find(({ count, lasting: kept }) => count >= MANY && kept.count === count);
  if (large !== undefined && percent(large.bytes, bytes) >= 25) {
    advice.push({
      level: "hint",
      title: `${large.name}* takes ${percent(large.bytes, bytes)} % of the memory and never expires`,
      text: `${large.count} keys, ${size(large.bytes)}. If they can be made again, give them a time to live.`,
      command: forEachKey(large.name, "sh -c 'redis-cli EXPIRE \"$0\" 86400 NX'"),
    });
  }
  return advice;
}

/** Collections that just outgrew the compact form take several times the memory of those that did not. */
const LIMITS: Readonly<Record<string, string>> = {
  "hash · hashtable": "hash-max-listpack-entries",
  "set · hashtable": "set-max-listpack-entries",
  "zset · skiplist": "zset-max-listpack-entries",
};

function encodings({ encodings: all }: Figures): Advice[] {
  return all.flatMap(({ name, count, bytes }): Advice[] => {
    const limit = LIMITS[name];
    const mean = bytes / count;
    if (limit === undefined || count < MANY || mean > 16_384) return [];
    return [
      {
        level: "hint",
        title: `${count} small collections are not in the compact form (${name})`,
        text: `They take ${size(mean)} on average. A higher ${limit} keeps such collections in one block; reads of one element get a little slower. Keys change their form when they are written anew.`,
        command: `CONFIG SET ${limit} 512`,
      },
    ];
  });
}

function tinyStrings({ types, prefixes }: Figures): Advice[] {
  const strings = types.find(({ name }) => name === "string");
  if (strings === undefined || strings.count < 10_000 || strings.bytes / strings.count > 120) return [];
  const most = prefixes[0];
  return [
    {
      level: "hint",
      title: `${strings.count} strings take ${size(strings.bytes / strings.count)} on average, most of it for the key itself`,
      text: `Small values that belong together${most ? `, such as those of ${most.name}*,` : ""} take a fraction of it as fields of hashes.`,
      command: most ? `HSET ${most.name}0 field value` : null,
    },
  ];
}

const CHECKS: readonly ((figures: Figures) => Advice[])[] = [bigKeys, noExpiry, encodings, tinyStrings];

export const adviceFor = (figures: Figures): Advice[] => CHECKS.flatMap((check) => check(figures));
