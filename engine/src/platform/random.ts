/** Chance that nobody can foresee. */
export { randomBytes } from "node:crypto";
