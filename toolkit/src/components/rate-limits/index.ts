/**
 * Rate limits: fixed window, exact sliding window, and GCRA behind one result; several rules judged together in one round
 * trip; the server's clock.
 *
 *   const api = new RateLimits(store, { name: "api", rules: { limit: 100, windowMs: 60_000 } });
 *   const verdict = await api.take(request.ip);
 *   if (!verdict.allowed) respondWith(429, { "retry-after": Math.ceil(verdict.retryAfterMs / 1000) });
 *
 *   new RateLimits(store, { name: "login", rules: [{ limit: 5, windowMs: 60_000 }, { limit: 20, windowMs: 86_400_000 }] });
 */
import { aStore } from "../../base/checks.ts";
import { CinnabarError, InputError } from "../../base/errors.ts";
import { dropOldest, isFilled } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { anything, choice, defineOptions, number, prefix, required, text, whole, within } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import { Together } from "../../base/together.ts";
import { type RunOptions, runOptions, type Store } from "../../connection/store.ts";
import { adjust, block, blockedFor, metABlock, unblock } from "./adjust.ts";
import { Insurance } from "./insurance.ts";
import { ruleKey, subjectKey } from "./keys.ts";
import { FIXED, GCRA, type Judged, SLIDING, take, takeMany, takeOne } from "./scripts.ts";

/** So much in a window of time. */
export interface Rule {
  /** Hits (or cost) allowed in a window. */
  readonly limit: number;
  /** The length of the window. */
  readonly windowMs: number;
  /** GCRA by default: smooth, and one small key a subject. */
  readonly algorithm?: "fixed" | "sliding" | "gcra";
  /** GCRA only: how much may come at once. The limit, unless said otherwise. */
  readonly burst?: number;
}

/** What `RateLimits` are given. */
export interface RateLimitsOptions {
  /** What is limited: "sign-in", "api". Subjects of different names are counted apart. */
  readonly name: string;
  /** All of them must allow a call. */
  readonly rules: Rule | readonly Rule[];
  /** How all keys begin (default "limit"). */
  readonly prefix?: string;
  /** What to do while the store cannot be reached: throw (the default), let through, refuse, or judge by the same rules in memory. */
  readonly whenUnreachable?: "throw" | "allow" | "deny" | "memory";
  /** With `whenUnreachable: "memory"`: how each process judges for itself meanwhile. The whole limit for 10 000 subjects by default. */
  readonly insurance?: InsuranceOptions;
  /**
   * How long one question to the store may take in all. Where `whenUnreachable` allows or denies, 1 000 by default; where it
   * throws, as the store was opened.
   */
  readonly timeoutMs?: number;
  /**
   * Subjects that were refused are refused without asking the store until their time has come; this many are remembered. 0, the default:
   * none.
   */
  readonly remember?: number;
}

/** How a process judges in memory. */
export interface InsuranceOptions {
  /** The part of each limit that this process may use: 1 divided by the number of processes keeps the limit. 1 by default. */
  readonly share?: number;
  /** So many subjects are judged in memory; those not seen for longest are forgotten. 10 000 by default. */
  readonly maxSubjects?: number;
}

/** How much a subject is charged or given back. */
export interface AdjustOptions {
  /** How much is charged or given back; 1 by default. */
  readonly cost?: number;
}

/** How a subject is blocked. */
export interface BlockOptions {
  /** For how long. */
  readonly ttlMs: number;
}

/** How a subject stands. */
export interface Verdict {
  /** Whether the call may go on. */
  readonly allowed: boolean;
  /** Of the rule that is nearest to its limit. */
  readonly limit: number;
  /** How much more that rule allows now. */
  readonly remaining: number;
  /** 0 when allowed; otherwise when it is worth another try. */
  readonly retryAfterMs: number;
  /** When that rule is as if nothing had happened. */
  readonly resetAfterMs: number;
  /** The store could not be reached and `whenUnreachable` decided. */
  readonly unchecked?: true;
  /** The subject is blocked. */
  readonly blocked?: true;
}

