import { addEvents, openStream } from "../events.ts";
import { parseInfo } from "../info.ts";
import { infoOfAll, type LiveEvent, PRECISIONS } from "../live.ts";
import { type Context, type Input, Problem, type Route, route } from "../route.ts";
import { array, boolean, either, integer, named, nullable, number, object, oneOf, record, string } from "../schema.ts";
import { DONE, MILLISECONDS } from "../shapes.ts";
import { listOf, textsOf } from "../values.ts";
import { OWN_NAME, ownAddresses } from "./own-clients.ts";
import { keepUndo, UNDO } from "./undo.ts";

const group = "Server";

const FIELDS = record(string());

const INFO = object({
  backend: string(),
  topology: oneOf(["embedded", "single", "sentinel", "cluster"]),
  state: either(object({ state: oneOf(["ready"]) }), object({ state: oneOf(["lost"]), reason: string() })),
  nodes: array(record(FIELDS)),
});

const CIRCUIT = named(
  "Circuit",
  object({
    server: string({ description: "Its address; empty where there is only one." }),
    state: oneOf(["closed", "open", "half-open"]),
    failures: integer({ description: "Attempts in a row without an answer." }),
    openForMs: number({ description: "0 while it is closed." }),
    error: nullable(string({ description: "What the last failure said." })),
  }),
);

const LATENCY = nullable(integer({ description: "Microseconds; null where nothing is known." }));

const POINT = named(
  "Point",
  object({
    at: integer({ description: MILLISECONDS }),
    ops: number({ description: "Commands per second." }),
    p50: LATENCY,
    p99: LATENCY,
    p999: LATENCY,
    memory: integer(),
    hitRate: nullable(number({ description: "Null where nothing was looked up." })),
    clients: integer(),
    keys: integer(),
    netIn: number({ description: "Bytes per second." }),
    netOut: number({ description: "Bytes per second." }),
  }),
);

const SLOW = named(
  "SlowCommand",
  object({
    id: integer(),
    at: integer({ description: MILLISECONDS }),
    micros: integer(),
    words: array(string()),
    address: string(),
    name: string(),
    own: boolean("Whether this console ran it."),
  }),
);

const DIRECTIVE = object({ name: string(), value: string(), secret: boolean("Its value is not shown.") });

async function info({ store, backend, live }: Context) {
  const nodes = await infoOfAll(store);
  return { backend, topology: store.topology, state: live.state, nodes };
}

/** Server-sent events: first the state, then each second's point; with examples, what is announced for them, too. */
function stream(context: Context, input: Input<{ readonly example?: string }, unknown, unknown>): void {
  const { live } = context;
  const { example } = input.query;
  const events = openStream(input);
  const send = ({ type, ...rest }: LiveEvent) => events.send(type, "point" in rest ? rest.point : rest);
  send({ type: "state", ...live.state });
  events.onClose(live.listen(send));
  for (const name of new Set(example?.split(","))) addEvents(context, events, name);
}

/** Entries of the slow log, of all nodes, the newest first. */
async function slowLog({ store }: Context, count: number) {
  const own = await ownAddresses(store);
  const answers = await store.sendToAll(["SLOWLOG", "GET", count]);
  const entries = answers.flatMap((answer) => {
    if (answer instanceof Error) throw answer;
    return listOf(answer)
      .map(listOf)
      .map(([id, at, micros, words, address, name]) => ({
        id: Number(id),
        at: Number(at) * 1_000,
        micros: Number(micros),
        words: textsOf(words),
        address: String(address ?? ""),
        name: String(name ?? ""),
        own: name === OWN_NAME || own.has(String(address ?? "")),
      }));
  });
  return entries.sort((a, b) => b.at - a.at || b.id - a.id).slice(0, count);
}

async function clients({ store }: Context) {
  const own = await ownAddresses(store);
  const answers = await store.sendToAll(["CLIENT", "LIST"]);
  return answers.flatMap((answer) => {
    if (answer instanceof Error) throw answer;
    return (
      String(answer)
        .split("\n")
        .filter((line) => line !== "")
        .map((line): Record<string, string> => Object.fromEntries(line.split(" ").map((part) => splitAt(part, "="))))
        // A connection that is being closed (A, c) is none any more.
        .filter(({ flags = "" }) => !/[Ac]/.test(flags))
        .map((client) => ({ ...client, own: own.has(client.addr ?? "") ? "1" : "0" }))
    );
  });
}

function splitAt(part: string, sign: string): [string, string] {
  const at = part.indexOf(sign);
  return at === -1 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
}

async function killClient({ store }: Context, id: number) {
  const answers = await store.sendToAll(["CLIENT", "KILL", "ID", id]);
  const killed = answers.reduce<number>((sum, answer) => sum + (typeof answer === "number" ? answer : 0), 0);
  if (killed === 0) throw new Problem(404, "NOT_FOUND", `no client has the id ${id}`);
  return { killed };
}

/** Directives whose values are secrets: told to be set, not shown. */
const SECRET = new Set(["requirepass", "masterauth", "masteruser", "tls-key-file-pass", "tls-client-key-file-pass"]);

