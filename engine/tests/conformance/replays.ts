/** Plays a transcript on both targets in step, and says where they part. */
import type { Answer } from "./answer.ts";
import { Player } from "./player.ts";
import { print } from "./print.ts";
import { same } from "./rules.ts";
import type { Target } from "./target.ts";
import { type Line, parseTranscript, type Scene, TranscriptError } from "./transcript.ts";

export interface Played {
  readonly scene: Scene;
  /** Undefined for what was left over at the scene's end. */
  readonly line: Line | undefined;
  readonly real: Answer;
  readonly ours: Answer;
  readonly equal: boolean;
}

/** Plays all scenes; a scene ends at its first difference, since what follows would only repeat it. */
export async function replay(
  text: string,
  real: Target,
  ours: Target,
  onLine: (played: Played) => void,
): Promise<void> {
  const players = [new Player(real), new Player(ours)] as const;
  try {
    for (const scene of parseTranscript(text)) await playScene(scene, players, onLine);
  } finally {
    await Promise.all(players.map((player) => player.close()));
  }
}

async function playScene(
  scene: Scene,
  players: readonly [Player, Player],
  onLine: (played: Played) => void,
): Promise<void> {
  await Promise.all(players.map((player) => player.begin(scene)));
  for (const line of scene.lines) {
    const [real, ours] = await Promise.all([players[0].play(line), players[1].play(line)]);
    // A line that waits for nothing, or for what does not come, shows nothing: it does not pass.
    const equal = same(real, ours, line.rule) && real.tag !== "nothing owed" && real.tag !== "timeout";
    onLine({ scene, line, real, ours, equal });
    if (!equal) {
      await Promise.all(players.map((player) => player.abandon()));
      return;
    }
  }
  const [real, ours] = await Promise.all([players[0].end(), players[1].end()]);
  onLine({ scene, line: undefined, real, ours, equal: same(real, ours, { kind: "exact" }) });
}

/** Plays a file's text and describes every difference; an empty list means equal. */
export async function differences(name: string, text: string, real: Target, ours: Target): Promise<string[]> {
  const found: string[] = [];
  try {
    await replay(text, real, ours, (played) => {
      if (!played.equal) found.push(describeDifference(name, played, real, ours));
    });
  } catch (error) {
    if (!(error instanceof TranscriptError)) throw error;
    found.push(`${name}:${error.line}  ${error.message}`);
  }
  return found;
}

export function describeDifference(name: string, played: Played, real: Target, ours: Target): string {
  const where = played.line?.number ?? played.scene.lines.at(-1)!.number;
  const what = played.line?.source ?? "(left over at the end of the scene)";
  return [
    `${name}:${where}  ${what}`,
    `  ${real.name}:`,
    `    ${print(played.real, "    ")}`,
    `  ${ours.name}:`,
    `    ${print(played.ours, "    ")}`,
  ].join("\n");
}
