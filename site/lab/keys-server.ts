/** What answers the key browser in a page: the console's own routes, in the worker that has the store. Loaded with its first request. */
import type { Engine } from "@cinnabar/engine/browser";
import { open } from "cinnabar";
import { InPage } from "../../console/src/in-page/index.ts";
import type { Asked } from "../../console/src/in-page/messages.ts";

/** Answers what comes over the port, until null comes. */
export function answer(port: MessagePort, engine: Engine): void {
  const server = new InPage(async (db) => {
    const store = await open(engine as never);
    if (db !== 0) await store.send(["SELECT", db]);
    return store;
  });
  port.onmessage = async ({ data }: MessageEvent<Asked | null>) => {
    if (data === null) return server.close();
    port.postMessage(await server.answer(data));
  };
}
