/**
 * Users and their logins. A login is in its own slot, a user in theirs, so giving a user a login takes three steps:
 *
 *   1. the user's record says which login is wanted, under a nonce that is never used again;
 *   2. the login's key gets `user nonce`, if it is free;
 *   3. the record takes the login.
 *
 * A login's key counts only if the record that it names has that nonce: as the login (it is taken), or as the wish (step 3 is
 * missing, and the next process that sees it does it). With neither, the nonce can never count again, since step 1 comes before step 2 and nonces
 * are not used twice: the key is a leftover, and the next user who wants the login replaces exactly that value. So a crash between any two
 * steps blocks nobody, and no two users ever have a login.
 */

import { asText, asTuple, orNull, wordOf } from "../../../base/replies.ts";
import { defineScript, NOW_MS } from "../../../base/script.ts";

/**
 * A new record that waits for its login. "new"; "has" if the user exists and has this login; "exists" if it exists otherwise. A
 * record that nobody completes goes by itself.
 */
export const createUser = defineScript({
  name: "social.users.create",
  keys: ["user"],
  args: ["login", "folded", "name", "nonce", "pendingMs"],
  repeatable: true,
  lua: `
    local is = redis.call("HMGET", user, "state", "key", "wantNonce")
    if is[1] == "a" then return is[2] == folded and "has" or "exists" end
    if is[1] == "r" then return "exists" end
    redis.call("HSET", user, "state", "p", "want", login, "wantKey", folded, "wantNonce", nonce, "name", name)
    redis.call("PEXPIRE", user, pendingMs)
    return "new"
  `,
});

/** The login that a user wants next. "wanted"; "same" if only the writing changes, which is done at once; "missing". */
export const wantLogin = defineScript({
  name: "social.users.want",
  keys: ["user"],
  args: ["login", "folded", "nonce"],
  repeatable: true,
  lua: `
    local is = redis.call("HMGET", user, "state", "key")
    if is[1] ~= "a" then return "missing" end
    if is[2] == folded then
      redis.call("HSET", user, "login", login)
      return "same"
    end
    redis.call("HSET", user, "want", login, "wantKey", folded, "wantNonce", nonce)
    return "wanted"
  `,
});

/** Step 3. { login before, its nonce }; nil when the wish is no longer this one. */
export const takeLogin = defineScript({
  name: "social.users.take",
  keys: ["user"],
  args: ["nonce"],
  include: [NOW_MS],
  repeatable: true,
  lua: `
    local is = redis.call("HMGET", user, "state", "key", "nonce", "want", "wantKey", "wantNonce")
    if is[1] == "a" and is[3] == nonce then return {"", ""} end
    if (is[1] ~= "a" and is[1] ~= "p") or is[6] ~= nonce then return nil end
    redis.call("HSET", user, "state", "a", "login", is[4], "key", is[5], "nonce", nonce)
    redis.call("HDEL", user, "want", "wantKey", "wantNonce")
    if is[1] == "p" then
      redis.call("HSET", user, "at", now)
      redis.call("PERSIST", user)
    end
    return {is[2] or "", is[3] or ""}
  `,
  reply: orNull(asTuple(asText, asText)),
});

/** A wish that came to nothing: a record that only waited for it goes at once. */
export const dropWish = defineScript({
  name: "social.users.drop",
  keys: ["user"],
  args: ["nonce"],
  repeatable: true,
  lua: `
    local is = redis.call("HMGET", user, "state", "wantNonce")
    if is[2] ~= nonce then return 0 end
    if is[1] == "p" then return redis.call("DEL", user) end
    return redis.call("HDEL", user, "want", "wantKey", "wantNonce")
  `,
});

/** Step 2: takes a login that is free, or still has the leftover that was seen. What is there afterwards. */
export const claimLogin = defineScript({
  name: "social.users.claim",
  keys: ["login"],
  args: ["value", "leftover"],
  repeatable: true,
  lua: `
    local held = redis.call("GET", login)
    if held and held ~= leftover then return held end
    redis.call("SET", login, value)
    return value
  `,
  reply: (reply) => String(reply),
});

export const releaseLogin = defineScript({
  name: "social.users.release",
  keys: ["login"],
  args: ["value"],
  repeatable: true,
  lua: `
    if redis.call("GET", login) ~= value then return 0 end
    return redis.call("DEL", login)
  `,
});

export const setName = defineScript({
  name: "social.users.name",
  keys: ["user"],
  args: ["name"],
  repeatable: true,
  lua: `
    if redis.call("HGET", user, "state") ~= "a" then return 0 end
    redis.call("HSET", user, "name", name)
    return 1
  `,
});

/** From here on the user is gone for everybody; what is theirs is cleaned up behind it. { login, nonce, state before }. */
export const retireUser = defineScript({
  name: "social.users.retire",
  keys: ["user"],
  repeatable: true,
  lua: `
    local is = redis.call("HMGET", user, "state", "key", "nonce")
    if is[1] ~= "a" and is[1] ~= "r" then return nil end
    redis.call("HSET", user, "state", "r")
    redis.call("HDEL", user, "want", "wantKey", "wantNonce")
    return {is[2], is[3], is[1]}
  `,
  reply: orNull(asTuple(asText, asText, wordOf("a", "r"))),
});
