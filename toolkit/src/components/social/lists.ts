/** Lists of users, each with a timeline of its own. For everything below, a list is a subject that follows its members. */
import { word } from "../../base/checks.ts";
import { defineOptions, text } from "../../base/options.ts";
import type { Page } from "../../base/page.ts";
import { asText, asTextOrNull, asTexts, asTuple } from "../../base/replies.ts";
import { type Core, each } from "./core.ts";
import type { Follows, People, PeopleOptions } from "./follows.ts";
import { checkList, checkUser, newId } from "./ids.ts";
import { addOwn, createList, renameList } from "./scripts/follows.ts";
import type { Users } from "./users.ts";

/** A list of users. */
export interface UserList {
  /** The list's id, which begins with "+". */
  readonly id: string;
  /** The id of the user who made it. */
  readonly owner: string;
  /** Its name. */
  readonly name: string;
  /** How many members it has. */
  readonly members: number;
}

export type CreateOutcome =
  | { readonly status: "created"; readonly list: UserList }
  /** `taken`: the id is another's list, or was somebody's until today. `not-found`: there is no such owner. */
  | { readonly status: "not-found" | "full" | "taken" };

export interface MemberOutcome {
  /** `blocked`: one of the two blocks the other. `not-found`: there is no such list or user. */
  readonly status: "added" | "exists" | "blocked" | "not-found" | "full";
}

/** Lists of one user. */
const MAX_LISTS = 1_000;
const AT_ONCE = 200;
/** How long a list that is gone is remembered, for calls under way. */
const GONE_MS = 86_400_000;

const CREATE_OPTIONS = defineOptions<{ readonly id?: string }>("Lists.create", { id: text });

/**
 * Lists of users, each with a timeline of its own: `lists` of a `Social`.
 *
 * @example
 * const { users, lists } = new Social(db);
 * for (const login of ["ada", "eve"]) await users.join(login, { id: login });
 * await lists.create("eve", "scientists", { id: "+s" }); // → { status: "created", list: … }
 * await lists.addMember("+s", "ada"); // → { status: "added" }
 * await lists.members("+s"); // → { items: ["ada"], cursor: null }
 * await lists.deleteMember("+s", "ada"); // → true
 * @example
 * const { users, lists } = new Social(db);
 * await users.join("eve", { id: "eve" });
 * await lists.create("eve", "scientists", { id: "+s" });
 * await lists.rename("+s", "physicists"); // → true
 * (await lists.list("eve")).items; // → [{ id: "+s", owner: "eve", name: "physicists", members: 0 }]
 * await lists.delete("+s"); // → true
 * @example
 * const { lists } = new Social(db);
 * await lists.get("+none"); // → null
 */
export class Lists {
  readonly #core: Core;
  readonly #users: Users;
  readonly #follows: Follows;

  constructor(core: Core, users: Users, follows: Follows) {
    this.#core = core;
    this.#users = users;
    this.#follows = follows;
  }

