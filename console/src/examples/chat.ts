/**
 * Chat: rooms that people join, write in and leave (`cinnabar/chats`). A room's messages come to its members as server-sent events of
 * the component's own handler, with the id of a message as the cursor: a browser that was away goes on where it was. What happens to
 * rooms otherwise (who comes and goes, who has seen what) is announced, and pages load what they need.
 */
import { Chats, type Message } from "cinnabar/chats";
import { chatHandler } from "cinnabar/chats/http";
import type { FastifyReply } from "fastify";
import { announce, eventsRoute } from "../events.ts";
import { type Context, type Input, Problem, type Route, route } from "../route.ts";
import { integer, object, oneOf, string } from "../schema.ts";
import { forEachOf, perStore } from "../work.ts";
import { ROOMS } from "./chat-sample.ts";
import { type Example, type Progress, prefixOf } from "./example.ts";
import { needVisitor } from "./visitor.ts";

const group = "Examples";
const NAME = "chat";
/** Messages that a page shows at first; as many stay when all have seen them. */
const SHOWN = 200;
const MOST_MEMBERS = 200;
const MOST_ROOMS = 50;

export interface Line {
  readonly text: string;
}

const ROOM = string({ minLength: 1, maxLength: 40, pattern: "^[^\\u0000-\\u001f{}]+$" });
const PARAMS = object({ room: ROOM });
const ONCE = string({ minLength: 8, maxLength: 64, pattern: "^[\\w-]+$", description: "With the same twice, once." });

const chats = perStore(
  (store) =>
    new Chats<Line>(store, {
      prefix: prefixOf(NAME, "chats"),
      keepSeen: SHOWN,
      maxMessages: 1_000,
      maxMessageBytes: 4_096,
      maxMembers: MOST_MEMBERS,
      maxChats: MOST_ROOMS,
      presenceLeaseMs: 15_000,
    }),
);

const tell = ({ store }: Context, type: "message" | "members" | "seen", room: string): Promise<void> =>
  announce(store, NAME, { type, room });

const notInIt = (room: string): Problem => new Problem(403, "NOT_IN_IT", `you are not in “${room}”`);

// ---------------------------------------------------------------------------------------------- what a page shows

/** The rooms that somebody is in, with what they have not seen, and those that they could join. */
async function view(context: Context, visitor: string) {
  const all = chats(context);
  const [mine, { items: rooms }] = await Promise.all([all.unread(visitor), all.list({ limit: MOST_ROOMS })]);
  const names = new Set(mine.map(({ chat }) => chat));
  const infos = new Map(rooms.map((info) => [info.chat, info]));
  return {
    mine: mine
      .map(({ chat, unread, missed }) => ({ room: chat, unread, missed, present: infos.get(chat)?.present ?? 0 }))
      .sort((a, b) => a.room.localeCompare(b.room)),
    others: rooms
      .filter(({ chat }) => !names.has(chat))
      .map(({ chat, members, messages }) => ({ room: chat, members, messages }))
      .sort((a, b) => a.room.localeCompare(b.room)),
  };
}

/** The last messages of a room, from which a page goes on by its stream. */
async function messages(context: Context, visitor: string, room: string) {
  const all = chats(context);
  const info = await all.inspect(room);
  const page =
    info === null ? null : await all.read(room, visitor, { cursor: Math.max(0, info.lastId - SHOWN), limit: SHOWN });
  if (page === null) throw notInIt(room);
  const position = await all.position(room, visitor);
  return { messages: page.items satisfies readonly Message<Line>[], cursor: page.cursor, seen: position?.seen ?? 0 };
}

async function members(context: Context, visitor: string, room: string) {
  const all = await chats(context).members(room, { limit: MOST_MEMBERS });
  if (!all.some(({ member }) => member === visitor)) throw notInIt(room);
  return { members: all.sort((a, b) => Number(b.present) - Number(a.present) || a.member.localeCompare(b.member)) };
}

// ---------------------------------------------------------------------------------------------- what people do

async function join(context: Context, visitor: string, wanted: string, from: "now" | "start") {
  const room = wanted.trim().replace(/\s+/g, " ");
  if (room === "") throw new Problem(400, "NAME", "a room needs a name");
  const { status } = await chats(context).join(room, visitor, { from });
  if (status === "full") throw new Problem(409, "FULL", `“${room}” is full: ${MOST_MEMBERS} people are in it`);
  if (status === "too-many-chats")
    throw new Problem(409, "TOO_MANY", `you are in ${MOST_ROOMS} rooms; leave one first`);
  if (status === "joined") await tell(context, "members", room);
  return { room, status };
}

async function leave(context: Context, visitor: string, room: string) {
  const { status } = await chats(context).leave(room, visitor);
  if (status === "not-found") throw notInIt(room);
  await tell(context, "members", room);
  return { status };
}

async function write(context: Context, visitor: string, room: string, { id, text }: { id: string; text: string }) {
  if (text.trim() === "") throw new Problem(400, "EMPTY", "a message needs a text");
  const sent = await chats(context).send(room, visitor, { text: text.trim() }, { id, markSeen: true });
  if (sent === null) throw notInIt(room);
  await tell(context, "message", room);
  return sent;
}

