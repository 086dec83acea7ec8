/** Histograms and spikes. */
import { describe, expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../core/clock.ts";
import { Engine } from "../core/engine.ts";
import { Histogram } from "./histogram.ts";

test("percentiles are at most one in 128 too high", () => {
  const histogram = new Histogram();
  for (let i = 1; i <= 10_000; i++) histogram.record(i);
  for (const percent of [1, 25, 50, 90, 99, 99.9, 100]) {
    const exact = percent * 100;
    const shown = histogram.percentile(percent);
    expect(shown).toBeGreaterThanOrEqual(exact);
    expect(shown).toBeLessThanOrEqual(exact * (1 + 1 / 128) + 0.001);
  }
});

test("shows the bounds that Redis shows", () => {
  const histogram = new Histogram();
  for (const microseconds of [0.5, 1.5, 30, 30, 200_000]) histogram.record(microseconds);
  expect(histogram.doublings()).toEqual([
    { microseconds: 1, calls: 1 },
    { microseconds: 2, calls: 2 },
    { microseconds: 33, calls: 4 },
    { microseconds: 270_532, calls: 5 },
  ]);
});

test("what takes longer than a second counts as a second", () => {
  const histogram = new Histogram();
  histogram.record(5_000_000);
  histogram.record(-1);
  expect(histogram.total).toBe(2);
  expect(histogram.percentile(100)).toBeGreaterThanOrEqual(1_000_000);
});

test("of several spikes in a second the longest is kept, and no more than 160 in all", () => {
  const clock = new ManualClock();
  const engine = new Engine({ clock, config: { "latency-monitor-threshold": "10" } });
  engine.latency.add("command", 9);
  expect(engine.latency.events.size).toBe(0);
  engine.latency.add("command", 20.7);
  engine.latency.add("command", 15);
  expect(engine.latency.events.get("command")).toEqual({ maxMs: 20, samples: [{ at: 1_700_000_000, ms: 20 }] });
  for (let i = 0; i < 200; i++) {
    clock.advance(1000);
    engine.latency.add("command", 11);
  }
  const event = engine.latency.events.get("command")!;
  expect(event.samples).toHaveLength(160);
  expect(event.maxMs).toBe(20);
  engine.stop();
});

/** Moves on by 30 ms whenever it is read, once it is slow: as if everything that is timed took that long. */
class SlowClock extends ManualClock {
  slow = false;

  override monotonic(): number {
    if (this.slow) this.advance(30);
    return super.monotonic();
  }
}

describe("keys that go by themselves", () => {
  function open(config: Record<string, string> = { "latency-monitor-threshold": "20" }) {
    const clock = new SlowClock();
    const engine = new Engine({ clock, config });
    onTestFinished(() => engine.stop());
    const db = engine.databases[0]!;
    db.put("k", "value", { deadline: clock.now() + 10 });
    clock.advance(10);
    engine.renewClock();
    return { clock, engine, db };
  }

  const longest = (engine: Engine) =>
    Object.fromEntries([...engine.latency.events].map(([name, { maxMs }]) => [name, maxMs]));

  test("an expire cycle that takes long is an event, and so is each removal that does", () => {
    const { clock, engine, db } = open();
    clock.slow = true;
    engine.expiry.cycle();
    expect(db.size).toBe(0);
    expect(longest(engine)).toEqual({ "expire-del": 30, "expire-cycle": 90 });
  });

  test("a cycle and a removal that are quick are none", () => {
    const { engine, db } = open();
    engine.expiry.cycle();
    expect(db.size).toBe(0);
    expect(longest(engine)).toEqual({});
  });

  test("a key that is found expired is removed without a cycle", () => {
    const { clock, engine, db } = open();
    clock.slow = true;
    expect(db.exists("k")).toBe(false);
    expect(longest(engine)).toEqual({ "expire-del": 30 });
  });

  test("an eviction that takes long is an event", () => {
    const { clock, engine, db } = open();
    clock.slow = true;
    db.evict("k");
    expect(longest(engine)).toEqual({ "eviction-del": 30 });
  });

  test("nothing is kept, and the clock is not read for it, while the monitor is off", () => {
    const { clock, engine, db } = open({});
    const before = clock.now();
    clock.slow = true;
    db.evict("k");
    expect(clock.now()).toBe(before);
    expect(longest(engine)).toEqual({});
  });
});
