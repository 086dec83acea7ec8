/** A store that does something before it runs a script of a certain name: fails, as a crash there would, or lets others go first. */
import type { Store } from "../../src/connection/store.ts";

export function beforeScript(store: Store, name: string, hook: () => Promise<unknown> | never): Store {
  const run: Store["run"] = async (script, params, options) => {
    if (script.name === name) await hook();
    return store.run(script, params, options);
  };
  return new Proxy(store, {
    get: (target, property) => {
      if (property === "run") return run;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
