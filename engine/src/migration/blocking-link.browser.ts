/** MIGRATE from scripts and transactions: there is nowhere to move keys to, as with a server that refuses. */
import type { Outcome, Step, StepResult } from "./transfer.ts";

const REFUSED: StepResult = { lines: [], failure: { stage: "writing", timedOut: false } };

export class BlockingLink {
  run(_request: object, steps: Generator<Step, Outcome, StepResult>): Outcome {
    for (;;) {
      const { done, value } = steps.next(REFUSED);
      if (done) return value;
    }
  }

  close(): void {}
}
