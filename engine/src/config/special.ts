/**
 * Directives whose value is more than a word or a number.
 */

import { formatNotifyFlags, parseNotifyFlags } from "../core/notify.ts";
import { parseFloat64, parseInt64 } from "../lib/numbers.ts";
import { statSync } from "../platform/files.ts";
import { resolve } from "../platform/paths.ts";
import { BadValue, type Directive, type DirectiveOptions, digits, parseMemory, shortMemory } from "./kinds.ts";

/** A snapshot is due after this many seconds with at least this many changes. */
export interface SavePoint {
  readonly seconds: number;
  readonly changes: number;
}

export function savePoints(initial: readonly SavePoint[]): Directive<readonly SavePoint[]> {
  const line = ({ seconds, changes }: SavePoint) => `${seconds} ${changes}`;
  return {
    initial,
    manyWords: true,
    parse(words) {
      if (words.length === 1 && words[0] === "") return [];
      if (words.length % 2 !== 0) throw new BadValue("Invalid save parameters");
      const points: SavePoint[] = [];
      for (let i = 0; i < words.length; i += 2) {
        const seconds = Number(parseInt64(words[i]!) ?? 0);
        const changes = Number(parseInt64(words[i + 1]!) ?? -1);
        if (seconds < 1 || changes < 0) throw new BadValue("Invalid save parameters");
        points.push({ seconds, changes });
      }
      return points;
    },
    format: (points) => points.map(line).join(" "),
    // Always said: a file that is silent means the default.
    lines: (points) => (points.length === 0 ? ['""'] : points.map(line)).map((text) => ({ text, needed: true })),
  };
}

/** A client whose unsent replies pass `hard`, or `soft` for this many seconds, is disconnected; 0 means never. */
export interface BufferLimit {
  readonly hard: number;
  readonly soft: number;
  readonly softSeconds: number;
}

export type ClientClass = "normal" | "replica" | "pubsub";
export type BufferLimits = Readonly<Record<ClientClass, BufferLimit>>;

const CLASSES: Readonly<Record<string, ClientClass>> = {
  normal: "normal",
  slave: "replica",
  replica: "replica",
  pubsub: "pubsub",
};

export function bufferLimits(initial: BufferLimits): Directive<BufferLimits> {
  const line = (name: string, { hard, soft, softSeconds }: BufferLimit) =>
    `${name} ${digits(hard)} ${digits(soft)} ${softSeconds}`;
  return {
    initial,
    manyWords: true,
    parse(given, current) {
      const words = given.length === 1 && given[0] === "" ? [] : given;
      if (words.length % 4 !== 0) throw new BadValue("Wrong number of arguments in buffer limit configuration.");
      const limits = { ...current };
      for (let i = 0; i < words.length; i += 4) {
        const clients = CLASSES[words[i]!.toLowerCase()];
        if (clients === undefined) {
          throw new BadValue("Invalid client class specified in buffer limit configuration.");
        }
        const hard = parseMemory(words[i + 1]!);
        const soft = parseMemory(words[i + 2]!);
        const softSeconds = Number(parseInt64(words[i + 3]!) ?? -1);
        if (hard === undefined || soft === undefined || softSeconds < 0) {
          throw new BadValue("Error in hard, soft or soft_seconds setting in buffer limit configuration.");
        }
        limits[clients] = { hard, soft, softSeconds };
      }
      return limits;
    },
    format: (limits) =>
      [line("normal", limits.normal), line("slave", limits.replica), line("pubsub", limits.pubsub)].join(" "),
    lines: (limits) =>
      (["normal", "replica", "pubsub"] as const).map((name) => {
        const { hard, soft, softSeconds } = limits[name];
        const text = `${name} ${shortMemory(hard)} ${shortMemory(soft)} ${softSeconds}`;
        return { text, needed: line(name, limits[name]) !== line(name, initial[name]) };
      }),
  };
}

