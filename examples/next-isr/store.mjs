import { open } from "cinnabar";

/** One store for a process, made when it is first asked for: handlers and routes are bundled apart. */
export function store() {
  globalThis.cinnabarStore ??= open(process.env.STORE ?? "memory:");
  return globalThis.cinnabarStore;
}
