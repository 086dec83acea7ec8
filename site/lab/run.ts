/** Runs a program in this worker and tells the page what it says, what it sends, and which keys there are. */
import type { Item, RoundTrip, Store, Word } from "cinnabar";
import { at, engineModule } from "./engine.ts";
import { said } from "./inspect.ts";
import type { FromWorker, Sent, ShownKey, ShownWord } from "./messages.ts";
import { addressIn, runnable } from "./program.ts";

type Engine = Awaited<ReturnType<Awaited<ReturnType<typeof engineModule>>["Engine"]["open"]>>;
type Client = ReturnType<Engine["connect"]>;
/** cinnabar.js of the site calls it: `open` with the store in this page noted. */
type Open = (target?: unknown, options?: { readonly config?: Readonly<Record<string, string>> }) => Promise<Store>;

const MOST_SENT = 400;
const MOST_WORDS = 12;
const MOST_CHARACTERS = 80;
const MOST_KEYS = 60;
const EVERY_MS = 60;

const tell = (message: FromWorker): void => postMessage(message);

let beganAt = 0;
let sent: Sent[] = [];
let count = 0;
let isDue = false;
let isLooking = false;
/** To look at each store that the program has opened. */
const lookers: Client[] = [];

function note(entry: Omit<Sent, "atMs">): void {
  count++;
  if (count <= MOST_SENT) sent.push({ ...entry, atMs: performance.now() - beganAt });
  if (isDue) return;
  isDue = true;
  setTimeout(report, EVERY_MS);
}

function report(): void {
  isDue = false;
  tell({ kind: "sent", sent, more: Math.max(0, count - MOST_SENT) });
  sent = [];
  tell({ kind: "keys", ...keys() });
}

export async function run(code: string): Promise<void> {
  let error: string | null = null;
  await prepare();
  beganAt = performance.now();
  try {
    const program = runnable(code, addressIn(at));
    const address = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
    await import(address);
  } catch (thrown) {
    error = messageOf(thrown);
  }
  const ms = performance.now() - beganAt;
  // What the program has caused is told first.
  await new Promise((resolve) => setTimeout(resolve));
  report();
  tell({ kind: "over", error, ms });
}

async function prepare(): Promise<void> {
  const { Engine, Buffer, soon } = await engineModule();
  const open = Engine.open.bind(Engine);
  const watched = async (options: Parameters<typeof open>[0], isDirect: boolean): Promise<Engine> => {
    const engine = await open(options);
    await watch(engine, isDirect);
    return engine;
  };
  // What a program opens itself is seen command by command.
  Engine.open = (options) => watched(options, true);
  Object.assign(globalThis, {
    Buffer,
    setImmediate: (then: (...given: unknown[]) => void, ...given: unknown[]) => soon(() => then(...given)),
    process: { env: {}, argv: [], on: () => {}, nextTick: queueMicrotask.bind(globalThis) },
    cinnabarOpen: async (open: Open, ...[target, options]: Parameters<Open>): Promise<Store> => {
      const isMemory = target === undefined || target === "memory:";
      const { config, ...rest } = options ?? {};
      const engine = isMemory ? await watched(config === undefined ? {} : { config }, false) : target;
      const store = await open(engine, isMemory ? rest : options);
      store.on("roundTrip", (trip) => void noteTrip(trip));
      return store;
    },
  });
  for (const level of ["log", "info", "debug", "warn", "error"] as const) {
    const shown = level === "warn" || level === "error" ? level : "log";
    console[level] = (...values: unknown[]) => tell({ kind: "said", level: shown, text: said(values) });
  }
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    tell({ kind: "said", level: "error", text: `Unhandled: ${messageOf(event.reason)}` });
  });
}

/** A second client of the store listens with MONITOR: so a script's own commands are seen, too. */
async function watch(engine: Engine, isDirect: boolean): Promise<void> {
  lookers.push(engine.connect());
  const monitor = engine.connect();
  monitor.onPush(([line]) => {
    const [, from, words] = /^\S+ \[\d+ (\S+)\] (.*)$/s.exec(String(line)) ?? [];
    if (words === undefined || isLooking || (from !== "lua" && !isDirect)) return;
    const [name = "", ...rest] = [...words.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word]) => word!);
    if (/^monitor$/i.test(name) || isHousekeeping(rest[0])) return;
    note({ name: name.toUpperCase(), from: from === "lua" ? "inside" : "program", words: limited(rest.map(plain)) });
  });
  await monitor.call("MONITOR");
}

