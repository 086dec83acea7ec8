/** Users: unique logins whatever the case, names, removal. How a login is given to one user only is told in scripts/users.ts. */
import { word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { defineOptions, text } from "../../base/options.ts";
import { asTextOrNull, asTextsOrNulls, asTuple } from "../../base/replies.ts";
import { fold } from "../../text/fold.ts";
import type { Core } from "./core.ts";
import { checkUser, newId } from "./ids.ts";
import {
  claimLogin,
  createUser,
  dropWish,
  releaseLogin,
  retireUser,
  setName,
  takeLogin,
  wantLogin,
} from "./scripts/users.ts";

/** A user of the network. */
export interface User {
  /** The user's id, which never changes. */
  readonly id: string;
  /** As its owner writes it. */
  readonly login: string;
  /** The name to show. */
  readonly name: string;
  /** When the user joined, by the server's clock. */
  readonly joinedAt: Date;
}

/** What became of a wish to join. */
export type JoinOutcome =
  | {
      /** `joined`: the user is there now. */
      readonly status: "joined";
      /** The user. */
      readonly user: User;
    }
  /** taken: somebody has this login. exists: there is a user with this id, and another login, or there was one lately. */
  | {
      /** Why the user could not join. */
      readonly status: "taken" | "exists";
    };

export interface RenameOutcome {
  /** `taken`: somebody has this login. */
  readonly status: "renamed" | "taken" | "not-found";
}

/** What is not completed in this time was given up: longer than any call is repeated. */
const PENDING_MS = 120_000;
const MAX_TRIES = 20;
const LOGIN = /^[\p{L}\p{N}\p{M}_.-]{1,40}$/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/** State, login, name and when they joined; all null for somebody whom nobody knows. */
const asUser = asTuple(asTextOrNull, asTextOrNull, asTextOrNull, asTextOrNull);
/** State, folded login, its nonce, then as above. */
const asLogin = asTuple(asTextOrNull, asTextOrNull, asTextOrNull, asTextOrNull, asTextOrNull, asTextOrNull);

const JOIN_OPTIONS = defineOptions<{ readonly name?: string; readonly id?: string }>("Users.join", {
  name: text,
  id: text,
});

/**
 * The users of a network, with their logins and names: `users` of a `Social`.
 *
 * @example
 * const { users } = new Social(db);
 * await users.join("Ada", { id: "ada" }); // → { status: "joined", user: { id: "ada", login: "Ada", name: "Ada", joinedAt: … } }
 * await users.join("ADA"); // → { status: "taken" }
 * await users.rename("ada", "Lovelace"); // → { status: "renamed" }
 * (await users.getByLogin("lovelace"))?.id; // → "ada"
 * await users.delete("ada"); // → true
 * @example
 * const { users } = new Social(db);
 * await users.join("ada", { id: "ada" });
 * await users.setName("ada", "Ada Lovelace"); // → true
 * (await users.get("ada"))?.name; // → "Ada Lovelace"
 * (await users.getMany(["ada", "none"])).size; // → 1
 */
export class Users {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** A new user. With an `id` of the caller's own, the same call again gives the same user. */
  async join(login: string, options: { readonly name?: string; readonly id?: string } = {}): Promise<JoinOutcome> {
    JOIN_OPTIONS.check(options);
    const folded = foldLogin(login);
    const name = word("name", options.name ?? login, 400);
    const id = options.id === undefined ? newId() : checkUser("id", options.id);
    if (options.id !== undefined && (await this.#wasRemoved(id))) return { status: "exists" };
    const { users, keys } = this.#core;
    const nonce = randomToken();
    const user = keys.user(id);
    const made = await users.run(createUser, { user, login, folded, name, nonce, pendingMs: PENDING_MS });
    if (made === "exists") return options.id === undefined ? this.join(login, options) : { status: "exists" };
    if (made === "new" && !(await this.#obtain(id, folded, nonce))) return { status: "taken" };
    const joined = await this.get(id);
    return joined === null ? { status: "exists" } : { status: "joined", user: joined };
  }

  /** What was a user's is cleaned up in the background; meanwhile the id is not given again. */
  async #wasRemoved(id: string): Promise<boolean> {
    const { follows, statuses, keys } = this.#core;
    const closed = await Promise.all([
      follows.call("HGET", keys.graph(id), "closed"),
      statuses.call("HGET", keys.posts(id), "closed"),
    ]);
    return closed.some((each) => each !== null);
  }

  /** Changes the login. */
  async rename(id: string, login: string): Promise<RenameOutcome> {
    const folded = foldLogin(login);
    const { users, keys } = this.#core;
    const nonce = randomToken();
    const wanted = await users.run(wantLogin, { user: keys.user(checkUser("user", id)), login, folded, nonce });
    if (wanted === "missing") return { status: "not-found" };
    const renamed = wanted === "same" || (await this.#obtain(id, folded, nonce));
    return { status: renamed ? "renamed" : "taken" };
  }

  /** Steps 2 and 3 for a wish that is in the user's record. */
  async #obtain(id: string, folded: string, nonce: string): Promise<boolean> {
    const { users, keys } = this.#core;
    const login = keys.login(folded);
    const value = `${id} ${nonce}`;
    let leftover = "";
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const held = await users.run(claimLogin, { login, value, leftover });
      if (held === value) {
        const taken = await users.run(takeLogin, { user: keys.user(id), nonce });
        if (taken === null) {
          await users.run(releaseLogin, { login, value });
          return false;
        }
        const [before, beforeNonce] = taken;
        if (before !== "") {
          await users.run(releaseLogin, { login: keys.login(before), value: `${id} ${beforeNonce}` });
        }
        return true;
      }
      if (await this.#counts(held, folded)) break;
      leftover = held;
    }
    await users.run(dropWish, { user: keys.user(id), nonce });
    return false;
  }

  /** Whether what stands in a login's key is somebody's. A last step that is missing is done on the way. */
  async #counts(held: string, folded: string): Promise<boolean> {
    const [owner = "", nonce = ""] = held.split(" ");
    const { users, keys } = this.#core;
    const user = keys.user(owner);
    const fields = ["state", "key", "nonce", "wantKey", "wantNonce"];
    const [state, key, has, wantKey, wantNonce] = asTextsOrNulls(await users.call("HMGET", user, ...fields));
    if (state === "a" && key === folded && has === nonce) return true;
    if (wantKey !== folded || wantNonce !== nonce) return false;
    const taken = await users.run(takeLogin, { user, nonce });
    if (taken === null) return false;
    const [before, beforeNonce] = taken;
    if (before !== "") {
      await users.run(releaseLogin, { login: keys.login(before), value: `${owner} ${beforeNonce}` });
    }
    return true;
  }

  /** Changes the name to show. False if there is no such user. */
  async setName(id: string, name: string): Promise<boolean> {
    const { users, keys } = this.#core;
    return (await users.run(setName, { user: keys.user(checkUser("user", id)), name: word("name", name, 400) })) === 1;
  }

  /** A user, or null. */
  async get(id: string): Promise<User | null> {
    return (await this.getMany([id])).get(id) ?? null;
  }

  /** Those of them that there are. */
  async getMany(ids: Iterable<string>): Promise<Map<string, User>> {
    const { users, keys } = this.#core;
    const distinct = [...new Set(ids)].map((id) => checkUser("user", id));
    const items = distinct.map((id) => ["HMGET", keys.user(id), "state", "login", "name", "at"]);
    const found = new Map<string, User>();
    for (const [id, reply] of zipped(distinct, await users.pipeline(items))) {
      const [state, login, name, since] = asUser(reply);
      if (state !== "a" || login === null || name === null) continue;
      found.set(id, { id, login, name, joinedAt: new Date(Number(since)) });
    }
    return found;
  }

  /** Who has a login, however it is written; null if nobody has. */
  async getByLogin(login: string): Promise<User | null> {
    const folded = foldLogin(login);
    const { users, keys } = this.#core;
    const held = asTextOrNull(await users.call("GET", keys.login(folded)));
    if (held === null) return null;
    const [owner = "", nonce = ""] = held.split(" ");
    const fields = ["state", "key", "nonce", "login", "name", "at"];
    const [state, key, has, written, name, at] = asLogin(await users.call("HMGET", keys.user(owner), ...fields));
    if (state !== "a" || key !== folded || has !== nonce || written === null || name === null) return null;
    return { id: owner, login: written, name, joinedAt: new Date(Number(at)) };
  }

  /** @internal */
  async exists(id: string): Promise<boolean> {
    const { users, keys } = this.#core;
    return (await users.call("HGET", keys.user(id), "state")) === "a";
  }

  /**
   * Removes a user: nobody sees them or anything of theirs from here on, and the login is free. Statuses, follows and lists are
   * cleaned up by workers. False if there is no such user.
   */
  async delete(id: string): Promise<boolean> {
    checkUser("user", id);
    const { journal, users, keys, jobs } = this.#core;
    const entry = journal.make({ k: "removal", user: id } as const);
    const retired = await journal.before(entry, users, retireUser, { user: keys.user(id) });
    if (retired !== null) {
      await this.finishRemoval(id, retired);
      await jobs.add({ k: "retire", user: id });
    }
    journal.close(entry);
    return retired?.[2] === "a";
  }

  /** Closes all doors, so that calls under way find them closed. @internal */
  async finishRemoval(id: string, login: readonly [string, string, ...unknown[]] | null): Promise<void> {
    const { users, statuses, follows, keys } = this.#core;
    if (login !== null) {
      await users.run(releaseLogin, { login: keys.login(login[0]), value: `${id} ${login[1]}` });
    }
    await Promise.all([
      statuses.send(["HSET", keys.posts(id), "closed", 1], { repeatable: true }),
      follows.send(["HSET", keys.graph(id), "closed", 1], { repeatable: true }),
    ]);
  }
}

function foldLogin(login: string): string {
  word("login", login, 200);
  if (!LOGIN.test(login.normalize("NFKC")) || INVISIBLE.test(login)) {
    throw new InputError('a login is 1 to 40 letters, digits, "_", "." or "-"');
  }
  return fold(login);
}
