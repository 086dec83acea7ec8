/** Posting, reposting and deleting. What is to be done for it elsewhere is in the queue before a call resolves. */
import { word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import { defineOptions, object, text } from "../../base/options.ts";
import { asTextOrNull, asTexts } from "../../base/replies.ts";
import type { NewJob } from "../queues/index.ts";
import type { StatusEvent } from "../streaming/events.ts";
import type { Core, Job } from "./core.ts";
import { authorOf, checkStatus, checkUser, msOf, statusId, timeOf } from "./ids.ts";
import { postStatus, removeStatus } from "./scripts/statuses.ts";
import type { Users } from "./users.ts";
import type { Body, Place, Status, Views } from "./views.ts";

/** How to post. */
export interface PostOptions {
  /** The caller's own id: with the same one again (for a day), the same status. None by default. */
  readonly id?: string;
  /** Where it was posted from. None by default. */
  readonly place?: Place;
}

/** A status goes over the bound with each post; a few more are taken, so that a lower bound is reached in time. */
const OLDEST_AT_ONCE = 5;

const POST_OPTIONS = defineOptions<PostOptions>("Statuses.post", {
  id: text,
  place: object,
});

const REPOST_OPTIONS = defineOptions<{ readonly id?: string }>("Statuses.repost", {
  id: text,
});

const GET_OPTIONS = defineOptions<{ readonly viewer?: string }>("Statuses.get", {
  viewer: text,
});

/**
 * Posting, reposting and deleting: `statuses` of a `Social`.
 *
 * @example
 * const { users, statuses } = new Social(db);
 * for (const login of ["ada", "bob"]) await users.join(login, { id: login });
 * const id = await statuses.post("ada", "hello", { id: "request-1" });
 * (await statuses.get(id!, { viewer: "bob" }))?.text; // → "hello"
 * await statuses.repost("bob", id!); // → "…"
 * await statuses.reposts(id!); // → …
 * @example
 * const { users, statuses } = new Social(db);
 * await users.join("ada", { id: "ada" });
 * const id = await statuses.post("ada", "hello");
 * await statuses.delete("ada", id!); // → true
 * await statuses.get(id!); // → null
 */
export class Statuses {
  readonly #core: Core;
  readonly #users: Users;
  readonly #views: Views;

  constructor(core: Core, users: Users, views: Views) {
    this.#core = core;
    this.#users = users;
    this.#views = views;
  }

  /** The id of the new status; null if there is no such author. */
  async post(author: string, text: string, options: PostOptions = {}): Promise<string | null> {
    POST_OPTIONS.check(options);
    word("text", text, this.#core.settings.maxTextBytes);
    const { place } = options;
    if (place !== undefined) checkPlace(place);
    const body: Body = place === undefined ? { x: text } : { x: text, p: [place.longitude, place.latitude] };
    return this.#post(author, body, options.id);
  }

  /**
   * Brings somebody's status to one's own followers: the id of the repost. A repost of a repost is one of the original. Null if
   * there is no such status, or its author blocks the user who reposts. With the same `id`, or of the same status again, once.
   */
  async repost(author: string, status: string, options: { readonly id?: string } = {}): Promise<string | null> {
    REPOST_OPTIONS.check(options);
    checkUser("author", author);
    const [found] = await this.#views.bodies([checkStatus("status", status)]);
    if (found == null) return null;
    const original = found.o ?? status;
    const [seen] = await this.#views.show([original], { viewer: author });
    if (seen === undefined) return null;
    return this.#post(author, { o: original }, options.id ?? `repost:${original}`);
  }

  async #post(author: string, body: Body, id: string | undefined): Promise<string | null> {
    const { journal, statuses, users, keys, settings } = this.#core;
    checkUser("author", author);
    const request = id === undefined ? randomToken() : word("id", id, 256);
    const isTogether = users === statuses;
    if (!isTogether && !(await this.#users.exists(author))) return null;
    const entry = journal.make({ k: "post", author, request } as const);
    const posted = await journal.before(entry, statuses, postStatus, {
      posts: keys.posts(author),
      profile: keys.profile(author),
      request: keys.request(author, request),
      user: keys.user(author),
      base: keys.statusBase(author),
      body: JSON.stringify(body),
      keepMs: settings.keepIdsMs,
      check: isTogether ? 1 : 0,
    });
    if (posted !== null) {
      await this.#send(statusId(posted[0], author), body);
      if (posted[1] > settings.maxStatuses) await this.#removeOldest(author, posted[1] - settings.maxStatuses);
    }
    journal.close(entry);
    return posted === null ? null : statusId(posted[0], author);
  }

  async #send(id: string, body: Body): Promise<void> {
    const deliver: Job = body.o === undefined ? { k: "deliver", id } : { k: "deliver", id, of: body.o };
    const jobs: NewJob<Job>[] = [{ data: deliver, options: { id: `deliver:${id}` } }];
    if (this.#core.sink !== undefined && body.o === undefined) jobs.push(publishing(await this.#event(id, body)));
    await this.#core.jobs.addMany(jobs);
  }

  async #event(id: string, body: Body): Promise<StatusEvent> {
    const author = await this.#users.get(authorOf(id));
    const event = {
      kind: "status",
      id,
      userId: authorOf(id),
      login: author?.login ?? "",
      text: body.x ?? "",
      atMs: msOf(id),
    } as const;
    return body.p === undefined ? event : { ...event, place: { longitude: body.p[0], latitude: body.p[1] } };
  }

  async #removeOldest(author: string, over: number): Promise<void> {
    const { statuses, keys } = this.#core;
    const count = Math.min(over, OLDEST_AT_ONCE);
    const times = asTexts(await statuses.call("ZRANGE", keys.profile(author), 0, count - 1));
    for (const time of times) await this.delete(author, statusId(time, author));
  }

  /** A post whose call died: its status is delivered, if there is one. @internal */
  async resumePost(author: string, request: string): Promise<void> {
    const { statuses, keys } = this.#core;
    const time = asTextOrNull(await statuses.call("GET", keys.request(author, request)));
    if (time === null) return;
    const id = statusId(time, author);
    const [body] = await this.#views.bodies([id]);
    if (body != null) await this.#send(id, body);
  }

  /** A status, if the viewer may see it; null otherwise. */
  async get(id: string, options: { readonly viewer?: string } = {}): Promise<Status | null> {
    GET_OPTIONS.check(options);
    const viewer = options.viewer === undefined ? undefined : checkUser("viewer", options.viewer);
    const [status] = await this.#views.show([checkStatus("id", id)], { viewer });
    return status ?? null;
  }

  /** How often it was reposted. */
  async reposts(id: string): Promise<number> {
    const { statuses, keys } = this.#core;
    return Number(await statuses.call("ZCARD", keys.reposts(checkStatus("id", id))));
  }

  /**
   * Deletes a status of this author's, with all its reposts: from here on nobody sees it. Timelines are cleaned by workers. False if
   * there is none.
   */
  async delete(author: string, id: string): Promise<boolean> {
    if (authorOf(checkStatus("id", id)) !== checkUser("author", author)) return false;
    const { journal, statuses, keys } = this.#core;
    const [body] = await this.#views.bodies([id]);
    if (body == null) return false;
    const kept = { k: "delete", id } as const;
    const entry = journal.make(body.o === undefined ? kept : { ...kept, of: body.o });
    const params = { status: keys.status(id), profile: keys.profile(author), at: timeOf(id) };
    const removed = await journal.before(entry, statuses, removeStatus, params);
    if (removed !== null) await this.#clean(id, body.o);
    journal.close(entry);
    return removed !== null;
  }

  async #clean(id: string, of: string | undefined): Promise<void> {
    const clean: Job = of === undefined ? { k: "clean", id } : { k: "clean", id, of };
    const jobs: NewJob<Job>[] = [{ data: clean, options: { id: `clean:${id}` } }];
    if (this.#core.sink !== undefined && of === undefined) {
      const atMs = this.#core.queue.clock.wallMs();
      jobs.push(publishing({ kind: "delete", id, userId: authorOf(id), atMs }));
    }
    await this.#core.jobs.addMany(jobs);
  }

  /** A deletion whose call died: if the status is gone, what is left of it is cleaned up. @internal */
  async resumeRemoval(id: string, of: string | undefined): Promise<void> {
    const [body] = await this.#views.bodies([id]);
    if (body == null) await this.#clean(id, of);
  }
}

/** In the order of each author: a deletion is never told before the status. */
function publishing(event: StatusEvent): NewJob<Job> {
  return { data: { k: "publish", event }, options: { id: `${event.kind}:${event.id}`, group: event.userId } };
}

function checkPlace({ longitude, latitude }: Place): void {
  if (!(Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90)) {
    throw new InputError("place must have a longitude from -180 to 180 and a latitude from -90 to 90");
  }
}
