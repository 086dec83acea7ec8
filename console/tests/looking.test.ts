/** Nothing is written by looking: every route that reads, and every page, leaves the key space as it was. */
import { type Clock, systemClock, type Timer } from "cinnabar";
import { beforeAll, describe, expect, test } from "vitest";
import { full } from "../../scripts/full.ts";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { OPERATE_ROUTES } from "../src/operate/index.ts";
import { fill } from "./filled.ts";
import { NAMED } from "./kinds.ts";
import { type Backend, backends, serve } from "./support.ts";

/** Asked for things that are there, below. */
const ONE = "/api/components/:kind/one";
const READING = OPERATE_ROUTES.filter(
  ({ method, url, media }) => method === "GET" && media === undefined && url !== ONE,
);

/** What stands for a parameter: things that exist, and things that do not. */
const NAMES = ["unused", "mails", "team", "books", "pages", "api", "people", "order:17", "hits", "web", "social"];
const QUERIES = ["", "?key=hash", "?name=mails", "?name=unused", "?who=ann", "?who=nobody", "?text=dunes", "?q=dunes"];

/** Items that components are asked about: some have them, others do not. */
const ASKED = ["ann", "17", "shoes", "sword", "0", "x".repeat(300)];

/** Everything in the store, to the byte. */
async function contentOf({ store }: Backend): Promise<Map<string, string>> {
  const content = new Map<string, string>();
  for (const key of (await store.call("KEYS", "*")) as string[]) {
    const value = (await store.send(["DUMP", key], { buffers: true })) as Buffer | null;
    if (value !== null) content.set(key, value.toString("base64"));
  }
  return content;
}

interface Before {
  readonly content: Map<string, string>;
  /** Keys without a deadline: others may go by themselves. */
  readonly lasting: Set<string>;
}

async function look(backend: Backend): Promise<Before> {
  const content = await contentOf(backend);
  const lasting = new Set<string>();
  for (const key of content.keys()) if (Number(await backend.store.call("PTTL", key)) === -1) lasting.add(key);
  return { content, lasting };
}

async function changesSince({ content, lasting }: Before, backend: Backend): Promise<string[]> {
  const now = await contentOf(backend);
  const changed = [...now].filter(([key, value]) => content.get(key) !== value).map(([key]) => `${key} was written`);
  const gone = [...lasting].filter((key) => !now.has(key)).map((key) => `${key} was deleted`);
  return [...changed, ...gone];
}

/** What the components put off for up to so long is written when `hurry` is called. */
const PUT_OFF_MS = 1_000;

/** The machine's clock, of which nobody needs to wait for what was put off. */
class HurriedClock implements Clock {
  readonly monotonicMs = systemClock.monotonicMs;
  readonly wallMs = systemClock.wallMs;
  readonly random = systemClock.random;
  readonly #putOff = new Map<Timer, () => void>();

  after(ms: number, callback: () => void, options?: Parameters<Clock["after"]>[2]): Timer {
    const run = (): void => {
      if (this.#putOff.delete(timer) || ms > PUT_OFF_MS) callback();
    };
    const inTime = systemClock.after(ms, run, options);
    const timer = {
      cancel: () => {
        this.#putOff.delete(timer);
        inTime.cancel();
      },
    };
    if (ms <= PUT_OFF_MS) this.#putOff.set(timer, run);
    return timer;
  }

  /** Runs what is put off now, and returns when the store has been told. */
  async hurry({ store }: Backend): Promise<void> {
    for (const run of [...this.#putOff.values()]) run();
    await store.call("PING");
  }
}

const clock = new HurriedClock();

describe.each(backends(full && installed("redis-server") ? startRedis : undefined, { clock }))(
  "on %s",
  (_name, start) => {
    describe.each([["empty", false] as const, ["filled", true] as const])("that is %s", (_title, isFilled) => {
      let backend: Backend;
      let release = async (): Promise<void> => {};
      beforeAll(async () => {
        backend = await start();
        if (isFilled) ({ release } = await fill(backend.store));
        return async () => {
          await backend.stop();
        };
      });

      test("no route that reads writes", async () => {
        const served = await serve(backend.store);
        // What is held is renewed, which is no doing of the console.
        await release();
        // What the components of this test have put off is written now.
        await clock.hurry(backend);
        const counted = () => backend.store.call("EXISTS", "cache:{pages}:counts");
        if (isFilled) await expect.poll(counted, { timeout: 30_000 }).toBe(1);
        const before = await look(backend);
        for (const { url } of READING) {
          const paths = url.includes(":") ? NAMES.map((name) => url.replace(/:\w+/g, encodeURIComponent(name))) : [url];
          for (const path of paths) for (const query of QUERIES) await served.get(path + query);
          expect(await changesSince(before, backend), url).toEqual([]);
        }
        for (const [kind, [name, prefix]] of Object.entries(NAMED)) {
          await served.get(`/api/components/${kind}`);
          const one = `/api/components/${kind}/one?${new URLSearchParams({ name, prefix })}`;
          for (const item of ASKED) await served.get(`${one}&item=${item}`);
          const { lists = [] } = (await served.get(one)).body;
          for (const { cursor } of lists as readonly { readonly cursor: string | null }[]) {
            if (cursor !== null) await served.get(`${one}&after=${encodeURIComponent(cursor)}`);
          }
          expect(await changesSince(before, backend), kind).toEqual([]);
        }
        // What is put off is found, too.
        await clock.hurry(backend);
        expect(await changesSince(before, backend)).toEqual([]);
        await served.console.close();
      });
    });
  },
);
