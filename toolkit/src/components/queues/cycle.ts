/**
 * The cycle of a worker on one shard: it tells how jobs ended and takes the next ones.
 *
 * At most one round is under way: while it is, endings gather, and the next one takes them all along and asks for as many jobs as
 * there is room for. So a worker with much to do at once sends few, large requests without waiting for anything, and one with little
 * sends each at once. A round that would tell nothing and take nothing is not made: the worker idles (idling.ts).
 */
import type { Store } from "../../connection/store.ts";
import { renewDueFirst } from "../../leases/renewal.ts";
import { Channel } from "../../waiting/channel.ts";
import { Faults } from "./faults.ts";
import { relay } from "./flows.ts";
import { Idling } from "./idling.ts";
import { JobsInHand, type LaneFacts } from "./jobs-in-hand.ts";
import { cancelChannel } from "./keys.ts";
import { textFrom } from "./record.ts";
import { advance } from "./schedule.ts";
import { type CycleReply, cycle, cycleBytes, MAX_TAKEN } from "./scripts/cycle.ts";
import { type Fired, firedIn, jobCount, takenAt } from "./scripts/outcomes.ts";
import { Session } from "./session.ts";

/** How long the store in this process may keep the event loop to itself. */
const SLICE_MS = 5;
/** A worker in a hurry looks at what is due so often. */
const LOOK_MS = 2;

export class Cycle<T, R> {
  readonly #lane: LaneFacts<T, R>;
  readonly #store: Store;
  readonly #session: Session;
  readonly #jobs: JobsInHand<T, R>;
  readonly #idling: Idling;
  readonly #cancels: Channel;
  /** What there may be to ask for: jobs, or with a look at what is due even where there is no room for jobs. */
  #wish: "nothing" | "jobs" | "look" = "jobs";
  #isUnderWay = false;
  /** After a fault, until it is tried again. */
  #isPausing = false;
  #isScheduled = false;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #yieldedMs = 0;

