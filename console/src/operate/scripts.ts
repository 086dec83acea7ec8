/** Scripts and functions: what the server holds, what runs, and a place to try one. */
import { type Answer, type Reply, ServerError } from "cinnabar";
import { parseInfo } from "../info.ts";
import { type Context, type Route, route } from "../route.ts";
import { array, boolean, integer, named, nullable, number, object, string } from "../schema.ts";
import { DONE, VALUE } from "../shapes.ts";
import { fieldsOf, jsonOf, listOf, textIn, textsOf, wordOf } from "../values.ts";

const group = "Scripts";
const WORDS = array(string({ maxLength: 65_536 }), { maxItems: 256 });
const MOST_CODE = 512 * 1024;

const LIBRARY = named(
  "FunctionLibrary",
  object({
    name: string(),
    engine: string(),
    code: string(),
    functions: array(object({ name: string(), description: nullable(string()), flags: array(string()) })),
  }),
);

const HELD = object({
  cached: integer({ description: "Scripts." }),
  bytes: integer(),
  libraries: { ...nullable(array(LIBRARY)), description: "Null where the server has no functions." },
  running: array(object({ name: string(), command: array(string()), ms: nullable(number()) })),
});

/** The answer of each node, or the first error. */
async function everywhere({ store }: Context, words: readonly string[]): Promise<Reply[]> {
  const answers = await store.sendToAll(words);
  return answers.map((answer) => {
    if (answer instanceof Error) throw answer;
    return answer;
  });
}

function libraryOf(flat: Reply) {
  const library = fieldsOf(flat);
  const functions = listOf(library.get("functions")).map((each) => {
    const { name, description, flags } = Object.fromEntries(fieldsOf(each));
    return { name, description: description ?? null, flags: textsOf(flags) };
  });
  return {
    name: textIn(library, "library_name"),
    engine: textIn(library, "engine"),
    code: library.get("library_code") ?? "",
    functions,
  };
}

/** What runs now on a node and has run for a while. Of a function the server tells all, of a script only that there is one. */
function runningOf(answer: Answer): { name: string; command: string[]; ms: number | null }[] {
  if (answer instanceof ServerError) {
    return answer.code === "BUSY" ? [{ name: "a script", command: [], ms: null }] : [];
  }
  const running = fieldsOf(answer).get("running_script");
  if (!Array.isArray(running)) return [];
  const { name, command, duration_ms: ms } = Object.fromEntries(fieldsOf(running));
  return [{ name: String(name), command: textsOf(command), ms: Number(ms) }];
}

/** While a script runs too long, the server answers only who asks for just that. */
async function show(context: Context) {
  const [memory, libraries, stats] = await Promise.all([
    everywhere(context, ["INFO", "memory"]).catch(() => []),
    // Functions are the same on every node, or ought to be. Before Redis 7 there are none.
    context.store.call("FUNCTION", "LIST", "WITHCODE").catch(() => null),
    context.store.sendToAll(["FUNCTION", "STATS"]),
  ]);
  const figures = memory.map((info) => parseInfo(String(info)).Memory ?? {});
  const sum = (field: string) => figures.reduce((total, each) => total + Number(each[field] ?? 0), 0);
  return {
    cached: sum("number_of_cached_scripts"),
    bytes: sum("used_memory_scripts"),
    libraries: libraries === null ? null : listOf(libraries).map(libraryOf),
    running: stats.flatMap(runningOf),
  };
}

interface Trial {
  readonly script: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  readonly readOnly: boolean;
}

async function tryOut({ store }: Context, { script, keys, args, readOnly }: Trial) {
  const begun = performance.now();
  const words = [readOnly ? "EVAL_RO" : "EVAL", script, keys.length, ...keys.map(wordOf), ...args.map(wordOf)];
  const value = jsonOf(await store.send(words, { buffers: true, repeatable: false }));
  return { value, ms: performance.now() - begun };
}

/** Both kinds: whichever runs. */
async function kill(context: Context) {
  const answers = await context.store.sendToAll(["SCRIPT", "KILL"]);
  const killed = answers.filter((answer) => !(answer instanceof Error)).length;
  if (killed > 0) return { killed };
  const functions = await context.store.sendToAll(["FUNCTION", "KILL"]);
  const failure = functions.find((answer) => answer instanceof Error);
  if (functions.every((answer) => answer instanceof Error)) throw failure;
  return { killed: functions.filter((answer) => !(answer instanceof Error)).length };
}

export const SCRIPT_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/scripts",
    group,
    summary: "Scripts and functions that the server holds.",
    answers: "How many scripts and their memory, function libraries with their code, what runs now.",
    answer: HELD,
    run: show,
  }),
  route({
    method: "POST",
    url: "/api/scripts/run",
    group,
    summary: "Runs a script once.",
    body: object({
      script: string({ minLength: 1, maxLength: MOST_CODE }),
      keys: WORDS,
      args: WORDS,
      readOnly: boolean("Refuses every write."),
    }),
    answers: "What it returned, and the milliseconds.",
    answer: object({ value: VALUE, ms: number() }),
    run: (context, { body }) => tryOut(context, body),
  }),
  route({
    method: "POST",
    url: "/api/scripts/kill",
    group,
    summary: "Ends the script or function that runs, if it has not written.",
    answers: "How many ended.",
    answer: object({ killed: integer() }),
    run: kill,
  }),
  route({
    method: "POST",
    url: "/api/scripts/flush",
    group,
    summary: "Forgets all cached scripts. Clients load them again when they next need them.",
    answers: "Nothing.",
    answer: DONE,
    run: async (context) => void (await everywhere(context, ["SCRIPT", "FLUSH"])),
  }),
  route({
    method: "POST",
    url: "/api/functions",
    group,
    summary: "Loads a function library, in place of one of the same name if `replace` says so.",
    body: object({
      code: string({ minLength: 1, maxLength: MOST_CODE }),
      replace: boolean("In place of the one that is there."),
    }),
    answers: "The library's name.",
    answer: object({ name: string() }),
    run: async (context, { body }) => ({
      name: String(
        (await everywhere(context, ["FUNCTION", "LOAD", ...(body.replace ? ["REPLACE"] : []), body.code]))[0],
      ),
    }),
  }),
  route({
    method: "DELETE",
    url: "/api/functions/:name",
    group,
    summary: "Deletes a function library.",
    params: object({ name: string({ minLength: 1, maxLength: 512 }) }),
    answers: "Nothing.",
    answer: DONE,
    run: async (context, { params }) => void (await everywhere(context, ["FUNCTION", "DELETE", params.name])),
  }),
];
