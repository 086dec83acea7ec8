/**
 * A stream of what a server says unasked, as a page takes it: in batches, with counts each second, until its time is over, nobody looks,
 * or the connection is lost.
 */
import type { Store } from "cinnabar";
import { openStream } from "../events.ts";
import { openFeed } from "../feeds.ts";
import type { Input } from "../route.ts";

const BATCH_MS = 250;

interface Listening<T> {
  readonly commands: readonly (readonly string[])[];
  /** Of the event that carries a batch, and of the list in it. */
  readonly name: string;
  /** What is shown of a message; null: it is not shown. */
  heard(message: readonly string[]): T | null;
  /** The counts of the second that is over; those of the next one begin at 0. */
  second(): object;
  /** Asked after each second: why it ends before its time, or null. */
  ending?(): string | null;
  readonly began: object;
  readonly lastsMs: number;
  /** What is said when its time is over. */
  readonly over: string;
}

export async function streamHeard<T>(
  store: Store,
  input: Input<unknown, unknown, unknown>,
  listening: Listening<T>,
): Promise<void> {
  const { name } = listening;
  let batch: T[] = [];
  let stop = (_reason: string): void => {};
  const feed = await openFeed(store, listening.commands, {
    heard: (message) => {
      const shown = listening.heard(message);
      if (shown !== null) batch.push(shown);
    },
    lost: (reason) => stop(reason),
  });
  const page = openStream(input);
  const send = (): void => {
    page.send(name, { [name]: batch });
    batch = [];
  };
  const batches = setInterval(() => batch.length > 0 && send(), BATCH_MS);
  const seconds = setInterval(() => {
    page.send("second", listening.second());
    const reason = listening.ending?.() ?? null;
    if (reason !== null) stop(reason);
  }, 1_000);
  const timer = setTimeout(() => stop(listening.over), listening.lastsMs);
  const end = (): void => {
    feed.close();
    clearInterval(batches);
    clearInterval(seconds);
    clearTimeout(timer);
  };
  stop = (reason) => {
    end();
    send();
    page.send("ended", { reason });
  };
  page.send("began", listening.began);
  page.onClose(end);
}
