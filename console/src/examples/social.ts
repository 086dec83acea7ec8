/**
 * The social network: people sign up, post, follow, make lists (`cinnabar/social`), and hear of everything as it is posted
 * (`cinnabar/streaming`). A visitor has one account, whose id comes from the visitor's name. The threshold is low, so that a sample
 * shows both ways: those with ten followers and more are merged in at reading, the others are delivered by workers.
 */
import { createHash } from "node:crypto";
import { Social, type User } from "cinnabar/social";
import { StatusStream } from "cinnabar/streaming";
import { StreamEndpoint } from "cinnabar/streaming/http";
import type { FastifyReply } from "fastify";
import { announce, eventsRoute } from "../events.ts";
import { type Context, type Input, Problem, type Route, route } from "../route.ts";
import { boolean, object, string } from "../schema.ts";
import { whileVisited } from "../visits.ts";
import { forEachOf, perStore } from "../work.ts";
import { type Example, type Progress, prefixOf } from "./example.ts";
import { SAMPLE_LIST, SAMPLE_PEOPLE, sampleFollows, sampleStatuses } from "./social-sample.ts";
import { needVisitor } from "./visitor.ts";

const group = "Examples";
const NAME = "social";
const PUSH_BELOW = 10;
const SHOWN = 20;
const MOST_PEOPLE = 100;

/** Everybody here comes from one machine. */
const NO_LIMITS = {
  connectsPerMinutePerUser: null,
  connectsPerMinutePerAddress: null,
  connectionsPerUser: null,
  connectionsPerAddress: null,
};

/** Accounts by when they were made, for the list of people: the component has no such list, since it could be of any length. */
const PEOPLE = prefixOf(NAME, "people");

const stream = perStore(
  (store) => new StatusStream(store, "public", { prefix: prefixOf(NAME, "stream"), maxEvents: 1_000 }),
);
const network = perStore(
  (store) =>
    new Social(store, {
      prefix: prefixOf(NAME, "network"),
      pushBelow: PUSH_BELOW,
      maxTextBytes: 1_200,
      stream: stream({ store }),
    }),
);
const endpoint = perStore(
  (store) =>
    new StreamEndpoint(stream({ store }), { prefix: prefixOf(NAME, "stream-http"), firehose: true, limits: NO_LIMITS }),
);
const working = whileVisited((store) => network({ store }).worker().start());

// ---------------------------------------------------------------------------------------------- who

const accountOf = (visitor: string): string => createHash("sha256").update(visitor).digest("base64url").slice(0, 12);

/** The visitor's account; `working` starts with the first who asks. */
async function mine(context: Context, input: { readonly request: Input<unknown, unknown, unknown>["request"] }) {
  working.visit(context);
  const user = await network(context).users.get(accountOf(needVisitor(input.request)));
  if (user === null) throw new Problem(403, "NO_ACCOUNT", "sign up first");
  return user;
}

async function named(context: Context, login: string): Promise<User> {
  const user = await network(context).users.getByLogin(login);
  if (user === null) throw new Problem(404, "NO_USER", `there is nobody called ${login}`);
  return user;
}

async function me(context: Context, visitor: string) {
  working.visit(context);
  const { users, follows, lists } = network(context);
  const user = await users.get(accountOf(visitor));
  const total = Number(await context.store.call("ZCARD", PEOPLE));
  if (user === null) return { user: null, total };
  const [counts, own, following] = await Promise.all([
    follows.counts(user.id),
    lists.list(user.id),
    follows.following(user.id, { limit: 1_000 }),
  ]);
  return { user, total, counts, lists: own.items, following: following.items };
}

async function signUp(context: Context, visitor: string, login: string, name: string) {
  working.visit(context);
  const id = accountOf(visitor);
  const joined = await network(context).users.join(login, { id, name: name === "" ? visitor : name });
  if (joined.status !== "joined") {
    if (joined.status === "taken") throw new Problem(409, "TAKEN", `somebody is called ${login} already`);
    throw new Problem(409, "EXISTS", "you have an account, or had one until today");
  }
  await context.store.call("ZADD", PEOPLE, joined.user.joinedAt.getTime(), id);
  await announce(context.store, NAME, { type: "people" });
  return joined.user;
}

async function change(context: Context, user: User, { login, name }: { login?: string; name?: string }) {
  const { users } = network(context);
  if (login !== undefined && (await users.rename(user.id, login)).status === "taken") {
    throw new Problem(409, "TAKEN", `somebody is called ${login} already`);
  }
  if (name !== undefined) await users.setName(user.id, name);
  await announce(context.store, NAME, { type: "people" });
  return users.get(user.id);
}

