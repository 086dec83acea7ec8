/**
 * Seeded scenes (stage.ts) about how effects are framed: transactions, scripts, functions, clients that wait, keys that
 * expire under all kinds of commands, several databases. Nothing in them is left to chance or to the clock: a key that
 * expires has certainly done so before anything looks at it.
 */
import type { Prng } from "../conformance/prng.ts";

const KEYS = ["a", "b", "c"];

export class RandomScenes {
  readonly #rng: Prng;
  #clients = 1;

  constructor(rng: Prng) {
    this.#rng = rng;
  }

  next(): string {
    const lines: string[] = [];
    const count = this.#rng.between(4, 12);
    for (let i = 0; i < count; i++) lines.push(...this.#part());
    return lines.join("|");
  }

  #part(): string[] {
    const kind = this.#rng.below(10);
    if (kind < 3) return [`1: ${this.#command()}`];
    if (kind < 6) return this.#transaction();
    if (kind < 8) return this.#expiry();
    return this.#waiting();
  }

  #transaction(): string[] {
    const lines = Array.from({ length: this.#rng.between(0, 4) }, () => `1: ${this.#command()}`);
    if (this.#rng.chance(0.3))
      lines.push(`1: PSETEX ${this.#key()} 1 x`, "1: DEBUG SLEEP 0.004", `1: ${this.#command()}`);
    const watched = this.#rng.chance(0.3) ? [`1: WATCH ${this.#key()}`] : [];
    if (watched.length > 0 && this.#rng.chance(0.5)) watched.push(`2: ${this.#command()}`);
    return [...watched, "1: MULTI", ...lines, this.#rng.chance(0.1) ? "1: DISCARD" : "1: EXEC"];
  }

  /** A key whose time has come, and commands that come across it. */
  #expiry(): string[] {
    const made = this.#rng.pick([
      [`1: PSETEX ${this.#key()} 1 x`],
      // Not 1: a Redis that takes a millisecond for the command deletes the key instead.
      [`1: DEL s`, "1: RPUSH s 1 2", "1: PEXPIRE s 10"],
      [`1: PSETEX a 1 x`, "1: PSETEX b 1 x"],
    ]);
    return [
      ...made,
      "1: DEBUG SLEEP 0.02",
      ...(this.#rng.chance(0.5) ? [`1: ${this.#command()}`] : this.#transaction()),
    ];
  }

  /** Clients that wait for a key, and what ends their wait. */
  #waiting(): string[] {
    const waits = this.#rng.pick([
      "BLPOP q 0",
      "BLMOVE q r LEFT RIGHT 0",
      "BLMPOP 0 1 q LEFT COUNT 2",
      "BRPOPLPUSH q r 0",
    ]);
    // Clients that wait stand in database 0.
    const lines = ["1: SELECT 0", "1: DEL q"];
    for (let i = this.#rng.between(1, 3); i > 0; i--) lines.push(`${++this.#clients + 10}> ${waits}`);
    const push = this.#rng.pick(["RPUSH q 1 2 3", "RPUSH q 1", "LPUSH q 1 2"]);
    return this.#rng.chance(0.5)
      ? [...lines, `1: ${push}`, "1: RPUSH q 8 9"]
      : [...lines, "1: MULTI", `1: ${push}`, `1: ${this.#command()}`, "1: EXEC", "1: RPUSH q 8 9"];
  }

  #command(): string {
    const key = this.#key();
    const other = this.#key();
    return this.#rng.pick([
      `SET ${key} ${this.#rng.below(5)}`,
      `GET ${key}`,
      `DEL ${key} ${other}`,
      `INCR ${key}`,
      `INCRBYFLOAT ${key} 0.5`,
      `EXISTS ${key} ${other} s`,
      `RENAME ${key} ${other}`,
      `COPY ${key} ${other} REPLACE`,
      `EXPIRE ${key} 1000`,
      `EXPIRE ${key} -1`,
      `GETEX ${key} EX 1000`,
      `GETDEL ${key}`,
      `SET ${key} v EX 1000 GET`,
      "RPUSH s 1",
      "LPOP s",
      "SCAN 0 COUNT 1000",
      `SELECT ${this.#rng.below(3)}`,
      "SWAPDB 0 1",
      "FLUSHDB",
      `MOVE ${key} 2`,
      `PUBLISH channel ${key}`,
      `EVAL redis.call('incr',KEYS[1]);return(redis.call('del',KEYS[2])) 2 ${key} ${other}`,
      `EVAL return(redis.call('get',KEYS[1])) 1 ${key}`,
      `EVAL redis.call('select',2);redis.call('set',KEYS[1],'v') 1 ${key}`,
      `XADD x ${this.#rng.below(9)}-${this.#rng.below(9)} f v`,
      "XGROUP CREATE x g 0 MKSTREAM",
      "XREADGROUP GROUP g c COUNT 1 STREAMS x >",
      "XTRIM x MAXLEN 1",
      "SINTERSTORE t nowhere",
      `LMPOP 2 s ${key} LEFT COUNT 3`,
      "ZADD z 1 a 2 b",
      "ZPOPMIN z 5",
      "GEOADD z NX 1 1 c",
      `PFADD p ${key}`,
      "PFCOUNT p",
      "SORT s STORE t",
      "TOUCH a b c s",
      `OBJECT ENCODING ${key}`,
    ]);
  }

  #key(): string {
    return this.#rng.pick(KEYS);
  }
}
