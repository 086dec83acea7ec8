/**
 * Commands and scripts on their way to a driver: scripts by their SHA, and by their source where the server does not have them. When a
 * call is sent again as a whole is in attempts.ts; what is sent again here is only what certainly did not run.
 */
import type { Clock } from "../base/clock.ts";
import { ConnectionError, ServerError } from "../base/errors.ts";
import { zipped } from "../base/lists.ts";
import { type ScriptCall, type ScriptText, textFor } from "../base/script.ts";
import { type Attempts, asMaybeExecuted } from "./attempts.ts";
import { attempted, bySha, bySource, changesNothing, isCall } from "./items.ts";
import type { Answer, Attempt, Driver, Reply, Request, Topology, Word } from "./port.ts";
import { routingKey } from "./routing.ts";
import type { Item } from "./store-options.ts";

export class Sender {
  readonly #driver: Driver;
  readonly #topology: Topology;
  readonly #clock: Clock;
  readonly #closing: AbortSignal;
  readonly #isClosed: () => boolean;
  /** The SHAs of scripts that the server has, as far as is known. */
  readonly #loaded = new Set<string>();

  constructor(
    driver: Driver,
    {
      clock,
      closing,
      isClosed,
    }: { readonly clock: Clock; readonly closing: AbortSignal; readonly isClosed: () => boolean },
  ) {
    this.#driver = driver;
    this.#topology = driver.topology;
    this.#clock = clock;
    this.#closing = closing;
    this.#isClosed = isClosed;
  }

  request(words: readonly Word[]): Request {
    return { words, key: this.#topology === "cluster" ? routingKey(words) : undefined, buffers: false };
  }

  textOf({ script }: ScriptCall): ScriptText {
    return textFor(script, this.#topology);
  }

  /** A server that comes back may not have the scripts any more. */
  forget(): void {
    this.#loaded.clear();
  }

  async evaluate(call: ScriptCall, attempt: Attempt | undefined): Promise<Reply> {
    const text = this.textOf(call);
    try {
      return await this.#driver.send(attempted(bySha(call, text), attempt));
    } catch (error) {
      if (!(error instanceof ServerError) || error.code !== "NOSCRIPT") throw error;
    }
    const reply = await this.#driver.send(attempted(bySource(call, text), attempt));
    this.#loaded.add(text.sha);
    return reply;
  }

  /**
   * Sends what a server has refused for the moment again, after a pause; it has not run. The others have. Reads behind what was
   * refused are asked again with it: they would have the old value of what is written before them.
   */
  async sendAll(items: readonly Item[], attempts: Attempts, attempt: Attempt | undefined): Promise<Answer[]> {
    const answers = await this.#sendItems(items, attempt);
    const until = this.#clock.monotonicMs() + attempts.retryMs;
    for (let count = 0; ; count++) {
      const first = answers.findIndex((answer) => attempts.isPassing(answer));
      const isOver = attempt?.isAbandoned === true || this.#isClosed() || this.#clock.monotonicMs() >= until;
      if (first < 0 || isOver) return answers;
      const refused = items.flatMap((item, at) => {
        const isDue = attempts.isPassing(answers[at]) || (at > first && changesNothing(item));
        return isDue ? [{ at, item }] : [];
      });
      await attempts.pause(count, this.#closing);
      const again = await this.#sendItems(
        refused.map(({ item }) => item),
        attempt,
      ).catch((error) => {
        // A connection that is being made again: nothing of this attempt was sent.
        if (error instanceof ConnectionError && !error.maybeExecuted) return null;
        throw asMaybeExecuted(error);
      });
      if (again === null) continue;
      for (const [{ at }, answer] of zipped(refused, again)) answers[at] = answer;
    }
  }

  async #sendItems(items: readonly Item[], attempt: Attempt | undefined): Promise<Answer[]> {
    const fresh = new Set<string>();
    const requests = items.map((item) => {
      if (!isCall(item)) return attempted(this.request(item), attempt);
      const text = this.textOf(item);
      const known = this.#loaded.has(text.sha) || fresh.has(text.sha);
      if (this.#topology !== "cluster" && !known) fresh.add(text.sha);
      return attempted(known ? bySha(item, text) : bySource(item, text), attempt);
    });
    const answers = await this.#driver.sendMany(requests);
    if (this.#topology !== "cluster") for (const sha of fresh) this.#loaded.add(sha);
    // Nodes that were not sent one by its source do not have it; they say so, and get it then.
    else for (const item of items) if (isCall(item)) this.#loaded.add(this.textOf(item).sha);
    const forgotten = items.flatMap((item, at) => {
      const answer = answers[at];
      return answer instanceof ServerError && answer.code === "NOSCRIPT" && isCall(item) ? [{ at, call: item }] : [];
    });
    if (forgotten.length === 0) return answers;
    // The others have run, whatever becomes of these.
    const again = await this.#driver
      .sendMany(forgotten.map(({ call }) => attempted(bySource(call, this.textOf(call)), attempt)))
      .catch((error) => Promise.reject(asMaybeExecuted(error)));
    for (const [{ at }, answer] of zipped(forgotten, again)) answers[at] = answer;
    return answers;
  }
}
