/**
 * Plays a scene's lines on one target, a line at a time, and says what each was answered.
 *
 * Whether a command blocked is seen without waiting for time to pass. All connections are on the loopback: what was written
 * to one of them lies in the server's buffer before a later write to another. So when a connection of our own has had two
 * pings answered one after the other, the server has been through its event loop and has handled everything sent before;
 * an answer that is not there by then is not coming yet. The third ping is for servers that gather their writes.
 */
import { type Answer, aggregate, BLOCKED, NOTHING_OWED } from "./answer.ts";
import type { Target } from "./target.ts";
import type { Line, Scene } from "./transcript.ts";
import { BARRIER, type Wire } from "./wire.ts";

/** Commands that may have no answer, several, or a late one. */
const SPECIAL = new Set(
  (
    "blpop brpop brpoplpush blmove blmpop bzpopmin bzpopmax bzmpop xread xreadgroup wait subscribe psubscribe ssubscribe " +
    "unsubscribe punsubscribe sunsubscribe client quit shutdown"
  ).split(" "),
);

const ANSWER_MS = 10_000;

export async function barrier(control: Wire): Promise<void> {
  for (let i = 0; i < 3; i++) await control.call("PING", BARRIER);
  await new Promise((resolve) => setImmediate(resolve));
}

interface PlayedClient {
  readonly wire: Wire;
  readonly id: string;
  /** Lines sent that have not been answered. */
  owed: number;
  /** What it waits for ends by itself. */
  finite: boolean;
  /** After CLIENT REPLY OFF or SKIP: answers may be missing for good. */
  silent: boolean;
}

export class Player {
  readonly target: Target;
  #control: Wire | undefined;
  #clients = new Map<number, PlayedClient>();
  #kept = new Map<string, string>();
  #config: Map<string, string> | undefined;
  #needsIds = false;

  constructor(target: Target) {
    this.target = target;
  }

  async #controlWire(): Promise<Wire> {
    if (this.#control === undefined || this.#control.closed) this.#control = await this.target.connect();
    return this.#control;
  }

  async begin(scene: Scene): Promise<void> {
    await this.target.reset();
    this.#kept.clear();
    this.#needsIds = scene.lines.some((line) => line.words.some((word) => word.includes("{id:")));
    const changes = scene.lines.some((line) => line.kind === "config" || changesConfig(line.words));
    this.#config = changes ? await this.#readConfig() : undefined;
  }

  /** Collects what the lines left behind, clients in order, and undoes changes of the configuration. */
  async end(): Promise<Answer> {
    const control = await this.#controlWire();
    await barrier(control);
    const left: Answer[] = [];
    for (const [, client] of [...this.#clients].sort(([a], [b]) => a - b)) {
      left.push(...(await client.wire.receive(client.wire.arrived)), ...client.wire.takeInbox());
    }
    await this.abandon();
    return aggregate("several", left);
  }

  /** Closes the scene without looking at what is left. */
  async abandon(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.wire.close()));
    this.#clients.clear();
    if (this.#config !== undefined) await this.#restoreConfig(this.#config);
    this.#config = undefined;
  }

  async close(): Promise<void> {
    await this.abandon();
    await this.#control?.close();
  }

  async play(line: Line): Promise<Answer> {
    const client = await this.#client(line.client);
    switch (line.kind) {
      case "command":
        return this.#command(client, line);
      case "raw":
        client.wire.write(line.words[0]!);
        client.owed++;
        return this.#whatCame(client);
      case "wait":
        if (client.owed === 0 && client.wire.arrived === 0) return NOTHING_OWED;
        client.owed = Math.max(0, client.owed - 1);
        return (await client.wire.receive(1, ANSWER_MS))[0]!;
      case "pushes":
        await barrier(await this.#controlWire());
        return aggregate("several", client.wire.takeInbox());
      case "close":
        await client.wire.close();
        this.#clients.delete(line.client);
        await barrier(await this.#controlWire());
        return aggregate("several", []);
      case "config":
        return (await this.#controlWire()).call("CONFIG", "SET", ...line.words);
      case "sleep":
        await new Promise((resolve) => setTimeout(resolve, Number(line.words[0])));
        return aggregate("several", []);
    }
  }

  async #client(number: number): Promise<PlayedClient> {
    const known = this.#clients.get(number);
    if (known !== undefined) return known;
    const wire = await this.target.connect();
    const id = this.#needsIds ? (await wire.call("CLIENT", "ID")).text : "";
    const client: PlayedClient = { wire, id, owed: 0, finite: false, silent: false };
    this.#clients.set(number, client);
    return client;
  }

  async #command(client: PlayedClient, line: Line): Promise<Answer> {
    const words = await this.#fillIn(line.words);
    const name = words[0]!.toLowerCase();
    const special = line.blocks || client.silent || client.owed > 0 || SPECIAL.has(name);
    if (name === "client" && words[1]?.toLowerCase() === "reply") client.silent = words[2]?.toLowerCase() !== "on";
    let answer: Answer;
    if (line.scan) answer = await scanAll(client.wire, words);
    else {
      client.wire.send(words);
      client.owed++;
      if (client.owed === 1) client.finite = endsByItself(name, words);
      if (client.owed > 1 && client.finite) answer = await this.#allOwed(client);
      else if (special) answer = await this.#whatCame(client);
      else {
        answer = (await client.wire.receive(1, ANSWER_MS))[0]!;
        client.owed--;
      }
    }
    if (line.as !== undefined) this.#kept.set(line.as, textOf(answer));
    return answer;
  }

  async #whatCame(client: PlayedClient): Promise<Answer> {
    await barrier(await this.#controlWire());
    const { wire } = client;
    if (wire.arrived < client.owed && !wire.closed) {
      if (!client.silent) return BLOCKED;
      client.owed = 0;
      return aggregate("several", await wire.receive(wire.arrived));
    }
    const answers = await wire.receive(Math.max(wire.arrived, client.owed));
    client.owed = 0;
    return answers.length === 1 ? answers[0]! : aggregate("several", answers);
  }

  async #allOwed(client: PlayedClient): Promise<Answer> {
    const answers = await client.wire.receive(client.owed, ANSWER_MS);
    client.owed = 0;
    return aggregate("several", answers);
  }

