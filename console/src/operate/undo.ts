/**
 * What can be undone. The answer to a change has an id; for a while that id undoes the change, once, and only for the person who
 * made it. What was there before stays in the memory of the console, within a bound, and never leaves it. Undoing never
 * overwrites what somebody else has done meanwhile: each way back compares first, and is refused with a reason.
 */
import { randomUUID } from "node:crypto";
import { refuseBelow } from "../access/roles.ts";
import type { Role } from "../access/user.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { nullable, object, string } from "../schema.ts";
import { DONE } from "../shapes.ts";
import { ownerOf, perStore } from "../work.ts";

/** Of one change. A larger value is changed all the same; that cannot be undone then. */
export const MOST_UNDO_BYTES = 1_048_576;
const MOST_BYTES = 32 * MOST_UNDO_BYTES;
const MOST_CHANGES = 200;
const KEPT_MS = 10 * 60_000;

/** In an answer: the id of what can be undone. */
export const UNDO = nullable(string({ description: "What POST /api/undo takes; null where it cannot be undone." }));

interface Undoable {
  /** What was done to what, for the audit log. */
  readonly about: Readonly<Record<string, unknown>>;
  readonly bytes: number;
  /** The least role that may do it; by default an operator. */
  readonly role?: Role;
  back(context: Context): Promise<void>;
}

interface Kept extends Undoable {
  readonly user: string;
  readonly until: number;
}

class Undos {
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  keep(user: string, what: Undoable): string | null {
    if (what.bytes > MOST_UNDO_BYTES) return null;
    const id = randomUUID();
    this.#kept.set(id, { ...what, user, until: Date.now() + KEPT_MS });
    this.#bytes += what.bytes;
    for (const [old, { until }] of this.#kept) {
      if (this.#kept.size <= MOST_CHANGES && this.#bytes <= MOST_BYTES && until > Date.now()) break;
      this.#drop(old);
    }
    return id;
  }

  take(id: string, user: string): Undoable {
    const found = this.#kept.get(id);
    if (found === undefined || found.user !== user || found.until <= Date.now())
      throw new Problem(404, "NO_UNDO", "this cannot be undone any more");
    this.#drop(id);
    return found;
  }

  #drop(id: string): void {
    this.#bytes -= this.#kept.get(id)?.bytes ?? 0;
    this.#kept.delete(id);
  }
}

const undosOf = perStore(() => new Undos());

/** Keeps what undoes a change; answers its id, or null where it is too large. */
export const keepUndo = ({ store, user }: Context, what: Undoable): string | null =>
  undosOf({ store: ownerOf(store) }).keep(user.name, what);

/** What was undone, for the audit log: the body has only an id, which is used up. */
const told = new WeakMap<object, Undoable["about"]>();

async function undo(context: Context, body: { readonly id: string }): Promise<void> {
  const found = undosOf({ store: ownerOf(context.store) }).take(body.id, context.user.name);
  told.set(body, found.about);
  refuseBelow(context.user, found.role ?? "operator", "undoing this");
  await found.back(context);
}

export const UNDO_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    url: "/api/undo",
    group: "Keys",
    summary: "Undoes a change of one's own; refused where somebody else has changed the same meanwhile.",
    body: object({ id: string({ minLength: 1, maxLength: 100 }) }),
    answers: "Nothing.",
    answer: DONE,
    tells: (body) => told.get(body) ?? {},
    run: (context, { body }) => undo(context, body),
  }),
];
