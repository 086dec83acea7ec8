/**
 * What a round trip costs: the update of a login token, five commands, sent one after the other and in one pipeline. Over a unix
 * socket, over loopback, and over links that add 1 ms and 20 ms to each round trip, as a network between two racks and between
 * two sites does. One caller, so that nothing hides the waiting. Both servers, rounds in turn, medians.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open, type Store } from "cinnabar";
import { type BenchServer, median, startServer } from "./servers.ts";

export interface TripRow {
  readonly link: string;
  /** Updates a second, by server. */
  readonly servers: Readonly<Record<BenchServer["name"], TripFigure>>;
}

interface TripFigure {
  readonly single: number;
  readonly pipelined: number;
}

const VIEWED = 25;

/** A link that holds back everything on its way to the server for a while, in order. */
class DelayedLink {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async to(port: number, delayMs: number): Promise<DelayedLink> {
    const server = createServer({ noDelay: true });
    const link = new DelayedLink(server);
    server.on("connection", (client) => {
      const upstream = connect({ port, host: "127.0.0.1", noDelay: true });
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        link.#sockets.add(one);
        one.on("error", () => {}).on("close", () => other.destroy());
      }
      client.on("data", (data) => setTimeout(() => upstream.write(data), delayMs));
      upstream.on("data", (data) => client.write(data));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return link;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the link is closed");
    return address.port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

function update(token: number): (string | number)[][] {
  const now = Date.now() / 1_000;
  const item = `item:${token % 1_000}`;
  return [
    ["HSET", "login:", `token:${token}`, "user"],
    ["ZADD", "recent:", now, `token:${token}`],
    ["ZADD", `viewed:${token}`, now, item],
    ["ZREMRANGEBYRANK", `viewed:${token}`, 0, -VIEWED - 1],
    ["ZINCRBY", "viewed:", -1, item],
  ];
}

async function updateOneByOne(store: Store, token: number): Promise<void> {
  for (const words of update(token)) await store.send(words);
}

async function updateInPipeline(store: Store, token: number): Promise<void> {
  await store.pipeline(update(token));
}

/** Updates a second, for so many milliseconds. */
async function rate(ms: number, call: (nth: number) => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  let calls = 0;
  let passed = 0;
  for (; passed < ms; calls++) {
    await call(calls % 1_000);
    passed = performance.now() - startedAt;
  }
  return calls / (passed / 1_000);
}

interface Subject {
  readonly link: string;
  readonly server: BenchServer["name"];
  readonly store: Store;
  readonly single: number[];
  readonly pipelined: number[];
}

export async function compareTrips(quick: boolean): Promise<TripRow[]> {
  const dir = mkdtempSync(join(tmpdir(), "cinnabar-trips-"));
  const closers: (() => unknown)[] = [];
  const subjects: Subject[] = [];
  for (const name of ["cinnabar", "redis"] as const) {
    const socket = join(dir, `${name}.sock`);
    const server = await startServer(name, ["--unixsocket", socket]);
    const near = await DelayedLink.to(server.port, 1);
    const far = await DelayedLink.to(server.port, 20);
    const urls = {
      "unix socket": `unix://${socket}`,
      loopback: `redis://127.0.0.1:${server.port}`,
      "1 ms more": `redis://127.0.0.1:${near.port}`,
      "20 ms more": `redis://127.0.0.1:${far.port}`,
    };
    for (const [link, url] of Object.entries(urls)) {
      const store = await open(url);
      closers.push(() => store.close());
      subjects.push({ link, server: name, store, single: [], pipelined: [] });
    }
    closers.push(
      () => near.close(),
      () => far.close(),
      () => server.stop(),
    );
  }
  const ms = quick ? 150 : 2_000;
  for (const { store } of subjects) await rate(ms / 2, (nth) => updateInPipeline(store, nth));
  for (let round = 0; round < (quick ? 1 : 5); round++) {
    for (const { store, single, pipelined } of round % 2 === 0 ? subjects : [...subjects].reverse()) {
      single.push(await rate(ms, (nth) => updateOneByOne(store, nth)));
      pipelined.push(await rate(ms, (nth) => updateInPipeline(store, nth)));
      process.stderr.write(".");
    }
  }
  process.stderr.write("\n");
  for (const close of closers) await close();
  rmSync(dir, { recursive: true, force: true });
  const figure = (link: string, server: BenchServer["name"]): TripFigure => {
    const found = subjects.find((subject) => subject.link === link && subject.server === server);
    if (found === undefined) throw new Error(`${server} was not measured over ${link}`);
    return { single: median(found.single), pipelined: median(found.pipelined) };
  };
  return [...new Set(subjects.map(({ link }) => link))].map((link) => ({
    link,
    servers: { cinnabar: figure(link, "cinnabar"), redis: figure(link, "redis") },
  }));
}

export function tripTable(rows: readonly TripRow[]): string {
  const round = (value: number) => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  const cells = ({ single, pipelined }: TripFigure) =>
    `${round(single)} | ${round(pipelined)} | ${(pipelined / single).toFixed(1)} ×`;
  return [
    "**A token update of five commands, one caller**: updates a second, one command after the other and in one pipeline",
    "",
    "| link | cinnabar, one by one | in a pipeline | gain | redis, one by one | in a pipeline | gain |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...rows.map(({ link, servers }) => `| ${link} | ${cells(servers.cinnabar)} | ${cells(servers.redis)} |`),
  ].join("\n");
}
