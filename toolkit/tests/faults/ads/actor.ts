/** A process that shows ads and reports what becomes of them, at random, until it is killed or told to end. */
import { ConnectionError } from "../../../src/base/errors.ts";
import { Ads } from "../../../src/components/ads/index.ts";
import { open } from "../../../src/connection/open.ts";
import { out } from "../../kit/out.ts";
import { randomFrom } from "../web/acts.ts";
import { type Act, type Answer, type Kind, type Line, NETWORK, OPTIONS, perform, USERS } from "./acts.ts";

export interface Order {
  readonly url: string;
  /** No two actors of a test have the same. */
  readonly name: string;
  readonly seed: number;
}

const { url, name, seed } = JSON.parse(process.argv[2]!) as Order;
const random = randomFrom(seed);

/** Said before anything else happens: what is in the pipe survives its writer. */
function say(line: Line): void {
  out(`${JSON.stringify(line)}\n`);
}

const store = await open(url);
const ads = new Ads<null>(store, NETWORK, OPTIONS);
let numbers = 0;
let isOver = false;

async function attempt(act: Act): Promise<Answer | null> {
  const n = numbers++;
  say({ t: "try", n, act });
  try {
    const answer = await perform(ads, act);
    say({ t: "ok", n, answer });
    return answer;
  } catch (error) {
    if (error instanceof ConnectionError) return null;
    throw error;
  }
}

async function visit(): Promise<void> {
  const user = USERS[random(USERS.length)]!;
  const shown = await attempt({ kind: "target", id: `${name}:${numbers}`, user });
  if (shown === null || !("impression" in shown)) return;
  const { impression, ad } = shown;
  const event = (kind: Kind) => attempt({ kind, id: `${name}:${numbers}`, impression, ad, user });
  // Some never come on anybody's screen; some events come twice, or before their time.
  if (random(8) === 0) return;
  if (random(10) === 0) await event("click");
  await event("view");
  if (random(10) === 0) await event("view");
  if (random(2) === 0) await Promise.all([event("click"), event("click")]);
  if (random(2) === 0) await event("action");
}

process.once("SIGTERM", () => {
  isOver = true;
});
out("ready\n");
await Promise.all(
  Array.from({ length: 4 }, async () => {
    while (!isOver) {
      await visit();
      await new Promise(setImmediate);
    }
  }),
);
await store.close();
