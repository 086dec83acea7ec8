/** A store of a prompt's own, in the worker: it is there as long as its connection, and goes with it. */
import type { Engine } from "@cinnabar/engine/browser";

/** Answers a key browser over a port. */
type Answer = (port: MessagePort, engine: Engine) => unknown;

/** `visits` brings a port for each key browser, and null when the connection is over. */
export function serveStore(engine: Engine, port: MessagePort, visits: MessagePort, answer: Answer): void {
  engine.serve(port);
  visits.onmessage = async ({ data }: MessageEvent<MessagePort | null>) => {
    if (data !== null) return answer(data, engine);
    visits.close();
    await engine.close();
  };
}
