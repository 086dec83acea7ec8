import { open } from "cinnabar";

/** One store for a process: handlers and routes are bundled apart, and either may ask first. */
export function store() {
  globalThis.cinnabarStore ??= open(process.env.STORE ?? "memory:");
  return globalThis.cinnabarStore;
}