/** notify-keyspace-events, as bits. */
export function events(): Directive<number> {
  return {
    initial: 0,
    manyWords: false,
    parse([letters]) {
      const flags = parseNotifyFlags(letters!);
      if (flags === undefined) throw new BadValue("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.");
      return flags;
    },
    format: formatNotifyFlags,
    lines: (flags) => [{ text: `"${formatNotifyFlags(flags)}"`, needed: flags !== 0 }],
  };
}

export function percentiles(initial: readonly number[]): Directive<readonly number[]> {
  return {
    initial,
    manyWords: true,
    parse(words) {
      if (words.length === 1 && words[0] === "") return [];
      return words.map((word) => {
        const value = parseFloat64(word);
        if (value === undefined) throw new BadValue("Invalid latency-tracking-info-percentiles parameters");
        if (value < 0 || value > 100) {
          throw new BadValue("latency-tracking-info-percentiles parameters should sit between [0.0,100.0]");
        }
        return value;
      });
    },
    format: (values) => values.map(shortPercent).join(" "),
    lines(values) {
      const text = values.map(shortPercent).join(" ");
      return [{ text: text === "" ? '""' : text, needed: text !== initial.map(shortPercent).join(" ") }];
    },
  };
}

/** A percentile with at most six places, as INFO latencystats shows it too. */
export const shortPercent = (value: number): string => String(Number(value.toFixed(6)));

export function oomScores(initial: readonly number[]): Directive<readonly number[]> {
  return {
    initial,
    manyWords: true,
    parse(words) {
      if (words.length !== 3) throw new BadValue("wrong number of arguments");
      const values = words.map((word) => Number(parseInt64(word) ?? Number.NaN));
      if (values.some((value) => !(value >= -2000 && value <= 2000))) {
        throw new BadValue("Invalid oom-score-adj-values, elements must be between -2000 and 2000.");
      }
      return values;
    },
    format: (values) => values.join(" "),
  };
}

/** A folder that exists, as an absolute path. */
export function directory(initial: string, options: DirectiveOptions): Directive<string> {
  return {
    ...options,
    initial,
    kind: "text",
    manyWords: false,
    parse([word], current) {
      const path = resolve(current, word!);
      const found = statSync(path, { throwIfNoEntry: false });
      if (found === undefined) throw new BadValue("No such file or directory");
      if (!found.isDirectory()) throw new BadValue("Not a directory");
      return path;
    },
    format: (path) => path,
  };
}

/** replicaof: a host and a port, or nothing. */
export function primaryAddress(options: DirectiveOptions): Directive<readonly string[]> {
  return {
    ...options,
    initial: [],
    manyWords: true,
    parse(words) {
      if (words.length === 1 && words[0] === "") return [];
      if (words.length !== 2) throw new BadValue("wrong number of arguments");
      const [host = "", port = ""] = words;
      if (host.toLowerCase() === "no" && port.toLowerCase() === "one") return [];
      if (!/^\d+$/.test(port) || Number(port) > 65535) throw new BadValue("Invalid master port");
      return [host, port];
    },
    format: (words) => words.join(" "),
  };
}

const SHUTDOWN_WORDS = ["default", "save", "nosave", "now", "force"] as const;
export type ShutdownWord = (typeof SHUTDOWN_WORDS)[number];

/** What a signal asks of a shutdown: words of SHUTDOWN; none of them is the default. */
export function shutdownWords(): Directive<readonly ShutdownWord[]> {
  return {
    initial: [],
    manyWords: true,
    parse(given) {
      const wanted = given.map((word) => word.toLowerCase());
      if (wanted.length === 0 || wanted.some((word) => !SHUTDOWN_WORDS.some((each) => each === word))) {
        throw new BadValue(`argument(s) must be one of the following: ${SHUTDOWN_WORDS.join(", ")}`);
      }
      if (wanted.includes("save") && wanted.includes("nosave")) {
        throw new BadValue("shutdown options SAVE and NOSAVE can't be used simultaneously");
      }
      return SHUTDOWN_WORDS.filter((word) => word !== "default" && wanted.includes(word));
    },
    format: (value) => (value.length === 0 ? "default" : value.join(" ")),
  };
}
