/**
 * Leader election: of all processes that stand for a name, one leads at a time, for as long as it keeps its lease. The others wait in
 * line; when a leader resigns, the next leads in the same step, and when it dies, after one lease. A leader can hand over to a
 * candidate of its choice.
 *
 * An election is an exclusive lease (../../leases) whose holders have names, so everything about leases holds: fences, renewal from a
 * thread, the server's clock.
 */
import { aStore, word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import {
  type Checks,
  callback,
  defineOptions,
  prefix,
  signal,
  text,
  whole,
  withDefaults,
  within,
} from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import type { Confirmation } from "../../leases/confirm.ts";
import { acquiring, confirming, leasing } from "../../leases/options.ts";
import { holderOf, Permits } from "../../leases/permits.ts";
import { electionScripts, WHOLE_LOCK } from "../../leases/scripts.ts";
import { Hint } from "../../waiting/hint.ts";
import { settleWhen } from "../../waiting/settle-when.ts";
import { Candidate } from "./candidate.ts";
import { newsChannel } from "./keys.ts";
import { Term } from "./term.ts";

export { LeaseLostError } from "../../base/errors.ts";
export type { Candidate, CandidateEvents, TermEnd } from "./candidate.ts";
export type { HandOverOutcome, Term } from "./term.ts";
export type { Confirmation };

/** What `Elections` may be given. */
export interface ElectionsOptions {
  /** How all keys begin (default "election"). */
  readonly prefix?: string;
  /** How long after a leader died the next one leads. 10 s by default. */
  readonly leaseMs?: number;
  /** How many may wait for one name. 1 000 by default. */
  readonly maxWaiting?: number;
  /**
   * How long a name's last fence is remembered after its last use; at least twice the longest lease. The same everywhere. An hour by
   * default.
   */
  readonly keepFenceMs?: number;
  /** How long an observer may not notice a change whose message was lost. 5 s by default. */
  readonly pollMs?: number;
  /**
   * Wait for replicas to have each term, so that a failover does not forget it. By default nothing is waited for; what is left out is `{
   * replicas: 1, timeoutMs: 1000, otherwise: "fail" }`.
   */
  readonly confirm?: Partial<Confirmation>;
}

/** How a process stands for a name. */
export interface CandidateOptions {
  /** Names this candidate to observers and for `handOver`; random by default. */
  readonly id?: string;
  /** How long after its death the next one leads; by default as the `Elections` were made. */
  readonly leaseMs?: number;
}

/** How a process campaigns for one term. */
export interface CampaignOptions extends CandidateOptions {
  /** How long to wait; 0 tries once, Infinity (the default) waits on. */
  readonly waitMs?: number;
  /** Ends the waiting; `campaign` rejects with its reason. None by default. */
  readonly signal?: AbortSignal;
}

/** Who leads. */
export interface Leader {
  /** The id of the candidate. */
  readonly id: string;
  /** The number of its term, larger than that of every earlier leader. */
  readonly fence: number;
  /** What is left of its lease, unless it is renewed. */
  readonly validForMs: number;
}

/** An election at one moment. */
export interface ElectionInspection {
  /** Who leads; null when nobody does. */
  readonly leader: Leader | null;
  /** Ids of the candidates that wait, the next one first; a hundred at most. */
  readonly candidates: readonly string[];
  /** How many candidates wait, those beyond the listed ones as well. */
  readonly waiting: number;
  /** The last one given, 0 where none is remembered. */
  readonly fence: number;
}

const DEFAULTS = { prefix: "election", leaseMs: 10_000, maxWaiting: 1_000, keepFenceMs: 3_600_000, pollMs: 5_000 };
const CONFIRMATION: Confirmation = { replicas: 1, timeoutMs: 1_000, otherwise: "fail" };
/** A candidate stands again so long after something failed, later from failure to failure. */
const RETRY_MS = 500;
const SHOWN = 100;
const MAX_ID_BYTES = 256;

const CONFIRM_OPTIONS = defineOptions<Partial<Confirmation>>("Elections.confirm", confirming);

const OPTIONS = defineOptions<ElectionsOptions>("Elections", {
  prefix,
  leaseMs: leasing.leaseMs,
  maxWaiting: leasing.maxWaiting,
  keepFenceMs: leasing.keepFenceMs,
  pollMs: whole(10),
  confirm: within(CONFIRM_OPTIONS),
});

const standing: Checks<CandidateOptions> = { id: text, leaseMs: leasing.leaseMs };

const CANDIDATE_OPTIONS = defineOptions<CandidateOptions>("Elections.candidate", standing);

const CAMPAIGN_OPTIONS = defineOptions<CampaignOptions>("Elections.campaign", {
  ...standing,
  waitMs: acquiring.waitMs,
  signal: acquiring.signal,
});

const LEADERS_OPTIONS = defineOptions<{ readonly signal?: AbortSignal }>("Elections.leaders", { signal });

/**
 * Leader election: of all processes that stand for a name, one leads at a time, for as long as it keeps its lease. The others wait in
 * line.
 *
 * @example
 * const elections = new Elections(db);
 * const term = await elections.campaign("scheduler", { id: "web-1" });
 * await elections.campaign("scheduler", { id: "web-2", waitMs: 0 }); // → null
 * (await elections.get("scheduler"))?.id; // → "web-1"
 * await term?.resign(); // → true
 * @example
 * const elections = new Elections(db);
 * await elections.campaign("poller", { id: "web-1" });
 * for await (const leader of elections.leaders("poller")) if (leader?.id === "web-1") break;
 * (await elections.inspect("poller")).waiting; // → 0
 * await elections.release("poller"); // → 1
 * await using poller = elections.candidate("poller", {}, (term) => console.log(`I lead: term ${term.fence}`)).start();
 */
export class Elections {
  readonly #store: Store;
  readonly #permits: Permits;
  readonly #prefix: string;
  readonly #pollMs: number;

  constructor(store: Store, options: ElectionsOptions = {}) {
    this.#store = aStore("Elections", store);
    OPTIONS.check(options);
    const { prefix, leaseMs, maxWaiting, keepFenceMs, pollMs } = withDefaults(DEFAULTS, options);
    const { confirm } = options;
    this.#prefix = prefix;
    this.#pollMs = pollMs;
    this.#permits = new Permits(store, {
      prefix,
      what: "election",
      scripts: electionScripts,
      limit: WHOLE_LOCK,
      leaseMs,
      waitMs: Number.POSITIVE_INFINITY,
      maxWaiting,
      keepMs: keepFenceMs,
      confirm: confirm === undefined ? null : withDefaults(CONFIRMATION, confirm),
    });
  }

  /** Waits in line and leads once: the term, or null when it did not come in time. Rejects with the signal's reason. */
  async campaign(name: string, options: CampaignOptions = {}): Promise<Term | null> {
    CAMPAIGN_OPTIONS.check(options);
    const { id: given, ...acquire } = options;
    const id = idOf(given);
    const lease = await this.#permits.acquire(name, WHOLE_LOCK, acquire, id);
    if (lease === null) return null;
    const news = (): void => this.#tell(name);
    news();
    return new Term(id, lease, {
      handOver: ({ token }, to) => this.#permits.handOver(name, token, to),
      ended: news,
    });
  }

  /**
   * Leads whenever it is this process's turn: `body` runs as the leader, and resigns by returning. Its signal is aborted when
   * leadership is lost or the candidate is stopped. To be started and stopped.
   */
  candidate(
    name: string,
    options: CandidateOptions,
    body: (term: Term, signal: AbortSignal) => Promise<unknown> | unknown,
  ): Candidate {
    CANDIDATE_OPTIONS.check(options);
    if (!callback.accepts(body)) throw new InputError("Elections.candidate: body must be a function");
    this.#permits.keys(name);
    const id = idOf(options.id);
    if (options.leaseMs !== undefined) this.#permits.leaseMs(options.leaseMs);
    return new Candidate(this.#store, {
      name,
      id,
      retryMs: Math.min(this.#pollMs, RETRY_MS),
      campaign: (signal) => this.campaign(name, { ...options, id, signal }),
      body,
    });
  }

  /** Who leads; null when nobody does. */
  async get(name: string): Promise<Leader | null> {
    return (await this.inspect(name)).leader;
  }

  /**
   * Ends the term of a leader, without asking: for operators, when a holder hangs. It notices at its next renewal and may work on until
   * then, beside the next leader; what checks fences refuses it. How many terms ended.
   */
  async release(name: string): Promise<number> {
    return this.#permits.evict(name);
  }

  /** Who leads and who waits, for people. */
  async inspect(name: string): Promise<ElectionInspection> {
    const { waiting, fence, holders, line } = await this.#permits.inspect(name, SHOWN);
    const holder = holders.find(({ validForMs }) => validForMs > 0);
    const leader =
      holder === undefined ? null : { id: holderOf(holder.token), fence: holder.fence, validForMs: holder.validForMs };
    return { leader, candidates: line.map(holderOf), waiting, fence };
  }

  /**
   * Who leads now, and every time that changes; null while nobody does. Changes that follow each other quickly may be seen as one.
   * What is told is past: to act as the leader, hold a term.
   */
  leaders(name: string, options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<Leader | null, void, void> {
    LEADERS_OPTIONS.check(options);
    return this.#leaders(name, newsChannel(this.#prefix, name), options.signal);
  }

  async *#leaders(name: string, channel: string, ended?: AbortSignal): AsyncGenerator<Leader | null, void, void> {
    const seen: { leader: Leader | null } = { leader: null };
    let isKnown = false;
    let wake = (): void => {};
    const hint = new Hint(this.#store, {
      channel,
      pollMs: this.#pollMs,
      look: async () => {
        const found = await this.get(name);
        if (isKnown && found?.fence === seen.leader?.fence) return;
        seen.leader = found;
        isKnown = true;
        wake();
      },
    });
    hint.follow();
    try {
      for (let told: number | null | undefined; ; ) {
        const { leader } = seen;
        if (isKnown && told !== (leader?.fence ?? null)) {
          told = leader?.fence ?? null;
          yield leader;
          continue;
        }
        // The timer keeps the process alive: somebody waits.
        const limits = { signal: ended, timeoutMs: this.#pollMs, onTimeout: undefined };
        await settleWhen<void>(this.#store, limits, ({ settle }) => {
          wake = settle;
          return () => {
            wake = () => {};
          };
        });
      }
    } finally {
      await hint.stop();
    }
  }

  /** Only a hint: observers look for themselves. */
  #tell(name: string): void {
    if (this.#store.closed) return;
    this.#store.send(["PUBLISH", newsChannel(this.#prefix, name), ""], { repeatable: true }).catch(() => {});
  }
}

function idOf(given: string | undefined): string {
  return given === undefined ? randomToken() : word("the id of a candidate", given, MAX_ID_BYTES);
}
