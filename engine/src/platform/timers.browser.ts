/** Timers, and the next turn of the event loop. Nothing keeps a page alive. */
export type Timer = ReturnType<typeof setTimeout>;

export function heldTimeout(run: () => void, ms: number): Timer {
  return setTimeout(run, ms);
}

export function unheldTimeout(run: () => void, ms: number): Timer {
  return setTimeout(run, ms);
}

export function unheldInterval(run: () => void, ms: number): Timer {
  return setInterval(run, ms);
}

const waiting: (() => void)[] = [];
let channel: MessageChannel | null = null;

/** Runs it when what has arrived by now has been read. Timers of browsers wait for four milliseconds; messages do not. */
export function soon(run: () => void): void {
  if (channel === null) {
    channel = new MessageChannel();
    channel.port1.onmessage = () => waiting.shift()?.();
  }
  waiting.push(run);
  channel.port2.postMessage(null);
}

/** Nobody replaces messages. */
export function certainlySoon(run: () => void): void {
  soon(run);
}
