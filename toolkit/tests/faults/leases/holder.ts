/** A process that asks for one lock and says what becomes of it: "got <fence>", "lost", "none". Its loop is busy on request. */
import { Locks } from "../../../src/components/locks/index.ts";
import { open } from "../../../src/connection/open.ts";
import { out } from "../../kit/out.ts";

export interface Order {
  readonly url: string;
  readonly name: string;
  readonly leaseMs: number;
  readonly waitMs: number;
}

const { url, name, ...options } = JSON.parse(process.argv[2]!) as Order;
const say = (line: string): void => out(`${line}\n`);
const store = await open(url);
const locks = new Locks(store);
say("ready");
const lease = await locks.acquire(name, options);
if (lease === null) {
  say("none");
} else {
  say(`got ${lease.fence}`);
  lease.signal.addEventListener("abort", () => {
    say("lost");
    void store.close();
  });
}
