/** Every key in the store, on all of its servers, but for the lists of what the store is used for (`cinnabar:…`). */
import { HOUSE_KEYS } from "../../src/base/layout.ts";
import type { Store } from "../../src/connection/store.ts";

export async function keysIn(store: Store): Promise<string[]> {
  const answers = (await store.sendToAll(["KEYS", "*"])) as string[][];
  return answers
    .flat()
    .filter((key) => !key.startsWith(HOUSE_KEYS))
    .sort();
}