  /** `{id:2}` and `{addr:2}`: of client 2; `{name}`: an answer kept by `as name`. Other braces are just text. */
  async #fillIn(words: readonly string[]): Promise<string[]> {
    const out: string[] = [];
    for (const word of words) {
      let filled = word;
      for (const [whole, what] of word.matchAll(/\{([A-Za-z][\w:-]*)\}/g)) {
        const of = /^(id|addr):(\d+)$/.exec(what!);
        const client = of === null ? undefined : await this.#client(Number(of[2]));
        const value = client === undefined ? this.#kept.get(what!) : of![1] === "id" ? client.id : client.wire.address;
        if (value !== undefined) filled = filled.replaceAll(whole, value);
      }
      out.push(filled);
    }
    return out;
  }

  async #readConfig(): Promise<Map<string, string>> {
    const { items } = await (await this.#controlWire()).call("CONFIG", "GET", "*");
    const config = new Map<string, string>();
    for (let i = 0; i + 1 < items.length; i += 2) config.set(items[i]!.text, items[i + 1]!.text);
    return config;
  }

  async #restoreConfig(before: Map<string, string>): Promise<void> {
    const now = await this.#readConfig();
    const control = await this.#controlWire();
    for (const [name, value] of before) {
      if (now.get(name) !== value) await control.call("CONFIG", "SET", name, value);
    }
  }
}

function changesConfig(words: readonly string[]): boolean {
  return words[0]?.toLowerCase() === "config" && words[1]?.toLowerCase() === "set";
}

/** Whether a blocking command has a timeout other than 0. */
function endsByItself(name: string, words: readonly string[]): boolean {
  const upper = words.map((word) => word.toUpperCase());
  if (name === "xread" || name === "xreadgroup") return Number(words[upper.indexOf("BLOCK") + 1]) > 0;
  return Number(name === "blmpop" || name === "bzmpop" ? words[1] : words.at(-1)) > 0;
}

function textOf(answer: Answer): string {
  return answer.items.length > 0 ? textOf(answer.items[0]!) : answer.text;
}

const SCANS: Record<string, { cursor: number; each: number }> = {
  scan: { cursor: 1, each: 1 },
  sscan: { cursor: 2, each: 1 },
  hscan: { cursor: 2, each: 2 },
  zscan: { cursor: 2, each: 2 },
};

/** Runs a command of the SCAN family until its cursor is back at 0: all that came, each thing once, as one array in order. */
export async function scanAll(wire: Wire, words: readonly string[]): Promise<Answer> {
  const shape = SCANS[words[0]!.toLowerCase()];
  const seen = new Map<string, Answer[]>();
  const next = [...words];
  for (let round = 0; round < 100_000; round++) {
    const answer = await wire.call(...next);
    const [cursor, page] = answer.items;
    if (shape === undefined || answer.tag !== "*" || cursor === undefined || page === undefined) return answer;
    for (let i = 0; i < page.items.length; i += shape.each) {
      const element = page.items.slice(i, i + shape.each);
      seen.set(element.map((item) => item.text).join("\0"), element);
    }
    if (cursor.text === "0") {
      const keys = [...seen.keys()].sort();
      return aggregate(
        "*",
        keys.flatMap((key) => seen.get(key)!),
      );
    }
    next[shape.cursor] = cursor.text;
  }
  return aggregate("several", []);
}
