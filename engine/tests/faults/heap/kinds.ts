/** What a store is filled with: one command for each number, and how to find it again. */
export interface Kind {
  readonly name: string;
  /** What one command carries, about. */
  readonly bytes: number;
  write(number: number): string[];
  /** A command with one line as its answer, and whether that says that it is there. */
  check(number: number): string[];
  found(reply: string, number: number): boolean;
  remove(number: number): string[];
  /** Nearly all of it is outside the heap: what bounds it is the memory of the machine, or of a container. */
  readonly outside?: boolean;
  /** So many in a row are in one key, and go together. */
  readonly together?: number;
}

const filler = (length: number) => {
  let text = "";
  for (let i = 0; text.length < length; i++) text += (i * 2654435761).toString(36);
  return text.slice(0, length);
};
const KB = filler(1000);
const HALF_MB = filler(500_000);

const string = (name: string, value: string): Kind => ({
  name,
  bytes: value.length,
  write: (number) => ["SET", `key:${number}`, value + number],
  check: (number) => ["STRLEN", `key:${number}`],
  found: (reply, number) => reply === `:${value.length + String(number).length}`,
  remove: (number) => ["DEL", `key:${number}`],
});

/** Elements of large collections come so many at a time. */
const MANY = 50;
const many = (words: (i: number) => string[]) => Array.from({ length: MANY }, (_, i) => words(i)).flat();

const WRITE_MANY = `
  for i = 1, 100 do redis.call("SET", KEYS[1] .. ":" .. i, ARGV[1] .. i) end
  return 100`;
const REMOVE_MANY = `
  for i = 1, 100 do redis.call("DEL", KEYS[1] .. ":" .. i) end
  return 100`;

export const kinds: readonly Kind[] = [
  string("SET 1 kB", KB),
  string("SET 1 byte", ""),
  {
    name: "small hashes",
    bytes: 60,
    write: (n) => ["HSET", `h:${n}`, "name", `bob${n}`, "age", "33", "city", `x${n}`, "f", "g", "q", `${n}`],
    check: (n) => ["HLEN", `h:${n}`],
    found: (reply) => reply === ":5",
    remove: (n) => ["DEL", `h:${n}`],
  },
  string("SET 500 kB", HALF_MB),
  {
    name: "a script of 100 SETs",
    bytes: 100_000,
    write: (n) => ["EVAL", WRITE_MANY, "1", `s:${n}`, KB],
    check: (n) => ["EXISTS", `s:${n}:1`, `s:${n}:50`, `s:${n}:100`],
    found: (reply) => reply === ":3",
    remove: (n) => ["EVAL", REMOVE_MANY, "1", `s:${n}`],
  },
  {
    name: "large sorted sets",
    bytes: MANY * 40,
    write: (n) => ["ZADD", `z:${n % 7}`, ...many((i) => [`${n + i / MANY}`, `member:${n}:${i}`])],
    check: (n) => ["ZRANK", `z:${n % 7}`, `member:${n}:${MANY - 1}`],
    found: (reply) => /^:\d+$/.test(reply),
    remove: (n) => ["ZREM", `z:${n % 7}`, ...many((i) => [`member:${n}:${i}`])],
  },
  {
    name: "large sets",
    bytes: MANY * 40,
    write: (n) => ["SADD", `set:${n % 7}`, ...many((i) => [`member:${n}:${i}`])],
    check: (n) => ["SISMEMBER", `set:${n % 7}`, `member:${n}:${MANY - 1}`],
    found: (reply) => reply === ":1",
    remove: (n) => ["SREM", `set:${n % 7}`, ...many((i) => [`member:${n}:${i}`])],
    outside: true,
  },
  {
    name: "large hashes",
    bytes: MANY * 250,
    write: (n) => ["HSET", `hash:${n % 7}`, ...many((i) => [`field:${n}:${i}`, `${KB.slice(0, 200)}${i}`])],
    check: (n) => ["HEXISTS", `hash:${n % 7}`, `field:${n}:${MANY - 1}`],
    found: (reply) => reply === ":1",
    remove: (n) => ["HDEL", `hash:${n % 7}`, ...many((i) => [`field:${n}:${i}`])],
  },
  {
    name: "lists",
    bytes: 200,
    write: (n) => ["RPUSH", `list:${n >> 4}`, `${KB.slice(0, 150)}:${n}`],
    check: (n) => ["LPOS", `list:${n >> 4}`, `${KB.slice(0, 150)}:${n}`],
    found: (reply) => /^:\d+$/.test(reply),
    remove: (n) => ["LREM", `list:${n >> 4}`, "1", `${KB.slice(0, 150)}:${n}`],
  },
  {
    name: "streams",
    bytes: 200,
    // A hundred entries are of one batch, so that their ids ascend.
    write: (n) => ["XADD", `stream:${Math.floor(n / 100)}`, "*", "f", `${KB.slice(0, 150)}:${n}`],
    check: (n) => ["EXISTS", `stream:${Math.floor(n / 100)}`],
    found: (reply) => reply === ":1",
    remove: (n) => ["DEL", `stream:${Math.floor(n / 100)}`],
    together: 100,
  },
];
