/**
 * One process of a history of elections, barriers and topics. It stands for elections and leads for a while, resigns, hands over, or is
 * lost; it is one party of each barrier; it consumes topics. It does so until SIGTERM, and is killed, stopped and cut off meanwhile; its
 * clock is wrong. What it does it says on standard output, at once, a line each:
 *
 *   ready
 *   g <id> <election> <fence> <start> <got> <until>   it leads: it stood at `start`, and is valid until `until`
 *   v <id> <until>                                    still: valid until then
 *   p <id> <at> · c <id>                              it is about to hand over, and believes nothing from then on; it goes on after all
 *   e <id> <at> <until> <refused 0|1>                 it ended here; `refused`: a fenced write was refused while it was valid
 *   a <barrier> <n> <at>                              it is about to arrive, for the nth time
 *   r <barrier> <n> <generation> <last 0|1> <at>      released
 *   x <barrier> <n>                                   it left, or was replaced: it was not counted
 *   m <topic> <number>                                a message was worked on
 *
 * Times are microseconds of the machine's monotonic clock, which all processes share and which goes on while one is stopped.
 */
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { ConnectionError } from "../../../src/base/errors.ts";
import { Barriers } from "../../../src/components/barriers/index.ts";
import { Elections, type Term } from "../../../src/components/elections/index.ts";
import { DurableTopic } from "../../../src/components/topics/index.ts";
import { open } from "../../../src/connection/open.ts";
import type { Store } from "../../../src/connection/store.ts";
import { out } from "../../kit/out.ts";
import { guard, micros, randomFrom } from "../leases/player.ts";

export interface Plan {
  readonly url: string;
  readonly actor: string;
  /** Which party of all barriers it is; its replacement is the same one. */
  readonly party: number;
  readonly parties: number;
  readonly seed: number;
  readonly elections: readonly string[];
  readonly barriers: readonly string[];
  readonly topics: readonly string[];
  readonly leaseMs: number;
}

const plan = JSON.parse(process.argv[2]!) as Plan;
const random = randomFrom(plan.seed);
const say = (line: string): void => out(`${line}\n`);
const now = (): number => Math.floor(micros());
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** The time first, and one look at the term: who is stopped in between must not take it for longer. */
const validUntil = (term: Term, otherwise: number): number => {
  const at = micros();
  const leftMs = term.validForMs;
  return leftMs > 0 ? Math.floor(at + leftMs * 1_000) : otherwise;
};

const rate = 0.995 + random() / 100;
const shift = random() * 1e9;
const clock: Clock = {
  ...systemClock,
  monotonicMs: () => systemClock.monotonicMs() * rate + shift,
  wallMs: () => Math.floor(random() * 2 ** 41),
};

let isStopping = false;
const stopping = new AbortController();
let terms = 0;

/** Again after a connection that was cut, or a server that was not reached. */
async function persistently(act: () => Promise<void>): Promise<void> {
  while (!isStopping) {
    try {
      await act();
    } catch (error) {
      if (isStopping) return;
      if (!(error instanceof ConnectionError)) throw error;
      await pause(10);
    }
  }
}

async function lead(store: Store, elections: Elections, name: string): Promise<void> {
  const start = now();
  const signal = stopping.signal;
  const term = await elections.campaign(name, { id: plan.actor, leaseMs: plan.leaseMs, signal });
  if (term === null) return;
  const id = `${plan.actor}-${terms++}`;
  let until = validUntil(term, 0);
  let refused = 0;
  say(`g ${id} ${name} ${term.fence} ${start} ${now()} ${until}`);
  // Most lead for a moment, some for several leases; a few compute without a pause meanwhile.
  const luck = random();
  const end = micros() + 1_000 * (luck < 0.6 ? random() * 20 : random() * plan.leaseMs * 2);
  do {
    if (term.validForMs <= 0) break;
    try {
      const passed = await store.run(guard, { seen: `seen:{${name}}`, fence: term.fence });
      // Valid before the write was sent and after its answer came: nobody else can have led between.
      if (passed === 0 && term.validForMs > 0) refused = 1;
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
    }
    until = validUntil(term, until);
    say(`v ${id} ${until}`);
    if (luck > 0.97) compute(random() * plan.leaseMs * 1.5);
    else await pause(random() * 10);
  } while (micros() < end && !isStopping);
  if (random() < 0.3 && (await handedOver(elections, term, id))) return;
  say(`e ${id} ${now()} ${validUntil(term, until)} ${refused}`);
  await term.resign();
}

/** Hands over to one of the candidates. True: it leads no longer. */
async function handedOver(elections: Elections, term: Term, id: string): Promise<boolean> {
  const { candidates } = await elections.inspect(term.name);
  const to = candidates[Math.floor(random() * candidates.length)];
  if (to === undefined) return false;
  say(`p ${id} ${now()}`);
  const asked = term.handOver(to);
  // Nobody knows yet who leads: this one must not believe that it does.
  if (term.validForMs > 0) throw new Error("valid while it is handed over");
  const { status } = await asked;
  if (status !== "not-found") return true;
  say(`c ${id}`);
  return false;
}

function compute(ms: number): void {
  const end = micros() + ms * 1_000;
  while (micros() < end);
}

let arrivals = 0;

async function meet(barriers: Barriers, name: string): Promise<void> {
  const n = `${plan.actor}.${arrivals++}`;
  say(`a ${name} ${n} ${now()}`);
  const options = random() < 0.2 ? { timeoutMs: Math.ceil(random() * 50) } : {};
  const met = await barriers.arrive(name, { id: `party ${plan.party}`, signal: stopping.signal, ...options });
  if (met.status === "released") say(`r ${name} ${n} ${met.generation} ${met.isLast ? 1 : 0} ${now()}`);
  else say(`x ${name} ${n}`);
  if (random() < 0.5) await pause(random() * 20);
}

const store = await open(plan.url, { clock });
const elections = new Elections(store);
const barriers = new Barriers(store, { parties: plan.parties, leaseMs: plan.leaseMs, pollMs: 200 });
const subscribers = plan.topics.map((name) => {
  const topic = new DurableTopic<number>(store, name, { pollMs: 200 });
  const options = { from: "start", leaseMs: plan.leaseMs, concurrency: 8, attempts: 1_000, backoffMs: 5 } as const;
  return topic.subscriber("workers", options, async ({ data }) => {
    if (random() < 0.05) await pause(random() * plan.leaseMs);
    if (random() < 0.02) throw new Error("some fail");
    say(`m ${name} ${data}`);
  });
});
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit();
}, 500).unref();
process.on("SIGTERM", () => {
  isStopping = true;
  stopping.abort(new Error("the history is over"));
});
for (const subscriber of subscribers) subscriber.start();
say("ready");
await Promise.all([
  ...plan.elections.map((name) => persistently(() => lead(store, elections, name))),
  ...plan.barriers.map((name) => persistently(() => meet(barriers, name))),
]);
await Promise.all(subscribers.map((subscriber) => subscriber.stop({ timeoutMs: 2_000 })));
await store.close();
