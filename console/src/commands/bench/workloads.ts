/** What a benchmark sends: workloads by name, a script, or a command line of the user's, which is checked before it is sent. */
import { UsageError } from "../../options.ts";
import { CommandFailure } from "../command.ts";
import { checked, type Link, ReplyFailure } from "../link/link.ts";
import { itemsIn, textIn } from "../link/reply.ts";
import { isOwnKey, type Request, type Surroundings, Template } from "./template.ts";

type Line = readonly [words: readonly string[], keysAt: readonly number[]];

interface Row {
  /** Command lines with the places of their keys. */
  readonly lines: readonly [Line, Line?];
  /** Keys with values are there before it begins. */
  readonly isFilled?: boolean;
  /** Each line in turn, all with one key; otherwise `mixed` decides. */
  readonly inTurn?: boolean;
}

const ONE = [1];

const ROWS: Readonly<Record<string, Row>> = {
  ping: { lines: [[["PING"], []]] },
  set: { lines: [[["SET", "__key__", "__data__"], ONE]] },
  get: { lines: [[["GET", "__key__"], ONE]], isFilled: true },
  incr: { lines: [[["INCR", "__key__:counter"], ONE]] },
  list: {
    lines: [
      [["LPUSH", "__key__:list", "__data__"], ONE],
      [["RPOP", "__key__:list"], ONE],
    ],
    inTurn: true,
  },
  hset: { lines: [[["HSET", "__key__:hash", "field:__rand:100__", "__data__"], ONE]] },
  zadd: { lines: [[["ZADD", "__key__:zset", "__rand__", "member:__rand:100__"], ONE]] },
  mixed: {
    lines: [
      [["GET", "__key__"], ONE],
      [["SET", "__key__", "__data__"], ONE],
    ],
    isFilled: true,
  },
};

export const COMMAND_WORKLOADS = [...Object.keys(ROWS), "script"];

/** As little as a script that people run does: two commands on one key. */
const SCRIPT = `
  local count = redis.call("INCR", KEYS[1])
  if count == 1 then redis.call("PEXPIRE", KEYS[1], 600000) end
  return count
`;

export interface Asked {
  readonly workload: string;
  /** Percent of a mixed workload. */
  readonly reads: number;
  /** Lua of the workload `script`; undefined: one of ours. */
  readonly lua: string | undefined;
  /** The user's own command line; empty for none. */
  readonly words: readonly string[];
  /** Whether it may write keys that are not the benchmark's own. */
  readonly allowsAnyKey: boolean;
}

export interface Workload {
  readonly title: string;
  /** Every key has a value before it begins. */
  readonly isFilled: boolean;
  next(): Request;
}

/** Makes it for one store, whose link answers questions about commands. */
export async function workloadFor(asked: Asked, link: Link, around: Surroundings): Promise<Workload> {
  if (asked.words.length > 0) return ownCommand(asked, link, around);
  if (asked.workload === "script") return script(asked, link, around);
  const row = ROWS[asked.workload];
  if (row === undefined) throw new UsageError(`there is no workload '${asked.workload}'`);
  const [line, further] = row.lines;
  const first = new Template(...line, around);
  const second = further === undefined ? undefined : new Template(...further, around);
  const title = row.lines.map((each) => each?.[0][0]).join(row.inTurn === true ? " and " : "/");
  const isFilled = row.isFilled === true;
  if (second === undefined) return { title, isFilled, next: () => first.next() };
  if (row.inTurn === true) {
    let turn = false;
    const next = (): Request => {
      turn = !turn;
      return turn ? first.next() : second.next(true);
    };
    return { title, isFilled, next };
  }
  const next = (): Request => (around.chance.below(100) < asked.reads ? first : second).next();
  return { title: `${asked.reads} % GET, ${100 - asked.reads} % SET`, isFilled, next };
}

