/**
 * Commands as the server runs them. MONITOR shows everything and slows a busy server down, so a profile is short, filtered here,
 * thinned to what a page can show, and ends by itself: after its time, when nobody looks, or when there is too much to read.
 */
import { type Context, type Input, type Route, route } from "../route.ts";
import { boolean, integer, object, string, type Typed } from "../schema.ts";
import { streamHeard } from "./listening.ts";
import { ownAddresses } from "./own-clients.ts";

const group = "Live";
/** What is shown, and what may be read, in one second. */
const MOST_SHOWN = 200;
const MOST_READ = 50_000;
/** So many seconds in a row. */
const MOST_BUSY_SECONDS = 3;
const MOST_WORDS = 12;
const MOST_LETTERS = 120;

const QUERY = object(
  {
    seconds: integer({ default: 30, minimum: 1, maximum: 300, description: "It ends by itself after so long." }),
    command: string({ maxLength: 200, description: "Names of commands, with commas between them." }),
    key: string({ maxLength: 500, description: "A glob, for any word behind the name of the command." }),
    client: string({ maxLength: 200, description: "What the address of the client begins with." }),
    own: boolean("The console's own commands too."),
  },
  ["command", "key", "client", "own"],
);

interface Line {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly db: number;
  readonly client: string;
  readonly words: string[];
}

const LINE = /^(\d+\.\d+) \[(\d+) ([^\]]*)\] (.*)$/s;
const WORD = /"((?:\\.|[^"\\])*)"/gs;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", a: "\x07", b: "\b" };

const unquoted = (text: string): string =>
  text.replace(/\\(?:x([0-9a-f]{2})|(.))/gis, (_all, hex: string | undefined, char: string) =>
    hex === undefined ? (ESCAPES[char] ?? char) : String.fromCharCode(Number.parseInt(hex, 16)),
  );

/** Null for a line that is none. Words are cut: a value may be large. */
export function parseLine(text: string): Line | null {
  const [, at, db, client, rest] = LINE.exec(text) ?? [];
  if (rest === undefined) return null;
  const words: string[] = [];
  for (const [, word = ""] of rest.matchAll(WORD)) {
    if (words.length === MOST_WORDS) {
      words.push("…");
      break;
    }
    const plain = unquoted(word.slice(0, 4 * MOST_LETTERS));
    words.push(plain.length > MOST_LETTERS ? `${plain.slice(0, MOST_LETTERS)}…` : plain);
  }
  return { at: Number(at) * 1_000, db: Number(db), client: client!, words };
}

/** A glob as Redis has it, without its sets of characters. */
export function globOf(pattern: string): RegExp {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "s");
}

export function filterOf(query: Typed<typeof QUERY>, own: ReadonlySet<string>): (line: Line) => boolean {
  const names = (query.command ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const key = query.key === undefined || query.key === "" ? null : globOf(query.key);
  return ({ client, words }) =>
    (names.length === 0 || names.includes((words[0] ?? "").toLowerCase())) &&
    (query.client === undefined || client.startsWith(query.client)) &&
    (query.own === true || !own.has(client)) &&
    (key === null || words.slice(1).some((word) => key.test(word)));
}

async function profile(context: Context, input: Input<Typed<typeof QUERY>, unknown, unknown>): Promise<void> {
  const { query } = input;
  const accepts = filterOf(query, await ownAddresses(context.store));
  let read = 0;
  let matched = 0;
  let shown = 0;
  let busy = 0;
  await streamHeard<Line>(context.store, input, {
    commands: [["MONITOR"]],
    name: "lines",
    heard: ([text = ""]) => {
      read++;
      // What cannot be read in time is counted, not parsed.
      if (read > MOST_READ) return null;
      const line = parseLine(text);
      if (line === null || !accepts(line)) return null;
      matched++;
      if (shown >= MOST_SHOWN) return null;
      shown++;
      return line;
    },
    second: () => {
      const counts = { read, matched, shown };
      busy = read > MOST_READ ? busy + 1 : 0;
      [read, matched, shown] = [0, 0, 0];
      return counts;
    },
    ending: () => (busy === MOST_BUSY_SECONDS ? "the server runs more commands than can be read" : null),
    began: { seconds: query.seconds },
    lastsMs: query.seconds * 1_000,
    over: `it ran for ${query.seconds} s`,
  });
}

export const PROFILER_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/stream/commands",
    group,
    summary:
      "Commands as the server runs them (MONITOR), as server-sent events: `lines` with at most 200 a second, `second` with how many there were, `ended` with the reason.",
    query: QUERY,
    answers: "A stream of events; it ends by itself.",
    media: "text/event-stream",
    run: profile,
  }),
];