const MAX_SLIDING = 10_000;
/** An answer that does not depend on the store is not waited for much longer than a person waits for a page. */
const FAIL_OPEN_MS = 1_000;
/** Limiters that nobody has used for so long are not listed. */
const KEEP_NAMES_MS = 7 * 86_400_000;
/** A limiter says that it is in use once in so many calls at the most; a power of two. */
const ANNOUNCE_EVERY = 64;

const LIST_OPTIONS = defineOptions<PageOptions & { readonly prefix?: string }>("RateLimits.list", {
  prefix,
  ...pageChecks(10_000),
});

const INSURANCE_OPTIONS = defineOptions<InsuranceOptions>("RateLimits.insurance", {
  share: number(0.000001, 1),
  maxSubjects: whole(1, 10_000_000),
});

const ADJUST_OPTIONS = defineOptions<AdjustOptions>("RateLimits.penalty", { cost: whole(1) });

const BLOCK_OPTIONS = defineOptions<BlockOptions>("RateLimits.block", {
  ttlMs: required(whole(1, 3_660 * 86_400_000)),
});

const OPTIONS = defineOptions<RateLimitsOptions>("RateLimits", {
  name: required(text),
  rules: required(anything),
  prefix,
  whenUnreachable: choice("throw", "allow", "deny", "memory"),
  insurance: within(INSURANCE_OPTIONS),
  timeoutMs: whole(1),
  remember: whole(0, 10_000_000),
});

const TAKE_OPTIONS = defineOptions<{ readonly cost?: number }>("RateLimits.take", {
  cost: whole(1),
});

const RULE_OPTIONS = defineOptions<Rule>("RateLimits.rules", {
  limit: required(whole(1)),
  windowMs: required(whole(1, 366 * 86_400_000)),
  algorithm: choice(FIXED, SLIDING, GCRA),
  burst: whole(1),
});

/** One call for a subject under one rule. `unique` is a word of this call alone. */
interface Call {
  readonly bucket: string;
  readonly cost: number;
  readonly unique: string;
}

/**
 * Rate limits by fixed window, exact sliding window or GCRA, by the server's clock. Several rules are judged together in one round trip.
 *
 * @example
 * const api = new RateLimits(db, { name: "api", rules: { limit: 3, windowMs: 3_600_000, algorithm: "fixed" } });
 * (await api.take("203.0.113.7")).remaining; // → 2
 * (await api.take("203.0.113.7", { cost: 2 })).allowed; // → true
 * (await api.take("203.0.113.7")).allowed; // → false
 * (await api.peek("198.51.100.1")).remaining; // → 3
 * (await RateLimits.list(db)).items.map(({ name }) => name); // → ["api"]
 * @example
 * const login = new RateLimits(db, { name: "login", rules: { limit: 10, windowMs: 3_600_000, algorithm: "fixed" } });
 * (await login.penalty("ann", { cost: 4 })).remaining; // → 6
 * (await login.reward("ann", { cost: 3 })).remaining; // → 9
 * await login.block("ben", { ttlMs: 86_400_000 });
 * await login.unblock("ben"); // → true
 * await login.reset("ann");
 */
export class RateLimits {
  /** What is limited, as it was given. */
  readonly name: string;
  /** The rules, as a list. */
  readonly rules: readonly [Rule, ...Rule[]];
  readonly #store: Store;
  readonly #prefix: string;
  readonly #whenUnreachable: "throw" | "allow" | "deny" | "memory";
  readonly #insurance: Insurance | null;
  readonly #limits: RunOptions;
  /** Calls of one moment go together where one server holds all subjects, and a trip to it costs something. */
  readonly #together: Together<Call, Judged> | null = null;
  readonly #remember: number;
  /** The largest cost that the rules ever allow. */
  readonly #most: number;
  /** Subject → when it may try again (monotonic) and the verdict until then; oldest first. */
  readonly #refused = new Map<string, { readonly until: number; readonly verdict: Verdict }>();
  #calls = 0;
  readonly #instance: string;
  readonly #names: NameIndex;
  readonly #entry: string;

