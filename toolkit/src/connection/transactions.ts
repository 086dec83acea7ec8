/**
 * Transactions of a store: MULTI … EXEC in one write, and WATCH, read, decide, MULTI … EXEC over a connection that nobody else uses
 * meanwhile, again when a watched key has changed.
 */
import { ClosedError, ConflictError, InputError } from "../base/errors.ts";
import { type Filled, isFilled, zipped } from "../base/lists.ts";
import type { ScriptCall, ScriptText } from "../base/script.ts";
import { type Attempts, CONFLICT_DELAYS, type Sending } from "./attempts.ts";
import { attempted, beforeExec, bySource, checkWords, decoded, isCall, neighbourTag } from "./items.ts";
import type { Answer, Attempt, Driver, Request, Session, Word } from "./port.ts";
import type { Sender } from "./sender.ts";
import { asBuffers, EXEC, executedOrNull } from "./sessions.ts";
import {
  DEFAULT_ATTEMPTS,
  type Item,
  type RoundTrip,
  type TransactionBody,
  type TransactionOptions,
} from "./store-options.ts";

/** Sessions that are kept for the next transactions, at most. */
const MAX_IDLE_SESSIONS = 8;

const CONFLICT = Symbol("conflict");

/** What a transaction needs of its store. */
interface Host {
  readonly driver: Driver;
  readonly sender: Sender;
  readonly isClosed: () => boolean;
  /** Asked for each time: a store that only looks has those of another one. */
  readonly attempts: () => Attempts;
  readonly trip: <T>(
    kind: RoundTrip["kind"],
    sent: Item | readonly Item[],
    sending: Sending | null,
    send: (attempt?: Attempt) => Promise<T>,
  ) => Promise<T>;
}

export class Transactions {
  readonly #host: Host;
  readonly #idle: Session[] = [];

  constructor(host: Host) {
    this.#host = host;
  }

  /** Ends the connections that are kept for the next transactions. */
  endIdle(): void {
    for (const session of this.#idle.splice(0)) session.destroy();
  }

  async multi(items: readonly Item[]): Promise<unknown[]> {
    const { driver, trip } = this.#host;
    const { requests, guards } = this.#steps(items);
    const sending = { repeatable: false, keys: [requests.find(({ key }) => key !== undefined)?.key] };
    const answers = await trip("transaction", items, sending, (attempt) =>
      driver.transact(requests.map((each) => attempted(each, attempt))),
    );
    return zipped(items, answers.slice(guards)).map(([item, answer]) => decoded(item, answer));
  }

  /**
   * What stands between MULTI and EXEC. Scripts go by their source: one that the server has forgotten would fail in the middle.
   *
   * In a Cluster a script that does not begin in a slot on its way would leave the rest of the transaction done. So there the
   * transaction asks for two keys of the slot that never exist, and the server refuses all of it; the script need not ask again.
   */
  #steps(items: readonly Item[]): { readonly requests: readonly Request[]; readonly guards: number } {
    const { driver, sender } = this.#host;
    for (const item of items) if (!isCall(item)) checkWords(item);
    const call = driver.topology === "cluster" ? items.find(isCall) : undefined;
    const tag = call === undefined ? null : neighbourTag(call.keys[0]);
    const text = (item: ScriptCall): ScriptText => (tag === null ? sender.textOf(item) : item.script);
    const steps = items.map((item) => (isCall(item) ? bySource(item, text(item)) : sender.request(item)));
    if (tag === null) return { requests: steps, guards: 0 };
    return { requests: [sender.request(["EXISTS", `{${tag}}\0a`, `{${tag}}\0b`]), ...steps], guards: 1 };
  }

  async watching(options: TransactionOptions, body: TransactionBody): Promise<Answer[] | null> {
    const { watch, attempts = DEFAULT_ATTEMPTS, signal } = options;
    if (!isFilled(watch)) throw new InputError("a transaction needs keys to watch; without any, use multi");
    for (let conflicts = 0; conflicts < attempts; conflicts++) {
      const sending = { repeatable: false, keys: [watch[0]], signal };
      const outcome = await this.#host.attempts().run(sending, () => this.#attempt(options, watch, body));
      if (outcome !== CONFLICT) return outcome;
      if (conflicts >= 2) await this.#host.attempts().pause(conflicts - 2, signal, CONFLICT_DELAYS);
    }
    throw new ConflictError(attempts);
  }

  async #attempt(
    { reads = [], signal }: TransactionOptions,
    watch: Filled<string>,
    body: TransactionBody,
  ): Promise<Answer[] | null | typeof CONFLICT> {
    signal?.throwIfAborted();
    const [key] = watch;
    const session = await this.#takeSession(key);
    let sound = false;
    try {
      const ask = async (words: readonly Word[], buffers: boolean) => {
        checkWords(words);
        return this.#host
          .trip("call", words, null, () => session.send({ words, key, buffers }))
          .catch((error) => Promise.reject(beforeExec(error, words)));
      };
      // A connection answers in order: nothing is read before it is watched.
      const [, ...answers] = await Promise.all([["WATCH", ...watch], ...reads].map((words) => ask(words, false)));
      const watched = {
        call: (...words: Word[]) => ask(words, false),
        callBuffer: (...words: Word[]) => ask(words, true),
      };
      const items = await body(watched, answers);
      if (items === null || items.length === 0) {
        await ask(["UNWATCH"], false);
        sound = true;
        return items === null ? null : [];
      }
      const outcome = await this.#execute(session, key, items);
      sound = true;
      return outcome;
    } finally {
      if (sound) this.#giveSession(session);
      else session.destroy();
    }
  }

  async #execute(session: Session, key: string, items: readonly Item[]): Promise<Answer[] | typeof CONFLICT> {
    const { requests, guards } = this.#steps(items);
    const send = () => session.sendMany([{ words: ["MULTI"], key, buffers: false }, ...asBuffers(requests), EXEC]);
    const replies = executedOrNull(requests, await this.#host.trip("transaction", items, null, send));
    if (replies === null) return CONFLICT;
    return zipped(items, replies.slice(guards)).map(([item, answer]) => decoded(item, answer)) as Answer[];
  }

  /** Sessions are kept for the next transaction where one connection reaches every key. */
  async #takeSession(key: string): Promise<Session> {
    if (this.#host.isClosed()) throw new ClosedError();
    return this.#idle.pop() ?? this.#host.driver.session(key);
  }

  #giveSession(session: Session): void {
    const { driver, isClosed } = this.#host;
    if (driver.topology === "cluster" || isClosed() || this.#idle.length >= MAX_IDLE_SESSIONS) session.destroy();
    else this.#idle.push(session);
  }
}
