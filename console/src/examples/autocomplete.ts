/**
 * Completion while somebody types: whom they wrote to lately, and the members of a guild, in any script (`cinnabar/autocomplete`).
 * Writing to a member puts them first among the writer's contacts, and makes them heavier among the members.
 */
import { PrefixIndex, RecentContacts } from "cinnabar/autocomplete";
import { announce, eventsRoute } from "../events.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { integer, object, oneOf, string } from "../schema.ts";
import { perStore } from "../work.ts";
import { SAMPLE_MEMBERS } from "./autocomplete-sample.ts";
import { type Example, type Progress, prefixOf } from "./example.ts";
import { needVisitor } from "./visitor.ts";

const group = "Examples";
const EXAMPLE = "autocomplete";
const MOST_MEMBERS = 10_000;
const AT_ONCE = 100;
const NAME = string({ minLength: 1, maxLength: 60, pattern: "^[^\\u0000-\\u001f]+$" });
const ONE = object({ name: NAME });
const BEGINNING = string({ maxLength: 60, default: "", description: "What was typed; case does not matter." });
const LIMIT = integer({ minimum: 1, maximum: 100, default: 8 });

const people = perStore((store) => ({
  contacts: new RecentContacts(store, { prefix: prefixOf(EXAMPLE, "contacts"), maxContacts: 100 }),
  members: new PrefixIndex(store, "guild", { prefix: prefixOf(EXAMPLE, "members"), rankedBeginnings: 2 }),
}));

const cleaned = (name: string): string => {
  const text = name.normalize("NFC").trim().replace(/\s+/g, " ");
  if (text === "") throw new Problem(400, "NAME", "a name is needed");
  return text;
};

async function members(context: Context, beginning: string, order: "name" | "weight", limit: number) {
  const { members: guild } = people(context);
  const [found, size] = await Promise.all([
    order === "weight"
      ? guild.suggest(beginning, { limit })
      : guild.complete(beginning, { limit }).then((names) => ({ names, exact: true })),
    guild.count(),
  ]);
  return { ...found, size };
}

/** What stands below the field: contacts first, then members who are not among them. Both are asked at once. */
async function complete(context: Context, visitor: string, beginning: string) {
  const { contacts, members: guild } = people(context);
  const [recent, heaviest] = await Promise.all([
    contacts.complete(visitor, beginning, { limit: 5 }),
    guild.suggest(beginning, { limit: 12 }),
  ]);
  const known = new Set(recent);
  return { contacts: recent, members: heaviest.names.filter((name) => !known.has(name)).slice(0, 7) };
}

async function write(context: Context, visitor: string, name: string) {
  const { contacts, members: guild } = people(context);
  const to = cleaned(name);
  const [[member]] = await Promise.all([guild.complete(to, { limit: 1 }), contacts.touch(visitor, to)]);
  // Being written to makes nobody a member.
  if (member?.toLowerCase() === to.toLowerCase()) await guild.bump(member);
  await announce(context.store, EXAMPLE, { type: "written", to });
  return { to };
}

async function join(context: Context, name: string) {
  const { members: guild } = people(context);
  const member = cleaned(name);
  if ((await guild.count()) >= MOST_MEMBERS) throw new Problem(409, "FULL", `the guild has ${MOST_MEMBERS} members`);
  // Adds nothing to the weight of a present member.
  await guild.bump(member, 0);
  await announce(context.store, EXAMPLE, { type: "joined", member });
  return { member };
}

async function leave(context: Context, name: string): Promise<void> {
  if (!(await people(context).members.delete(name)))
    throw new Problem(404, "NO_MEMBER", "nobody of that name is a member");
  await announce(context.store, EXAMPLE, { type: "left", member: name });
}

const ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/examples/autocomplete/complete",
    group,
    summary: "Completes what is being typed: recent contacts, then the members who are written to most.",
    query: object({ beginning: BEGINNING }),
    answers: "Names, as they are written.",
    run: (context, { query, request }) => complete(context, needVisitor(request), query.beginning),
  }),
  route({
    method: "GET",
    url: "/api/examples/autocomplete/contacts",
    group,
    summary: "Your contacts, the latest first.",
    query: object({ beginning: BEGINNING }),
    answers: "Names.",
    run: async (context, { query, request }) => ({
      names: await people(context).contacts.complete(needVisitor(request), query.beginning, { limit: AT_ONCE }),
    }),
  }),
  route({
    method: "POST",
    url: "/api/examples/autocomplete/messages",
    group,
    summary: "Writes to somebody, who is then your latest contact.",
    body: ONE,
    answers: "To whom.",
    run: (context, { body, request }) => write(context, needVisitor(request), body.name),
  }),
  route({
    method: "DELETE",
    url: "/api/examples/autocomplete/contacts/:name",
    group,
    summary: "Forgets a contact.",
    params: ONE,
    answers: "Nothing.",
    run: async (context, { params, request }) => {
      if (await people(context).contacts.delete(needVisitor(request), params.name)) return;
      throw new Problem(404, "NO_CONTACT", "that is none of your contacts");
    },
  }),
  route({
    method: "GET",
    url: "/api/examples/autocomplete/members",
    group,
    summary: "Members of the guild with a beginning, by name or the most written to first.",
    query: object({ beginning: BEGINNING, order: oneOf(["name", "weight"]), limit: LIMIT }),
    answers: "Names; how many members there are; `exact` is false where heavier ones may be missing.",
    run: (context, { query }) => members(context, query.beginning, query.order, query.limit),
  }),
  route({
    method: "POST",
    url: "/api/examples/autocomplete/members",
    group,
    summary: "Joins the guild under a name.",
    body: ONE,
    answers: "The name.",
    run: (context, { body }) => join(context, body.name),
  }),
  route({
    method: "DELETE",
    url: "/api/examples/autocomplete/members/:name",
    group,
    summary: "Leaves the guild.",
    params: ONE,
    answers: "Nothing.",
    run: (context, { params }) => leave(context, params.name),
  }),
  eventsRoute(EXAMPLE, "Who joins, leaves and is written to, as server-sent events."),
];

async function make(context: Context, progress: Progress): Promise<void> {
  const { members: guild } = people(context);
  const total = SAMPLE_MEMBERS.length;
  // Adding sets weights: a guild that is there already keeps those it has earned.
  if ((await guild.count()) >= total) return;
  for (let at = 0; at < total; at += AT_ONCE) {
    await guild.addMany(SAMPLE_MEMBERS.slice(at, at + AT_ONCE));
    progress(Math.min(at + AT_ONCE, total), total);
  }
}

export const autocomplete: Example = {
  name: EXAMPLE,
  title: "Autocomplete",
  about:
    "Names are completed while you type: whom you wrote to lately, and the members of a guild, in any script and without regard to case.",
  components: ["autocomplete"],
  routes: ROUTES,
  make,
};
