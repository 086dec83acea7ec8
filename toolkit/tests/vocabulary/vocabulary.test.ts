/**
 * One vocabulary for the public API: a user who has learnt one component can guess the next. docs/vocabulary.md has the words; this test
 * holds every export to them. What differs for a good reason is in exceptions.ts, with the reason.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { EXCEPTIONS } from "./exceptions.ts";
import { type Field, type Method, readSurface, type Surface } from "./surface.ts";

let surface: Surface;
const used = new Set<string>();

beforeAll(() => {
  surface = readSurface();
}, 120_000);

/** Offences that have no exception; an exception that nothing needs is an offence too (below). */
function offences(found: readonly string[]): string[] {
  return [...new Set(found)].filter((path) => {
    if (EXCEPTIONS[path] === undefined) return true;
    used.add(path);
    return false;
  });
}

const methods = (): Method[] =>
  surface.classes.filter(({ isError }) => !isError).flatMap(({ methods: own }) => [...own]);

/** Options, results and what is in them. */
const fields = (): Field[] => [
  ...surface.fields,
  ...methods().flatMap(({ parameters }) => parameters.flatMap((each) => [...each.fields])),
];

const isOption = ({ path }: Field): boolean =>
  /Options$/.test(path.split(".")[0]!) || path.split(".").length === 3 || /^(Rule|Settings|ScheduleTimes)\./.test(path);

describe("doing", () => {
  /** Words that have another one in this house, and what it is. */
  const INSTEAD: Readonly<Record<string, string>> = {
    find: "get",
    getAll: "getMany",
    put: "set",
    make: "create",
    amend: "update",
    edit: "update",
    change: "update",
    remove: "delete",
    drop: "delete",
    destroy: "delete",
    dismiss: "delete",
    forget: "delete",
    obliterate: "clear",
    size: "count",
    total: "count",
    info: "inspect",
    report: "inspect",
    status: "inspect",
    metrics: "stats",
    scan: "list",
    names: "list",
    wait: "waitFor",
    stream: "the name of its items",
    listen: "the name of its items",
  };

  test("has one word for one thing", () => {
    const found = methods().flatMap(({ path, name }) => {
      const [first] = /^[a-z]+/.exec(name) ?? [""];
      return name !== "waitFor" && (INSTEAD[name] ?? INSTEAD[first!]) !== undefined ? [path] : [];
    });
    expect(offences(found)).toEqual([]);
  });

  test("has …Many for several at once", () => {
    expect(offences(methods().flatMap(({ path, name }) => (/(Bulk|All)$/.test(name) ? [path] : [])))).toEqual([]);
  });

  test("takes no rest arguments", () => {
    const found = methods().flatMap(({ path, parameters }) => (parameters.some(({ isRest }) => isRest) ? [path] : []));
    expect(offences(found)).toEqual([]);
  });

  test("takes limit, cursor and offset as options", () => {
    const found = methods().flatMap(({ path, parameters }) =>
      parameters.some(({ name }) => ["limit", "cursor", "offset", "signal", "timeoutMs"].includes(name)) ? [path] : [],
    );
    expect(offences(found)).toEqual([]);
  });

  test("lists in pages: items and a cursor", () => {
    const found = methods().flatMap(({ path, name, resultFields }) =>
      name === "list" && !(resultFields.includes("items") && resultFields.includes("cursor")) ? [path] : [],
    );
    expect(offences(found)).toEqual([]);
  });
});

describe("options", () => {
  const DURATIONS = new Set(
    "ttlMs idleMs waitMs timeoutMs everyMs keepMs leaseMs freshMs staleMs halfLifeMs delayMs backoffMs bufferMs maxLagMs windowMs retryMs pollMs".split(
      " ",
    ),
  );

  /** One of the words, or one with a word before it that says of what: `connectTimeoutMs`, `keepDoneMs`, `maxWaitMs`. */
  const isDuration = (name: string): boolean =>
    DURATIONS.has(name) ||
    [...DURATIONS].some((word) => name.endsWith(word[0]!.toUpperCase() + word.slice(1))) ||
    /^keep[A-Z][a-z]+Ms$/.test(name);

  test("have one word for one duration", () => {
    const found = fields()
      .filter((field) => isOption(field) && field.name.endsWith("Ms") && !isDuration(field.name))
      .map(({ path }) => path);
    expect(offences(found)).toEqual([]);
  });

  test("have milliseconds and bytes as their only units", () => {
    const found = fields().filter(({ name }) =>
      /(Seconds|Secs|Minutes|Hours|Days|Kb|KB|Mb|MB)$|^(ttl|timeout|interval)$/.test(name),
    );
    expect(offences(found.map(({ path }) => path))).toEqual([]);
  });

  test("page by limit and cursor, not by other words", () => {
    const found = fields().filter(
      (field) => isOption(field) && /^(before|after|next|page|pageSize|skip|count)$/.test(field.name),
    );
    expect(offences(found.map(({ path }) => path))).toEqual([]);
  });

  test("come last, or before the function that is to run", () => {
    const found = methods().flatMap(({ path, parameters }) => {
      const at = parameters.findIndex(({ name }) => name === "options");
      const last = parameters.at(-1)?.name === "body" ? parameters.length - 2 : parameters.length - 1;
      return at >= 0 && at !== last ? [path] : [];
    });
    expect(offences(found)).toEqual([]);
  });
});

