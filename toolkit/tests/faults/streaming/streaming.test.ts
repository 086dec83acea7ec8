/**
 * Clients of the stream while everything around them fails: servers are killed and started again, or closed in good order;
 * clients' connections are cut in the middle of a line; servers lose their store, and publishers their answers. Whatever
 * happens, each client gets every event of the log that its filter wants, once and in order.
 *
 * STREAM_FAULT_ROUNDS=50 STREAM_FAULT_SEED=7 runs it long.
 */
import { afterEach, expect, onTestFinished, test } from "vitest";
import { ConnectionError } from "../../../src/base/errors.ts";
import { compareCursors } from "../../../src/components/streaming/cursor.ts";
import { CompiledFilter, Traits } from "../../../src/components/streaming/filters.ts";
import { readStream } from "../../../src/components/streaming/http.ts";
import {
  type StatusEvent,
  StatusStream,
  type StreamFilter,
  type StreamMessage,
} from "../../../src/components/streaming/index.ts";
import type { Store } from "../../../src/connection/store.ts";
import { describeBackends } from "../../kit/index.ts";
import { FaultyProxy } from "../../kit/proxy.ts";
import { freePort } from "../../kit/servers.ts";
import { type Child, endAll, start } from "../web/children.ts";
import type { ServerOrder } from "./server.ts";

const SEED = Number(process.env.STREAM_FAULT_SEED ?? 1);
const ROUNDS = Number(process.env.STREAM_FAULT_ROUNDS ?? 3);
const WORDS = ["red", "green", "blue", "sky", "sea", "sun"];

const FILTERS: readonly StreamFilter[] = [
  { all: true },
  { track: ["red", "blue sky", "last"] },
  { follow: ["3", "@u4", "u-last"] },
  { sample: 20, track: ["last"] },
];

afterEach(endAll);

function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Publishes until it is told to stop; what got no answer is published again. */
class Publisher {
  published = 0;
  stopping = false;
  readonly #stream: StatusStream;
  readonly #name: string;
  readonly #random: (below: number) => number;

  constructor(store: Store, name: string, random: (below: number) => number) {
    this.#stream = new StatusStream(store, "public");
    this.#name = name;
    this.#random = random;
  }

