/** The sample of the news: the same articles and votes every time, so that making it twice is making it once. */
import { cycled } from "./cycled.ts";

export const NEWS_GROUPS = ["programming", "science", "design", "history", "games"] as const;

type Group = (typeof NEWS_GROUPS)[number];

const POSTERS = ["Ada", "Grace", "Linus", "Margaret", "Ken", "Barbara", "Niklaus", "Radia"] as const;

/** Title, groups, and how well it is liked: how many of twelve vote it up, and how many down. */
const ARTICLES: readonly (readonly [string, readonly Group[], number, number])[] = [
  ["A sorted set is all the ranking most sites need", ["programming"], 11, 0],
  ["What the rings of Saturn weigh", ["science"], 9, 1],
  ["Why the first spreadsheets had 254 rows", ["history", "programming"], 8, 0],
  ["Type on screens: a field guide to small sizes", ["design"], 6, 1],
  ["The chess problem that nobody could set", ["games", "history"], 7, 2],
  ["Writing a parser by hand is easier than you think", ["programming"], 10, 1],
  ["Octopuses dream in colour, it seems", ["science"], 10, 0],
  ["The lost typefaces of wooden printing", ["design", "history"], 5, 0],
  ["Show: a text adventure in one file", ["games", "programming"], 6, 0],
  ["How a lighthouse keeper discovered a comet", ["science", "history"], 7, 0],
  ["Latency is a distribution, not a number", ["programming"], 9, 0],
  ["A map of every bench in the city", ["design"], 4, 1],
  ["Speedrunning a game from 1984, frame by frame", ["games"], 8, 1],
  ["The mathematics of folding paper", ["science", "design"], 6, 0],
  ["Ask: which book changed how you write code?", ["programming"], 5, 2],
  ["Rediscovered: the notebooks of a bridge builder", ["history"], 4, 0],
  ["Locks that expire, and what happens when they do", ["programming"], 8, 0],
  ["Why cats always land well, measured", ["science"], 9, 2],
  ["Colour blindness and the charts we draw", ["design", "science"], 7, 0],
  ["A board game that takes a year to play", ["games"], 3, 1],
  ["The telegraph had spam, too", ["history"], 8, 0],
  ["Counting to a billion without memory", ["programming", "science"], 6, 0],
  ["Railway timetables as a work of art", ["design", "history"], 5, 0],
  ["An honest review of my own game, ten years on", ["games"], 2, 2],
  ["Moss grows faster than we believed", ["science"], 3, 0],
  ["Caches, and the two hard things", ["programming"], 7, 3],
  ["The museum of forgotten keyboards", ["history", "design"], 6, 0],
  ["Tabs against spaces: the final data", ["programming"], 2, 7],
  ["A puzzle with one rule and no known solution", ["games", "science"], 5, 0],
  ["Wind tunnels made of cardboard", ["science"], 4, 0],
  ["The grid behind the tickets", ["design"], 2, 0],
  ["Who invented the undo button?", ["history", "programming"], 9, 0],
  ["How ants share a road without jams", ["science"], 6, 1],
  ["Draw a circle. Now draw it fairly", ["design", "games"], 3, 0],
  ["Queues: at least once, at most once, and the truth", ["programming"], 8, 1],
  ["A dictionary of sounds that have died out", ["history"], 5, 0],
];

interface SampleArticle {
  readonly id: string;
  readonly poster: string;
  readonly title: string;
  readonly groups: readonly Group[];
}

const idOf = (nth: number): string => `sample-${String(nth + 1).padStart(2, "0")}`;

export const SAMPLE_NEWS: readonly SampleArticle[] = ARTICLES.map(([title, groups], nth) => ({
  id: idOf(nth),
  poster: cycled(POSTERS, nth),
  title,
  groups,
}));

export interface SampleVote {
  readonly id: string;
  readonly user: string;
  readonly direction: "up" | "down";
}

export function sampleVotes(): SampleVote[] {
  return ARTICLES.flatMap(([, , up, down], nth) =>
    Array.from(
      { length: up + down },
      (_, voter): SampleVote => ({
        id: idOf(nth),
        user: `Reader ${voter + 1}`,
        direction: voter < up ? "up" : "down",
      }),
    ),
  );
}