  constructor(facts: Omit<LaneFacts<T, R>, "faults">) {
    const { queue, shard, settings, room, tell } = facts;
    const { store } = queue;
    const faults = new Faults(store, (error) => tell.error(error));
    this.#lane = { ...facts, faults };
    this.#store = store;
    const rouse = (): void => this.rouse();
    this.#session = new Session({
      store,
      keys: shard.keys,
      leaseMs: settings.leaseMs,
      figures: facts.figures,
      onLost: () => {
        this.#jobs.lose();
        this.pump();
      },
    });
    this.#jobs = new JobsInHand(this.#lane, this.#session, { ended: () => this.#pumpSoon(), committed: rouse });
    this.#idling = new Idling({
      store,
      keys: shard.keys,
      faults,
      hasRoom: () => room.free > 0,
      lookedMs: () => this.#lookedMs,
      rouse,
      lookNow: () => {
        this.#wish = "look";
        this.pump();
      },
    });
    this.#cancels = new Channel(store, cancelChannel(shard.keys), {
      message: (message) => this.#jobs.cancel(message.toString("utf8")),
      // Those that were missed are seen at the next look.
      resumed: () => {},
    });
  }

  /** Whether it would take jobs now. */
  get isHungry(): boolean {
    return this.#wish !== "nothing" && !this.#isUnderWay;
  }

  /** Nothing is in hand, and no answer is on its way that may bring something. */
  get isIdle(): boolean {
    return this.#jobs.isEmpty && (!this.#isUnderWay || this.#isPausing);
  }

  start(): void {
    // Cancellations are then seen at the next look.
    this.#cancels.open().catch((error) => this.#lane.tell.error(error));
    this.#idling.start();
    const { figures, shard } = this.#lane;
    figures.start(this.#store, shard.keys.data, () => this.#session.id);
    this.pump();
  }

  /** There may be something to do. */
  rouse(): void {
    if (this.#wish === "nothing") this.#wish = "jobs";
    this.pump();
  }

  pump(): void {
    const { room, faults } = this.#lane;
    if (this.#isUnderWay || faults.isStopped) return;
    if (this.#session.isDoubtful) {
      this.#isUnderWay = true;
      void this.#join();
      return;
    }
    const hasEndings = !this.#jobs.endings.isEmpty;
    const want = hasEndings || this.#wish !== "nothing" ? room.claim(this, MAX_TAKEN) : 0;
    if (!hasEndings && want === 0 && this.#wish !== "look") {
      if (this.#wish === "nothing" && room.free > 0) this.#idling.wait();
      return;
    }
    if (this.#wish === "look") this.#wish = "jobs";
    this.#isUnderWay = true;
    void this.#round(want);
  }

  #pumpSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.pump();
    });
  }

  async #round(want: number): Promise<void> {
    const { queue, shard, settings, room, faults } = this.#lane;
    const { endings } = this.#jobs;
    const finished = endings.take(MAX_TAKEN);
    const script = queue.codec.binary ? cycleBytes : cycle;
    let reply: CycleReply | null = null;
    try {
      renewDueFirst(this.#store);
      if (this.#store.topology === "embedded") await this.#yield();
      const nowMs = this.#store.clock.monotonicMs();
      const look = want === 0 || nowMs - this.#lookedMs >= LOOK_MS ? 1 : 0;
      if (look === 1) this.#lookedMs = nowMs;
      const params = { session: this.#session.id, leaseMs: settings.leaseMs, look, most: want, finished };
      reply = await this.#store.run(script, { ...shard.keys, ...params });
      faults.overcome();
    } catch (error) {
      endings.putBack(finished);
      this.#session.doubt();
      await this.#pause(error);
    }
    room.unclaim(want);
    this.#isUnderWay = false;
    if (reply !== null) this.#accept(reply, want);
    this.pump();
  }

  async #pause(error: unknown): Promise<void> {
    this.#isPausing = true;
    await this.#lane.faults.after(error);
    this.#isPausing = false;
  }

  /** Nothing in this process waits for a socket: without this, a long backlog would run before any timer or request. */
  async #yield(): Promise<void> {
    const nowMs = this.#store.clock.monotonicMs();
    if (nowMs - this.#yieldedMs < SLICE_MS) return;
    await new Promise<void>((resolve) => void setImmediate(resolve));
    this.#yieldedMs = this.#store.clock.monotonicMs();
  }

  #accept(reply: CycleReply, want: number): void {
    const { tell } = this.#lane;
    const { now, next, jobs } = reply;
    const taken = jobCount(jobs);
    // A look that has become due meanwhile stays so.
    if (want > 0 && this.#wish !== "look") this.#wish = taken === want || next === 0 ? "jobs" : "nothing";
    if (next === 0) this.#lookedMs = Number.NEGATIVE_INFINITY;
    for (const id of reply.lost) {
      this.#lane.figures.lost++;
      tell.lost(textFrom(id));
    }
    for (const id of reply.cancels) this.#jobs.cancel(textFrom(id).slice(1));
    if (reply.schedules.length > 0) void this.#advance(firedIn(reply.schedules), now);
    for (const message of reply.messages) void this.#relay(textFrom(message));
    if (!reply.alive) this.#session.doubt();
    if (want > 0 && taken < want && next > 0) this.#idling.rouseIn(next);
    for (let nth = 0; nth < taken; nth++) this.#jobs.take(takenAt(jobs, nth), now);
  }

  async #join(): Promise<void> {
    const { faults } = this.#lane;
    try {
      const lost = await this.#session.join(this.#jobs.held);
      faults.overcome();
      if (this.#wish === "nothing") this.#wish = "jobs";
      if (lost.length > 0) this.#jobs.lose(new Set(lost));
    } catch (error) {
      await this.#pause(error);
    }
    this.#isUnderWay = false;
    this.pump();
  }

  async #advance(schedules: readonly Fired[], nowMs: number): Promise<void> {
    const { shard, tell } = this.#lane;
    for (const fired of schedules) {
      await advance(this.#store, shard.keys, fired, nowMs).catch((error) => tell.error(error));
    }
  }

  async #relay(message: string): Promise<void> {
    const { shard, tell } = this.#lane;
    await relay(this.#store, shard.keys, message).catch((error) => tell.error(error));
  }

  /** Hands back what still runs. */
  handBack(): void {
    this.#jobs.handBack();
  }

  async close(): Promise<void> {
    this.#lane.faults.stop();
    this.#lane.figures.stop();
    this.#idling.close();
    await Promise.all([this.#cancels.close(), this.#session.leave()]);
  }
}
