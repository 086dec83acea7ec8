/** What other programs may import: the console as a part of their own application. */
export type { AuditEntry, AuditOptions } from "./access/audit.ts";
export type { Role } from "./access/user.ts";
export { hashPassword } from "./access/users.ts";
export { consoleFor, type FastifyApplication, type MountedConsole, type MountOptions, type Visitor } from "./mount.ts";
