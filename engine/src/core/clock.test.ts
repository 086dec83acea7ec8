import { afterEach, describe, expect, it } from "vitest";
import { TestClient } from "../../tests/kit/test-client.ts";
import { ManualClock, SystemClock } from "./clock.ts";
import { Engine } from "./engine.ts";

const HOUR = 3_600_000;

/** A machine whose clocks a test moves: the true time in microseconds, and how far the wall clock is set off. */
function machine(startMicros = 1_700_000_000_123_456) {
  const time = { micros: startMicros, setMs: 0 };
  const clock = new SystemClock(
    () => Math.floor(time.micros / 1000) + time.setMs,
    () => (time.micros - startMicros) / 1000 + 5.25,
  );
  return { time, clock };
}

describe("the system's clock", () => {
  it("has one time in two resolutions, which follows every step of the wall clock at once", () => {
    const { time, clock } = machine();
    const dice = new ManualClock(0, 9);
    let last = 0;
    for (let i = 0; i < 20_000; i++) {
      time.micros += Math.floor(dice.random() * 900);
      if (i % 5000 === 4999) {
        time.setMs += i === 9999 ? -2 * HOUR : 2 * HOUR;
        last = 0;
      }
      const micros = clock.nowMicros();
      expect(Math.floor(micros / 1000)).toBe(clock.now());
      expect(micros).toBeGreaterThanOrEqual(last);
      last = micros;
    }
  });

  it("tells microseconds, not only milliseconds", () => {
    const { time, clock } = machine();
    for (let i = 0; i < 5000; i++) {
      time.micros += 137;
      clock.nowMicros();
    }
    // By now the offset is known to within a step.
    for (let i = 0; i < 1000; i++) {
      time.micros += 137;
      expect(Math.abs(clock.nowMicros() - time.micros)).toBeLessThan(140);
    }
  });
});

describe("when the system's clock is set", () => {
  let engine: Engine;
  afterEach(() => engine.stop());

  function open() {
    const clock = new ManualClock();
    engine = new Engine({ clock });
    return { clock, client: new TestClient(engine) };
  }

  // A test client parts words at spaces, so the script has a tab.
  const DEADLINE_FROM_TIME = `EVAL local\tt=redis.call("TIME")redis.call("SET","s","v")return(redis.call("PEXPIREAT","s",t[1]*1000+60000)) 0`;

  it.each([2 * HOUR, -2 * HOUR])("TIME and expiry agree after a step of %i ms", (step) => {
    const { clock, client } = open();
    clock.step(step);
    const [seconds, micros] = client.call("TIME")[0] as [string, string];
    expect(Number(seconds) * 1000 + Number(micros) / 1000).toBe(clock.now());
    client.call(DEADLINE_FROM_TIME);
    expect(client.call("PTTL s")).toEqual([60_000]);
    clock.advance(59_999);
    expect(client.call("EXISTS s")).toEqual([1]);
    clock.advance(1);
    expect(client.call("EXISTS s")).toEqual([0]);
  });

  it("keys are due by the new time: forwards at once, backwards later by the step", () => {
    const { clock, client } = open();
    client.call("SET soon v PX 1000");
    client.call("SET late v PX 7300000");
    clock.step(2 * HOUR);
    expect(client.call("MGET soon late")).toEqual([[null, "v"]]);
    clock.step(-2 * HOUR);
    expect(client.call("MGET soon late")).toEqual([[null, "v"]]);
    expect(client.call("PTTL late")).toEqual([7_300_000]);
  });

  it.each([2 * HOUR, -2 * HOUR])("blocked and paused clients wait as long as they were to (step of %i ms)", (step) => {
    const { clock, client } = open();
    const other = new TestClient(engine);
    client.call("BLPOP nothing 10");
    other.call("CLIENT PAUSE 10000 WRITE");
    clock.step(step);
    clock.advance(9999);
    engine.tick();
    expect(client.taken()).toEqual([]);
    expect(engine.pause.paused).toBe(true);
    clock.advance(1);
    engine.tick();
    expect(engine.pause.paused).toBe(false);
    expect(client.taken()).toHaveLength(1);
  });

  it("what expired while a transaction ran is not handed to a blocked client", () => {
    const clock = new ManualClock();
    engine = new Engine({ clock });
    const [client, waiter] = [new TestClient(engine), new TestClient(engine)];
    waiter.call("BLPOP k 0");
    for (const line of ["MULTI", "RPUSH k hello", "PEXPIRE k 100"]) client.call(line);
    // Time passes after the transaction has looked at the clock.
    clock.now = () => {
      const now = ManualClock.prototype.now.call(clock);
      clock.advance(200);
      return now;
    };
    client.call("EXEC");
    expect(waiter.taken()).toEqual([]);
    expect(waiter.client.blocked).not.toBeNull();
    expect(client.call("EXISTS k")).toEqual([0]);
  });

  it("TIME is never behind the time that stands still in a script, and goes on there as in Redis", () => {
    const { clock, client } = open();
    client.call("TIME");
    const before = engine.now;
    clock.step(-HOUR);
    expect(engine.now).toBe(before);
    expect(engine.nowMicros).toBe(before * 1000);
    clock.step(HOUR);
    clock.advance(5);
    expect(engine.now).toBe(before);
    expect(engine.nowMicros).toBe((before + 5) * 1000);
  });
});
