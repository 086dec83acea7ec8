/**
 * `cinnabar cli` beside redis-cli: the commands of every conformance transcript are piped through both, on the same kind of server,
 * and every byte of the two outputs must be equal, in the form for terminals, raw, as CSV and as JSON.
 *
 * Both send the same lines to a store that was emptied the same way. Answers that depend on chance or time are compared by their
 * shape; `LEFT_OUT` has what is not sent, and why.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Engine } from "@cinnabar/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { full } from "../../../scripts/full.ts";
import { installed, type ServerProcess, startRedis } from "../../../toolkit/tests/kit/servers.ts";
import { cinnabar } from "./kit.ts";

const TRANSCRIPTS = fileURLToPath(new URL("../../../engine/tests/conformance", import.meta.url));
const FILES = readdirSync(TRANSCRIPTS, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".redis"))
  .sort()
  // Every third, unless the run may take long.
  .filter((_, nth) => full || nth % 3 === 0);

/**
 * What is left out, and why. Everything else is compared: byte by byte, or by shape where the answer is a matter of time or chance.
 */
const LEFT_OUT: readonly (readonly [commands: RegExp, reason: string])[] = [
  [
    /^(monitor|[ps]?subscribe|[ps]?unsubscribe)\b/i,
    "it listens until the connection ends; cli-terminal.test.ts has it",
  ],
  [/^p?sync\b/i, "it makes the connection a replica's"],
  [/^(shutdown|quit|failover|replicaof|slaveof)\b/i, "it ends the server or the connection, or makes it a replica"],
  [/^(auth|reset|migrate)\b/i, "it depends on passwords or other servers, or begins the connection anew"],
  [
    /^client (kill|pause|unpause|reply|unblock|no-evict|no-touch|tracking|caching|setinfo)/i,
    "it ends or silences clients",
  ],
  [
    /^acl (setuser|deluser|load|save|log|genpass|dryrun)/i,
    "it changes what the next run finds, or is a password by chance",
  ],
  [/^(config (set|rewrite|resetstat)|swapdb|save|bgsave|bgrewriteaof)/i, "it changes what the next run finds"],
  [/^(info|latency|memory (stats|doctor|malloc-stats))\b/i, "statistics that have more lines after every run"],
  [/^debug/i, "it stops, fills or crashes the server"],
  [/^(lolwut|pfselftest)\b/i, "a picture by chance, and a test that takes seconds"],
  [/^(function kill|script (kill|debug))/i, "it needs a script that runs"],
  [/^(slowlog reset|latency reset)/i, "the entries that it counts are a matter of speed"],
  [
    /^(eval|evalsha|eval_ro|fcall|fcall_ro) .*(while true|repeat|big_number|for .*1e|os\.)/i,
    "it takes long, or fills memory",
  ],
];
/** Lives that may end while the script runs. */
const SHORT_LIFE = /^(p?expire|p?setex|getex|set|restore|hset)\b/i;

/** Times, figures of the process and numbers of connections: every number may differ. */
const NUMBERS =
  /^(info|time|client|slowlog|latency|memory|command|cluster|lastsave|role|hello|module|xinfo|xpending|xautoclaim|xclaim|object|ttl|pttl|expiretime|pexpiretime|function|acl|restore|xadd)\b/i;
/** Whom chance chooses. */
const CHANCE = /^(randomkey|srandmember|hrandfield|zrandmember|spop)\b/i;
/** Orders that differ from run to run. */
const ORDER = /^(keys|scan|[hsz]scan|hgetall|hkeys|hvals|smembers|sinter|sunion|sdiff|pubsub)\b/i;

type Shape = "exact" | "numbers" | "chance" | "order";

interface Line {
  readonly command: string;
  readonly shape: Shape;
}

function shapeOf(command: string, remark: string): Shape {
  if (CHANCE.test(command)) return "chance";
  if (/^(eval|fcall)/i.test(command) && /random/i.test(command)) return "chance";
  if (/\b(sorted|scan)\b/.test(remark) || ORDER.test(command)) return "order";
  if (NUMBERS.test(command) || /\b(any|type|approx|blur|error)\b/.test(remark)) return "numbers";
  return /^(eval|fcall)/i.test(command) && /time|CLIENT|INFO/i.test(command) ? "numbers" : "exact";
}

