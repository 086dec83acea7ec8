/** Chats and mailboxes of the toolkit: what is in them, who is behind, and the means to help. What was said is not shown. */
import { Chats, Mailboxes } from "cinnabar/chats";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, integer, named, nullable, object, oneOf, string } from "../schema.ts";
import { DONE } from "../shapes.ts";
import { perStore } from "../work.ts";

const group = "Components";
const NAME = object({ name: string({ minLength: 1, maxLength: 1_024 }) });
const MEMBER = string({ minLength: 1, maxLength: 256 });
const MOST = 200;

const CHAT = named(
  "Chat",
  object({
    chat: string(),
    members: integer(),
    present: integer(),
    messages: integer(),
    bytes: integer(),
    oldestId: nullable(integer({ description: "Of the messages that are kept." })),
    lastId: integer(),
    furthestBehind: integer({ description: "Messages that the member who is furthest behind has not seen." }),
  }),
);

const MAILBOX = named(
  "Mailbox",
  object({
    owner: string(),
    messages: integer(),
    bytes: integer(),
    oldestId: nullable(integer()),
    lastId: integer(),
  }),
);

const POSITION = named(
  "ChatMember",
  object({
    member: string(),
    present: boolean(),
    seen: integer({ description: "The last id that they have acknowledged." }),
    unread: integer(),
    missed: integer({ description: "Messages that were dropped before they had seen them." }),
  }),
);

const of = perStore((store) => ({ chats: new Chats(store), mailboxes: new Mailboxes(store) }));

async function list(context: Context) {
  const { chats, mailboxes } = of(context);
  const [{ items: groups }, { items: boxes }] = await Promise.all([
    chats.list({ limit: MOST }),
    mailboxes.list({ limit: MOST }),
  ]);
  return { chats: groups, mailboxes: boxes, most: MOST };
}

async function show(context: Context, name: string) {
  const { chats } = of(context);
  const [info, members] = await Promise.all([chats.inspect(name), chats.members(name, { limit: MOST })]);
  if (info === null) throw new Problem(404, "NOT_FOUND", `there is no chat "${name}"`);
  return { info, members };
}

async function removeMember(context: Context, name: string, member: string) {
  const { status } = await of(context).chats.leave(name, member);
  if (status === "not-found") throw new Problem(404, "NOT_FOUND", `"${member}" is not in it`);
  return { status };
}

async function deleted(wasThere: Promise<boolean>, what: string): Promise<void> {
  if (!(await wasThere)) throw new Problem(404, "NOT_FOUND", `there is no such ${what}`);
}

export const CHAT_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/chats",
    group,
    summary: "Chats and mailboxes that were used in the last thirty days.",
    answers: "Members, messages, bytes, and how far somebody is behind.",
    answer: object({ chats: array(CHAT), mailboxes: array(MAILBOX), most: integer() }),
    run: list,
  }),
  route({
    method: "GET",
    url: "/api/chats/:name",
    group,
    summary: "A chat.",
    params: NAME,
    answers: "What is kept; its members with their positions, the furthest behind first.",
    answer: object({ info: CHAT, members: array(POSITION) }),
    run: (context, { params }) => show(context, params.name),
  }),
  route({
    method: "POST",
    url: "/api/chats/:name/remove",
    group,
    summary: "Takes a member out of a chat. What only they had not seen is dropped; the last one's chat is deleted.",
    params: NAME,
    body: object({ member: MEMBER }),
    answers: "`left` or `deleted`.",
    answer: object({ status: oneOf(["left", "deleted"]) }),
    run: (context, { params, body }) => removeMember(context, params.name, body.member),
  }),
  route({
    method: "POST",
    url: "/api/chats/:name/delete",
    group,
    summary: "Deletes a chat with its members.",
    params: NAME,
    answers: "Nothing.",
    answer: DONE,
    run: (context, { params }) => deleted(of(context).chats.delete(params.name), "chat"),
  }),
  route({
    method: "POST",
    url: "/api/mailboxes/:name/delete",
    group,
    summary: "Deletes a mailbox with all that is in it.",
    params: NAME,
    answers: "Nothing.",
    answer: DONE,
    run: (context, { params }) => deleted(of(context).mailboxes.delete(params.name), "mailbox"),
  }),
];
