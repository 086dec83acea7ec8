/**
 * The worker behind every live part of a page: it has the engine, so that a program that never ends is ended with it, and so that
 * only this file needs a policy that compiles Lua and runs what the reader has written (docs/site.md). It stands in `run/`, beside
 * `run/engine` and `run/toolkit`, the builds for browsers.
 */
import { at, engineModule } from "./engine.ts";
import type * as keysServer from "./keys-server.ts";
import type { ToWorker } from "./messages.ts";
import { serveStore } from "./store.ts";

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;

scope.addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === "open") void serve(data.port, data.visits);
  else if (data.kind === "run") void import("./run.ts").then(({ run }) => run(data.code));
  else void import("./search.ts").then(({ search }) => search(data));
});

/** A store of its own for each prompt, which speaks RESP over the port. */
async function serve(port: MessagePort, visits: MessagePort): Promise<void> {
  const { Engine } = await engineModule();
  serveStore(await Engine.open(), port, visits, async (browser, engine) => {
    const { answer } = (await import(at("./keys-server.js"))) as typeof keysServer;
    answer(browser, engine);
  });
}