async function leave(context: Context, user: User) {
  await network(context).users.delete(user.id);
  await context.store.call("ZREM", PEOPLE, user.id);
  await announce(context.store, NAME, { type: "people" });
}

// ---------------------------------------------------------------------------------------------- people

/** Everybody, the latest first, with what is between them and the visitor. */
async function people(context: Context, user: User) {
  const { users, follows } = network(context);
  const ids = await context.store.call("ZREVRANGE", PEOPLE, 0, MOST_PEOPLE - 1);
  const [found, following] = await Promise.all([users.getMany(ids), follows.following(user.id, { limit: 1_000 })]);
  const followed = new Set(following.items);
  const shown = ids.flatMap((id) => found.get(id) ?? []).filter(({ id }) => id !== user.id);
  const people = shown.map(async (each) => {
    return { ...each, ...(await follows.counts(each.id)), isFollowed: followed.has(each.id) };
  });
  return { people: await Promise.all(people) };
}

async function person(context: Context, user: User, login: string) {
  const { follows } = network(context);
  const other = await named(context, login);
  const [counts, state, isFollowed, follower, muted, blocked] = await Promise.all([
    follows.counts(other.id),
    network(context).inspectAuthor(other.id),
    follows.isFollowing(user.id, other.id),
    follows.isFollowing(other.id, user.id),
    follows.muted(user.id, { limit: 1_000 }),
    follows.blocked(user.id, { limit: 1_000 }),
  ]);
  return {
    user: other,
    counts,
    mode: state.mode,
    isMe: other.id === user.id,
    isFollowed,
    followsMe: follower,
    isMuted: muted.items.includes(other.id),
    isBlocked: blocked.items.includes(other.id),
  };
}

type Tie = "follow" | "mute" | "block";

async function tie(context: Context, user: User, login: string, what: Tie, on: boolean) {
  const { follows } = network(context);
  const other = await named(context, login);
  const outcome =
    what === "follow"
      ? on
        ? await follows.follow(user.id, other.id)
        : await follows.unfollow(user.id, other.id)
      : what === "mute"
        ? await follows[on ? "mute" : "unmute"](user.id, other.id)
        : await follows[on ? "block" : "unblock"](user.id, other.id);
  const status = typeof outcome === "boolean" ? (outcome ? "done" : "not-found") : outcome.status;
  if (status === "blocked" && what === "follow") {
    throw new Problem(409, "BLOCKED", `you cannot follow ${other.login}: one of you blocks the other`);
  }
  if (status === "full") throw new Problem(409, "FULL", "that is as many as you may have");
  return { status };
}

// ---------------------------------------------------------------------------------------------- lists

async function ownList(context: Context, user: User, id: string) {
  const list = await network(context).lists.get(id);
  if (list === null || list.owner !== user.id) throw new Problem(404, "NO_LIST", "you have no such list");
  return list;
}

async function members(context: Context, user: User, id: string) {
  const list = await ownList(context, user, id);
  const { lists, users } = network(context);
  const found = await users.getMany((await lists.members(id, { limit: 1_000 })).items);
  return { list, members: [...found.values()] };
}

async function enlist(context: Context, user: User, id: string, login: string) {
  await ownList(context, user, id);
  const { status } = await network(context).lists.addMember(id, (await named(context, login)).id);
  if (status === "blocked") throw new Problem(409, "BLOCKED", "one of you blocks the other");
  return { status };
}

// ---------------------------------------------------------------------------------------------- statuses

async function post(context: Context, user: User, { id, text }: { readonly id: string; readonly text: string }) {
  const said = text.trim();
  if (said === "") throw new Problem(400, "EMPTY", "a status needs a text");
  return { id: await network(context).statuses.post(user.id, said, { id }) };
}

/** A page without what is not there. */
const pageOf = (query: { readonly before?: string }) => ({
  limit: SHOWN,
  ...(query.before !== undefined && { cursor: query.before }),
});

/** The component's own handler; the headers that every answer of the console has stay. */
function listen(
  context: Context,
  { request, reply }: { request: Input<unknown, unknown, unknown>["request"]; reply: FastifyReply },
): void {
  working.visit(context);
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.hijack();
  endpoint(context).handler(request.raw, reply.raw);
}

const LOGIN = string({ minLength: 1, maxLength: 60 });
const STATUS = string({ minLength: 9, maxLength: 60, pattern: "^[\\w-]+$" });
const LIST = string({ minLength: 2, maxLength: 41, pattern: "^\\+[\\w-]+$" });
const BEFORE = object({ before: string({ maxLength: 60, pattern: "^[\\w-]+$" }) }, ["before"]);
const ON = object({ on: boolean() });
const base = "/api/examples/social";

const ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: `${base}/me`,
    group,
    summary: "Your account, with counts, lists and whom you follow.",
    answers: "The accounts; `user` is null for a visitor without one. `total`: how many accounts there are.",
    run: (context, { request }) => me(context, needVisitor(request)),
  }),
  route({
    method: "POST",
    url: `${base}/me`,
    group,
    summary: "Signs up: one account for each visitor, one visitor for each login, whatever the case.",
    body: object({ login: LOGIN, name: string({ maxLength: 60, default: "" }) }),
    answers: "The account.",
    run: (context, { request, body }) => signUp(context, needVisitor(request), body.login, body.name),
  }),
  route({
    method: "PUT",
    url: `${base}/me`,
    group,
    summary: "Changes your login or your name.",
    body: object({ login: LOGIN, name: string({ minLength: 1, maxLength: 60 }) }, ["login", "name"]),
    answers: "The account.",
    run: async (context, input) => change(context, await mine(context, input), input.body),
  }),
  route({
    method: "DELETE",
    url: `${base}/me`,
    group,
    summary: "Removes your account with all you have posted.",
    answers: "Nothing.",
    run: async (context, input) => leave(context, await mine(context, input)),
  }),
  route({
    method: "GET",
    url: `${base}/people`,
    group,
    summary: "Who there is, the latest first.",
    answers: "People with their counts, and whether you follow them.",
    run: async (context, input) => people(context, await mine(context, input)),
  }),
  route({
    method: "GET",
    url: `${base}/people/:login`,
    group,
    summary: "Somebody, and what is between you.",
    params: object({ login: LOGIN }),
    answers: "That; `mode` tells whether their statuses are delivered or merged in.",
    run: async (context, input) => person(context, await mine(context, input), input.params.login),
  }),
  ...(["follow", "mute", "block"] as const).map((what) =>
    route({
      method: "POST",
      url: `${base}/people/:login/${what}`,
      group,
      summary: `Begins or ends to ${what} somebody.`,
      params: object({ login: LOGIN }),
      body: ON,
      answers: "What came of it.",
      run: async (context, input) => tie(context, await mine(context, input), input.params.login, what, input.body.on),
    }),
  ),
  route({
    method: "GET",
    url: `${base}/home`,
    group,
    summary: "A page of what you and the people that you follow have posted.",
    query: BEFORE,
    answers: "Statuses, the newest first, and `cursor` for the next page or null.",
    run: async (context, input) => {
      const user = await mine(context, input);
      return network(context).timelines.home(user.id, { ...pageOf(input.query), own: true });
    },
  }),
  route({
    method: "GET",
    url: `${base}/people/:login/statuses`,
    group,
    summary: "A page of what somebody has posted.",
    params: object({ login: LOGIN }),
    query: BEFORE,
    answers: "As a page of your home.",
    run: async (context, input) => {
      const user = await mine(context, input);
      const other = await named(context, input.params.login);
      return network(context).timelines.profile(other.id, { ...pageOf(input.query), viewer: user.id });
    },
  }),
  route({
    method: "POST",
    url: `${base}/statuses`,
    group,
    summary: "Posts a status. With the same id twice, once.",
    body: object({
      id: string({ minLength: 8, maxLength: 64, pattern: "^[\\w-]+$" }),
      text: string({ maxLength: 300 }),
    }),
    answers: "Its id.",
    run: async (context, input) => post(context, await mine(context, input), input.body),
  }),
  route({
    method: "DELETE",
    url: `${base}/statuses/:id`,
    group,
    summary: "Deletes a status of yours: nobody sees it from here on.",
    params: object({ id: STATUS }),
    answers: "Nothing.",
    run: async (context, input) => {
      const user = await mine(context, input);
      if (!(await network(context).statuses.delete(user.id, input.params.id))) {
        throw new Problem(404, "NO_STATUS", "you have no such status");
      }
    },
  }),
  route({
    method: "POST",
    url: `${base}/statuses/:id/repost`,
    group,
    summary: "Brings somebody's status to your followers; once.",
    params: object({ id: STATUS }),
    answers: "The id of the repost.",
    run: async (context, input) => {
      const user = await mine(context, input);
      const id = await network(context).statuses.repost(user.id, input.params.id);
      if (id === null) throw new Problem(404, "NO_STATUS", "there is no such status, or not for you");
      return { id };
    },
  }),
  route({
    method: "POST",
    url: `${base}/lists`,
    group,
    summary: "Makes a list. With the same id twice, once.",
    body: object({ id: LIST, name: string({ minLength: 1, maxLength: 60 }) }),
    answers: "The list.",
    run: async (context, input) => {
      const user = await mine(context, input);
      const created = await network(context).lists.create(user.id, input.body.name.trim() || "List", {
        id: input.body.id,
      });
      if (created.status === "taken") throw new Problem(409, "TAKEN", "there is another list with that id");
      if (created.status !== "created") throw new Problem(409, "FULL", "that is as many lists as you may have");
      return created.list;
    },
  }),
  route({
    method: "DELETE",
    url: `${base}/lists/:list`,
    group,
    summary: "Removes a list of yours.",
    params: object({ list: LIST }),
    answers: "Nothing.",
    run: async (context, input) => {
      await ownList(context, await mine(context, input), input.params.list);
      await network(context).lists.delete(input.params.list);
    },
  }),
  route({
    method: "GET",
    url: `${base}/lists/:list`,
    group,
    summary: "A list of yours and who is in it.",
    params: object({ list: LIST }),
    answers: "Those.",
    run: async (context, input) => members(context, await mine(context, input), input.params.list),
  }),
  route({
    method: "POST",
    url: `${base}/lists/:list/members`,
    group,
    summary: "Puts somebody into a list of yours.",
    params: object({ list: LIST }),
    body: object({ login: LOGIN }),
    answers: "What came of it.",
    run: async (context, input) => enlist(context, await mine(context, input), input.params.list, input.body.login),
  }),
  route({
    method: "DELETE",
    url: `${base}/lists/:list/members/:login`,
    group,
    summary: "Takes somebody out of a list of yours.",
    params: object({ list: LIST, login: LOGIN }),
    answers: "Nothing.",
    run: async (context, input) => {
      await ownList(context, await mine(context, input), input.params.list);
      const other = await named(context, input.params.login);
      await network(context).lists.deleteMember(input.params.list, other.id);
    },
  }),
  route({
    method: "GET",
    url: `${base}/lists/:list/statuses`,
    group,
    summary: "A page of what the members of a list have posted.",
    params: object({ list: LIST }),
    query: BEFORE,
    answers: "As a page of your home.",
    run: async (context, input) => {
      const user = await mine(context, input);
      await ownList(context, user, input.params.list);
      return network(context).timelines.list(input.params.list, { ...pageOf(input.query), viewer: user.id });
    },
  }),
  route({
    method: "GET",
    url: `${base}/stream`,
    group,
    summary: "Everything that is posted and deleted, as it is; with `track`, what has certain words.",
    query: object(
      {
        all: boolean(),
        track: string({ maxLength: 200 }),
        after: string({ maxLength: 60 }),
        format: string({ maxLength: 10 }),
      },
      ["all", "track", "after", "format"],
    ),
    answers: "A stream of events, from which a browser goes on by itself.",
    media: "text/event-stream",
    run: (context, input) => listen(context, input),
  }),
  eventsRoute(NAME, "Who comes and goes, as server-sent events."),
];

