/**
 * Messages that every member of a chat gets, in order, whenever they come to read them.
 *
 *   const chats = new Chats<{ text: string }>(store);
 *   await chats.join("team", "ann");
 *   await chats.send("team", "ann", { text: "hello" }, { id: "ann-1" });
 *   for await (const message of chats.messages("team", "ben", { signal })) show(message);
 *
 * `Mailboxes` are chats of one member that anybody sends to; http.ts has long polls and server-sent events.
 */
export { Chats } from "./chats.ts";
export { Mailboxes, type MailboxesOptions, type MailboxInfo } from "./mailboxes.ts";
export type { Message } from "./message.ts";
export type {
  ChatInfo,
  ChatPosition,
  ChatsOptions,
  JoinOutcome,
  LeaveOutcome,
  MemberPosition,
  MessagesOptions,
  Position,
  ReadOptions,
  SendOptions,
} from "./options.ts";
export type { MessagePage, Sent } from "./room.ts";
