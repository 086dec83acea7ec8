/** Makes a failing run small: drops units, then words, as long as the two servers still part. */
import type { Unit } from "./random.ts";
import { type Mismatch, type RunOptions, Session } from "./session.ts";
import type { Target } from "./target.ts";

export interface Shrunk {
  readonly units: readonly Unit[];
  readonly mismatch: Mismatch;
  /** The settings that it takes. */
  readonly options: RunOptions;
}

/** `budgetMs` bounds the time; what is reached by then is what there is. */
export async function shrink(
  units: readonly Unit[],
  mismatch: Mismatch,
  real: Target,
  ours: Target,
  options: RunOptions,
  budgetMs = 60_000,
): Promise<Shrunk> {
  const started = process.hrtime.bigint();
  const inTime = (): boolean => Number(process.hrtime.bigint() - started) / 1e6 < budgetMs;
  let best: Shrunk = { units: units.slice(0, mismatch.unit + 1), mismatch, options };
  const attempt = async (candidate: readonly Unit[], settings = best.options): Promise<void> => {
    const found = await new Session(real, ours, settings).run(candidate);
    if (found !== undefined) best = { units: candidate.slice(0, found.unit + 1), mismatch: found, options: settings };
  };
  for (
    let size = Math.ceil(best.units.length / 2);
    size >= 1 && inTime();
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let end = best.units.length; end > 0 && inTime(); end -= size) {
      const start = Math.max(0, end - size);
      await attempt([...best.units.slice(0, start), ...best.units.slice(end)]);
      end = Math.min(end, best.units.length + size);
    }
  }
  await attempt(best.units, { ...best.options, config: {} });
  await attempt(best.units, { ...best.options, resp3: [] });
  await dropWords(() => best, attempt, inTime);
  return best;
}

/** Words whose absence would leave the outcome to chance. */
const KEEP_WHOLE = new Set(["SPOP", "SORT", "SORT_RO", "XADD"]);

async function dropWords(
  best: () => Shrunk,
  attempt: (candidate: readonly Unit[]) => Promise<void>,
  inTime: () => boolean,
): Promise<void> {
  for (let u = best().units.length - 1; u >= 0; u--) {
    for (let w = (best().units[u]?.commands[0]?.words.length ?? 0) - 1; w >= 1 && inTime(); w--) {
      const unit = best().units[u];
      const command = unit?.commands[0];
      if (unit === undefined || command === undefined || unit.commands.length > 1) break;
      if (command.mode !== "plain" || KEEP_WHOLE.has(command.words[0]!.toUpperCase())) break;
      const shorter: Unit = { client: unit.client, commands: [{ ...command, words: command.words.toSpliced(w, 1) }] };
      await attempt(best().units.toSpliced(u, 1, shorter));
    }
  }
}
