/** What the suites of chats share. */
import { expect, onTestFinished } from "vitest";
import type { Store } from "../../../connection/store.ts";
import type { Chats, MessagePage } from "../index.ts";

/** Machines may be busy. */
export const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 });

export const bodies = (page: MessagePage<unknown> | null): unknown[] => page!.items.map(({ body }) => body);

/** Stops what a test has left running. */
export function untilEnd(): AbortSignal {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  return controller.signal;
}

/** A store whose subscriptions never get a message. */
export function deaf(store: Store): Store {
  const subscribe: Store["subscribe"] = async () => ({ close: async () => {} });
  return new Proxy(store, {
    get: (target, property) => {
      if (property === "subscribe") return subscribe;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Sends so many, "1" the first. */
export async function sendMany(chats: Chats<string>, chat: string, sender: string, count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let nth = 1; nth <= count; nth++) ids.push((await chats.send(chat, sender, String(nth)))!.id);
  return ids;
}
