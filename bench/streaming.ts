/**
 * The stream over HTTP with thousands of clients that stay: how late the last of them has an event, what a connection costs the
 * server, and what finding the right ones among them costs. Server and clients are processes of their own on this machine, so
 * they share its processors; the delay to the last holds the clients' own reading.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { FilterIndex } from "../toolkit/src/components/streaming/filter-index.ts";
import { CompiledFilter, Traits } from "../toolkit/src/components/streaming/filters.ts";
import { median, startServer } from "./servers.ts";
import type { ClientsAnswer } from "./streaming-clients.ts";
import type { ServerAnswer, ServerQuestion } from "./streaming-server.ts";

export interface StreamRow {
  readonly store: "redis" | "embedded";
  readonly clients: number;
  /** An event that everybody gets: medians over the events, in milliseconds. */
  readonly toMedianMs: number;
  readonly toLastMs: number;
  /** Events for one client each, published as fast as it goes. */
  readonly perSecond: number;
  readonly bytesPerConnection: number;
}

export interface FindRow {
  readonly filters: number;
  readonly byIndexUs: number;
  readonly oneByOneUs: number;
}

export interface StreamResults {
  readonly rows: readonly StreamRow[];
  readonly find: FindRow;
}

const CLIENT_PROCESSES = 2;

class Child<Q, A> {
  readonly #process: ChildProcess;

