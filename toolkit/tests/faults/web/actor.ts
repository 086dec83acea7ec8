/** A process that uses all components at once, at random, until it is killed or told to end. See acts.ts for what it says. */
import { ConnectionError } from "../../../src/base/errors.ts";
import { Board } from "../../../src/components/board/index.ts";
import { Carts } from "../../../src/components/carts/index.ts";
import { Counters } from "../../../src/components/counters/index.ts";
import { Market } from "../../../src/components/market/index.ts";
import { Sessions } from "../../../src/components/sessions/index.ts";
import { open } from "../../../src/connection/open.ts";
import { out } from "../../kit/out.ts";
import {
  type Act,
  ARTICLES,
  CARTS,
  COUNTERS,
  GOODS,
  LEASE_MS,
  type Line,
  MARKETS,
  type MarketWay,
  randomFrom,
  SESSIONS,
  SHOPPERS,
  TRADERS,
  VISITORS,
} from "./acts.ts";

export interface Order {
  readonly url: string;
  /** No two actors of a test have the same. */
  readonly name: string;
  readonly seed: number;
}

const { url, name, seed } = JSON.parse(process.argv[2]!) as Order;
const random = randomFrom(seed);
const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;

/** Said before anything else happens: what is in the pipe survives its writer. */
function say(line: Line): void {
  out(`${JSON.stringify(line)}\n`);
}

// A leak that Node warns of is a fault too.
process.on("warning", (warning) => {
  throw warning;
});

const store = await open(url);
const markets = new Map(MARKETS.map((way) => [way, new Market(store, way, { way, leaseMs: LEASE_MS })]));
const board = new Board(store, "news");
const carts = new Carts(store, CARTS);
const sessions = new Sessions(store, SESSIONS);
const counters = new Counters(store, COUNTERS);
/** A session of this actor's; `user` once it has signed in. */
interface Visit {
  readonly mark: string;
  readonly token: string;
  readonly user?: string;
}
const mine: Visit[] = [];
let numbers = 0;
let isOver = false;

async function attempt(act: Act, body: () => Promise<unknown>): Promise<string | null> {
  const n = numbers++;
  say({ t: "try", n, act });
  try {
    const answer = String(await body());
    say({ t: "ok", n, answer });
    return answer;
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    say({ t: "unknown", n });
    return null;
  }
}

async function trade(way: MarketWay): Promise<void> {
  const market = markets.get(way)!;
  const [user, item, price] = [pick(TRADERS), pick(GOODS), 100 * (1 + random(3))];
  const action = random(10);
  const id = `${name}:${numbers}`;
  if (action === 0) {
    await attempt(
      { kind: "move", way, user, amount: 50, id },
      async () => (await market.deposit(user, 50, { id })).status,
    );
  } else if (action === 1) {
    await attempt(
      { kind: "move", way, user, amount: -50, id },
      async () => (await market.withdraw(user, 50, { id })).status,
    );
  } else if (action < 5) {
    await attempt({ kind: "trade", way }, () => market.offer(user, item, price));
  } else if (action < 6) {
    await attempt({ kind: "trade", way }, () => market.retract(user, item));
  } else {
    await attempt(
      { kind: "buy", way, user, item, price, id },
      async () => (await market.buy(user, item, price, { id })).status,
    );
  }
}

/** Of users of this actor's own, so that it knows whose vote was the last. */
async function vote(loop: number): Promise<void> {
  const [article, user, weight] = [pick(ARTICLES), `${name}:${loop}:${random(3)}`, random(3) - 1];
  const direction = weight === 0 ? "none" : weight > 0 ? "up" : "down";
  await attempt(
    { kind: "vote", article, user, weight },
    async () => (await board.vote(article, user, direction)).status,
  );
}

async function shop(): Promise<void> {
  if (random(4) === 0) {
    const [from, to] = [pick(VISITORS), pick(SHOPPERS)];
    await attempt({ kind: "merge", from, to }, () => carts.merge(from, to));
  } else {
    const [visitor, item] = [pick(VISITORS), `${name}:${numbers}`];
    await attempt({ kind: "put", visitor, item }, () => carts.set(visitor, item, 1));
  }
}

/** The three pieces of data always say the same. */
const equal = (value: number) => ({ a: value, b: value, c: value });

async function visit(): Promise<void> {
  const action = mine.length < 4 ? 0 : random(10);
  const at = random(mine.length);
  if (action === 0) {
    const mark = `${name}:${numbers}`;
    const data = { mark, ...equal(0) };
    const token = await attempt({ kind: "visit", mark }, async () => (await sessions.create({ data })).token);
    if (token !== null) mine.push({ mark, token });
  } else if (action < 4) {
    // Nobody else of this process signs it in or out meanwhile; others may be using it.
    // A session of one user gives nothing to another's: so it is always the same who signs in.
    const [{ mark, token, user = pick(TRADERS) }] = mine.splice(at, 1) as [Visit];
    if (action === 1) return void (await attempt({ kind: "sign out", mark, token }, () => sessions.signOut(token)));
    const signedIn = await attempt({ kind: "sign in", mark, token }, async () => {
      return (await sessions.signIn(token, user)).token;
    });
    if (signedIn !== null) mine.push({ mark, token: signedIn, user });
  } else {
    const { token } = mine[at]!;
    await attempt({ kind: "use", token }, () =>
      action < 7 ? sessions.update(token, equal(numbers)) : sessions.load(token, { viewed: `thing ${random(9)}` }),
    );
  }
}

const act: Record<string, (loop: number) => Promise<unknown>> = {
  script: () => trade("script"),
  watch: () => trade("watch"),
  lock: () => trade("lock"),
  vote,
  shop,
  visit,
  count: () => attempt({ kind: "count", name }, () => counters.add(name)),
};

async function loop(kind: string, number: number): Promise<void> {
  while (!isOver) {
    await act[kind]!(number);
    // The buffered counters answer after a while, the rest whenever the server does: nobody gets more than a share.
    await new Promise(setImmediate);
  }
}

process.once("SIGTERM", () => {
  isOver = true;
});
out("ready\n");
await Promise.all([...Object.keys(act), ...Object.keys(act)].map(loop));
await store.close();
