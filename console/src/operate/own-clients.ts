/** The console's own connections, so that what it does itself can be left out of what operators look at. */
import type { Store } from "cinnabar";

/** Under this address are clients inside of the process of an embedded store: there, the console is one. */
const LOCAL = "local:0";
export const OWN_NAME = "cinnabar-console";

/** Also those of before: entries of a log outlive connections. */
const known = new WeakMap<Store, Set<string>>();

export async function ownAddresses(store: Store): Promise<ReadonlySet<string>> {
  const addresses = known.get(store) ?? new Set<string>();
  known.set(store, addresses);
  if (store.topology === "embedded") return addresses.add(LOCAL);
  for (const answer of await store.sendToAll(["CLIENT", "INFO"])) {
    const [, address] = / addr=(\S+)/.exec(String(answer)) ?? [];
    if (address !== undefined) addresses.add(address);
  }
  for (const answer of await store.sendToAll(["CLIENT", "LIST"])) {
    for (const line of String(answer).split("\n")) {
      const [, address] = line.includes(` name=${OWN_NAME} `) ? (/ addr=(\S+)/.exec(line) ?? []) : [];
      if (address !== undefined) addresses.add(address);
    }
  }
  return addresses;
}