// ---------------------------------------------------------------------------------------------- sample

async function make(context: Context, progress: Progress): Promise<void> {
  working.visit(context);
  const { users, statuses, follows, lists } = network(context);
  const [said, ties] = [sampleStatuses(), sampleFollows()];
  const total = SAMPLE_PEOPLE.length + ties.length + said.length;
  const idOf = (login: string): string => accountOf(`sample ${login}`);
  await forEachOf(
    SAMPLE_PEOPLE,
    async ({ login, name }, nth) => {
      // A visitor may have taken one of these logins: then the sample does without that person.
      const joined = await users.join(login, { id: idOf(login), name });
      if (joined.status === "joined") await context.store.call("ZADD", PEOPLE, nth, idOf(login));
    },
    (done) => progress(done, total),
  );
  await forEachOf(
    ties,
    ([login, other]) => follows.follow(idOf(login), idOf(other)),
    (done) => progress(SAMPLE_PEOPLE.length + done, total),
    8,
  );
  await forEachOf(
    said,
    ({ id, login, text }) => statuses.post(idOf(login), text, { id }),
    (done) => progress(SAMPLE_PEOPLE.length + ties.length + done, total),
    // One after the other: the order of posting is that of the list.
    1,
  );
  await lists.create(idOf(SAMPLE_LIST.owner), SAMPLE_LIST.name, { id: SAMPLE_LIST.id });
  for (const login of SAMPLE_LIST.members) await lists.addMember(SAMPLE_LIST.id, idOf(login));
  await announce(context.store, NAME, { type: "people" });
}

export const social: Example = {
  name: NAME,
  title: "Social network",
  about:
    "People sign up, post, follow, repost and make lists; timelines are delivered by workers, and everything is heard live.",
  components: ["social", "streaming", "queues"],
  routes: ROUTES,
  make,
  beforeRemoval: (context) => working.stop(context),
};