/** Blocking commands wait no longer than 10 ms: what is there is answered at once, and nobody else adds anything. */
function unblocked(command: string): string {
  const words = command.split(/(\s+)/);
  const put = (at: number, text: string): void => {
    if (/^\d+(\.\d+)?$/.test(words[at] ?? "")) words[at] = text;
  };
  if (/^(b[lr]pop|bzpopm(in|ax)|brpoplpush|blmove|wait)$/i.test(words[0]!)) {
    put(words.length - 1, /^wait$/i.test(words[0]!) ? "10" : "0.01");
  } else if (/^(blmpop|bzmpop)$/i.test(words[0]!)) put(2, "0.01");
  const block = words.findIndex((word) => /^block$/i.test(word));
  if (block !== -1) put(block + 2, "10");
  return words.join("");
}

/** Why a line is left out, or null. */
function reasonOf(command: string, isInTransaction: boolean, shape: Shape): string | null {
  const known = LEFT_OUT.find(([pattern]) => pattern.test(command));
  if (known !== undefined) return known[1];
  if (/^"?\d/.test(command)) return "redis-cli takes a number before a command for repetitions";
  if (isInTransaction && shape !== "exact") return "inside a transaction its answer is part of EXEC's";
  const lives = [...command.matchAll(/\s(\d{1,5})(?=\s|$)/g)].map(([, number]) => Number(number));
  const isTimed = /^(p?expire|p?setex|getex|restore)\b/i.test(command) || /\s(ex|px)\s/i.test(command);
  if (SHORT_LIFE.test(command) && isTimed && lives.some((life) => life > 0 && life < 60_000 && isShort(command, life)))
    return "the key may end while the script runs";
  return null;
}

const isShort = (command: string, life: number): boolean =>
  /^(pexpire|psetex|restore)\b/i.test(command) || /\spx\s/i.test(command) ? life < 60_000 : life < 60;

interface Sorted {
  readonly lines: readonly Line[];
  readonly left: readonly { readonly command: string; readonly reason: string }[];
}

/** The lines of a transcript's first client. */
function linesOf(file: string): Sorted {
  const lines: Line[] = [];
  const left: { command: string; reason: string }[] = [];
  let isInTransaction = false;
  for (const source of readFileSync(join(TRANSCRIPTS, file), "utf8").split("\n")) {
    const line = source.trim();
    if (line.startsWith("---")) {
      lines.push(...["DISCARD", "FLUSHALL", "UNWATCH"].map((command) => ({ command, shape: "exact" }) as const));
      isInTransaction = false;
    }
    const [, written = "", remark = ""] = /^(.*?)(?:\s{2,}#\s*(.*))?$/.exec(line) ?? [];
    // Other clients, and values that an answer before has given.
    if (written === "" || /^(#|@|!|---|\{)/.test(written) || /\{[\w:]+\}/.test(written)) continue;
    const command = unblocked(written);
    const shape = shapeOf(command, remark);
    const reason = reasonOf(command, isInTransaction, shape);
    if (reason === null) lines.push({ command, shape });
    else left.push({ command, reason });
    if (/^multi$/i.test(command)) isInTransaction = true;
    if (/^(exec|discard)$/i.test(command)) isInTransaction = false;
    // What chance took away is not there any more, whatever it was.
    if (shape === "chance" && /^spop/i.test(command) && reason === null) {
      lines.push({ command: `DEL ${command.split(/\s+/)[1] ?? "x"}`, shape: "numbers" });
    }
  }
  return { lines, left };
}

const MARK = "~~shape~~";

/** Around answers that are compared by their shape stand marks, which say how. */
const marked = ({ command, shape }: Line): string[] =>
  shape === "exact" ? [command] : [`ECHO ${MARK}${shape}`, command, `ECHO ${MARK}end`];

/** Numbers as 0, and ids of servers and nodes as one word. */
const withoutNumbers = (line: string): string =>
  line.replace(/\b[0-9a-f]{40}\b/g, "id").replace(/-?\d+(\.\d+)?(e[+-]?\d+)?/g, "0");

const SHAPES: Readonly<Record<string, (lines: readonly string[]) => readonly string[]>> = {
  numbers: (lines) => lines.map(withoutNumbers),
  chance: (lines) =>
    lines
      .map((line) => line.replace(/"(?:[^"\\]|\\.)*"/g, '"s"').replace(/^(?![\s([]|.*").*$/, "s"))
      .map(withoutNumbers),
  // In the order of the text, without the numbers before elements; JSON and CSV have all elements on one line.
  order: (lines) =>
    lines.map((line) => [...withoutNumbers(line.replace(/^\s*(\d+[)#~] ?)+/, ""))].sort().join("")).sort(),
};

/** Ids that the server makes of its time, and how long a command took. */
function comparable(out: string): string[] {
  const all = out
    .replace(/\b1[5-9]\d{11}-\d+/g, "id")
    .split("\n")
    .filter((line) => !/^\(\d+\.\d\ds\)$/.test(line));
  const seen: string[] = [];
  for (let at = 0; at < all.length; at++) {
    const [, shape] = /^"?~~shape~~(\w+)"?$/.exec(all[at]!) ?? [];
    if (shape === undefined || shape === "end") {
      seen.push(all[at]!);
      continue;
    }
    const end = all.findIndex((line, place) => place > at && line.includes(`${MARK}end`));
    seen.push(...SHAPES[shape]!(all.slice(at + 1, end)));
    at = end;
  }
  return seen;
}

/** A transaction that was left open would swallow what follows. */
const scriptOf = (file: string): string =>
  `FLUSHALL\nDISCARD\nSCRIPT FLUSH\nFUNCTION FLUSH\n${linesOf(file).lines.flatMap(marked).join("\n")}\nDISCARD\nPING done\n`;

async function redisCli(port: number, args: readonly string[], input: string): Promise<string> {
  const child = spawn("redis-cli", ["-p", String(port), ...args]);
  let out = "";
  child.stdout.setEncoding("latin1").on("data", (text) => {
    out += text;
  });
  child.stdin.end(input);
  await once(child, "close");
  return out;
}

const FORMS: readonly [string, readonly string[]][] = [
  ["for a terminal", ["--no-raw"]],
  ["raw", ["--raw"]],
  ["as JSON", ["--json"]],
  ["as CSV", ["--csv"]],
  ["for a terminal, in RESP3", ["--no-raw", "-3"]],
];

describe.runIf(installed("redis-server") && installed("redis-cli"))("cinnabar cli prints what redis-cli prints", () => {
  let redis: ServerProcess;
  let engine: Engine;
  let ourPort: number;

  beforeAll(async () => {
    redis = await startRedis({ args: ["--enable-debug-command", "yes"] });
    engine = await Engine.open();
    ourPort = (await engine.listen({ port: 0 })).port;
  });
  afterAll(async () => {
    await redis.stop();
    await engine.close();
  });

  test.each(FILES)("%s", async (file) => {
    const input = scriptOf(file);
    const forms = basename(dirname(file)) === "string" ? FORMS : FORMS.slice(0, 3);
    for (const [form, args] of forms) {
      const theirs = await redisCli(redis.port, args, input);
      const ours = await cinnabar(["cli", "-p", String(redis.port), ...args], { stdin: input });
      expect(comparable(ours.out), `${form}, on redis-server`).toEqual(comparable(theirs));
      expect(theirs).toContain("done");
      expect(ours.err).toBe("");
    }
    const onOurs = await redisCli(ourPort, ["--no-raw"], input);
    const both = await cinnabar(["cli", "-p", String(ourPort), "--no-raw"], { stdin: input });
    expect(comparable(both.out), "on our server").toEqual(comparable(onOurs));
  });

  test.runIf(full)("and that were nearly all commands", () => {
    const files = FILES.map(linesOf);
    const [compared, left] = [files.flatMap(({ lines }) => lines), files.flatMap(({ left }) => left)];
    const count = (shape: Shape): number => compared.filter((line) => line.shape === shape).length;
    const shapes = (["exact", "numbers", "chance", "order"] as const).map((shape) => `${count(shape)} ${shape}`);
    const reasons = new Map<string, number>();
    for (const { reason } of left) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    console.log(
      [`compared: ${shapes.join(", ")}`, ...[...reasons].map(([why, many]) => `left out: ${many}, ${why}`)].join("\n"),
    );
    expect(compared.length).toBeGreaterThan(5_000);
    expect(left.length / (compared.length + left.length)).toBeLessThan(0.1);
  });
});