describe("results", () => {
  test("with more than two outcomes have a status", () => {
    const found = methods().flatMap(({ path, words, result }) =>
      words.length > 2 || (words.length > 0 && result.includes("{")) ? [path] : [],
    );
    expect(offences(found)).toEqual([]);
  });

  test("say how it went in kebab-case, with one word for one thing", () => {
    const found = [...surface.statuses].flatMap(([path, words]) =>
      words
        .filter(
          (word) =>
            !/^[a-z]+(-[a-z]+)*$/.test(word) ||
            ["missing", "unknown", "absent", "already", "removed", "before", "busy"].includes(word),
        )
        .map((word) => `${path}: ${word}`),
    );
    expect(offences(found)).toEqual([]);
  });

  test("have their outcome in `status`", () => {
    const found = fields().filter(
      ({ name, path }) => /Outcome\./.test(path) && ["outcome", "changed", "ok", "success"].includes(name),
    );
    expect(offences(found.map(({ path }) => path))).toEqual([]);
  });

  test("have points in time as a Date that ends in At", () => {
    const found = fields().filter(
      ({ name, type, path }) =>
        (/At$/.test(name) && !/\bDate\b/.test(type)) ||
        (/^(at|created|started|finished|ended|ends|sent|updated|posted|seen|due|next|expires)Ms$/.test(name) &&
          !path.includes("Options.")),
    );
    expect(offences(found.map(({ path }) => path))).toEqual([]);
  });

  test("page by items and cursor", () => {
    const found = fields().filter(
      ({ path, name }) =>
        /Page\./.test(path) && /^(next|after|jobs|messages|elements|entries|rows|results)$/.test(name),
    );
    expect(offences(found.map(({ path }) => path))).toEqual([]);
  });
});

describe("running", () => {
  test("what holds resources can be disposed of", () => {
    const found = surface.classes.flatMap(({ name, methods: own }) => {
      const names = new Set(own.map((each) => each.name));
      const holds = names.has("close") || (names.has("start") && names.has("stop"));
      return holds && !names.has("[asyncDispose]") ? [name] : [];
    });
    expect(offences(found)).toEqual([]);
  });

  test("what starts can be stopped", () => {
    const found = surface.classes.flatMap(({ name, methods: own }) => {
      const names = new Set(own.map((each) => each.name));
      return names.has("start") !== names.has("stop") ? [name] : [];
    });
    expect(offences(found)).toEqual([]);
  });

  test("events are heard by on(event, listener), which returns what takes the listener off", () => {
    const found = methods().flatMap(({ path, name, parameters, result }) => {
      if (/^on[A-Z]/.test(name) || name === "addListener" || name === "once") return [path];
      if (name !== "on") return [];
      const isRight = parameters.map((each) => each.name).join() === "event,listener" && result === "() => void";
      return isRight ? [] : [path];
    });
    expect(offences(found)).toEqual([]);
  });
});

describe("making", () => {
  test("begins with the store, or the stores", () => {
    const found = surface.classes
      .filter(
        ({ isError, isTypeOnly, constructorParameters: [first] }) =>
          !isError && !isTypeOnly && first !== undefined && first !== "store" && first !== "stores",
      )
      .map(({ name }) => `new ${name}`);
    expect(offences(found)).toEqual([]);
  });

  test("gives every class a name of its own", () => {
    const names = surface.classes.map(({ name }) => name);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  test("gives a path and its one main class the same word", () => {
    const kebab = (name: string) => name.replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();
    const found = surface.entries.filter((entry) => {
      if (entry === "" || entry.includes("/")) return false;
      return !surface.classes.some((each) => each.entry === entry && kebab(each.name) === entry);
    });
    expect(offences(found.map((entry) => `cinnabar/${entry}`))).toEqual([]);
  });

  test("gives errors a name that ends in Error", () => {
    expect(
      surface.classes.filter(({ isError, name }) => isError && !name.endsWith("Error")).map(({ name }) => name),
    ).toEqual([]);
  });
});

test("every exception is needed", () => {
  expect(Object.keys(EXCEPTIONS).filter((path) => !used.has(path))).toEqual([]);
});
