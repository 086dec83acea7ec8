/** Chats and mailboxes of the toolkit: what is in them, who is behind, and the means to help. What was said is not shown. */
import { Chats, Mailboxes } from "cinnabar/chats";
import { perStore } from "../examples/work.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { object, string } from "../schema.ts";

const group = "Components";
const NAME = object({ name: string({ minLength: 1, maxLength: 1_024 }) });
const MEMBER = string({ minLength: 1, maxLength: 256 });
const MOST = 200;

const of = perStore((store) => ({ chats: new Chats(store), mailboxes: new Mailboxes(store) }));

async function list(context: Context) {
  const { chats, mailboxes } = of(context);
  const [groups, boxes] = await Promise.all([chats.list({ limit: MOST }), mailboxes.list({ limit: MOST })]);
  return { chats: groups, mailboxes: boxes, most: MOST };
}

async function show(context: Context, name: string) {
  const { chats } = of(context);
  const [info, members] = await Promise.all([chats.inspect(name), chats.members(name, { limit: MOST })]);
  if (info === null) throw new Problem(404, "NOT_FOUND", `there is no chat "${name}"`);
  return { info, members };
}

async function removeMember(context: Context, name: string, member: string) {
  const outcome = await of(context).chats.leave(name, member);
  if (outcome === "not a member") throw new Problem(404, "NOT_FOUND", `"${member}" is not in it`);
  return { outcome };
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
    run: list,
  }),
  route({
    method: "GET",
    url: "/api/chats/:name",
    group,
    summary: "A chat.",
    params: NAME,
    answers: "What is kept; its members with their positions, those who are furthest behind first.",
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
    run: (context, { params, body }) => removeMember(context, params.name, body.member),
  }),
  route({
    method: "POST",
    url: "/api/chats/:name/delete",
    group,
    summary: "Deletes a chat, whoever is in it.",
    params: NAME,
    answers: "Nothing.",
    run: (context, { params }) => deleted(of(context).chats.delete(params.name), "chat"),
  }),
  route({
    method: "POST",
    url: "/api/mailboxes/:name/delete",
    group,
    summary: "Deletes a mailbox with all that is in it.",
    params: NAME,
    answers: "Nothing.",
    run: (context, { params }) => deleted(of(context).mailboxes.delete(params.name), "mailbox"),
  }),
];
