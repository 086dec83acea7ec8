/**
 * An embedded store whose clocks tests move by hand: the server's and those of the processes that use it. Time passes for all of
 * them (`pass`), or the wall clocks are set (`step`), which durations do not notice.
 */
import { Engine, ManualClock } from "@cinnabar/engine";
import type { Clock, Timer } from "../../src/base/clock.ts";
import { open } from "../../src/connection/open.ts";
import type { Store } from "../../src/connection/store.ts";

/** Turns of the event loop after which everything that follows from a timer has happened: nothing here waits for a socket. */
const TURNS = 10;
/** So often is a condition looked at before it is given up. */
const MOST_LOOKS = 1_000;

export class ClockedStore {
  readonly engine: Engine;
  readonly store: Store;
  readonly #server: ManualClock;
  readonly #timers: Timers;
  readonly #opened: Store[] = [];

  private constructor(engine: Engine, server: ManualClock, timers: Timers, store: Store) {
    this.engine = engine;
    this.#server = server;
    this.#timers = timers;
    this.store = store;
  }

  static async open(startMs?: number): Promise<ClockedStore> {
    const server = new ManualClock(startMs);
    const timers = new Timers(server);
    const engine = await Engine.open({ clock: server });
    return new ClockedStore(engine, server, timers, await open(engine, { clock: timers }));
  }

  /** Another store on the same server, as another process would have it. */
  async another(): Promise<Store> {
    const store = await open(this.engine, { clock: this.#timers });
    this.#opened.push(store);
    return store;
  }

  get nowMs(): number {
    return this.#server.now();
  }

  /** Lets time go by; what is due on the way is run at its time, one after the other. */
  async pass(ms: number): Promise<void> {
    const end = this.#server.monotonic() + ms;
    for (;;) {
      const next = this.#timers.next();
      if (next === null || next > end) break;
      this.#server.advance(Math.max(0, next - this.#server.monotonic()));
      this.#timers.run();
      await turns();
    }
    this.#server.advance(end - this.#server.monotonic());
    await turns();
  }

  /** Lets time go by at once: what is due on the way is run once, at the end. */
  async leap(ms: number): Promise<void> {
    this.#server.advance(ms);
    this.#timers.run();
    await turns();
  }

  /** Sets the wall clocks forwards or backwards. */
  readonly step = (ms: number): void => this.#server.step(ms);

  /** Lets what is under way happen, without time going by, until the condition holds. */
  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    for (let look = 0; look < MOST_LOOKS; look++) {
      if (await holds()) return;
      await turns();
    }
    throw new Error("what was waited for has not come");
  }

  async keys(): Promise<string[]> {
    return ((await this.store.call("KEYS", "*")) as string[]).sort();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened, this.store].map((store) => store.close()));
    await this.engine.close();
  }
}

export async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise<void>((resolve) => void setImmediate(resolve));
}

/** The toolkit's clock over the server's time. */
class Timers implements Clock {
  readonly #server: ManualClock;
  readonly #waiting = new Set<{ readonly at: number; readonly callback: () => void }>();

  constructor(server: ManualClock) {
    this.#server = server;
  }

  monotonicMs(): number {
    return this.#server.monotonic();
  }

  wallMs(): number {
    return this.#server.now();
  }

  random(): number {
    return this.#server.random();
  }

  after(ms: number, callback: () => void): Timer {
    // The server's clock has whole milliseconds.
    const timer = { at: Math.ceil(this.#server.monotonic() + Math.max(ms, 0)), callback };
    this.#waiting.add(timer);
    return { cancel: () => void this.#waiting.delete(timer) };
  }

  /** When the first of them is due. */
  next(): number | null {
    let first: number | null = null;
    for (const { at } of this.#waiting) if (first === null || at < first) first = at;
    return first;
  }

  run(): void {
    for (const timer of [...this.#waiting]) {
      if (timer.at > this.#server.monotonic() || !this.#waiting.delete(timer)) continue;
      timer.callback();
    }
  }
}
