/** Messages as followers get them, and where following begins. */
import { word } from "../../base/checks.ts";
import type { Codec } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import type { Entry } from "./scripts.ts";

/** The first that is kept; what comes from now on; since a time; after the message of this id. */
export type From = "start" | "now" | Date | number | string;

/** A message of a `DurableTopic`. */
export interface Message<T> {
  /** Larger than those of all earlier messages of the topic. */
  readonly id: string;
  /** The payload, decoded. */
  readonly data: T;
  /** By the server's clock. */
  readonly publishedAt: Date;
}

export const timeOf = (id: string): number => Number(id.slice(0, id.indexOf("-")));
export const numberOf = (id: string): number => Number(id.slice(id.indexOf("-") + 1));

export function messageOf<T>({ id, payload }: Entry, codec: Codec<T>): Message<T> {
  const data = codec.decode(codec.binary ? payload : payload.toString("utf8"));
  return { id, data, publishedAt: new Date(timeOf(id)) };
}

export function checkId(id: string): string {
  if (!/^\d{1,16}-\d{1,16}$/.test(word("the id of a message", id, 64))) {
    throw new InputError(`"${id}" is no id of a message: those are two numbers with a dash between them`);
  }
  return id;
}

/** As the scripts take it. */
export function fromWord(from: From): string {
  if (from === "start" || from === "now") return from;
  if (typeof from === "string") return checkId(from);
  const ms = typeof from === "number" ? from : from.getTime();
  if (!Number.isFinite(ms)) throw new InputError("from must be a Date or milliseconds since 1970");
  return String(Math.max(0, Math.floor(ms)));
}
