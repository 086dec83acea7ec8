/**
 * `cinnabar cli` beside redis-cli: the commands of every conformance transcript are piped through both, on the same kind of server,
 * and every byte of the two outputs must be equal, in the form for terminals, raw, as CSV and as JSON.
 *
 * Both send the same lines to a store that was emptied the same way. Two things are left out: commands that do not answer at once
 * (they would hold the pipe) and answers that depend on chance or time, as the transcripts' own remarks say.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Engine } from "@cinnabar/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installed, type ServerProcess, startRedis } from "../../../toolkit/tests/kit/servers.ts";
import { cinnabar } from "./kit.ts";

const TRANSCRIPTS = fileURLToPath(new URL("../../../engine/tests/conformance", import.meta.url));
const FILES = readdirSync(TRANSCRIPTS, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".redis"))
  .sort();

/** Wait, listen, stop the server, silence the connection or end it; or change what the next run finds. */
const HELD =
  /^(b[lrz]\w*(pop\w*|move)|blmpop|bzmpop|wait|waitaof|monitor|[ps]?subscribe|[ps]?unsubscribe|p?sync|shutdown|quit|auth|acl|migrate|failover|replicaof|slaveof|reset|debug|config|swapdb|save|bgsave|bgrewriteaof|lolwut|pfselftest)$/i;
/** Their answers are times, figures of the process, numbers of connections, or orders that differ from server to server. */
const VARYING =
  /^(info|time|client|slowlog|latency|memory|command|cluster|lastsave|randomkey|role|hello|module|srandmember|hrandfield|zrandmember|spop|scan|[hsz]scan|xinfo|xpending|object|ttl|pttl|expiretime|pexpiretime|xautoclaim|function|touch|dump|publish|spublish|pubsub|keys|script|p?expire|p?expireat|psetex|setex|getex)$/i;

/** The lines of a transcript's first client that answer at once, and the same for everybody. */
function linesOf(file: string): string[] {
  const lines: string[] = [];
  for (const source of readFileSync(join(TRANSCRIPTS, file), "utf8").split("\n")) {
    const line = source.trim();
    if (line.startsWith("---")) lines.push("FLUSHALL", "UNWATCH");
    const [, command = "", remark = ""] = /^(.*?)(?:\s{2,}#\s*(.*))?$/.exec(line) ?? [];
    if (command === "" || /^(#|@|!|---|\{)/.test(command) || /\{[\w:]+\}/.test(command)) continue;
    const [name = "", ...words] = command.split(/\s+/);
    const varies = /\b(any|type|sorted|approx|blur|scan|blocks|error)\b/.test(remark);
    const isBlocked = HELD.test(name) || VARYING.test(name) || varies;
    if (isBlocked || words.some((word) => /^(block|asking|px|ex|pxat|exat)$/i.test(word)) || /^"?\d/.test(name))
      continue;
    if (
      /^(eval|evalsha|eval_ro|fcall|fcall_ro)$/i.test(name) &&
      /while true|random|time|repeat|big_number|os\.|for .*1e|CLIENT|INFO/i.test(command)
    )
      continue;
    lines.push(command);
  }
  return lines;
}

/** Ids that the server makes of its time, and how long a command took. */
const comparable = (out: string): string[] =>
  out
    .replace(/\b1[5-9]\d{11}-\d+/g, "id")
    .split("\n")
    .filter((line) => !/^\(\d+\.\d\ds\)$/.test(line));

/** A transaction that was left open would swallow what follows. */
const scriptOf = (file: string): string =>
  `FLUSHALL\nDISCARD\nSCRIPT FLUSH\n${linesOf(file).join("\n")}\nDISCARD\nPING done\n`;

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

  test("and that were thousands of commands", () => {
    expect(FILES.flatMap(linesOf).length).toBeGreaterThan(3_000);
  });
});