const plain = (text: string): ShownWord => ({ text: shortened(text) });
const limited = (words: ShownWord[]): ShownWord[] =>
  words.length <= MOST_WORDS ? words : [...words.slice(0, MOST_WORDS), { text: `… ${words.length - MOST_WORDS} more` }];

/** That components note their names and the versions of their layouts happens beside the work. */
const isHousekeeping = (key: unknown): boolean => /^cinnabar:(?:names:|layouts$)/.test(String(key));
const isAnnouncement = (item: Item): boolean => !("script" in item) && isHousekeeping(item[1]);

function noteTrip({ items }: RoundTrip): void {
  for (const item of items) {
    if (isAnnouncement(item)) continue;
    if ("script" in item) {
      const { script, keys, args } = item;
      const words = [
        ...keys.map((key, nth) => ({ name: script.nameOf("key", nth), text: shortened(textOf(key)) })),
        ...args.map((arg, nth) => ({ name: script.nameOf("arg", nth), text: shortened(textOf(arg)) })),
      ];
      note({ name: script.name, from: "script", words: limited(words) });
    } else {
      const [name, ...words] = item.map(textOf);
      note({ name: name!.toUpperCase(), from: "program", words: limited(words.map(plain)) });
    }
  }
}

const textOf = (word: Word): string =>
  word instanceof Uint8Array ? new TextDecoder().decode(word.subarray(0, 2 * MOST_CHARACTERS)) : String(word);

const shortened = (text: string): string => {
  const line = text.replace(/[\x00-\x1f\x7f\ufffd]/g, "·");
  return line.length <= MOST_CHARACTERS ? line : `${line.slice(0, MOST_CHARACTERS)}…`;
};

function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const resolving = /Failed to resolve module specifier "([^"]+)"/.exec(thrown.message);
  if (resolving !== null) return `This page has no package "${resolving[1]}".`;
  return `${thrown.name}: ${thrown.message}`;
}

/** How a value is read for a glance. */
const GLANCES: Readonly<Record<string, readonly string[]>> = {
  string: ["GETRANGE", "", "0", "79"],
  hash: ["HGETALL", ""],
  list: ["LRANGE", "", "0", "9"],
  set: ["SMEMBERS", ""],
  zset: ["ZRANGE", "", "0", "9", "WITHSCORES"],
  stream: ["XREVRANGE", "", "+", "-", "COUNT", "3"],
};

/** Synchronous, so that what it asks is told apart from what the program does: nothing else runs meanwhile. */
function keys(): { readonly keys: ShownKey[]; readonly more: number } {
  const found: ShownKey[] = [];
  let all = 0;
  isLooking = true;
  for (const client of lookers) {
    const shown = namesIn(client).sort();
    all += shown.length;
    for (const name of shown.slice(0, MOST_KEYS - found.length)) found.push(glance(client, name));
  }
  // Lines of MONITOR come in microtasks, and those of the loop are before this one.
  queueMicrotask(() => {
    isLooking = false;
  });
  return { keys: found, more: all - found.length };
}

function namesIn(client: Client): string[] {
  try {
    const [, names] = client.callSync("SCAN", "0", "COUNT", "100000") as [string, string[]];
    return names.filter((name) => !isHousekeeping(name));
  } catch {
    // The program has closed this one.
    return [];
  }
}

function glance(client: Client, name: string): ShownKey {
  const type = String(client.callSync("TYPE", name));
  const ttl = Number(client.callSync("PTTL", name));
  const [command = "TYPE", , ...rest] = GLANCES[type] ?? [];
  const value = client.callSync(command, name, ...rest) as unknown;
  const text = Array.isArray(value) ? value.flat(2).map(String).join(" ") : String(value);
  return { name, type, ttlMs: ttl < 0 ? null : ttl, value: shortened(text) };
}
