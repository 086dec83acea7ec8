/** A command as a line that redis-cli and `cinnabar import` read. */
import { shown } from "../cli/words.ts";
import type { Word } from "../link/reply.ts";

export const lineOf = (words: readonly Word[]): string =>
  words.map((word) => shown(typeof word === "string" ? word : word.toString("latin1"))).join(" ");
