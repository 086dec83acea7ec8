import { open } from "cinnabar";

/** One store for a process, whoever asks first: handlers and routes are bundled apart. */
export function store() {
  globalThis.cinnabarStore ??= open(process.env.STORE ?? "memory:");
  return globalThis.cinnabarStore;
}