async function script({ lua = SCRIPT }: Asked, link: Link, around: Surroundings): Promise<Workload> {
  const [destroys] = DESTROYS.exec(lua) ?? [];
  if (destroys !== undefined) throw new UsageError(`bench runs no script with ${destroys.toUpperCase()} in it`);
  const loaded = await link.send(["SCRIPT", "LOAD", lua]);
  if (loaded.type === "error") {
    throw new CommandFailure(
      `the script cannot be used: ${textIn(loaded)}`,
      "KEYS[1] is its key and ARGV[1] its value",
    );
  }
  const words = ["EVALSHA", textIn(loaded), "1", "__key__:script", "__data__"];
  const template = new Template(words, [3], around);
  return { title: "EVALSHA", isFilled: false, next: () => template.next() };
}

/** What a benchmark must not send: it deletes everything, changes the connection, or answers more or less than once. */
const REFUSED =
  /^(flushall|flushdb|swapdb|shutdown|debug|monitor|p?sync|quit|reset|hello|auth|select|client|multi|exec|discard|watch|[ps]?(un)?subscribe|replicaof|slaveof|failover|migrate|config|acl|module|cluster|function|script|restore-asking|replconf|readonly|readwrite|asking|eval|eval_ro|evalsha|evalsha_ro|fcall|fcall_ro)$/i;
/** In a script. */
const DESTROYS = /\b(flushall|flushdb|swapdb|shutdown)\b/i;

async function ownCommand({ words, allowsAnyKey }: Asked, link: Link, around: Surroundings): Promise<Workload> {
  const name = words[0]!;
  if (REFUSED.test(name)) {
    throw new UsageError(
      `bench does not send ${name.toUpperCase()}: it measures, and deletes nothing but its own keys`,
    );
  }
  const keysAt = await keyPlaces(words, link);
  const isWrite = (await flagsOf(words, link)).includes("write");
  const foreign = keysAt.find((at) => !isOwnKey(words[at]!));
  if (isWrite && foreign !== undefined && !allowsAnyKey) {
    throw new UsageError(
      `${name.toUpperCase()} may change the key '${words[foreign]}', which is not the benchmark's own: write __key__, or give --any-key`,
    );
  }
  const template = new Template(words, keysAt, around);
  return { title: words.join(" ").slice(0, 60), isFilled: false, next: () => template.next() };
}

/** Of the command, and of its subcommand where it has some. */
async function flagsOf([name = "", sub = ""]: readonly string[], link: Link): Promise<string[]> {
  const rows = itemsIn(checked(await link.send(["COMMAND", "INFO", name, `${name}|${sub}`])));
  if (itemsIn(rows[0]).length === 0) throw new UsageError(`${link.label} knows no command '${name}'`);
  const flags = rows.flatMap((row) => itemsIn(itemsIn(row)[2]).map(textIn));
  if (flags.includes("admin")) throw new UsageError(`bench does not send ${name.toUpperCase()}: it is for operators`);
  return flags;
}

/** Which words are keys, as the server says. Words that look alike are told apart by their places in a copy of the line. */
async function keyPlaces(words: readonly string[], link: Link): Promise<number[]> {
  // Placeholders for numbers must be numbers here; keys must be told apart.
  const sample = words.map((word, at) =>
    word.startsWith("__key__") ? `${word}#${at}` : word.replace(/__(rand|rand_int|seq|rand:\d+)__/g, "1"),
  );
  const reply = await link.send(["COMMAND", "GETKEYS", ...sample.map((word) => Buffer.from(word, "latin1"))]);
  if (reply.type === "error") {
    if (/no key arguments/i.test(textIn(reply))) return [];
    throw new ReplyFailure(`${words[0]}: ${textIn(reply)}`);
  }
  let from = 1;
  return itemsIn(reply).flatMap((key) => {
    const at = sample.indexOf("bytes" in key ? key.bytes.toString("latin1") : "", from);
    if (at === -1) return [];
    from = at + 1;
    return [at];
  });
}
