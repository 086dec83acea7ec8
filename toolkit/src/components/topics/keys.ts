/** The keys of one topic, all in one slot. */
import { word } from "../../base/checks.ts";
import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("topics");

/** A topic that keeps nothing has no key, only this channel. */
export function topicChannel(prefix: string, name: string): string {
  return tagged(prefix, name, "topic");
}

export interface TopicKeys {
  /** Stream: the messages. */
  readonly log: string;
  /** Hash: the number and the time of the last message. */
  readonly meta: string;
  /** Zset and hash: ids that producers chose, when, and which message each is. */
  readonly ids: string;
  readonly sent: string;
  /** Zset: groups, by when they were last used. */
  readonly groups: string;
}

export interface GroupKeys {
  /** Hash: where the group is, what it has counted, and the deliveries that have not ended. */
  readonly group: string;
  /** Zset: deliveries, by when they are due again. */
  readonly pending: string;
  /** Zset and hash: dead letters, in the order of their deaths, and what they were. */
  readonly dead: string;
  readonly letters: string;
}

export function durableKeys(prefix: string, name: string): TopicKeys {
  const topic = tagged(prefix, name, "topic");
  return {
    log: `${topic}:log`,
    meta: `${topic}:meta`,
    ids: `${topic}:ids`,
    sent: `${topic}:sent`,
    groups: `${topic}:groups`,
  };
}

export function groupKeys(prefix: string, name: string, group: string): GroupKeys {
  word("the name of a group", group, 256);
  const base = `${tagged(prefix, name, "topic")}:group:${group}`;
  // Before the name of the group: no name can end in what another key ends in.
  const part = (what: string): string => `${tagged(prefix, name, "topic")}:${what}:${group}`;
  return { group: base, pending: part("pending"), dead: part("dead"), letters: part("letters") };
}

export function newsChannel({ log }: TopicKeys): string {
  return `${log}:news`;
}
