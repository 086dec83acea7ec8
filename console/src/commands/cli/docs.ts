/**
 * What the engine's command table says about commands: for hints behind what is typed, completion and `help`. The table is asked in
 * this process, so that hints cost the server nothing and need no rights there.
 */
import { Engine } from "@cinnabar/engine";
import { Link } from "../link/link.ts";
import { itemsIn, pairsIn, type Reply, textIn } from "../link/reply.ts";

export interface CommandDoc {
  /** `GET`, `CONFIG SET`. */
  readonly name: string;
  readonly summary: string;
  readonly since: string;
  readonly group: string;
  /** Its arguments one by one: `key`, `[NX|XX]`. */
  readonly parts: readonly string[];
}

export class CommandDocs {
  readonly #docs: ReadonlyMap<string, CommandDoc>;

  constructor(docs: ReadonlyMap<string, CommandDoc>) {
    this.#docs = docs;
  }

  static async load(): Promise<CommandDocs> {
    const engine = await Engine.open();
    const link = new Link(engine.stream(), "the command table");
    const docs = new Map<string, CommandDoc>();
    for (const [name, row] of pairsIn(await link.call("COMMAND", "DOCS"))) collect(name, row, docs);
    link.close();
    await engine.close();
    return new CommandDocs(docs);
  }

  get names(): readonly string[] {
    return [...this.#docs.keys()];
  }

  get groups(): readonly string[] {
    return [...new Set(Array.from(this.#docs.values(), ({ group }) => group))].sort();
  }

  ofGroup(group: string): CommandDoc[] {
    return [...this.#docs.values()].filter((doc) => doc.group === group.toLowerCase());
  }

  /** By the first words of a line; the longest name counts. */
  find(words: readonly string[]): { readonly doc: CommandDoc; readonly used: number } | null {
    for (const used of [2, 1]) {
      if (words.length < used) continue;
      const doc = this.#docs.get(words.slice(0, used).join(" ").toUpperCase());
      if (doc !== undefined) return { doc, used };
    }
    return null;
  }

  /** What may still follow the words of a line; `isOpen`: the last of them is being typed. */
  hint(words: readonly string[], isOpen: boolean): string {
    const found = this.find(words);
    if (found === null) return "";
    const typed = words.length - found.used;
    const left = found.doc.parts.slice(typed === 0 && isOpen ? 0 : typed);
    return left.join(" ");
  }

  /** Names that begin with what is typed. */
  completions(typed: string): string[] {
    const wanted = typed.toUpperCase().replace(/\s+/g, " ");
    const isLower = typed !== "" && typed === typed.toLowerCase();
    const found = this.names.filter((name) => name.startsWith(wanted) && name !== wanted);
    const first = wanted.includes(" ") ? found : found.filter((name) => !name.includes(" "));
    return first.map((name) => `${isLower ? name.toLowerCase() : name} `);
  }
}

function collect(name: string, row: Reply, into: Map<string, CommandDoc>): void {
  const fields = pairsIn(row);
  const upper = name.replace("|", " ").toUpperCase();
  into.set(upper, {
    name: upper,
    summary: textIn(fields.get("summary")),
    since: textIn(fields.get("since")),
    group: textIn(fields.get("group")),
    parts: itemsIn(fields.get("arguments")).map(partOf),
  });
  const subcommands = fields.get("subcommands");
  if (subcommands !== undefined) for (const [sub, each] of pairsIn(subcommands)) collect(sub, each, into);
}

/** One argument as it is written in a manual. */
function partOf(argument: Reply): string {
  const fields = pairsIn(argument);
  const flags = itemsIn(fields.get("flags")).map(textIn);
  const token = textIn(fields.get("token"));
  const inner = innerOf(fields);
  const alone = token === "" ? inner : [token === '""' ? "" : token, inner].filter((each) => each !== "").join(" ");
  const repeats = flags.includes("multiple");
  const again = flags.includes("multiple_token") ? alone : inner;
  const text = repeats ? `${alone} [${again} ...]` : alone;
  return flags.includes("optional") ? `[${text}]` : text;
}

function innerOf(fields: ReadonlyMap<string, Reply>): string {
  const nested = itemsIn(fields.get("arguments")).map(partOf);
  const type = textIn(fields.get("type"));
  if (type === "oneof") return nested.join("|");
  if (type === "block") return nested.join(" ");
  return type === "pure-token" ? "" : textIn(fields.get("display_text")) || textIn(fields.get("name"));
}