  async run(): Promise<void> {
    for (let nth = 0; !this.stopping; nth++) {
      const user = this.#random(8);
      const of = { userId: `${user}`, login: `u${user}`, atMs: nth };
      const text = Array.from({ length: 1 + this.#random(4) }, () => WORDS[this.#random(WORDS.length)]).join(" ");
      await this.#publish({ kind: "status", id: `${this.#name}-${nth}`, ...of, text });
      if (this.#random(8) === 0) {
        const id = `${this.#name}-${Math.max(0, nth - this.#random(20))}`;
        await this.#publish({ kind: "delete", id, userId: of.userId, atMs: nth });
      }
      // Others want the processor too.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async #publish(event: StatusEvent): Promise<void> {
    for (;;) {
      try {
        await this.#stream.publish(event);
        if (this.#random(10) === 0) await this.#stream.publish(event);
        this.published++;
        return;
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
      }
    }
  }
}

/** Everything that a client gets, up to the last status. */
async function readAll(
  url: string,
  filter: StreamFilter,
  messages: StreamMessage[],
  signal: AbortSignal,
): Promise<void> {
  const options = { filter, signal, from: "oldest", maxBackoffMs: 100, silenceTimeoutMs: 5_000 };
  for await (const message of readStream(url, options)) {
    messages.push(message);
    if (message.kind === "status" && message.id === "last") return;
  }
}

interface Logged {
  readonly cursor: string;
  readonly event: StatusEvent;
}

async function readLog(store: Store): Promise<Logged[]> {
  const entries = (await store.call("XRANGE", "stream:{public}:log", "-", "+")) as [string, string[]][];
  return entries.map(([cursor, fields]) => ({ cursor, event: JSON.parse(fields[3]!) as StatusEvent }));
}

/** What is wrong with what a client got; nothing, if all is right. */
function faultsOf(filter: StreamFilter, messages: readonly StreamMessage[], log: readonly Logged[]): string[] {
  const faults: string[] = [];
  const compiled = new CompiledFilter(filter);
  const events = messages.filter(({ kind }) => kind === "status" || kind === "delete");
  for (const [at, { cursor }] of events.entries()) {
    const before = events[at - 1];
    if (before !== undefined && compareCursors(before.cursor, cursor) >= 0) faults.push(`${cursor} is not behind`);
  }
  const got = new Map(events.map((message) => [message.cursor, message as StatusEvent]));
  const gotStatuses = new Set([...got.values()].flatMap(({ kind, id }) => (kind === "status" ? [id] : [])));
  for (const { cursor, event } of log) {
    const wanted = event.kind === "status" ? compiled.matches(new Traits(event)) : gotStatuses.has(event.id);
    if (wanted && !got.has(cursor)) faults.push(`${event.kind} ${event.id} is missing`);
    if (event.kind === "status" && !wanted && got.has(cursor)) faults.push(`status ${event.id} is not wanted`);
  }
  for (const { kind } of messages) if (kind === "gap") faults.push("a gap, and the log has none");
  return faults;
}

describeBackends("streaming under faults", { backends: ["redis"], audit: false }, (backend) => {
  test("a client that reconnects misses nothing that is in the log, gets nothing twice, and all in order", {
    timeout: 60_000 + ROUNDS * 10_000,
  }, async () => {
    const random = randomFrom(SEED);
    const redis = await FaultyProxy.open(backend.ports[0]!);
    const ports = [await freePort(), await freePort()];
    const startServer = (nth: number): Child => {
      // The second has a short memory, so that most who come back to it are served from the log.
      const order: ServerOrder = { url: redis.url, port: ports[nth]!, recentEvents: nth === 0 ? 10_000 : 20 };
      return start("../streaming/server.ts", order, () => {});
    };
    const servers = [startServer(0), startServer(1)];
    const fronts = await Promise.all(ports.map((port) => FaultyProxy.open(port)));
    const ending = new AbortController();
    onTestFinished(async () => {
      ending.abort();
      await Promise.all([redis, ...fronts].map((proxy) => proxy.close()));
    });
    await Promise.all(servers.map(({ ready }) => ready));

    const publisherStore = await backend.open();
    const flakyStore = await openThrough(redis);
    const publishers = [publisherStore, flakyStore].map((store, nth) => new Publisher(store, `p${nth}`, random));
    const publishing = publishers.map((publisher) => publisher.run());
    const clients = FILTERS.flatMap((filter) =>
      fronts.map((front) => ({ filter, front, messages: [] as StreamMessage[] })),
    );
    const reading = clients.map(({ filter, front, messages }) =>
      readAll(`http://127.0.0.1:${front.port}/`, filter, messages, ending.signal),
    );
    const more = async (count: number): Promise<void> => {
      const until = publishers[0]!.published + count;
      await expect.poll(() => publishers[0]!.published >= until, { timeout: 60_000 }).toBe(true);
    };

    for (let round = 0; round < ROUNDS; round++) {
      await more(30 + random(60));
      fronts[random(2)]!.cut();
      await more(20);
      const at = round % 2;
      servers[at]!.kill(round % 4 < 2 ? "SIGKILL" : "SIGTERM");
      await servers[at]!.ended;
      await more(30);
      servers[at] = startServer(at);
      await servers[at]!.ready;
      await more(20);
      if (round % 2 === 0) redis.cut();
      else await redis.loseAnswerOf("stream:{public}:known");
    }
    await more(20);
    for (const publisher of publishers) publisher.stopping = true;
    await Promise.all(publishing);
    const stream = new StatusStream(backend.store, "public");
    await stream.publish({ kind: "status", id: "last", userId: "u-last", login: "x", text: "last", atMs: 0 });
    await Promise.all(reading);

    const log = await readLog(backend.store);
    for (const { filter, messages } of clients) expect(faultsOf(filter, messages, log)).toEqual([]);
    const ends = clients.flatMap(({ messages }) => messages.filter(({ kind }) => kind === "end")).length;
    const got = clients.map(({ messages }) => messages.length).join(" ");
    console.log(`${log.length} events in the log; ${clients.length} clients got ${got}; ${ends} got an end`);
    for (const server of servers) server.kill("SIGTERM");
    await Promise.all(servers.map(({ ended }) => ended));
  });

  async function openThrough(proxy: FaultyProxy): Promise<Store> {
    const { open } = await import("../../../src/connection/open.ts");
    const store = await open(proxy.url);
    onTestFinished(() => store.close());
    return store;
  }
});
