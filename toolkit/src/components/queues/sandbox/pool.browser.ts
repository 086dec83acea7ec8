/** Nobody makes one: `sandboxed` has refused before. */
import type { Clock } from "../../../base/clock.ts";
import { UnsupportedError } from "../../../base/errors.ts";
import type { JobContext, RunningJob } from "../running.ts";
import type { Sandboxed } from "./index.browser.ts";

export class SandboxPool {
  constructor(_sandboxed: Sandboxed, _clock: Clock) {
    throw new UnsupportedError("a browser has no sandboxes");
  }

  run<T, R>(_job: RunningJob<T>, _context: JobContext): Promise<R> {
    throw new UnsupportedError("a browser has no sandboxes");
  }

  async close(): Promise<void> {}
}
