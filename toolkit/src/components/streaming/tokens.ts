/**
 * Access tokens: who may listen, and to what.
 *
 *   const tokens = new AccessTokens(store);
 *   const { token } = await tokens.issue("ann", { scopes: ["filter"] });     // shown once, never stored
 *   const info = await tokens.verify(token);                                 // { user: "ann", id, scopes } or null
 *   await tokens.revoke("ann", info.id);                                     // ends the connections that it opened
 *
 * A token is `tag.id.secret`. The tag is made from the user's name, so all of a user's tokens are in one slot and one key, and a
 * token is found without knowing whose it is. Of the secret, which has 128 bits, only a hash is stored, and it is compared in
 * constant time.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { aStore, integer, word } from "../../base/checks.ts";
import { CinnabarError, InputError } from "../../base/errors.ts";
import { defineOptions, listOf, prefix, text, whole } from "../../base/options.ts";
import type { Page } from "../../base/page.ts";
import { asPairs } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import type { Subscription } from "../../connection/subscriptions.ts";
import { revokedChannel, tokensKey, tokenTag } from "./keys.ts";
import { issue, lookUp, revoke } from "./scripts.ts";

/** Settings of `AccessTokens`. */
export interface AccessTokensOptions {
  /** How all keys begin (default `"stream-token"`). */
  readonly prefix?: string;
  /** How many tokens a user may have (default 100, at most 1 000). */
  readonly maxPerUser?: number;
}

/** What is known of a token; without its secret. */
export interface TokenInfo {
  /** Whose token it is. */
  readonly user: string;
  /** The token's id: not secret, for `revoke`. */
  readonly id: string;
  /** What it is good for. */
  readonly scopes: readonly string[];
  /** What its owner calls it; empty if that was not said. */
  readonly label: string;
  /** When it was issued, by the server's clock. */
  readonly createdAt: Date;
  /** Null: it does not end by itself. */
  readonly endsAt: Date | null;
}

/** A token that was just issued. */
export interface AccessToken extends TokenInfo {
  /** The token itself. This is the only moment at which anybody but its owner has it. */
  readonly token: string;
}

const TOKEN = /^([\w-]{12})\.([\w-]{12})\.([\w-]{22})$/;
const SCOPE = /^[\w:.-]{1,64}$/;
const MOST_LIFETIME_MS = 10 * 366 * 86_400_000;

type Stored = [hash: string, user: string, scopes: string, createdMs: number, endsMs: number, label: string];

const OPTIONS = defineOptions<AccessTokensOptions>("AccessTokens", {
  prefix,
  maxPerUser: whole(1, 1_000),
});

const ISSUE_OPTIONS = defineOptions<{
  readonly scopes?: readonly string[];
  readonly ttlMs?: number;
  readonly label?: string;
}>("AccessTokens.issue", {
  scopes: listOf(text),
  ttlMs: whole(0, MOST_LIFETIME_MS),
  label: text,
});

/**
 * Access tokens: who may listen, and to what. Only a hash of each secret is stored.
 *
 * @example
 * const tokens = new AccessTokens(db);
 * const { token, id } = await tokens.issue("ann", { scopes: ["filter"], label: "laptop" });
 * const info = await tokens.verify(token);
 * info?.scopes; // → ["filter"]
 * await tokens.revoke("ann", id); // → true
 * await tokens.isGood(info!); // → false
 * @example
 * const tokens = new AccessTokens(db);
 * await tokens.issue("ann", { label: "laptop", ttlMs: 86_400_000 });
 * (await tokens.list("ann")).items.map(({ label }) => label); // → ["laptop"]
 * const subscription = await tokens.subscribe((affects) => console.log(typeof affects));
 * await tokens.revokeEverywhere("ann"); // → 1
 * await subscription.close();
 */
export class AccessTokens {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #maxPerUser: number;

  constructor(store: Store, options: AccessTokensOptions = {}) {
    aStore("AccessTokens", store);
    OPTIONS.check(options);
    this.#store = store;
    this.#prefix = options.prefix ?? "stream-token";
    this.#maxPerUser = options.maxPerUser ?? 100;
  }

