/**
 * The data of a real server and of ours, compared key by key with DUMP.
 *
 * Two servers that have loaded the same file dump nearly every key as the same bytes: strings with what LZF makes of them,
 * packed and integer collections, sorted sets of either encoding, streams with groups, consumers and pending entries, and
 * lists as far as their nodes are cut where elements alone decide it. Two kinds of values have no determined bytes:
 *
 * - sets and hashes in hash tables: DUMP follows the order of the table, which hangs on a random seed in Redis, and on
 *   another function here. Two Redis servers do not dump them alike either.
 * - lists that grew at both ends, or were cut or edited inside: where their nodes begin and end tells of their history.
 *   Redis keeps the nodes of a file that it loads; here a list is laid out anew.
 *
 * Those (and only those whose names say so, `loose:` in data.ts) are compared by what the payloads mean: ours is restored
 * there and theirs here, and all four values must have one digest and one encoding. Of a log of commands (an increment of
 * an append-only file) also what hangs on the clock of the load is not the same bytes (`timed:`): when a consumer was last
 * seen is not written there.
 */
import type { Wire } from "../wire.ts";

export interface KeyReport {
  readonly keys: number;
  /** Keys whose payloads are the same bytes. */
  readonly sameBytes: number;
  /** `type encoding` of everything that was compared. */
  readonly kinds: ReadonlySet<string>;
}

const SCRATCH = "scratch of the comparison";
const hex = (word: string) => Buffer.from(word, "latin1").toString("hex").slice(0, 400);

async function all(wire: Wire, commands: readonly (readonly string[])[]): Promise<string[]> {
  const texts: string[] = [];
  for (let i = 0; i < commands.length; i += 200) {
    for (const [j, answer] of (await wire.pipeline(commands.slice(i, i + 200))).entries()) {
      if (answer.tag === "-") throw new Error(`${commands[i + j]!.join(" ").slice(0, 100)}: ${answer.text}`);
      texts.push(answer.text);
    }
  }
  return texts;
}

/** What a payload means to a server: its digest and encoding. */
async function meaning(wire: Wire, payload: string): Promise<string> {
  await all(wire, [["RESTORE", SCRATCH, "0", payload, "REPLACE"]]);
  const [encoding] = await all(wire, [["OBJECT", "ENCODING", SCRATCH]]);
  const digest = (await wire.call("DEBUG", "DIGEST-VALUE", SCRATCH)).items[0]!.text;
  await all(wire, [["DEL", SCRATCH]]);
  return `${encoding} ${digest}`;
}

/** Compares one database; throws at the first key that differs. `mayDiffer`: keys whose bytes are not determined. */
async function compareDb(real: Wire, ours: Wire, db: number, mayDiffer: RegExp, kinds: Set<string>) {
  const names: string[][] = [];
  for (const wire of [real, ours]) {
    await all(wire, [["SELECT", String(db)]]);
    names.push((await wire.call("KEYS", "*")).items.map((item) => item.text).sort());
  }
  const [keys, own] = names as [string[], string[]];
  if (keys.join("\n") !== own.join("\n"))
    throw new Error(`database ${db}: there ${keys.length} keys, here ${own.length}`);
  const ask = (...words: string[]) => keys.map((key) => [...words, key]);
  for (const question of [["TYPE"], ["OBJECT", "ENCODING"], ["PEXPIRETIME"]]) {
    const [theirs, mine] = [await all(real, ask(...question)), await all(ours, ask(...question))];
    const at = theirs.findIndex((text, i) => text !== mine[i]);
    if (at >= 0) throw new Error(`${question.join(" ")} ${keys[at]}: there ${theirs[at]}, here ${mine[at]}`);
    if (question[0] === "TYPE") for (const [i, type] of theirs.entries()) names.push([keys[i]!, type]);
    if (question[0] === "OBJECT") for (const [i, word] of theirs.entries()) kinds.add(`${names[i + 2]![1]} ${word}`);
  }
  const [theirs, mine] = [await all(real, ask("DUMP")), await all(ours, ask("DUMP"))];
  let same = 0;
  for (const [i, key] of keys.entries()) {
    const [a, b] = [theirs[i]!, mine[i]!];
    if (a === b) {
      same++;
      continue;
    }
    if (!mayDiffer.test(key)) throw new Error(`DUMP ${key}:\nthere ${hex(a)}\nhere  ${hex(b)}`);
    const means = new Set([
      await meaning(real, a),
      await meaning(real, b),
      await meaning(ours, a),
      await meaning(ours, b),
    ]);
    if (means.size !== 1) throw new Error(`${key} means different things: ${[...means].join(", ")}`);
  }
  return { keys: keys.length, same };
}

export async function compareKeyByKey(real: Wire, ours: Wire, mayDiffer: RegExp): Promise<KeyReport> {
  const kinds = new Set<string>();
  let keys = 0;
  let sameBytes = 0;
  for (let db = 0; db < 16; db++) {
    const found = await compareDb(real, ours, db, mayDiffer, kinds);
    keys += found.keys;
    sameBytes += found.same;
  }
  for (const wire of [real, ours]) await all(wire, [["SELECT", "0"]]);
  return { keys, sameBytes, kinds };
}
