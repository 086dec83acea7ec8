/** A store that holds the first answer to a command or script of a certain name back: it has run, and the caller hears of it when released. */
import type { Store } from "../../src/connection/store.ts";

export interface HeldAnswer {
  readonly store: Store;
  /** Resolves when the server has answered. */
  readonly arrived: Promise<void>;
  release(): void;
}

export function heldAnswer(store: Store, name: string): HeldAnswer {
  let arrive!: () => void;
  let release!: () => void;
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isFirst = true;
  const held = async <T>(of: string, answer: Promise<T>): Promise<T> => {
    if (of !== name || !isFirst) return answer;
    isFirst = false;
    await answer.catch(() => {});
    arrive();
    await released;
    return answer;
  };
  const run: Store["run"] = (script, params, options) => held(script.name, store.run(script, params, options));
  const send: Store["send"] = (words, options) => held(String(words[0]), store.send(words, options));
  const proxy = new Proxy(store, {
    get: (target, property) => {
      if (property === "run") return run;
      if (property === "send") return send;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { store: proxy, arrived, release };
}
