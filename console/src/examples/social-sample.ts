/** A few people with something to say, who follow each other. Everything is fixed, so that making it again adds nothing. */
import { cycled } from "./cycled.ts";

export const SAMPLE_PEOPLE: readonly { readonly login: string; readonly name: string }[] = [
  { login: "ada", name: "Ada Lovelace" },
  { login: "grace", name: "Grace Hopper" },
  { login: "alan", name: "Alan Turing" },
  { login: "hedy", name: "Hedy Lamarr" },
  { login: "edsger", name: "Edsger Dijkstra" },
  { login: "barbara", name: "Barbara Liskov" },
  { login: "donald", name: "Donald Knuth" },
  { login: "radia", name: "Radia Perlman" },
  { login: "niklaus", name: "Niklaus Wirth" },
  { login: "frances", name: "Frances Allen" },
  { login: "zoë", name: "Zoë of the sample" },
  { login: "юлия", name: "Юлия из примера" },
];

const SAID: readonly string[] = [
  "A timeline is a sorted set of ids. The statuses are elsewhere, once.",
  "Counting is easy. Counting the same thing twice in two places is not.",
  "Every follower gets a copy, until there are too many followers.",
  "What is deleted must not come back. Check when you read.",
  "Good morning from the server room.",
  "If two machines must agree, write down first what you are about to do.",
  "The slow part is never where I looked.",
  "Wrote a parser. Threw it away. Wrote a smaller one.",
  "A retry is a promise that the second time changes nothing.",
  "Cats do not care about consistency. That is why they are fast.",
  "Who needs sleep when there is fan-out?",
  "Today I removed more lines than I wrote. A good day.",
];

/** So many statuses of each; ada, whom everybody follows, is merged in rather than delivered. */
const EACH = 4;

export interface SampleStatus {
  readonly id: string;
  readonly login: string;
  readonly text: string;
}

export function sampleStatuses(): SampleStatus[] {
  return SAMPLE_PEOPLE.flatMap(({ login }, person) =>
    Array.from({ length: EACH }, (_, nth) => ({
      id: `sample-${person}-${nth}`,
      login,
      text: cycled(SAID, person * 5 + nth * 3),
    })),
  );
}

/** Everybody follows ada, and the three who come after them. */
export function sampleFollows(): [login: string, other: string][] {
  const logins = SAMPLE_PEOPLE.map(({ login }) => login);
  return logins.flatMap((login, at) => {
    const others = [1, 2, 3].map((step) => cycled(logins, at + step));
    if (login !== "ada" && !others.includes("ada")) others.push("ada");
    return others.map((other): [string, string] => [login, other]);
  });
}

export const SAMPLE_LIST = { id: "+sample-compilers", owner: "ada", name: "Compilers", members: ["grace", "frances"] };
