/** What other programs may import: the console as a part of their own application. */
export type { AuditEntry, AuditOptions } from "./access/audit.ts";
export { hashPassword, type Role } from "./access/users.ts";
export { consoleFor, type FastifyApplication, type MountedConsole, type MountOptions, type Visitor } from "./mount.ts";
