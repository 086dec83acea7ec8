/** Somebody who asks, and what they may do. */

/** Each may do what the ones before it may. */
export const ROLES = ["viewer", "operator", "admin"] as const;
/** What a user may do: a `viewer` reads, an `operator` also changes data, an `admin` also changes the server. */
export type Role = (typeof ROLES)[number];

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface User {
  readonly name: string;
  readonly role: Role;
  /** The user of the store's ACL whose rights bound theirs. */
  readonly store?: Credentials | undefined;
}

export const ADMIN: User = { name: "admin", role: "admin" };

export const isAtLeast = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least);
