/** The guard below V8's limit, with a heap that says what the test wants it to say. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TestClient } from "../../tests/kit/test-client.ts";
import { oldLimit } from "../platform/memory.ts";
import type { Client } from "./client.ts";
import { Engine } from "./engine.ts";
import { OOM, type ReplyError } from "./errors.ts";
import { HeapFullError } from "./heap-guard.ts";
import type { Reply } from "./reply.ts";

const MB = 1024 * 1024;
/** What is for objects that stay is 100 MB of the limit, whatever this V8 has for new ones. */
const LIMIT = (100 * MB * MB) / oldLimit(MB);
/** `garbage` is what a collection removes, `data` what the engine of the test has; modules ask when they are loaded, too. */
const heap = vi.hoisted(() => ({
  limit: 2 ** 32,
  other: 0,
  garbage: 0,
  external: 0,
  collections: 0,
  data: (): number => 0,
}));
let engine: Engine | undefined;
vi.mock("node:v8", async (original) => ({
  ...(await original<typeof import("node:v8")>()),
  getHeapStatistics: () => ({
    heap_size_limit: heap.limit,
    used_heap_size: heap.other + heap.garbage + heap.data(),
    external_memory: heap.external,
  }),
}));
vi.mock("./garbage.ts", async (original) => ({
  ...(await original<typeof import("./garbage.ts")>()),
  collectGarbage() {
    heap.garbage = 0;
    heap.collections++;
  },
}));

const value = "x".repeat(100_000);
let client: Client;
const run = (...words: string[]) => engine!.execute(client, words);
const set = (key: string | number) => run("SET", `key:${key}`, value);

const text = (reply: Reply) => (reply as ReplyError).text;

function open(options: ConstructorParameters<typeof Engine>[0] = {}): void {
  engine = new Engine(options);
  ({ client } = new TestClient(engine));
}

/** Sets keys until one is refused; their number. */
function fill(most = 10_000): number {
  for (let i = 0; i < most; i++) if (set(i) === OOM) return i;
  return most;
}

beforeEach(() => {
  engine = undefined;
  heap.data = () => engine?.dataBytes ?? 0;
  Object.assign(heap, { limit: LIMIT, other: 20 * MB, garbage: 0, external: 0, collections: 0 });
});

afterEach(() => engine?.stop());

describe("without maxmemory", () => {
  it("writes are refused at the write limit, and taken again when keys were deleted", () => {
    open();
    const count = fill();
    // 70 of 100 MB, 20 of which are taken.
    expect(count * value.length).toBeGreaterThan(44 * MB);
    expect(count * value.length).toBeLessThan(51 * MB);
    expect(run("GET", "key:1")).toBe(value);
    for (let i = 0; i < count / 10; i++) run("DEL", `key:${i}`);
    expect(set("more")).not.toBe(OOM);
  });

  it("keys are evicted instead where the policy says so", () => {
    open({ config: { "maxmemory-policy": "allkeys-lru" } });
    expect(fill(2000)).toBe(2000);
    expect(engine!.dataBytes).toBeLessThan(62 * MB);
    expect(engine!.stats.evictedKeys).toBeGreaterThan(1000);
  });

  it("garbage does not count, and needs no collection while the data is known to be small", () => {
    open();
    heap.garbage = 50 * MB;
    expect(fill(100)).toBe(100);
    expect(heap.collections).toBe(0);
  });

  it("garbage is collected to be sure where the accounts say that a limit is reached", () => {
    open();
    heap.garbage = 75 * MB;
    expect(fill() * value.length).toBeGreaterThan(44 * MB);
    expect(heap.collections).toBeGreaterThan(0);
  });

  it("what others hold in the same heap counts, once V8 has collected", () => {
    open();
    heap.other = 85 * MB;
    expect(engine!.heapGuard.workBytes()).toBeLessThan(10 * MB);
    expect(set("k")).toBe(OOM);
  });

  it("EXEC is refused when anything in it needs room", () => {
    open();
    fill();
    run("MULTI");
    expect(run("SET", "a", "b")).toBe(OOM);
    expect(text(run("EXEC"))).toContain("EXECABORT");
  });

  it("a script is refused its writes, and stopped at the second limit where it has written before", () => {
    open();
    fill();
    const script = "redis.call('SET', 'k', ARGV[1]) return 1";
    expect(text(run("EVAL", script, "0", value))).toContain("OOM");
    for (let i = 0; i < 100; i++) run("DEL", `key:${i}`);
    const endless = "for i = 1, 1000 do redis.call('SET', 'more:' .. i, ARGV[1]) end return 1";
    // Its writes are refused, or its own memory is: whichever limit comes first.
    expect(text(run("EVAL", endless, "0", value))).toMatch(/OOM|not enough memory/);
    expect(engine!.dataBytes + heap.other).toBeLessThan(80 * MB);
  });
});

describe("outside the heap", () => {
  it("buffers and large strings count against the memory of the machine", () => {
    open();
    heap.external = 1e15;
    expect(engine!.heapGuard.workBytes()).toBe(0);
    expect(set("k")).toBe(OOM);
  });
});

describe("loading", () => {
  it("goes on above the write limit and ends below V8's", () => {
    open();
    const { heapGuard } = engine!;
    heap.other = 50 * MB;
    heap.garbage = 45 * MB;
    expect(heapGuard.fits()).toBe(true);
    expect(heap.garbage).toBe(0);
    heap.other = 78 * MB;
    expect(heapGuard.fits()).toBe(true);
    heap.other = 95 * MB;
    expect(() => heapGuard.checkLoad(50, 100)).toThrow(HeapFullError);
    expect(() => heapGuard.checkLoad(50, 100)).toThrow(`--max-old-space-size=${Math.round((LIMIT * 2.4) / MB)}`);
  });
});

describe("the option", () => {
  it("turns it off", () => {
    open({ heapGuard: false });
    heap.other = 140 * MB;
    expect(fill(1000)).toBe(1000);
    expect(engine!.heapGuard.availableBytes()).toBe(Number.POSITIVE_INFINITY);
  });

  it("moves the limit", () => {
    open({ heapGuard: 0.5 });
    expect(fill() * value.length).toBeLessThan(31 * MB);
  });
});