async function config({ store }: Context) {
  return Object.entries(await store.configGet("*"))
    .map(([name, value]) => ({
      name,
      value: SECRET.has(name) && value !== "" ? "••••••" : value,
      secret: SECRET.has(name),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What a directive is set to on every node; undefined where they differ. */
async function directiveOf({ store }: Pick<Context, "store">, name: string): Promise<string | undefined> {
  const values = (await store.sendToAll(["CONFIG", "GET", name])).map((answer) =>
    Array.isArray(answer) && answer.length === 2 ? String(answer[1]) : undefined,
  );
  return values.every((value) => value === values[0]) ? values[0] : undefined;
}

async function sendConfig({ store }: Pick<Context, "store">, name: string, value: string): Promise<void> {
  for (const answer of await store.sendToAll(["CONFIG", "SET", name, value])) if (answer instanceof Error) throw answer;
}

/** Secrets are not kept, so that they cannot be put back. */
async function setConfig(context: Context, name: string, value: string) {
  const before = SECRET.has(name) ? undefined : await directiveOf(context, name);
  await sendConfig(context, name, value);
  if (before === undefined) return { undo: null };
  const after = await directiveOf(context, name);
  const back = async (later: Context) => {
    if ((await directiveOf(later, name)) !== after)
      throw new Problem(409, "CHANGED", `not undone: somebody has changed ${name} meanwhile`);
    await sendConfig(later, name, before);
  };
  const about = { action: "undo CONFIG SET", name };
  return { undo: keepUndo(context, { about, bytes: before.length, role: "admin", back }) };
}

async function persistence({ store }: Context) {
  const answers = await store.sendToAll(["INFO", "persistence"]);
  return answers.map((answer) => {
    if (answer instanceof Error) throw answer;
    return parseInfo(String(answer)).Persistence ?? {};
  });
}

async function persist({ store }: Context, what: "snapshot" | "rewrite") {
  const answers = await store.sendToAll([what === "snapshot" ? "BGSAVE" : "BGREWRITEAOF"]);
  for (const answer of answers) if (answer instanceof Error) throw answer;
  return { answer: String(answers[0] ?? "") };
}

export const SERVER_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/info",
    group,
    summary: "INFO of every node.",
    answers: "Sections of fields.",
    answer: INFO,
    run: info,
  }),
  route({
    method: "GET",
    url: "/api/circuits",
    group,
    summary:
      "The circuit breaker of every server, as this console's store sees it. Asks no server, so that it answers in an outage.",
    answers: "One circuit for each server; none for a store in the console's own process.",
    answer: object({ circuits: array(CIRCUIT) }),
    run: ({ store }: Context) => ({ circuits: store.servers() }),
  }),
  route({
    method: "GET",
    url: "/api/live",
    group,
    summary:
      "What happens now, as server-sent events: `state` and, each second, `point`; with examples also their `change` and `resumed`, so that all pages of a browser need one connection.",
    query: object(
      {
        example: string({
          minLength: 1,
          maxLength: 200,
          pattern: "^[a-z]+(,[a-z]+){0,15}$",
          description: "Names of examples, with commas between them.",
        }),
      },
      ["example"],
    ),
    answers: "A stream of events.",
    media: "text/event-stream",
    run: stream,
  }),
  route({
    method: "GET",
    url: "/api/live/history",
    group,
    summary: "Points of the last hour.",
    query: object({
      seconds: integer({
        default: 1,
        minimum: 1,
        maximum: 10,
        description: `Seconds of one point: ${PRECISIONS.map(({ seconds }) => seconds).join(", ")}.`,
      }),
    }),
    answers: "Points, the oldest first.",
    answer: object({ points: array(POINT) }),
    run: ({ live }, { query }) => ({ points: live.history(query.seconds) }),
  }),
  route({
    method: "GET",
    url: "/api/slowlog",
    group,
    summary: "Commands that took long.",
    query: object({ count: integer({ default: 128, minimum: 1, maximum: 10_000 }) }),
    answers: "Entries, the newest first.",
    answer: object({ entries: array(SLOW) }),
    run: async (context, { query }) => ({ entries: await slowLog(context, query.count) }),
  }),
  route({
    method: "DELETE",
    url: "/api/slowlog",
    group,
    summary: "Empties the slow log.",
    answers: "Nothing.",
    answer: DONE,
    run: async ({ store }) => void (await store.sendToAll(["SLOWLOG", "RESET"])),
  }),
  route({
    method: "GET",
    url: "/api/clients",
    group,
    summary: "Connections of every node.",
    answers: "The fields of CLIENT LIST, and `own`: 1 for the console itself.",
    answer: object({ clients: array(FIELDS) }),
    run: async (context) => ({ clients: await clients(context) }),
  }),
  route({
    method: "DELETE",
    url: "/api/clients/:id",
    group,
    summary: "Ends a connection.",
    params: object({ id: integer({ minimum: 0 }) }),
    answers: "How many were ended.",
    answer: object({ killed: integer() }),
    run: (context, { params }) => killClient(context, params.id),
  }),
  route({
    method: "GET",
    url: "/api/config",
    group,
    summary: "The configuration; passwords are not shown.",
    answers: "Directives by name.",
    answer: object({ directives: array(DIRECTIVE) }),
    run: async (context) => ({ directives: await config(context) }),
  }),
  route({
    method: "PUT",
    url: "/api/config/:name",
    group,
    summary: "Sets a directive on every node.",
    params: object({ name: string({ minLength: 1, maxLength: 100 }) }),
    body: object({ value: string({ maxLength: 10_000 }) }),
    answers: "What undoes it.",
    answer: object({ undo: UNDO }),
    run: (context, { params, body }) => setConfig(context, params.name, body.value),
  }),
  route({
    method: "GET",
    url: "/api/persistence",
    group,
    summary: "Snapshots and the append-only file: state and progress, for each node.",
    answers: "The fields of INFO persistence.",
    answer: object({ nodes: array(FIELDS) }),
    run: async (context) => ({ nodes: await persistence(context) }),
  }),
  route({
    method: "POST",
    url: "/api/persistence",
    group,
    summary: "Begins a snapshot (BGSAVE) or a rewrite (BGREWRITEAOF).",
    body: object({ what: oneOf(["snapshot", "rewrite"]) }),
    answers: "What the server said.",
    answer: object({ answer: string() }),
    run: (context, { body }) => persist(context, body.what),
  }),
];