async function seen(context: Context, visitor: string, room: string, id: number) {
  const position = await chats(context).acknowledge(room, visitor, id);
  if (position === null) throw notInIt(room);
  await tell(context, "seen", room);
  return position;
}

// ---------------------------------------------------------------------------------------------- live

/** The component's own handler, for what Fastify hands on. */
const streams = perStore((store) =>
  chatHandler(chats({ store }), {
    chat: (request) => readerOf(request).room,
    member: (request) => readerOf(request).visitor,
  }),
);

/** Who reads what with a request: decided before it is handed on. */
const reading = new WeakMap<object, Reader>();

interface Reader {
  readonly room: string;
  readonly visitor: string;
}

function readerOf(request: object): Reader {
  const reader = reading.get(request);
  if (reader === undefined) throw new Problem(404, "NO_ROOM", "the request names no room");
  return reader;
}

function follow(
  context: Context,
  { request, reply, params }: Input<unknown, unknown, { readonly room: string }>,
): void {
  reading.set(request.raw, { room: params.room, visitor: needVisitor(request) });
  handOver(reply);
  streams(context)(request.raw, reply.raw);
}

/** From here on the answer is not Fastify's; the headers that every answer of the console has stay. */
function handOver(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.hijack();
}

const ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/examples/chat/view",
    group,
    summary: "The rooms that you are in, with what you have not seen, and the rooms that you could join.",
    answers: "Those.",
    run: (context, { request }) => view(context, needVisitor(request)),
  }),
  route({
    method: "POST",
    url: "/api/examples/chat/rooms",
    group,
    summary: "Joins a room; makes it if there is none of that name.",
    body: object({ room: ROOM, from: oneOf(["now", "start"], "Where reading begins: now, or with what is kept.") }),
    answers: "The room's name, and whether you joined or were in it already.",
    run: (context, { body, request }) => join(context, needVisitor(request), body.room, body.from),
  }),
  route({
    method: "DELETE",
    url: "/api/examples/chat/rooms/:room",
    group,
    summary: "Leaves a room. When the last person leaves, the room is deleted.",
    params: PARAMS,
    answers: "`left` or `deleted`.",
    run: (context, { params, request }) => leave(context, needVisitor(request), params.room),
  }),
  route({
    method: "GET",
    url: "/api/examples/chat/rooms/:room/messages",
    group,
    summary: "The last messages of a room that you are in.",
    params: PARAMS,
    answers: "Those; the cursor from which a stream goes on; the last one that you have seen.",
    run: (context, { params, request }) => messages(context, needVisitor(request), params.room),
  }),
  route({
    method: "POST",
    url: "/api/examples/chat/rooms/:room/messages",
    group,
    summary: "Writes a message.",
    params: PARAMS,
    body: object({ id: ONCE, text: string({ maxLength: 1_000 }) }),
    answers: "Its id, and whether it had been sent before.",
    run: (context, { params, body, request }) => write(context, needVisitor(request), params.room, body),
  }),
  route({
    method: "GET",
    url: "/api/examples/chat/rooms/:room/members",
    group,
    summary: "Who is in a room, who is present, and how far each has read.",
    params: PARAMS,
    answers: "People who are present come first.",
    run: (context, { params, request }) => members(context, needVisitor(request), params.room),
  }),
  route({
    method: "POST",
    url: "/api/examples/chat/rooms/:room/seen",
    group,
    summary: "You have seen everything up to a message.",
    params: PARAMS,
    body: object({ id: integer({ minimum: 0 }) }),
    answers: "What you have not seen.",
    run: (context, { params, body, request }) => seen(context, needVisitor(request), params.room, body.id),
  }),
  route({
    method: "GET",
    url: "/api/examples/chat/rooms/:room/stream",
    group,
    summary: "The messages of a room as they come, as server-sent events; their ids are the cursor.",
    params: PARAMS,
    query: object({ after: integer({ minimum: 0, description: "Goes on after this message." }) }, ["after"]),
    answers: "A stream of events: messages, `missed`, `gone`.",
    media: "text/event-stream",
    run: follow,
  }),
  eventsRoute(NAME, "In which rooms something has happened, as server-sent events."),
];

async function make(context: Context, progress: Progress): Promise<void> {
  const all = chats(context);
  await forEachOf(
    ROOMS,
    async ({ room, members: people, lines }) => {
      const info = await all.inspect(room);
      if (info !== null && info.messages > 0) return;
      await all.joinMany(room, people);
      // One after the other: their order is what makes them a conversation.
      for (const [nth, { by, text }] of lines.entries()) await all.send(room, by, { text }, { id: `sample-${nth}` });
      const filled = await all.inspect(room);
      if (filled === null) return;
      for (const member of people) await all.acknowledge(room, member, filled.lastId);
    },
    (done) => progress(done, ROOMS.length),
    1,
  );
}

export const chat: Example = {
  name: NAME,
  title: "Chat",
  about:
    "Rooms with several people at once: every message once and in order, unread counts, who is there and who has seen what.",
  components: ["chats"],
  routes: ROUTES,
  make,
};