  constructor(store: Store, options: RateLimitsOptions) {
    aStore("RateLimits", store);
    OPTIONS.check(options);
    const { name, rules } = options;
    this.name = name;
    const given = Array.isArray(rules) ? rules : [rules];
    if (!isFilled(given)) throw new InputError("a rate limiter needs a rule");
    this.rules = given;
    for (const rule of this.rules) checkRule(rule);
    this.#most = Math.min(...this.rules.map(({ limit, burst }) => burst ?? limit));
    this.#store = store;
    this.#prefix = options.prefix ?? "limit";
    this.#whenUnreachable = options.whenUnreachable ?? "throw";
    const patienceMs = options.timeoutMs ?? (this.#whenUnreachable === "throw" ? undefined : FAIL_OPEN_MS);
    this.#limits = runOptions({
      timeoutMs: patienceMs,
      // Who has an answer without the server does not wait for it.
      whenOpen: this.#whenUnreachable === "throw" ? undefined : "fail",
    });
    const { share = 1, maxSubjects = 10_000 } = options.insurance ?? {};
    this.#insurance =
      this.#whenUnreachable === "memory" ? new Insurance(store.clock, this.rules, { share, maxSubjects }) : null;
    const [rule] = this.rules;
    if (this.rules.length === 1 && ["single", "sentinel"].includes(store.topology)) {
      this.#together = new Together((calls) => this.#takeMany(rule, calls));
    }
    this.#remember = options.remember ?? 0;
    this.#instance = Math.floor(store.clock.random() * 2 ** 48).toString(36);
    subjectKey(this.#prefix, name, "check");
    this.#names = new NameIndex(store, { kind: "rate-limits", prefix: this.#prefix, keepMs: KEEP_NAMES_MS });
    this.#entry = JSON.stringify([name, this.rules]);
  }

  /** The limits that were used in the last week, the latest announced first. */
  static async list(
    store: Store,
    options: PageOptions & { readonly prefix?: string } = {},
  ): Promise<Page<{ readonly name: string; readonly rules: readonly Rule[] }>> {
    LIST_OPTIONS.check(options);
    const { prefix = "limit", ...paging } = options;
    const { items, cursor } = await new NameIndex(store, { kind: "rate-limits", prefix, keepMs: KEEP_NAMES_MS }).list(
      paging,
    );
    const found = new Map<string, readonly Rule[]>();
    for (const entry of items) {
      const [name, rules]: [string, readonly Rule[]] = JSON.parse(entry);
      // The rules that were announced last are the ones that hold.
      if (!found.has(name)) found.set(name, rules);
    }
    return { items: [...found].map(([name, rules]) => ({ name, rules })), cursor };
  }

