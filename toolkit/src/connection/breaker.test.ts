/** Breaker and deadline over drivers that are told how to fail: what is sent, what is refused, and what the caller is told. */
import { describe, expect, test } from "vitest";
import { type ManualClock, manualClock } from "../../tests/kit/manual-clock.ts";
import { ConnectionError, ServerError } from "../base/errors.ts";
import type { Circuit } from "./breaker.ts";
import type { ConnectionState, Driver, Reply, Request } from "./port.ts";
import { Store, type StoreOptions } from "./store.ts";

type Behaviour = (request: Request) => Promise<Reply>;

const gone = (server?: string): Behaviour => {
  return () => Promise.reject(new ConnectionError("gone", { maybeExecuted: false, code: "UNREACHABLE", server }));
};
const silent: Behaviour = ({ attempt }) => {
  if (attempt !== undefined) attempt.isWritten = true;
  return new Promise(() => {});
};
const fine: Behaviour = async () => "OK";

/** Keys are named for their servers: "a:1" is on server "a". */
class FakeDriver {
  readonly topology = "cluster";
  readonly address = null;
  readonly sent: string[] = [];
  readonly probes: string[] = [];
  readonly servers: { a: Behaviour; b: Behaviour } = { a: fine, b: fine };
  readonly #listeners: ((state: ConnectionState) => void)[] = [];

  serverOf(key: string | undefined): string {
    return key?.split(":")[0] ?? "a";
  }
  send(request: Request): Promise<Reply> {
    const server = this.serverOf(request.key);
    this.sent.push(`${server} ${request.words[0]}`);
    return this.servers[server as "a" | "b"](request);
  }
  sendMany(requests: readonly Request[]) {
    return Promise.all(requests.map((each) => this.send(each)));
  }
  probe(server: string): Promise<Reply> {
    this.probes.push(server);
    return this.servers[server as "a" | "b"]({ words: ["PING"], key: undefined, buffers: false });
  }
  onState(listener: (state: ConnectionState) => void): () => void {
    this.#listeners.push(listener);
    return () => {};
  }
  state(state: ConnectionState): void {
    for (const listener of this.#listeners) listener(state);
  }
  async close(): Promise<void> {}
}

interface Made {
  readonly clock: ManualClock;
  readonly driver: FakeDriver;
  readonly store: Store;
  readonly changes: string[];
}

function made(options: StoreOptions = {}): Made {
  const clock = manualClock();
  const driver = new FakeDriver();
  const changes: string[] = [];
  const circuit = ({ server, state }: Circuit) => void changes.push(`${server} ${state}`);
  const store = new Store(driver as unknown as Driver, { clock, hooks: { circuit }, retryMs: 0, ...options });
  return { clock, driver, store, changes };
}

const outcome = (call: Promise<unknown>): Promise<unknown> => call.catch((error) => error);
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Three failures with more than a second between the first and the last. */
async function opened({ clock, driver, store }: Made): Promise<void> {
  driver.servers.a = gone();
  for (let failure = 0; failure < 2; failure++) {
    await outcome(store.call("GET", "a:1"));
    clock.advance(550);
  }
  await outcome(store.call("GET", "a:1"));
}

describe("a circuit", () => {
  test("opens after failures in a row and a while; then nothing is sent, and the error says that nothing was run", async () => {
    const all = made();
    const { clock, driver, store, changes } = all;
    await opened(all);
    expect(changes).toEqual(["a open"]);
    const before = driver.sent.length;
    const error = await outcome(store.call("INCR", "a:1"));
    expect(error).toMatchObject({ name: "ConnectionError", code: "CIRCUIT_OPEN", maybeExecuted: false });
    expect(
      await outcome(
        store.pipeline([
          ["GET", "b:1"],
          ["GET", "a:1"],
        ]),
      ),
    ).toMatchObject({ code: "CIRCUIT_OPEN" });
    expect(driver.sent.length).toBe(before);
    clock.advance(100);
    expect(store.circuits()).toEqual([{ server: "a", state: "open", failures: 3, openForMs: 100, error: "gone" }]);
  });

  test("of one server says nothing about the others", async () => {
    const all = made();
    await opened(all);
    expect(await all.store.call("GET", "b:1")).toBe("OK");
    expect(
      await all.store.pipeline([
        ["GET", "b:1"],
        ["GET", "b:2"],
      ]),
    ).toEqual(["OK", "OK"]);
  });

  test("stays closed while answers come between, or when the failures come within a moment", async () => {
    const { clock, driver, store, changes } = made();
    for (let round = 0; round < 10; round++) {
      driver.servers.a = gone();
      await outcome(store.call("GET", "a:1"));
      await outcome(store.call("GET", "a:1"));
      clock.advance(600);
      driver.servers.a = () => Promise.reject(new ServerError("WRONGTYPE an answer"));
      await outcome(store.call("GET", "a:1"));
    }
    driver.servers.a = gone();
    for (let failure = 0; failure < 100; failure++) await outcome(store.call("GET", "a:1"));
    expect(changes).toEqual([]);
  });

  test("is tried by the store itself, and closes with an answer", async () => {
    const all = made();
    const { clock, driver, store, changes } = all;
    await opened(all);
    clock.advance(500);
    expect(driver.probes).toEqual(["a"]);
    await settled();
    driver.servers.a = silent;
    clock.advance(500);
    expect(changes).toEqual(["a open", "a half-open", "a open", "a half-open"]);
    expect(await outcome(store.call("GET", "a:1"))).toMatchObject({ code: "CIRCUIT_OPEN" });
    clock.advance(500);
    driver.servers.a = fine;
    clock.advance(500);
    await settled();
    expect(changes.slice(4)).toEqual(["a open", "a half-open", "a closed"]);
    expect(await store.call("GET", "a:1")).toBe("OK");
    expect(store.circuits()).toEqual([]);
  });

  test("closes although somebody tries again and again without a pause", async () => {
    const driver = new FakeDriver();
    driver.servers.a = gone();
    const breaker = { failures: 1, openAfterMs: 0, probeEveryMs: 5 };
    const store = new Store(driver as unknown as Driver, { retryMs: 0, breaker });
    await outcome(store.call("GET", "a:1"));
    driver.servers.a = fine;
    while ((await outcome(store.call("GET", "a:1"))) !== "OK");
    expect(driver.probes).toEqual(["a"]);
  });

  test("closes when the driver says that the connection is back", async () => {
    const all = made();
    await opened(all);
    all.driver.servers.a = fine;
    all.driver.state("ready");
    expect(await all.store.call("GET", "a:1")).toBe("OK");
    expect(all.changes).toEqual(["a open", "a closed"]);
  });

  test("that opens ends the calls that wait for their next attempt and do not wait for it", async () => {
    const all = made({ retryMs: 60_000, timeoutMs: 60_000, breaker: { whenOpen: "fail" } });
    const { clock, driver, store } = all;
    driver.servers.a = gone();
    const waiting = outcome(store.call("INCR", "a:1"));
    const outcomes: unknown[] = [];
    void waiting.then((error) => outcomes.push(error));
    for (let turn = 0; turn < 100 && outcomes.length === 0; turn++) {
      await settled();
      clock.advance(20);
    }
    expect(outcomes).toMatchObject([{ code: "CIRCUIT_OPEN", maybeExecuted: false }]);
  });

  test("is waited for by calls that have time, and nothing is sent meanwhile", async () => {
    const all = made({ retryMs: 60_000 });
    const { clock, driver, store, changes } = all;
    driver.servers.a = gone();
    const outcomes: unknown[] = [];
    void outcome(store.call("INCR", "a:1")).then((answer) => outcomes.push(answer));
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn++) {
        await settled();
        clock.advance(20);
      }
    };
    await turns(150);
    expect(changes).toContain("a open");
    const before = driver.sent.length;
    await turns(150);
    expect(driver.sent.length).toBe(before);
    expect(outcomes).toEqual([]);
    driver.servers.a = fine;
    await turns(150);
    expect(outcomes).toEqual(["OK"]);
  });