  /** A new list. With an `id` of the caller's own (it begins with "+"), the same call again gives the same list. */
  async create(owner: string, name: string, options: { readonly id?: string } = {}): Promise<CreateOutcome> {
    CREATE_OPTIONS.check(options);
    const { follows, keys } = this.#core;
    checkUser("owner", owner);
    word("name", name, 400);
    const id = options.id === undefined ? `+${newId()}` : checkList(options.id);
    if (!(await this.#users.exists(owner))) return { status: "not-found" };
    const params = { graph: keys.graph(owner), set: keys.lists(owner), member: id, most: MAX_LISTS };
    const added = asText(await follows.run(addOwn, params));
    if (added === "not-found" || added === "full") return { status: added };
    // In this order: a list that nobody has would never be found.
    const has = await follows.run(createList, { list: keys.list(id), graph: keys.graph(id), owner, name });
    if (has === owner) {
      const list = await this.get(id);
      return list === null ? { status: "not-found" } : { status: "created", list };
    }
    await follows.send(["ZREM", keys.lists(owner), id], { repeatable: true });
    return { status: "taken" };
  }

  /** A list; null if there is none with this id. */
  async get(id: string): Promise<UserList | null> {
    const { follows, keys } = this.#core;
    const [fields, members] = await follows.pipeline([
      ["HMGET", keys.list(checkList(id)), "owner", "name"],
      ["ZCARD", keys.following(id)],
    ]);
    const [owner, name] = asTuple(asTextOrNull, asTextOrNull)(fields);
    return owner === null || name === null ? null : { id, owner, name, members: Number(members) };
  }

  /** The lists of a user, in the order in which they were made. All are on one page: a user has few. */
  async list(owner: string): Promise<Page<UserList>> {
    const { follows, keys } = this.#core;
    const ids = asTexts(await follows.call("ZRANGE", keys.lists(checkUser("owner", owner)), 0, -1));
    const found = await Promise.all(ids.map((id) => this.get(id)));
    return { items: found.filter((list): list is UserList => list?.owner === owner), cursor: null };
  }

  /** False if there is no such list. */
  async rename(id: string, name: string): Promise<boolean> {
    const { follows, keys } = this.#core;
    return (await follows.run(renameList, { list: keys.list(checkList(id)), name: word("name", name, 400) })) === 1;
  }

  /** Puts a user into a list; what they have posted is in its timeline when this resolves. */
  async addMember(id: string, user: string): Promise<MemberOutcome> {
    checkUser("user", user);
    const list = await this.get(id);
    if (list === null) return { status: "not-found" };
    if (await this.#blocks(list.owner, user)) return { status: "blocked" };
    const status = await this.#follows.link(id, user, list.owner);
    // A block that came meanwhile may have looked for members before this one was there.
    if (status === "followed" && (await this.#blocks(list.owner, user))) {
      await this.#follows.unlink(id, user);
      return { status: "blocked" };
    }
    return { status: status === "followed" ? "added" : status };
  }

  async #blocks(owner: string, user: string): Promise<boolean> {
    const { follows, keys } = this.#core;
    return (await follows.call("ZSCORE", keys.blocks(owner), user)) !== null;
  }

  /** False if they were not in it. */
  deleteMember(id: string, user: string): Promise<boolean> {
    return this.#follows.unlink(checkList(id), checkUser("user", user));
  }

  /** The members of a list, in the order in which they came, page by page. */
  members(id: string, options: PeopleOptions = {}): Promise<People> {
    return this.#follows.membersOf(checkList(id), options);
  }

  /** Removes a list with its timeline. False if there is none. */
  async delete(id: string): Promise<boolean> {
    const list = await this.get(id);
    if (list === null) return false;
    const { journal } = this.#core;
    const entry = journal.make({ k: "unlist", list: id } as const);
    await journal.open(entry);
    await this.finishRemoval(id);
    journal.close(entry);
    return true;
  }

  /** Step by step; may be begun again at any point, since the record of the list goes last. @internal */
  async finishRemoval(id: string): Promise<void> {
    const { follows, timelines, keys } = this.#core;
    const owner = asTextOrNull(await follows.call("HGET", keys.list(id), "owner"));
    await follows.send(["HSET", keys.graph(id), "closed", 1], { repeatable: true });
    for (;;) {
      const members = asTexts(await follows.call("ZRANGE", keys.following(id), 0, AT_ONCE - 1));
      if (members.length === 0) break;
      await each(members, 8, (member) => this.#follows.unlink(id, member));
    }
    await timelines.send(["DEL", keys.home(id)], { repeatable: true });
    if (owner !== null) await follows.send(["ZREM", keys.lists(owner), id], { repeatable: true });
    await follows.send(["DEL", keys.list(id)], { repeatable: true });
    await follows.send(["PEXPIRE", keys.graph(id), GONE_MS], { repeatable: true });
  }
}