  /** Charges the subject if every rule allows it. */
  async take(subject: string, options: { readonly cost?: number } = {}): Promise<Verdict> {
    TAKE_OPTIONS.check(options);
    const { cost = 1 } = options;
    if (cost > this.#most) {
      throw new InputError(
        `cost must be an integer from 1 to ${this.#most}, which is all that the rules ever allow at once`,
      );
    }
    if ((this.#calls & (ANNOUNCE_EVERY - 1)) === 0) this.#names.announce(this.#entry);
    const refused = this.#refusedBefore(subject);
    if (refused !== null) return refused;
    const verdict = await this.#ask(subject, cost, "take");
    // Who is refused a large cost may still be allowed a small one.
    if (!verdict.allowed && verdict.unchecked !== true && cost === 1) this.#rememberRefusal(subject, verdict);
    return verdict;
  }

  /** Whether `take` would be allowed, and what is left, without charging. */
  async peek(subject: string): Promise<Verdict> {
    const verdict = await this.#ask(subject, 1, "look");
    return verdict.allowed ? { ...verdict, remaining: verdict.remaining + 1 } : verdict;
  }

  /**
   * Charges the subject, also what no rule would allow: for a wrong password, say. Charges at most what is left; to keep a subject
   * away for longer, block it. How it stands then.
   */
  async penalty(subject: string, options: AdjustOptions = {}): Promise<Verdict> {
    ADJUST_OPTIONS.check(options);
    return this.#adjust(subject, options.cost ?? 1);
  }

  /** Gives back what was charged last, at most what was charged: for a right password, say. How the subject stands then. */
  async reward(subject: string, options: AdjustOptions = {}): Promise<Verdict> {
    ADJUST_OPTIONS.check(options);
    this.#refused.delete(subject);
    return this.#adjust(subject, -(options.cost ?? 1));
  }

  /** Refuses the subject for so long, whatever it has used. What it had used is forgotten. */
  async block(subject: string, options: BlockOptions): Promise<void> {
    BLOCK_OPTIONS.check(options);
    await this.#store.run(block, { buckets: this.#buckets(subject), ttlMs: options.ttlMs });
  }

  /** Ends a block. False: there was none. */
  async unblock(subject: string): Promise<boolean> {
    this.#refused.delete(subject);
    return this.#store.run(unblock, { buckets: this.#buckets(subject) });
  }

  /** Forgets what the subject has used, and ends its block. */
  async reset(subject: string): Promise<void> {
    this.#refused.delete(subject);
    this.#insurance?.forget(subject);
    await this.#store.send(["DEL", ...this.#buckets(subject)], { repeatable: true });
  }

  async #ask(subject: string, cost: number, mode: "take" | "look"): Promise<Verdict> {
    const base = subjectKey(this.#prefix, this.name, subject);
    const unique = `${this.#instance}.${(this.#calls++).toString(36)}`;
    try {
      const [rule] = this.rules;
      if (mode === "take" && this.rules.length === 1) {
        return await this.#askOne(rule, { bucket: ruleKey(base, 0), cost, unique });
      }
      const buckets = this.rules.map((_, at) => ruleKey(base, at));
      const rules = this.rules.flatMap(({ algorithm = GCRA, limit, windowMs, burst = limit }) => [
        algorithm,
        limit,
        windowMs * 1000,
        burst,
        unique,
      ]);
      const [allowed, verdicts] = await this.#store.run(take, { buckets, cost, mode, rules }, this.#limits);
      return this.#verdict(allowed === 1, verdicts);
    } catch (error) {
      if (metABlock(error)) return this.#blocked(subject, error);
      if (this.#whenUnreachable === "throw" || !(error instanceof CinnabarError) || error.code === "INPUT") throw error;
      if (this.#insurance !== null) return this.#insurance.judge(subject, cost, mode);
      const allowed = this.#whenUnreachable === "allow";
      const { limit } = this.rules[0];
      return { allowed, limit, remaining: 0, retryAfterMs: allowed ? 0 : 1_000, resetAfterMs: 1_000, unchecked: true };
    }
  }

  async #adjust(subject: string, amount: number): Promise<Verdict> {
    const unique = `${this.#instance}.${(this.#calls++).toString(36)}`;
    const rules = this.rules.flatMap(({ algorithm = GCRA, limit, windowMs, burst = limit }) => [
      algorithm,
      limit,
      windowMs * 1000,
      burst,
      unique,
    ]);
    try {
      const verdicts = await this.#store.run(adjust, { buckets: this.#buckets(subject), amount, rules });
      const allowed = verdicts.every(([remaining]) => remaining >= 1);
      return this.#verdict(allowed, verdicts);
    } catch (error) {
      if (metABlock(error)) return this.#blocked(subject, error);
      throw error;
    }
  }

  /** What a subject is told whose buckets are none: that it is blocked. Where it is not, somebody else uses the key. */
  async #blocked(subject: string, met: unknown): Promise<Verdict> {
    const kinds = this.rules.map(({ algorithm }) => (algorithm === SLIDING ? "zset" : "string"));
    const leftMs = await this.#store.run(blockedFor, { buckets: this.#buckets(subject), kinds }, this.#limits);
    if (leftMs < 0) throw met;
    const { limit } = this.rules[0];
    return { allowed: false, limit, remaining: 0, retryAfterMs: leftMs, resetAfterMs: leftMs, blocked: true };
  }

  async #askOne(rule: Rule, call: Call): Promise<Verdict> {
    const judged = await (this.#together?.ask(call) ?? this.#takeOne(rule, call));
    const { allowed, remaining, retryAfterMs, resetAfterMs } = judged;
    return { allowed, limit: rule.limit, remaining, retryAfterMs, resetAfterMs };
  }

  #takeOne({ algorithm = GCRA, limit, windowMs, burst = limit }: Rule, { bucket, cost, unique }: Call) {
    return this.#store.run(takeOne[algorithm], { bucket, limit, windowMs, burst, cost, unique }, this.#limits);
  }

  async #takeMany(rule: Rule, calls: readonly Call[]): Promise<readonly (Judged | Error)[]> {
    const [first] = calls;
    if (calls.length === 1 && first !== undefined) return [await this.#takeOne(rule, first)];
    const { algorithm = GCRA, limit, windowMs, burst = limit } = rule;
    const buckets = calls.map(({ bucket }) => bucket);
    const costs = calls.every(({ cost }) => cost === 1) ? [] : calls.map(({ cost }) => cost);
    const taking = { buckets, limit, windowMs, burst, unique: first?.unique ?? "", costs };
    return this.#store.run(takeMany[algorithm], taking, this.#limits);
  }

  /** The rule that has least left speaks for all; refused, the one that must be waited for longest. */
  #verdict(allowed: boolean, verdicts: readonly (readonly [number, number, number])[]): Verdict {
    let worst = 0;
    verdicts.forEach(([remaining, wait], at) => {
      const [left, waits] = verdicts[worst]!;
      if (allowed ? remaining < left : wait > waits) worst = at;
    });
    return verdictOf(allowed, this.rules[worst]!.limit, verdicts[worst]!);
  }

