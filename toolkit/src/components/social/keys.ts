/**
 * Every key of a social network. All that is one user's (or one list's) carries their id as its tag, so each user is in one slot
 * and users spread over the Cluster. The parts (users, statuses, follows, timelines) share no key, so each may be on another server.
 */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";
import { authorOf, timeOf } from "./ids.ts";

defineLayout("social");

/** Slots over which the journal of calls under way is spread. */
export const JOURNALS = 16;

export class SocialKeys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
    tagged(prefix, "x", "social network");
  }

  #of(id: string): string {
    return `${this.#prefix}:{${id}}`;
  }

  // ------------------------------------------------------------------------------------------ users
  /** Hash: login, name, since when. Lives for a minute while its login is not claimed. */
  user(id: string): string {
    return `${this.#of(id)}:user`;
  }
  /** String: `user nonce`, who has the login. The tag is the login, folded, behind an "@", which no user's id has. */
  login(folded: string): string {
    return `${this.#of(`@${folded}`)}:login`;
  }

  // ------------------------------------------------------------------------------------------ statuses
  /** String: a status, as JSON. */
  status(id: string): string {
    return `${this.statusBase(authorOf(id))}${timeOf(id)}`;
  }
  statusBase(author: string): string {
    return `${this.#of(author)}:s:`;
  }
  /** Sorted set, by lex: the times of all statuses of an author. */
  profile(author: string): string {
    return `${this.#of(author)}:profile`;
  }
  /** Hash: `last`, the time given last; `closed` once the user is removed, and then for a day. */
  posts(author: string): string {
    return `${this.#of(author)}:posts`;
  }
  /** String, lives for a day: the time of the status that was posted by this request. */
  request(author: string, request: string): string {
    return `${this.#of(author)}:r:${request}`;
  }
  /** Sorted set, by lex: reposts of a status. */
  reposts(status: string): string {
    return `${this.#of(authorOf(status))}:reposts:${timeOf(status)}`;
  }

  // ------------------------------------------------------------------------------------------ follows
  /** Sorted set: whom a user follows, or the members of a list, by the version of the edge, which is about when. */
  following(subject: string): string {
    return `${this.#of(subject)}:following`;
  }
  /** Sorted set: by whom a user is followed. */
  followers(user: string): string {
    return `${this.#of(user)}:followers`;
  }
  /** Sorted set: in which lists a user is. */
  listed(user: string): string {
    return `${this.#of(user)}:listed`;
  }
  /** Sorted set: who left in the last hour, by the version of the leaving; for both sets above. */
  left(user: string): string {
    return `${this.#of(user)}:left`;
  }
  /** Hash: `v` last version, `i:<user>` changes under way, `mode` and `modeAt`, `closed`. */
  graph(subject: string): string {
    return `${this.#of(subject)}:graph`;
  }
  /** Sorted set: whom a user blocks. */
  blocks(user: string): string {
    return `${this.#of(user)}:blocks`;
  }
  /** Sorted set: whom a user has muted. */
  muted(user: string): string {
    return `${this.#of(user)}:muted`;
  }
  /** Sorted set: the lists of a user. */
  lists(user: string): string {
    return `${this.#of(user)}:lists`;
  }
  /** Hash: name and owner of a list. */
  list(list: string): string {
    return `${this.#of(list)}:list`;
  }

  // ------------------------------------------------------------------------------------------ timelines
  /** Sorted set, by lex: a timeline; see scripts/timelines.ts. Expires when nobody reads it. */
  home(subject: string): string {
    return `${this.#of(subject)}:home`;
  }

  // ------------------------------------------------------------------------------------------ queue
  /** Sorted set: calls under way, by when somebody else is to finish them. */
  journal(shard: number): string {
    return `${this.#of(`journal:${shard}`)}:open`;
  }
  get queuePrefix(): string {
    return `${this.#prefix}:queue`;
  }
}