  test("can be switched off", async () => {
    const all = made({ breaker: false });
    await opened(all);
    const before = all.driver.sent.length;
    expect(await outcome(all.store.call("GET", "a:1"))).toMatchObject({ code: "UNREACHABLE" });
    expect(all.driver.sent.length).toBe(before + 1);
    expect(all.changes).toEqual([]);
  });
});

describe("a call", () => {
  test("is given up at its deadline, and says whether it was written", async () => {
    const { clock, driver, store } = made();
    driver.servers.a = silent;
    driver.servers.b = () => new Promise(() => {});
    const written = outcome(store.send(["INCR", "a:1"], { timeoutMs: 100 }));
    const waiting = outcome(store.send(["INCR", "b:1"], { timeoutMs: 100 }));
    clock.advance(100);
    expect(await written).toMatchObject({ code: "DEADLINE", maybeExecuted: true });
    expect(await waiting).toMatchObject({ code: "DEADLINE", maybeExecuted: false });
  });

  test("past its deadline counts as a failure of the server", async () => {
    const { clock, driver, store, changes } = made({ timeoutMs: 400 });
    driver.servers.a = silent;
    for (let failure = 0; failure < 3; failure++) {
      const call = outcome(store.call("GET", "a:1"));
      clock.advance(400);
      await call;
    }
    expect(changes).toEqual(["a open"]);
  });

  test("is said to have run if any of its attempts may have", async () => {
    const { clock, driver, store } = made({ retryMs: 1_000 });
    const lost = () => new ConnectionError("lost", { maybeExecuted: true });
    let attempts = 0;
    driver.servers.a = () => (attempts++ === 0 ? Promise.reject(lost()) : gone()({} as Request));
    const results: unknown[] = [];
    void outcome(store.send(["SET", "a:1", "x"], { repeatable: true })).then((error) => results.push(error));
    for (let turn = 0; turn < 200 && results.length === 0; turn++) {
      await settled();
      clock.advance(20);
    }
    expect(attempts).toBeGreaterThan(1);
    expect(results).toMatchObject([{ name: "ConnectionError", maybeExecuted: true }]);
  });
});
