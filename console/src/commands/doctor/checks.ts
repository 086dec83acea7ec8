/** What `cinnabar doctor` looks at: each finding says what is wrong, for which component, and the command that mends it. */
import { type Link, ReplyFailure } from "../link/link.ts";
import { itemsIn, textIn } from "../link/reply.ts";
import { infoOf } from "../link/stores.ts";

export interface Finding {
  readonly level: "ok" | "warning" | "problem";
  readonly what: string;
  /** Components that it matters to. */
  readonly affects?: string;
  /** The command that mends it, or what else to do. */
  readonly fix?: string;
}

export interface Patient {
  readonly link: Link;
  readonly server: ReadonlyMap<string, string>;
}

type Check = (patient: Patient) => Promise<Finding[]>;

/** A setting, or null where it may not be read. */
async function setting({ link }: Patient, name: string): Promise<string | null> {
  const reply = await link.send(["CONFIG", "GET", name]);
  return reply.type === "error" ? null : textIn(itemsIn(reply)[1]);
}

const ok = (what: string): Finding => ({ level: "ok", what });
const EVERYTHING = "every component";
const KEPT =
  "locks, semaphores, queues, sessions, carts, configuration, ads budgets: what is evicted is lost without a word";

const version: Check = async ({ server }) => {
  const text = server.get("redis_version") ?? "0";
  const [major = 0, minor = 0] = text.split(".").map(Number);
  const name = server.has("valkey_version") ? `Valkey ${server.get("valkey_version")}` : `Redis ${text}`;
  if (major > 6 || (major === 6 && minor >= 2)) return [ok(`version: ${name}`)];
  return [
    {
      level: "problem",
      what: `version: ${name} is older than 6.2`,
      affects: EVERYTHING,
      fix: "install Redis 6.2 or later, or Valkey",
    },
  ];
};

const persistence: Check = async (patient) => {
  const info = await infoOf(patient.link, "persistence");
  const findings: Finding[] = [];
  if (info.get("rdb_last_bgsave_status") === "err") {
    findings.push({
      level: "problem",
      what: "persistence: the last snapshot failed, so that writes may be refused (MISCONF)",
      affects: EVERYTHING,
      fix: "look into the server's log and at the disk's free space, then BGSAVE",
    });
  }
  if (info.get("aof_last_write_status") === "err") {
    findings.push({
      level: "problem",
      what: "persistence: the append-only file cannot be written",
      affects: EVERYTHING,
      fix: "look into the server's log and at the disk's free space",
    });
  }
  if (info.get("aof_enabled") === "1") return [...findings, ok("persistence: append-only file")];
  const save = await setting(patient, "save");
  const affects = "queues, locks' fences, sessions, carts, market: what was acknowledged is lost when the server ends";
  const fix = "CONFIG SET appendonly yes";
  if (save === "") findings.push({ level: "problem", what: "persistence: nothing is kept on disk", affects, fix });
  else
    findings.push({
      level: "warning",
      what: `persistence: snapshots only${save === null ? "" : ` (${save})`}: minutes of writes are lost when the server is killed`,
      affects,
      fix,
    });
  return findings;
};

const eviction: Check = async (patient) => {
  const info = await infoOf(patient.link, "memory");
  const [limit, used] = [Number(info.get("maxmemory") ?? 0), Number(info.get("used_memory") ?? 0)];
  const policy = info.get("maxmemory_policy") ?? (await setting(patient, "maxmemory-policy")) ?? "";
  const findings: Finding[] = [];
  if (policy !== "noeviction") {
    const level = limit > 0 ? "problem" : "warning";
    findings.push({
      level,
      what: `eviction: maxmemory-policy is ${policy}`,
      affects: KEPT,
      fix: "CONFIG SET maxmemory-policy noeviction; give caches a server of their own",
    });
  } else findings.push(ok("eviction: noeviction"));
  if (limit > 0 && used > limit * 0.9) {
    findings.push({
      level: "problem",
      what: `memory: ${Math.round((100 * used) / limit)} % of maxmemory is used`,
      affects: EVERYTHING,
      fix: "CONFIG SET maxmemory with more; `cinnabar cli --memkeys` shows what is large",
    });
  }
  return findings;
};

const ROUNDS = 50;
const SLOW_MS = 10;

