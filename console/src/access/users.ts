/**
 * Who uses the console, and what they may do. Without a list of users there is one, `admin`, behind the console's password if it has
 * one. With a list (`--users FILE`) each has a name, a role and a password, and may have a user of the store's own ACL: then the
 * store itself refuses what that user may not do.
 */
import { createHash, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { UsageError } from "../usage-error.ts";
import { isObject, messageOf } from "../values.ts";
import { ADMIN, ROLES, type User } from "./user.ts";

export interface KnownUser extends User {
  /** Plain, or `scrypt:N:r:p:salt:hash` with salt and hash in base64url. */
  readonly password: string;
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
const HASHED = /^scrypt:(\d{1,7}):(\d{1,2}):(\d{1,2}):([\w-]{8,128}):([\w-]{22,128})$/;
const MAX_MEMORY = 128 * 1024 * 1024;

function derive(password: string, salt: Buffer, length: number, cost: { N: number; r: number; p: number }) {
  return new Promise<Buffer>((resolve, reject) =>
    scrypt(password, salt, length, { ...cost, maxmem: MAX_MEMORY }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    ),
  );
}

/**
 * What a users file may have in place of a password: `scrypt:16384:8:1:salt:hash`, with a random salt.
 * @example
 * await hashPassword("correct horse"); // → "scrypt:16384:8:1:…"
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, 32, { N: 16_384, r: 8, p: 1 });
  return `scrypt:16384:8:1:${salt.toString("base64url")}:${key.toString("base64url")}`;
}

/** In a time that tells nothing: digests have one length whatever was given. */
async function matches(given: string, kept: string): Promise<boolean> {
  const [, n, r, p, salt, hash] = HASHED.exec(kept) ?? [];
  if (hash === undefined) return timingSafeEqual(digest(given), digest(kept));
  const expected = Buffer.from(hash, "base64url");
  const key = await derive(given, Buffer.from(salt!, "base64url"), expected.length, {
    N: Number(n),
    r: Number(r),
    p: Number(p),
  });
  return timingSafeEqual(key, expected);
}

/** An unknown name costs as long as a wrong password. */
const NOBODY = "scrypt:16384:8:1:AAAAAAAAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

export class Users {
  readonly #users: ReadonlyMap<string, KnownUser>;
  readonly #hasNames: boolean;

  constructor(users: readonly KnownUser[] | undefined, password: string | undefined) {
    this.#hasNames = users !== undefined;
    const all = users ?? (password === undefined ? [] : [{ ...ADMIN, password }]);
    this.#users = new Map(all.map((user) => [user.name, user]));
  }

  /** Whether people must sign in. */
  get isLocked(): boolean {
    return this.#users.size > 0;
  }

  /** Whether they say who they are, besides the password. */
  get hasNames(): boolean {
    return this.#hasNames;
  }

  async find(name: string | undefined, password: string): Promise<User | null> {
    const user = this.#users.get(this.#hasNames ? (name ?? "") : ADMIN.name);
    if (!(await matches(password, user?.password ?? NOBODY)) || user === undefined) return null;
    return { name: user.name, role: user.role, store: user.store };
  }
}

const NAME = /^[\w.@-]{1,64}$/;

function userOf(given: unknown, nth: number): KnownUser {
  const where = `user ${nth + 1}`;
  if (!isObject(given)) throw new UsageError(`${where} is no object`);
  const { name, role: wanted, password, store, ...rest } = given;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new UsageError(`${where} has an unknown field '${unknown}'`);
  if (typeof name !== "string" || !NAME.test(name)) {
    throw new UsageError(`the name of ${where} has 1 to 64 letters, digits and . _ @ -`);
  }
  const role = ROLES.find((each) => each === wanted);
  if (role === undefined) throw new UsageError(`the role of '${name}' is one of ${ROLES.join(", ")}`);
  if (typeof password !== "string" || password === "") throw new UsageError(`'${name}' has no password`);
  if (store === undefined) return { name, role, password };
  const { username, password: secret } = isObject(store) ? store : {};
  if (typeof username !== "string" || typeof secret !== "string") {
    throw new UsageError(`the store of '${name}' has a username and a password`);
  }
  return { name, role, password, store: { username, password: secret } };
}

/** A file with secrets in it, which others must not be able to read. */
export function readSecretFile(path: string, option: string): string {
  let text: string;
  try {
    if (process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0) {
      throw new UsageError(`${path} can be read by others: chmod 600 ${path}`);
    }
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${option}: ${messageOf(error)}`);
  }
  return text.trim();
}

export function readJsonFile(path: string, option: string): unknown {
  try {
    return JSON.parse(readSecretFile(path, option));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // The parser's message would quote the file, which has secrets in it.
    throw new UsageError(`${option}: ${path} is no JSON`);
  }
}

/** `{ "users": [{ "name", "role", "password", "store": { "username", "password" } }] }` */
export function readUsers(path: string): KnownUser[] {
  const given = readJsonFile(path, "--users");
  const users = isObject(given) ? given.users : undefined;
  if (!Array.isArray(users) || users.length === 0) throw new UsageError(`--users: ${path} has no list "users"`);
  const known = users.map(userOf);
  if (new Set(known.map(({ name }) => name)).size < known.length) throw new UsageError("--users: two have one name");
  return known;
}