  /** A new token. Throws (code LIMIT) when the user has as many as they may. */
  async issue(
    user: string,
    options: { readonly scopes?: readonly string[]; readonly ttlMs?: number; readonly label?: string } = {},
  ): Promise<AccessToken> {
    ISSUE_OPTIONS.check(options);
    const { scopes = [], ttlMs = 0, label = "" } = options;
    const tag = tokenTag(word("user", user, 256));
    integer("the number of scopes", scopes.length, 0, 32);
    for (const scope of scopes) {
      if (!SCOPE.test(scope)) throw new InputError("a scope must be 1 to 64 letters, digits and _ : . -");
    }
    if (label !== "") word("label", label, 256);
    const id = randomBytes(9).toString("base64url");
    const secret = randomBytes(16).toString("base64url");
    const [createdMs, endsMs] = await this.#store.run(issue, {
      ...{ tokens: tokensKey(this.#prefix, tag), id, user, label, ttlMs },
      secretHash: hashOf(secret).toString("base64url"),
      scopes: scopes.join(" "),
      maxTokens: this.#maxPerUser,
    });
    if (createdMs === 0) throw new CinnabarError("LIMIT", `a user has at most ${this.#maxPerUser} tokens`);
    const token = `${tag}.${id}.${secret}`;
    return {
      token,
      user,
      id,
      scopes,
      label,
      createdAt: new Date(createdMs),
      endsAt: endsMs === 0 ? null : new Date(endsMs),
    };
  }

  /** Whose token it is and what for; null for what is none, was revoked, or has ended. One round trip. */
  async verify(token: string): Promise<TokenInfo | null> {
    const parts = TOKEN.exec(token);
    if (parts === null) return null;
    const [, tag = "", id = "", secret = ""] = parts;
    const [record, nowMs] = await this.#store.run(lookUp, { tokens: tokensKey(this.#prefix, tag), id });
    const stored = record === null ? null : parsed(record);
    // Whether there is one or not, the same is done.
    const expected = stored === null ? hashOf("") : Buffer.from(stored[0], "base64url");
    const same = timingSafeEqual(hashOf(secret), expected);
    if (stored === null || !same || (stored[4] > 0 && stored[4] <= nowMs)) return null;
    return toInfo(id, stored);
  }

  /** Whether a token that was verified is still good. */
  async isGood({ user, id }: TokenInfo): Promise<boolean> {
    const [record, nowMs] = await this.#store.run(lookUp, { tokens: tokensKey(this.#prefix, tokenTag(user)), id });
    if (record === null) return false;
    const endsMs = parsed(record)[4];
    return endsMs === 0 || endsMs > nowMs;
  }

  /** The tokens of a user, the latest first; also those that have ended and were not yet swept away. All are on one page: a user has at most `maxPerUser`. */
  async list(user: string): Promise<Page<TokenInfo>> {
    const key = tokensKey(this.#prefix, tokenTag(word("user", user, 256)));
    const found = asPairs(await this.#store.call("HGETALL", key)).map(([id, record]) => toInfo(id, parsed(record)));
    found.sort((one, other) => other.createdAt.getTime() - one.createdAt.getTime());
    return { items: found, cursor: null };
  }

  /** Ends a token, and the connections that it opened. False when there was none. */
  async revoke(user: string, id: string): Promise<boolean> {
    return (await this.#revoke(user, word("id", id, 64))) > 0;
  }

  /** Ends all tokens of a user. Answers how many. */
  revokeEverywhere(user: string): Promise<number> {
    return this.#revoke(user, "");
  }

  #revoke(user: string, id: string): Promise<number> {
    const tag = tokenTag(word("user", user, 256));
    return this.#store.run(revoke, {
      tokens: tokensKey(this.#prefix, tag),
      channel: revokedChannel(this.#prefix),
      ...{ id, tag },
    });
  }

  /** Tells of revocations, wherever they happen; `affects` says whether a token is meant. A message may be lost. */
  subscribe(listener: (affects: (token: TokenInfo) => boolean) => void): Promise<Subscription> {
    return this.#store.subscribe(revokedChannel(this.#prefix), (message) => {
      const [tag, id] = message.toString("utf8").split(".");
      listener((token) => tokenTag(token.user) === tag && (id === "" || token.id === id));
    });
  }
}

const parsed = (record: string): Stored => JSON.parse(record);

function toInfo(id: string, [, user, scopes, createdMs, endsMs, label]: Stored): TokenInfo {
  return {
    user,
    id,
    scopes: scopes === "" ? [] : scopes.split(" "),
    label,
    createdAt: new Date(createdMs),
    endsAt: endsMs === 0 ? null : new Date(endsMs),
  };
}

function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
