/**
 * A steady mixed load, the same for every server: keys that expire, counters, hashes, sorted sets, lists, scripts, streams
 * with a consumer group, publish/subscribe. Everything is bounded, so that after a minute a server holds as much as it ever
 * will.
 */
import { connect, type Socket } from "node:net";

const command = (...words: readonly (string | number)[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${String(word).length}\r\n${word}\r\n`).join("")}`;

const LIMIT_RATE = `
  local count = redis.call("INCR", KEYS[1])
  if count == 1 then redis.call("PEXPIRE", KEYS[1], 5000) end
  local sum = 0
  for i = 1, 100 do sum = sum + i * count end
  redis.call("HSET", KEYS[2], "sum", sum, "count", count)
  return count`;

const text = "x".repeat(2000);

/** Makes commands from a number between 0 and 1 and two that choose keys and sizes. */
const makers: readonly ((key: number, size: number) => string)[] = [
  (key, size) => command("SET", `session:${key % 100_000}`, text.slice(0, 50 + (size % 1000)), "EX", 5 + (size % 55)),
  (key, size) => command("SET", `session:${key % 100_000}`, text.slice(0, 50 + (size % 1000)), "EX", 5 + (size % 55)),
  (key) => command("GET", `session:${key % 100_000}`),
  (key) => command("GET", `session:${key % 100_000}`),
  (key) => command("DEL", `session:${key % 100_000}`),
  (key, size) => command("HSET", `user:${key % 3000}`, `f${size % 3}`, size, "seen", key),
  (key) => command("HGETALL", `user:${key % 3000}`),
  (key, size) => command("ZADD", "board", size, `player:${key % 5000}`),
  (key) => command("ZREVRANK", "board", `player:${key % 5000}`),
  (key) => command("LPUSH", `feed:${key % 100}`, text.slice(0, 100)) + command("LTRIM", `feed:${key % 100}`, 0, 49),
  (key) => command("EVAL", LIMIT_RATE, 2, `rate:${key % 2000}`, `ratesum:${key % 2000}`),
  (key, size) => command("XADD", "events", "MAXLEN", "~", 5000, "*", "n", key, "text", text.slice(0, size % 200)),
  () => command("XREADGROUP", "GROUP", "workers", "one", "COUNT", 5, "NOACK", "STREAMS", "events", ">"),
  (key, size) => command("PUBLISH", `channel:${key % 10}`, text.slice(0, size % 300)),
];

/** Commands of one moment, for all servers alike. */
export function makeBatch(count: number, random: () => number): string {
  let batch = "";
  for (let i = 0; i < count; i++) {
    const make = makers[Math.floor(random() * makers.length)]!;
    batch += make(Math.floor(random() * 1e9), Math.floor(random() * 1e9));
  }
  return batch;
}

/** More batches than this under way: the server does not keep up, and misses some. */
const MOST_UNDER_WAY = 200;

/** One server under load: batches go out, each with a PING at its end, which tells when it is done. */
export class Target {
  done = 0;
  missed = 0;
  errors = 0;
  firstError = "";
  messages = 0;
  readonly #socket: Socket;
  readonly #control: Socket;
  #underWay = 0;
  #rest = "";

  constructor(port: number) {
    const open = () => connect({ port, host: "127.0.0.1", noDelay: true }).on("error", () => this.errors++);
    this.#control = open();
    this.#control.resume();
    this.#control.write(command("XGROUP", "CREATE", "events", "workers", "$", "MKSTREAM"));
    const subscriber = open();
    subscriber.write(command("PSUBSCRIBE", "channel:*"));
    subscriber.on("data", (chunk: Buffer) => {
      this.messages += chunk.latin1Slice().split("pmessage").length - 1;
    });
    subscriber.unref();
    this.#socket = open();
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk.latin1Slice()));
  }

  send(batch: string): void {
    if (this.#underWay >= MOST_UNDER_WAY) {
      this.missed++;
      return;
    }
    this.#underWay++;
    this.#socket.write(batch + command("PING"), "latin1");
  }

  control(...words: string[]): void {
    this.#control.write(command(...words));
  }

  #take(chunk: string): void {
    const lines = (this.#rest + chunk).split("\r\n");
    this.#rest = lines.pop()!;
    for (const line of lines) {
      if (line === "+PONG") {
        this.#underWay--;
        this.done++;
      } else if (line.startsWith("-")) {
        if (this.errors++ === 0) this.firstError = line;
      }
    }
  }

  close(): void {
    this.#socket.destroy();
    this.#control.destroy();
  }
}
