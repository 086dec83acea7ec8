/** Names of files. */
export { basename, dirname, join, resolve } from "node:path";
