/**
 * Do scripts touch only the keys that they declare? In a Cluster an undeclared key may live elsewhere, and nothing says so
 * until it does. MONITOR shows every command that a script runs, right behind the EVAL or EVALSHA that names its keys; which
 * words of a command are keys, the server itself says (COMMAND GETKEYS).
 */
import { connect, type Socket } from "node:net";
import { ServerError } from "../../src/base/errors.ts";
import { open } from "../../src/connection/open.ts";

/** Enough to see every kind of command that a component sends; the rest would only repeat. */
const MAX_DISTINCT = 5_000;

interface Seen {
  readonly words: readonly string[];
  readonly declared: ReadonlySet<string>;
}

export class KeyAudit {
  readonly #port: number;
  readonly #socket: Socket;
  readonly #byTag: boolean;
  readonly #seen = new Map<string, Seen>();
  #text = "";
  #declared: ReadonlySet<string> = new Set();
  #marker: { readonly text: string; readonly found: () => void } | null = null;

  private constructor(port: number, socket: Socket, byTag: boolean) {
    this.#port = port;
    this.#socket = socket;
    this.#byTag = byTag;
  }

  /** `byTag`: a key with the tag of a declared one will do, since it is in the same slot whatever its name. */
  static async begin(port: number, byTag = false): Promise<KeyAudit> {
    const socket = connect({ host: "127.0.0.1", port });
    const audit = new KeyAudit(port, socket, byTag);
    socket.setEncoding("latin1");
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.once("data", () => resolve());
      socket.write("MONITOR\r\n");
    });
    socket.on("error", () => {});
    socket.on("data", (chunk) => audit.#read(String(chunk)));
    return audit;
  }

  #read(chunk: string): void {
    const lines = (this.#text + chunk).split("\r\n");
    this.#text = lines.pop()!;
    for (const line of lines) {
      if (this.#marker !== null && line.includes(this.#marker.text)) this.#marker.found();
      this.#note(line);
    }
  }

  #note(line: string): void {
    const [, client, rest] = /^\+[\d.]+ \[\d+ ([^\]]+)\] (.*)$/s.exec(line) ?? [];
    if (client === undefined || rest === undefined) return;
    if (client !== "lua") {
      if (!/^"(EVAL|FCALL)/i.test(rest)) return;
      const words = parse(rest);
      this.#declared = new Set(words.slice(3, 3 + Number(words[2])));
      return;
    }
    if (this.#seen.size >= MAX_DISTINCT || this.#seen.has(rest)) return;
    this.#seen.set(rest, { words: parse(rest), declared: this.#declared });
  }

  /** What was touched and not declared, as `COMMAND key`. */
  async end(): Promise<string[]> {
    const store = await open(`redis://127.0.0.1:${this.#port}`);
    try {
      // What was sent before has been seen when this is.
      const text = `the end of the audit ${this.#port}`;
      const seen = new Promise<void>((found) => {
        this.#marker = { text, found };
      });
      await store.call("ECHO", text);
      await seen;
      return [...new Set(await this.#offences(store))];
    } finally {
      this.#socket.destroy();
      await store.close();
    }
  }

  async #offences(store: Awaited<ReturnType<typeof open>>): Promise<string[]> {
    const all = [...this.#seen.values()];
    const keys = await store.pipeline(
      all.map(({ words }) => ["COMMAND", "GETKEYS", ...words.map((word) => Buffer.from(word, "latin1"))]),
    );
    return all.flatMap(({ words, declared }, at) => {
      const answer = keys[at];
      if (answer instanceof ServerError || !Array.isArray(answer)) return [];
      const touched = answer.map((key) => Buffer.from(String(key), "utf8").toString("latin1"));
      const tags = new Set(this.#byTag ? [...declared].map(tagOf) : []);
      const isKnown = (key: string): boolean => declared.has(key) || (tagOf(key) !== null && tags.has(tagOf(key)));
      return touched.filter((key) => !isKnown(key)).map((key) => `${words[0]} ${key}`);
    });
  }
}

/** What stands in a key's first braces; null if there are none or nothing is in them. */
function tagOf(key: string): string | null {
  return /^[^{]*\{([^}]+)\}/s.exec(key)?.[1] ?? null;
}

/** The words of a line of MONITOR, as bytes. Words may have megabytes of escapes, which one regular expression overflows on. */
function parse(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (const [token] of text.matchAll(/"|\\x[0-9a-f]{2}|\\.|[^"\\]+/gs)) {
    if (token === '"') {
      if (word !== null) words.push(word);
      word = word === null ? "" : null;
    } else if (word !== null) {
      word += token.startsWith("\\") ? unescaped(token.slice(1)) : token;
    }
  }
  return words;
}

function unescaped(code: string): string {
  return code.length === 3 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (PLAIN[code] ?? code);
}

const PLAIN: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", a: "\x07", b: "\b" };
