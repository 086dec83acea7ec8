/**
 * From ids to statuses that somebody may see. Everything is looked at again whenever it is shown: a status that was deleted, an author
 * who was removed, muted, blocked, or is not followed any more is not seen from that moment on, wherever ids of theirs still are.
 */

import { zipped } from "../../base/lists.ts";
import { asList } from "../../base/replies.ts";
import type { Reply } from "../../connection/port.ts";
import { type Core, chunked, sound } from "./core.ts";
import { authorOf, msOf } from "./ids.ts";
import type { User, Users } from "./users.ts";

/** A place on the earth. */
export interface Place {
  /** Degrees east, from −180 to 180. */
  readonly longitude: number;
  /** Degrees north, from −90 to 90. */
  readonly latitude: number;
}

/** What a user has posted. */
export interface Status {
  /** The status's id; as text it orders by time. */
  readonly id: string;
  /** Who posted it. */
  readonly author: User;
  /** What was posted. */
  readonly text: string;
  /** When it was posted, by the server's clock. */
  readonly at: Date;
  /** Where it was posted from, if the author said so. */
  readonly place?: Place;
  /** In timelines: who brought it there by reposting it, the latest first. */
  readonly repostedBy?: readonly User[];
}

/** A status as the store has it. */
export interface Body {
  /** Text. */
  readonly x?: string;
  /** The original of a repost. */
  readonly o?: string;
  readonly p?: readonly [longitude: number, latitude: number];
}

/** Who looks, and at whose timeline: there only those count whom that subject follows. */
export interface Looking {
  readonly viewer: string | undefined;
  readonly subject?: string;
}

/** Keys in one MGET. */
const AT_ONCE = 500;

export class Views {
  readonly #core: Core;
  readonly #users: Users;

  constructor(core: Core, users: Users) {
    this.#core = core;
    this.#users = users;
  }

  async bodies(ids: readonly string[]): Promise<(Body | null)[]> {
    if (ids.length === 0) return [];
    const { statuses, keys } = this.#core;
    const names = ids.map((id) => keys.status(id));
    let found: Reply[];
    if (statuses.topology === "cluster") found = sound(await statuses.pipeline(names.map((key) => ["GET", key])));
    else {
      const parts = await Promise.all(chunked(names, AT_ONCE).map((part) => statuses.send(["MGET", ...part])));
      found = parts.flat();
    }
    return found.map((body) => (body === null ? null : JSON.parse(String(body))));
  }

  /** What may be seen of them, in the same order; a status stands where the latest of its reposts does. */
  async show(ids: readonly string[], looking: Looking): Promise<Status[]> {
    if (ids.length === 0) return [];
    const authors = [...new Set(ids.map(authorOf))];
    const [bodies, people, hidden] = await Promise.all([
      this.bodies(ids),
      this.#users.getMany(authors),
      this.#hidden(authors, looking),
    ]);
    const originals = [...new Set(bodies.flatMap((body) => body?.o ?? []))];
    const shown = new Map<string, Body>();
    if (originals.length > 0) await this.#addOriginals(originals, looking.viewer, shown, people);
    const seen = new Map<string, Status>();
    ids.forEach((id, at) => {
      const body = bodies[at];
      const by = people.get(authorOf(id));
      if (body == null || by === undefined || hidden.has(by.id)) return;
      if (body.o === undefined) place(seen, statusOf(id, body, by), undefined);
      else {
        const original = shown.get(body.o);
        const author = people.get(authorOf(body.o));
        if (original !== undefined && author !== undefined) place(seen, statusOf(body.o, original, author), by);
      }
    });
    return [...seen.values()];
  }

  async #addOriginals(
    ids: readonly string[],
    viewer: string | undefined,
    shown: Map<string, Body>,
    people: Map<string, User>,
  ): Promise<void> {
    const authors = [...new Set(ids.map(authorOf))];
    const unknown = authors.filter((author) => !people.has(author));
    const [bodies, others, unseen] = await Promise.all([
      this.bodies(ids),
      this.#users.getMany(unknown),
      this.#hidden(authors, { viewer }),
    ]);
    for (const [id, user] of others) people.set(id, user);
    ids.forEach((id, at) => {
      const body = bodies[at];
      if (body != null && !unseen.has(authorOf(id))) shown.set(id, body);
    });
  }

  /** Whose statuses are not to be seen. One's own always are. */
  async #hidden(authors: readonly string[], { viewer, subject }: Looking): Promise<Set<string>> {
    const { follows, keys } = this.#core;
    const hidden = new Set<string>();
    const others = authors.filter((author) => author !== viewer);
    if (others.length === 0) return hidden;
    const items: (readonly string[])[] = [];
    if (subject !== undefined) items.push(["ZMSCORE", keys.following(subject), ...others]);
    if (viewer !== undefined) {
      items.push(["ZMSCORE", keys.muted(viewer), ...others], ["ZMSCORE", keys.blocks(viewer), ...others]);
      // Who follows somebody is not blocked by them: a block ends the following.
      if (subject !== viewer) for (const author of others) items.push(["ZSCORE", keys.blocks(author), viewer]);
    }
    const answers = sound(await follows.pipeline(items));
    const hide = (list: Reply | undefined, isHidden: (score: Reply) => boolean): void => {
      for (const [author, score] of zipped(others, asList(list))) if (isHidden(score)) hidden.add(author);
    };
    if (subject !== undefined) hide(answers.shift(), (score) => score === null);
    if (viewer === undefined) return hidden;
    hide(answers.shift(), (score) => score !== null);
    hide(answers.shift(), (score) => score !== null);
    if (subject !== viewer) hide(answers, (score) => score !== null);
    return hidden;
  }
}

function statusOf(id: string, body: Body, author: User): Status {
  const status = { id, author, text: body.x ?? "", at: new Date(msOf(id)) };
  return body.p === undefined ? status : { ...status, place: { longitude: body.p[0], latitude: body.p[1] } };
}

function place(seen: Map<string, Status>, status: Status, by: User | undefined): void {
  const before = seen.get(status.id) ?? status;
  seen.set(status.id, by === undefined ? before : { ...before, repostedBy: [...(before.repostedBy ?? []), by] });
}
