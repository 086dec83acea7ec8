/** Who may import whom, and what no source may contain. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { groups } from "./engine/src/commands/index.ts";

const ROOT = dirname(fileURLToPath(import.meta.url));

function filesBelow(folder: string, ending: RegExp): string[] {
  const path = join(ROOT, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((file) => !/(^|\/)(?:node_modules|dist|\.stage|\.next)\//.test(file))
    .sort();
}

const SOURCE = /\.(?:tsx?|vue)$/;
const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file);
const sources = (folder: string): string[] => filesBelow(folder, SOURCE).filter((file) => !isTest(file));
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** A source without its comments and the text of its strings, so that only code is looked at. */
function codeOf(file: string): string {
  const tokens = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;
  return read(file).replace(tokens, (token) => (token.startsWith("/") ? "" : '""'));
}

const IMPORT = /\b(?:from|import)\s*\(?\s*["']([^"'$]+)["']|^import\s+["']([^"']+)["']/gm;

const withoutComments = (file: string): string => read(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/[^\n]*/gm, "");

/** What a file imports: packages by name, files by their path from the root. */
function importsOf(file: string): string[] {
  const targets = [...withoutComments(file).matchAll(IMPORT)].map((match) => match[1] ?? match[2]!);
  // Text between two strings is no target.
  return targets.filter((target) => /^[^\s,]+$/.test(target)).map((target) => pathOf(file, target));
}

/** Packages by name, files by their path from the root. */
const pathOf = (file: string, target: string): string =>
  target.startsWith(".") ? relative(ROOT, resolve(ROOT, dirname(file), target)) : target;

const isBuiltin = (name: string): boolean => name.startsWith("node:") || builtinModules.includes(name);

/** Every import of the files that breaks the rule, as `file imports what`. */
function offences(files: readonly string[], forbidden: (target: string, file: string) => boolean): string[] {
  return files.flatMap((file) =>
    importsOf(file)
      .filter((target) => forbidden(target, file))
      .map((target) => `${file} imports ${target}`),
  );
}

/** Parts of the engine that a browser cannot have, besides its programs: nothing that runs there imports them. */
const NODE_ONLY = new Set(["engine/src/net/tls-acceptor.ts", "engine/src/tls/settings.ts"]);

const isPackage = (target: string, name: string): boolean => target === name || target.startsWith(`${name}/`);

describe("imports", () => {
  test("are found at all", () => {
    expect(importsOf("boundaries.test.ts")).toContain("node:fs");
    expect(sources("engine/src").length).toBeGreaterThan(10);
    expect(importsOf("console/ui/app.tsx").length).toBeGreaterThan(5);
    expect(importsOf("site/.vitepress/theme/live-program.vue")).toContain("site/lab/client.ts");
  });

  test("of the engine: only Node's own modules and itself", () => {
    const outside = (target: string): boolean => !isBuiltin(target) && !target.startsWith("engine/src/");
    expect(offences(sources("engine/src"), outside)).toEqual([]);
  });

  test("of what runs in browsers too: nothing of Node's", () => {
    const nodesOwn = /^engine\/src\/(?:bin|process)\//;
    const portable = sources("engine/src").filter((file) => {
      const hasSibling = sources("engine/src").includes(file.replace(/\.ts$/, ".browser.ts"));
      return !hasSibling && !nodesOwn.test(file) && !NODE_ONLY.has(file);
    });
    expect(offences(portable, isBuiltin)).toEqual([]);
  });

  test("of the toolkit: never the console, and the engine only to open it, or in browsers for its bytes", () => {
    const wrong = (target: string, file: string): boolean => {
      if (isPackage(target, "@cinnabar/console") || target.startsWith("console/") || target.startsWith("engine/"))
        return true;
      return (
        isPackage(target, "@cinnabar/engine") &&
        !/^toolkit\/src\/(connection\/(embedded|shared-folder)[^/]*\.ts$|testing\/|platform\/)/.test(file)
      );
    };
    expect(offences(sources("toolkit/src"), wrong)).toEqual([]);
  });

  test("of the console: the others by their names only", () => {
    const wrong = (target: string, file: string): boolean => {
      // What its tests share runs on the servers that suites of the toolkit run on, and is not shipped.
      if (file.startsWith("console/tests/") && target.startsWith("toolkit/tests/kit/")) return false;
      return target.startsWith("engine/") || target.startsWith("toolkit/");
    };
    expect(offences(sources("console"), wrong)).toEqual([]);
  });
});

/** What stands before `from`: whether it is there for the compiler only, and the file. */
const STATEMENT = /^(?:import|export)\s+(type\s)?[^;"']*?from\s+["'](\.[^"']+)["']|\bimport\(["'](\.[^"']+)["']\)/gm;

type Graph = ReadonlyMap<string, readonly string[]>;

/** Who imports whom; without what only the compiler sees, or with it. */
function importGraph(files: readonly string[], withTypes: boolean): Graph {
  const known = new Set(files);
  const targets = (file: string): string[] =>
    [...withoutComments(file).matchAll(STATEMENT)]
      .filter(([, type]) => withTypes || type === undefined)
      .map(([, , target, dynamic]) => relative(ROOT, resolve(ROOT, dirname(file), (target ?? dynamic)!)))
      .filter((target) => known.has(target));
  return new Map(files.map((file) => [file, targets(file)]));
}

/** Files that reach each other, in groups of two and more, the largest first (Tarjan). */
function cyclesIn(graph: Graph): string[][] {
  const found: string[][] = [];
  const stack: string[] = [];
  const low = new Map<string, number>();
  const order = new Map<string, number>();
  const visit = (file: string): number => {
    order.set(file, order.size);
    let lowest = order.get(file)!;
    stack.push(file);
    for (const target of graph.get(file)!) {
      if (!order.has(target)) lowest = Math.min(lowest, visit(target));
      else if (stack.includes(target)) lowest = Math.min(lowest, order.get(target)!);
    }
    low.set(file, lowest);
    if (lowest === order.get(file)) {
      const cycle = stack.splice(stack.indexOf(file));
      if (cycle.length > 1) found.push(cycle.sort());
    }
    return lowest;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return found.sort((a, b) => b.length - a.length);
}

describe("circles of imports", () => {
  const members = ["engine/src", "toolkit/src", "console/src"];
  const filesOf = (member: string) => sources(member).filter((file) => !file.endsWith(".d.ts"));
  const files = filesOf("engine/src");
  /** Clients, commands, scripts and what blocks, tracks or pauses them; Lua's values; the wire. Lower it with the circles. */
  const LARGEST = 10;

  test("are found", () => {
    const graph = new Map(Object.entries({ a: ["b"], b: ["c"], c: ["b", "d"], d: ["d"], e: ["a", "f"], f: ["e"] }));
    expect(cyclesIn(graph)).toEqual([
      ["b", "c"],
      ["e", "f"],
    ]);
    const imported = importGraph(files, false).get("engine/src/core/engine.ts")!;
    expect(imported).toContain("engine/src/core/client.ts");
    expect(imported).not.toContain("engine/src/core/ports.ts");
    expect(importGraph(files, true).get("engine/src/core/engine.ts")).toContain("engine/src/core/ports.ts");
  });

  test.each(members)("do not exist between the files of %s when they run", (member) => {
    expect(cyclesIn(importGraph(filesOf(member), false))).toEqual([]);
  });

  test.each(members)(`have no more than ${LARGEST} files of %s where types count`, (member) => {
    const cycles = cyclesIn(importGraph(filesOf(member), true));
    expect(cycles.filter((cycle) => cycle.length > LARGEST)).toEqual([]);
  });
});

interface Row {
  /** `engine/src/types/`. */
  readonly folder: string;
  readonly what: string;
  readonly unknown: string;
  /** The paths and packages of `unknown`, from the root. */
  readonly names: readonly string[];
  /** Whether an import of it breaks the row; `isType`: it is there for the compiler only. */
  readonly forbids: (target: string, isType: boolean) => boolean;
}

const WORKSPACE = /^(?:@?cinnabar|(?:engine|toolkit|console)\/)/;

/**
 * The rows of ARCHITECTURE.md's map: a folder, what it is, and what it must not know: paths beside it, paths from the root, or packages.
 * Behind "values of", types may be imported; behind "except", everything.
 */
const map: readonly Row[] = [...read("ARCHITECTURE.md").matchAll(/^\| `(\S+\/)` *\| (.*?) \| *(.*?) *\|$/gm)].map(
  ([, folder, what, unknown]) => {
    const member = /^\w+\/(?:src|ui|tests)\//.exec(folder!)?.[0] ?? "";
    const parts = unknown!.split(/(?=\bvalues of |\bexcept )/).map((text) => ({
      kind: /^(?:values|except)?/.exec(text)![0],
      names: [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => (WORKSPACE.test(name!) ? name! : member + name)),
    }));
    const isIn = (target: string, kind: string): boolean =>
      parts.some((part) => part.kind === kind && part.names.some((name) => target.startsWith(name)));
    const forbids = (target: string, isType: boolean): boolean => {
      if (unknown === "anything else") return target.startsWith(member) && !target.startsWith(folder!);
      if (target.startsWith(folder!) || isIn(target, "except")) return false;
      return isIn(target, "") || (isIn(target, "values") && !isType);
    };
    return { folder: folder!, what: what!, unknown: unknown!, names: parts.flatMap(({ names }) => names), forbids };
  },
);

const TYPES_ONLY = /^(?:import|export)\s+type\s[^;"']*?from\s+["']([^"']+)["']/gm;

/** What a file imports for the compiler only. */
function typesOf(file: string): ReadonlySet<string> {
  const targets = [...withoutComments(file).matchAll(TYPES_ONLY)].map(([, target]) => target!);
  return new Set(targets.map((target) => pathOf(file, target)));
}

describe("the map in ARCHITECTURE.md", () => {
  test("has a third column in every row", () => {
    expect(map.filter(({ names, unknown }) => names.length === 0 && unknown !== "anything else")).toEqual([]);
    expect(map.length).toBeGreaterThan(30);
  });

  test.each(map)("$folder does not know $unknown", ({ folder, forbids }) => {
    const files = sources(folder);
    expect(files.length).toBeGreaterThan(0);
    const types = new Map(files.map((file) => [file, typesOf(file)]));
    expect(offences(files, (target, file) => forbids(target, types.get(file)!.has(target)))).toEqual([]);
  });

  test.each(map.filter(({ what }) => what.includes("nothing else imports it")))(
    "nothing else imports $folder",
    ({ folder }) => {
      const others = ["engine", "toolkit", "console", "scripts", "site", "bench", "examples"]
        .flatMap((each) => filesBelow(each, /\.(?:[jt]sx?|mjs|vue)$/))
        .concat(readdirSync(ROOT).filter((file) => file.endsWith(".ts")))
        .filter((file) => !file.startsWith(folder));
      expect(others.length).toBeGreaterThan(1_000);
      expect(offences(others, (target) => target.startsWith(folder))).toEqual([]);
    },
  );

  test("says in which folders of the toolkit other packages are imported", () => {
    const files = sources("toolkit/src").filter((file) => !file.startsWith("toolkit/src/opentelemetry/"));
    expect(offences(files, (target) => isPackage(target, "@opentelemetry/api"))).toEqual([]);
    const outside = files.filter((file) => !file.startsWith("toolkit/src/integrations/"));
    // Times of cron, lines of CSV; suites that applications run need vitest.
    const known = /^(?:croner|csv-parse|@cinnabar\/engine)(?:\/|$)/;
    const foreign = (target: string, file: string): boolean =>
      !isBuiltin(target) &&
      !target.startsWith("toolkit/") &&
      !known.test(target) &&
      !(target === "vitest" && file.includes("/testing/"));
    expect(offences(outside, foreign)).toEqual([]);
  });

  test("names folders and files that exist", () => {
    const paths = map.flatMap(({ folder, names }) => [folder, ...names.filter((name) => !/^@?cinnabar/.test(name))]);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test.each(["engine/src", "toolkit/src", "console/src"])("has a row for every folder of %s", (member) => {
    const entries = readdirSync(join(ROOT, member), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${member}/${name}/`);
    const known = (folder: string): boolean => map.some((row) => row.folder === folder || row.folder === `${member}/`);
    expect(folders.filter((folder) => !known(folder))).toEqual([]);
  });

  test("leaves no source of the engine outside of folders but its entry", () => {
    const files = readdirSync(join(ROOT, "engine/src"), { withFileTypes: true });
    expect(files.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual(["index.browser.ts", "index.ts"]);
  });
});

/** Words of JavaScript, Lua and the values' types that are names of commands, too. */
const OTHER_NAMES = new Set(["object", "function", "list", "set", "stream"]);

/** Where a text is compared that is a command's name: the texts, and what they are there. */
const COMPARED: Readonly<Record<string, readonly [words: string, reason: string]>> = {
  "cluster/manual-failover.ts": ["wait", "a mode of waiting for the primary"],
  "cluster/member.ts": ["wait", "a mode of waiting for the primary"],
  "config/rewrite.ts": ["memory", "a kind of directive"],
  "core/rare-errors.ts": ["command", "why a user was refused"],
  "core/replayer.ts": ["multi exec", "the frame of a unit in a file, whatever commands are called here"],
  "core/acl/index.ts": ["command", "why a user was refused"],
  "core/acl/selector.ts": ["command", "why a user was refused"],
  "core/acl/user.ts": ["reset", "a rule of ACL SETUSER"],
  "persist/aof/check.ts": ["multi exec", "the frame of a unit in a file; the checker has no table"],
  "persist/aof/manifest.ts": ["type", "a key of the manifest"],
  "persist/persistence.ts": ["sync", "a snapshot for a replica"],
  "process/metrics-server.ts": ["GET", "a method of HTTP"],
  "process/oom-score.ts": ["role", "a kind of event"],
  "replication/handshake.ts": ["ping auth replconf psync", "the steps of our own handshake, named for what they send"],
  "replication/info.ts": ["sync", "a state of the link"],
  "replication/link.ts": [
    "sync replconf",
    "a state of the link; what a primary asks for in the stream, before a row is looked for",
  ],
  "replication/payload.ts": ["swapdb", "a value of repl-diskless-load"],
  "scripting/functions.ts": ["flush", "a policy of FUNCTION RESTORE"],
  "scripting/lua/compiler/expressions.ts": ["KEYS", "a global of scripts"],
  "scripting/lua/lib/base.ts": ["count", "an option of collectgarbage"],
};

describe("no source contains", () => {
  const timed = [...sources("engine/src"), ...sources("toolkit/src")].filter(
    (file) => !/(^|\/)clock\.ts$|\/platform\/\w+\.browser\.ts$/.test(file),
  );
  const everywhere = ["engine", "toolkit", "console", "bench"].flatMap((folder) => filesBelow(folder, /\.tsx?$/));
  const containing = (files: readonly string[], what: RegExp): string[] =>
    files.filter((file) => what.test(codeOf(file)));

  test("time or chance outside clock.ts", () => {
    expect(containing(timed, /\bDate\.now\b|\bMath\.random\b|\bperformance\.now\b|\bnew Date\(\s*\)/)).toEqual([]);
  });

  test("the name of a command outside of its row and the table: what the engine must know of a command, its row says", () => {
    const outside = sources("engine/src").filter(
      (file) => !/^engine\/src\/(commands\/|table\/command-table\.ts)/.test(file),
    );
    const compared =
      /\b(command|row)\??\.name\s*[!=]==|\.(has|get)\((\w+\.)*(command|row)\.name\)|\[(\w+\.)*(command|row)\.name\]/;
    expect(containing(outside, compared)).toEqual([]);
  });

  test("texts compared with the name of a command outside of its row and the table, but for what is listed with its reason", () => {
    const names = new Set(
      groups.flatMap(({ rows }) =>
        rows.flatMap((row) => [row.name, ...(row.subcommands ?? []).map(({ name }) => name)]),
      ),
    );
    const literal = /(?:[!=]==\s*|\bcase\s+)"([\w-]+)"|"([\w-]+)"\s*[!=]==/g;
    const found = sources("engine/src").flatMap((file): [string, string][] => {
      const path = file.slice("engine/src/".length);
      if (/^(?:commands|table)\//.test(path)) return [];
      const words = [...withoutComments(file).matchAll(literal)].map((match) => match[1] ?? match[2]!);
      const compared = words.filter((word) => names.has(word.toLowerCase()) && !OTHER_NAMES.has(word));
      return compared.length === 0 ? [] : [[path, [...new Set(compared)].join(" ")]];
    });
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(Object.entries(COMPARED).map(([file, [words]]) => [file, words])),
    );
  });

  test("default exports", () => {
    expect(containing(everywhere, /^\s*export\s+default\b/m)).toEqual([]);
  });

  test("exports of everything", () => {
    expect(containing(everywhere, /^\s*export\s+\*/m)).toEqual([]);
  });

  test("enums", () => {
    expect(containing(everywhere, /^\s*(export\s+)?(declare\s+)?(const\s+)?enum\s+\w/m)).toEqual([]);
  });
});

/** The methods of a class with what stands in them, in a source as the formatter leaves it. */
function methodsOf(file: string): Map<string, string> {
  const methods = [...read(file).matchAll(/^ {2}(?:get )?(#?\w+)(?:<.*>)?\([\s\S]*?^ {2}\}$/gm)];
  return new Map(methods.map(([text, name]) => [name!, text]));
}

describe("the door", () => {
  const methods = methodsOf("engine/src/core/db.ts");
  /** What changes a table or lets somebody change a value. */
  const changes =
    /\b(keyspace|expires)\.(addNew|deleteAt|set|delete|clear)\(|\b(keyspace|expires)(\] = | = )|values!\[.*\] = |\bchange\(/;
  const reaches = (name: string, seen = new Set<string>()): boolean => {
    // Reading an expired key removes it; no caller asked for that change.
    // And a copy in the place of a value that an image has is the same value.
    if (seen.has(name) || name === "#find" || name === "#ownAt") return false;
    seen.add(name);
    const body = methods.get(name) ?? "";
    const called = [...body.matchAll(/\b(?:this|into|other)\.(#?\w+)\(/g)].map(([, callee]) => callee!);
    return changes.test(body) || called.some((callee) => reaches(callee, seen));
  };

  test("is every public method of Db that changes a key, and ARCHITECTURE.md names them all", () => {
    const doors = [...methods.keys()].filter((name) => !name.startsWith("#") && reaches(name));
    const sentence = /^5\. `engine\/src\/core\/db\.ts` is the one door(.*)$/m.exec(read("ARCHITECTURE.md"))![1]!;
    expect([...sentence.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(doors.sort());
    expect(methods.size).toBeGreaterThan(40);
  });

  test("nothing but the door changes the tables of a database", () => {
    const changed =
      /\b(?:keyspace|expires)\b[?!]?\.(?:addNew|add|deleteAt|set|delete|clear|reserve|thaw)\(|\.(?:keyspace|expires) = /;
    const others = sources("engine/src").filter((file) => file !== "engine/src/core/db.ts");
    expect(others.filter((file) => changed.test(codeOf(file)))).toEqual([]);
    expect(changed.test(codeOf("engine/src/core/db.ts"))).toBe(true);
  });
});

describe("between a command's first and last step", () => {
  test("a handler of a command never waits", () => {
    expect(read("engine/src/table/command.ts")).toContain("type Handler = (client: Client, args: Args) => Reply;");
    expect(read("engine/src/core/reply.ts")).not.toContain("Promise");
    expect(methodsOf("engine/src/core/engine.ts").get("execute")).toMatch(/^ {2}execute\(/);
    // SHUTDOWN and CONFIG SET answer later: they block their client, and are over for the engine.
    const waits = /\basync\b|\bawait\b/;
    const folders = ["commands", "types", "table"].flatMap((folder) => sources(`engine/src/${folder}`));
    expect(folders.filter((file) => waits.test(codeOf(file)))).toEqual([]);
  });
});
