/**
 * Listening to a signal that many may share: a thousand streams of a server that ends by one signal are one listener to it, where
 * a thousand would look like a leak.
 */
const listening = new WeakMap<AbortSignal, { readonly callbacks: Set<() => void>; readonly onAbort: () => void }>();

/** Returns what takes it back. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let entry = listening.get(signal);
  if (entry === undefined) {
    const callbacks = new Set<() => void>();
    entry = {
      callbacks,
      onAbort: () => {
        for (const each of [...callbacks]) each();
      },
    };
    listening.set(signal, entry);
    signal.addEventListener("abort", entry.onAbort, { once: true });
  }
  const { callbacks, onAbort: listener } = entry;
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size > 0) return;
    signal.removeEventListener("abort", listener);
    if (listening.get(signal)?.callbacks === callbacks) listening.delete(signal);
  };
}