  constructor(program: string, args: readonly string[]) {
    const execArgv = [...process.execArgv, "--expose-gc"];
    this.#process = fork(join(import.meta.dirname, program), [...args], { execArgv });
    process.once("exit", () => this.#process.kill("SIGKILL"));
  }

  async next(): Promise<A> {
    const [answer] = (await once(this.#process, "message")) as [A];
    return answer;
  }

  ask(question: Q): Promise<A> {
    const answer = this.next();
    this.#process.send(question as object);
    return answer;
  }

  async close(question: Q): Promise<void> {
    const over = once(this.#process, "exit");
    this.#process.send(question as object);
    await over;
  }
}

type Server = Child<ServerQuestion, ServerAnswer>;
type Clients = Child<string, ClientsAnswer>;

/** Waits until the clients have got so many events more, and answers how late those were. */
async function received(all: readonly Clients[], count: number): Promise<number[]> {
  const delays: number[] = [];
  while (delays.length < count) {
    for (const { delays: some = [] } of await Promise.all(all.map((clients) => clients.ask("delays")))) {
      for (const delay of some) delays.push(delay);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return delays;
}

async function measure(store: StreamRow["store"], url: string, clients: number, quick: boolean): Promise<StreamRow> {
  const server: Server = new Child("streaming-server.ts", [url]);
  const { port } = await server.next();
  // So that what is loaded and compiled on the way is not counted as memory of the connections.
  const first: Clients = new Child("streaming-clients.ts", [String(port), "1000000", "100"]);
  await first.next();
  await server.ask({ ask: "publish", ids: ["warm"], texts: ["everybody"] });
  await received([first], 100);
  await first.close("close");
  const before = (await server.ask({ ask: "memory" })).rssBytes!;
  const each = Math.ceil(clients / CLIENT_PROCESSES);
  const all = Array.from(
    { length: CLIENT_PROCESSES },
    (_, nth): Clients => new Child("streaming-clients.ts", [String(port), String(nth * each), String(each)]),
  );
  await Promise.all(all.map((child) => child.next()));
  const { rssBytes, connections } = await server.ask({ ask: "memory" });
  if (connections !== each * CLIENT_PROCESSES) throw new Error(`only ${connections} connections are open`);

  const medians: number[] = [];
  const lasts: number[] = [];
  for (let nth = 0; nth < (quick ? 5 : 30); nth++) {
    await server.ask({ ask: "publish", ids: [`all${nth}`], texts: ["for everybody"] });
    const delays = await received(all, connections);
    medians.push(median(delays));
    lasts.push(Math.max(...delays));
  }

  const count = quick ? 1_000 : 10_000;
  const ids = Array.from({ length: count }, (_, nth) => `one${nth}`);
  const texts = ids.map((_, nth) => `a phrase with only${(nth * 7) % connections} and other words of a usual length`);
  const started = performance.now();
  await server.ask({ ask: "publish", ids, texts });
  await received(all, count);
  const perSecond = count / ((performance.now() - started) / 1_000);
  await Promise.all(all.map((child) => child.close("close")));
  await server.close({ ask: "close" });
  process.stderr.write(".");
  return {
    store,
    clients: connections,
    toMedianMs: median(medians),
    toLastMs: median(lasts),
    perSecond,
    bytesPerConnection: (rssBytes! - before) / connections,
  };
}

/** Processor time of finding a status's listeners: by the index, and by asking each filter in turn. */
function measureFinding(filters: number, rounds: number): FindRow {
  const index = new FilterIndex<{ readonly filter: CompiledFilter; seenIn: number }>();
  const all = Array.from({ length: filters }, (_, nth) => {
    const track = Array.from({ length: 10 }, (_, phrase) => `the word${nth * 10 + phrase} of`);
    return { filter: new CompiledFilter({ track, follow: [`user${nth}`] }), seenIn: 0 };
  });
  for (const each of all) index.add(each);
  const statuses = Array.from({ length: 100 }, (_, nth) => {
    const text = `the status of somebody, with the word${nth * 97} and others of usual length in it`;
    return new Traits({ kind: "status", id: String(nth), userId: `user${nth}`, login: "x", text, atMs: 0 });
  });
  const cost = (find: (traits: Traits) => number, times: number): number => {
    let found = 0;
    const before = process.cpuUsage();
    for (let nth = 0; nth < times; nth++) found += find(statuses[nth % statuses.length]!);
    const { user, system } = process.cpuUsage(before);
    if (found === 0) throw new Error("nothing was found");
    return (user + system) / times;
  };
  const byIndex = (traits: Traits): number => index.find(traits).length;
  const oneByOne = (traits: Traits): number => all.filter(({ filter }) => filter.matches(traits)).length;
  cost(byIndex, rounds);
  cost(oneByOne, Math.ceil(rounds / 1_000));
  return {
    filters,
    byIndexUs: cost(byIndex, rounds),
    oneByOneUs: cost(oneByOne, Math.ceil(rounds / 100)),
  };
}

export async function compareStreaming(quick: boolean): Promise<StreamResults> {
  const clients = quick ? 500 : 5_000;
  const rows = [await measure("embedded", "", clients, quick)];
  const redis = await startServer("redis");
  rows.push(await measure("redis", `redis://127.0.0.1:${redis.port}`, clients, quick));
  await redis.stop();
  process.stderr.write("\n");
  return { rows, find: measureFinding(5_000, quick ? 2_000 : 50_000) };
}

const whole = (value: number): string => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");

export function streamTables({ rows, find }: StreamResults): string {
  return [
    "**The stream over HTTP**: clients that stay, in other processes of the same machine; an event that all of them get, and events for one each",
    "",
    "| store | clients | to half of them, ms | to the last, ms | for one each, events/s | memory of a connection, bytes |",
    "| --- | ---: | ---: | ---: | ---: | ---: |",
    ...rows.map(
      ({ store, clients, toMedianMs, toLastMs, perSecond, bytesPerConnection }) =>
        `| ${store} | ${whole(clients)} | ${toMedianMs.toFixed(0)} | ${toLastMs.toFixed(0)} | ${whole(perSecond)} | ${whole(bytesPerConnection)} |`,
    ),
    "",
    `Finding the listeners of a status among ${whole(find.filters)} filters of ten phrases: ${find.byIndexUs.toFixed(1)} µs by the index, ${whole(find.oneByOneUs)} µs filter by filter.`,
  ].join("\n");
}
