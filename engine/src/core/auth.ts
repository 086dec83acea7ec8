/** Who a client is: the one user `default`, its password in requirepass. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Client } from "./client.ts";
import { AUTH_WITHOUT_PASSWORD, WRONGPASS } from "./errors.ts";

export const DEFAULT_USER = "default";

const digest = (word: string) => createHash("sha256").update(word, "latin1").digest();

/** Takes the same time wherever two words first differ, whatever their lengths. */
const same = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));

/** Lets a client in, or throws. Without a configured password any will do, but only where a user is named. */
export function authenticate(client: Client, user: string, password: string): void {
  const { requirepass } = client.engine.config.values;
  const right = requirepass === "" || same(password, requirepass);
  if (user !== DEFAULT_USER || !right) throw WRONGPASS;
  client.user = user;
  client.authenticated = true;
}

/** AUTH with a password only. */
export function authenticateDefault(client: Client, password: string): void {
  if (client.engine.config.values.requirepass === "") throw AUTH_WITHOUT_PASSWORD;
  authenticate(client, DEFAULT_USER, password);
}

/** What a connection begins with. */
export function forgetUser(client: Client): void {
  client.user = DEFAULT_USER;
  client.authenticated = !client.engine.passwordRequired;
}
