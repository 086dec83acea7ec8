/**
 * A server with a listening replica, on which scenes are played: what the replica hears of them, and what clients are
 * answered, with everything blanked that differs from run to run.
 *
 * A scene is lines of `client: words`, separated by `|`. A client that is to wait is `client> words`: the scene goes on when
 * the server holds it blocked.
 */
import type { Wire } from "../conformance/wire.ts";
import { Listener } from "./listener.ts";
import { Server, until } from "./servers.ts";

const WORDS: Record<string, string> = {
  "{library}":
    "#!lua name=lib\nredis.register_function('f',function(keys) redis.call('set',keys[1],1) return redis.call('incr',keys[1]) end)",
  "{dump}": "\x00\x01a\x0a\x00\xd3\x1f\x0e\xfb\xdf\xb9\x04\xbd",
};

/** Times differ from run to run: absolute ones, and the ids of entries. */
const timeless = (argv: readonly string[]): string =>
  argv.map((word, i) => (i === 0 ? word.toUpperCase() : word.replace(/\b1\d{12}\b(-\d)?/g, "TIME"))).join(" ");

/** Which of two expired keys SCAN comes across first is up to the table. */
export function ordered(stream: readonly string[]): string[] {
  const result: string[] = [];
  for (let i = 0; i < stream.length; i++) {
    let end = i;
    while (stream[end]?.startsWith("DEL ")) end++;
    result.push(...stream.slice(i, end).sort(), ...stream.slice(end, end + 1));
    i = end;
  }
  return result;
}

export class Stage {
  readonly #server: Server;
  readonly #listener: Listener;
  #wires = new Map<string, Wire>();
  #marks = 0;

  private constructor(server: Server, listener: Listener) {
    this.#server = server;
    this.#listener = listener;
  }

  static async open(kind: "ours" | "redis"): Promise<Stage> {
    const server = await Server.start(kind);
    // A key goes when a command comes across it, not when a tick does.
    await server.ask("DEBUG", "SET-ACTIVE-EXPIRE", "0");
    return new Stage(server, await Listener.to(server.port));
  }

  async #wire(name: string): Promise<Wire> {
    const wire = this.#wires.get(name) ?? (await this.#server.wire());
    this.#wires.set(name, wire);
    return wire;
  }

  async play(scene: string): Promise<{ stream: string[]; answers: string[] }> {
    await this.#server.ask("FLUSHALL");
    await this.#mark();
    const answers: string[] = [];
    let blocked = 0;
    for (const line of scene.split("|")) {
      const [, client, sign, rest] = /^(\d+)([:>]) (.*)$/.exec(line)!;
      const words = rest!.split(" ").map((word) => WORDS[word] ?? word);
      const wire = await this.#wire(client!);
      if (sign === ":") {
        const answer = await wire.call(...words);
        answers.push(`${line}: ${answer.tag}${answer.text}`.replace(/\b1\d{12}\b(-\d)?/g, "TIME"));
        blocked = await this.#server.number("blocked_clients");
      } else {
        wire.send(words);
        const before = blocked;
        await until(`${line} waits`, async () => (await this.#server.number("blocked_clients")) > before);
        blocked++;
      }
    }
    answers.push(`blocked: ${await this.#server.number("blocked_clients")}`);
    const stream = await this.#mark();
    for (const wire of this.#wires.values()) wire.close();
    this.#wires.clear();
    await until("nobody waits", async () => (await this.#server.number("blocked_clients")) === 0);
    return { stream, answers };
  }

  /** What has come since the last mark. */
  async #mark(): Promise<string[]> {
    const mark = `mark:${++this.#marks}`;
    await this.#server.ask("PUBLISH", mark, "");
    return (await this.#listener.upTo(mark)).map(timeless);
  }
}
