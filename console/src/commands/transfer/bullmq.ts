/** `cinnabar import --from bullmq FROM TO --queue NAME`: the jobs that BullMQ has still to do become jobs of a queue of ours. */
import { open, type Store } from "cinnabar";
import { importFromBullMq } from "cinnabar/queues/bullmq-import";
import { UsageError } from "../../options.ts";
import { messageOf } from "../../values.ts";
import { CommandFailure, type Streams } from "../command.ts";
import type { Arguments } from "../flags.ts";
import { type Place, placeOf } from "../link/place.ts";
import { inFlags, type TlsSettings, tlsFrom } from "../link/tls.ts";
import { Progress } from "../progress.ts";

async function openPlace(place: Place, tls: TlsSettings): Promise<Store> {
  if (place.kind === "folder") return open(place.dir);
  return open(place.url, place.tls ? { tls } : {}).catch((error: unknown) => {
    throw new CommandFailure(`cannot open ${place.label}: ${inFlags(messageOf(error))}`, undefined, { cause: error });
  });
}

export async function importBullMq(args: Arguments, streams: Streams): Promise<number> {
  const [from, to, ...more] = args.positionals;
  const queue = args.text("queue");
  if (from === undefined || to === undefined || more.length > 0 || queue === undefined) {
    throw new UsageError(
      "name two stores and BullMQ's queue: cinnabar import --from bullmq redis://127.0.0.1:6379 TO --queue NAME",
    );
  }
  const places = [placeOf(from, streams.env, "FROM_"), placeOf(to, streams.env, "TO_")] as const;
  const tls = tlsFrom(args, places);
  const source = await openPlace(places[0], tls);
  try {
    const store = from === to ? source : await openPlace(places[1], tls);
    const progress = new Progress(streams);
    const [prefix, into] = [args.text("prefix"), args.text("into")];
    try {
      const { waiting, delayed, schedules, skipped } = await importFromBullMq(store, {
        from: source,
        queue,
        ...(prefix === undefined ? {} : { prefix }),
        ...(into === undefined ? {} : { into: { name: into } }),
        ...(streams.signal === undefined ? {} : { signal: streams.signal }),
        onProgress: (moved) => progress.show("Moved", moved.waiting + moved.delayed, 0),
      });
      for (const { id, reason } of skipped) progress.say(`Left with BullMQ: ${id}: ${reason}`);
      progress.say(
        `Moved ${waiting} waiting and ${delayed} delayed jobs and ${schedules} schedules of ${queue} into ${places[1].label}.`,
      );
      return 0;
    } finally {
      if (store !== source) await store.close();
    }
  } finally {
    await source.close();
  }
}