const latency: Check = async ({ link }) => {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now();
    await link.call("PING");
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  const [median, worst] = [times[ROUNDS / 2]!, times.at(-1)!];
  const what = `latency: PING ${median.toFixed(2)} ms (median), ${worst.toFixed(2)} ms (worst of ${ROUNDS})`;
  if (median <= SLOW_MS) return [ok(what)];
  return [
    {
      level: "warning",
      what,
      affects: "locks and semaphores under contention, rate limits",
      fix: "run the program nearer to the server; LATENCY DOCTOR and SLOWLOG GET show what the server is busy with",
    },
  ];
};

/** Commands by the components that need them; each is tried with ACL DRYRUN. */
const RIGHTS: readonly (readonly [affects: string, rights: string, command: readonly string[]])[] = [
  [EVERYTHING, "+evalsha +eval", ["EVALSHA", "0".repeat(40), "1", "cinnabar:doctor"]],
  [EVERYTHING, "+@read", ["GET", "cinnabar:doctor"]],
  [EVERYTHING, "+@write", ["SET", "cinnabar:doctor", "1"]],
  ["everything that waits: locks, queues, chats, topics", "+subscribe +publish &*", ["SUBSCRIBE", "cinnabar:doctor"]],
  ["queues and blocking queues", "+@blocking", ["BLPOP", "cinnabar:doctor", "1"]],
  ["topics, log files, chats", "+@stream", ["XADD", "cinnabar:doctor", "*", "f", "v"]],
  ["configuration, transactions", "+@transaction", ["WATCH", "cinnabar:doctor"]],
  ["reads from replicas, health, this command", "+info", ["INFO"]],
  ["client cache, cinnabar move", "+client", ["CLIENT", "TRACKING", "ON"]],
];

const rights: Check = async ({ link }) => {
  const who = await link.send(["ACL", "WHOAMI"]);
  if (who.type === "error") return [{ level: "warning", what: "rights: this server does not tell who this user is" }];
  const user = textIn(who);
  const findings: Finding[] = [];
  for (const [affects, needed, command] of RIGHTS) {
    const reply = await link.send(["ACL", "DRYRUN", user, ...command]);
    const text = textIn(reply);
    if (text === "OK") continue;
    // Older servers have no DRYRUN, and users without rights may not use it.
    if (reply.type === "error")
      return [
        {
          level: "warning",
          what: `rights: those of '${user}' cannot be looked at: ${text}`,
          fix: `ACL GETUSER ${user}`,
        },
      ];
    findings.push({ level: "problem", what: `rights: ${text}`, affects, fix: `ACL SETUSER ${user} ${needed}` });
  }
  return findings.length === 0 ? [ok(`rights: '${user}' may do everything that components need`)] : findings;
};

const role: Check = async ({ link }) => {
  const info = await infoOf(link, "replication");
  const findings: Finding[] = [];
  if (info.get("role") === "slave") {
    findings.push({
      level: "problem",
      what: `role: a replica of ${info.get("master_host")}:${info.get("master_port")}, which takes no writes`,
      affects: EVERYTHING,
      fix: "use the primary's URL, or redis+sentinel:// or redis+cluster://",
    });
  }
  const wanted = Number(textIn(itemsIn(await link.send(["CONFIG", "GET", "min-replicas-to-write"]))[1]) || 0);
  if (wanted >= 1_000_000_000) {
    findings.push({
      level: "problem",
      what: "role: fenced by `cinnabar move`: it refuses writes",
      affects: EVERYTHING,
      fix: "use the new store, or cinnabar move --roll-back FROM TO",
    });
  }
  return findings.length === 0 ? [ok("role: primary")] : findings;
};

const CHECKS: readonly Check[] = [version, role, persistence, eviction, latency, rights];

export async function examine(link: Link): Promise<Finding[]> {
  const server = await infoOf(link, "server").catch((error: unknown) => {
    if (error instanceof ReplyFailure) return new Map<string, string>();
    throw error;
  });
  const findings: Finding[] = [ok(`reachable: ${link.label}`)];
  for (const check of CHECKS) {
    try {
      findings.push(...(await check({ link, server })));
    } catch (error) {
      if (!(error instanceof ReplyFailure)) throw error;
      findings.push({
        level: "warning",
        what: `cannot be looked at: ${error.message}`,
        fix: "use a user with +info +config|get +acl",
      });
    }
  }
  return findings;
}