  #buckets(subject: string): string[] {
    const base = subjectKey(this.#prefix, this.name, subject);
    return this.rules.map((_, at) => ruleKey(base, at));
  }

  #refusedBefore(subject: string): Verdict | null {
    const refusal = this.#refused.get(subject);
    if (refusal === undefined) return null;
    const left = refusal.until - this.#store.clock.monotonicMs();
    if (left > 0) return { ...refusal.verdict, retryAfterMs: left };
    this.#refused.delete(subject);
    return null;
  }

  #rememberRefusal(subject: string, verdict: Verdict): void {
    if (this.#remember === 0) return;
    if (this.#refused.size >= this.#remember) dropOldest(this.#refused);
    this.#refused.set(subject, { until: this.#store.clock.monotonicMs() + verdict.retryAfterMs, verdict });
  }
}

/** The times are in microseconds. */
function verdictOf(
  allowed: boolean,
  limit: number,
  [remaining, wait, reset]: readonly [number, number, number],
): Verdict {
  return { allowed, limit, remaining, retryAfterMs: wait / 1000, resetAfterMs: reset / 1000 };
}

function checkRule(rule: Rule): void {
  const { limit, algorithm = GCRA, burst = limit } = RULE_OPTIONS.check(rule);
  if (algorithm === SLIDING && limit > MAX_SLIDING) {
    throw new InputError(`a sliding window remembers each hit, so its limit must not be above ${MAX_SLIDING}`);
  }
  if (burst !== limit && algorithm !== GCRA) throw new InputError("burst is for GCRA");
}
