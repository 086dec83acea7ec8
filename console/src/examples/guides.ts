/** The guide beside each example: what somebody sees, which component does it, and where it is in the store. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PACKAGE_FOLDER } from "../package-folder.ts";
import { Problem } from "../route.ts";

export interface GuideStep {
  readonly see: string;
  readonly component: string;
  /** What its keys begin with. */
  readonly keys: string;
}

const step = (see: string, component: string, keys: string): GuideStep => ({ see, component, keys: `example:${keys}` });

export const GUIDES: Readonly<Record<string, readonly GuideStep[]>> = {
  news: [
    step("Articles by score or by time, and votes that count once a person", "board", "news:voting"),
    step("Groups, and lists that combine several", "board", "news:voting"),
  ],
  shop: [
    step("Who is signed in, and what they looked at last", "sessions", "shop:sessions"),
    step("The cart that stays with its session", "carts", "shop:carts"),
    step("Pages that come from the cache, and are made anew when a product changes", "cache", "shop:cache"),
    step("Stock that is read from the database every so often", "row-cache", "shop:rows"),
    step("What most people look at", "views", "shop:views"),
    step("Sign-ins that are refused after too many attempts", "rate-limits", "shop:attempts"),
  ],
  marketplace: [
    step("Items that change hands together with the money, or not at all", "market", "marketplace:market"),
    step("What was sold last", "market", "marketplace:latest"),
  ],
  autocomplete: [
    step("People whom you have written to, the latest first", "autocomplete", "autocomplete:contacts"),
    step("Members of a guild by the first letters of their names", "autocomplete", "autocomplete:members"),
  ],
  search: [step("Packages that have the words, ranked, filtered and sorted", "search", "search:search")],
  chat: [
    step("Messages of a room, each once and in order", "chats", "chat:chats"),
    step("Who is there, what is unread, and who has seen what", "chats", "chat:chats"),
  ],
  social: [
    step("Timelines, who follows whom, lists", "social", "social:network"),
    step("Statuses as they are posted", "streaming", "social:stream"),
  ],
  ads: [step("The ad that fits a page and pays most, and what was learnt from clicks", "ads", "ads:ads")],
  jobs: [step("Jobs that somebody has all skills for, and people who fit a job", "job-search", "jobs:board")],
};

/** The file of an example, which has its name; `name` must be that of one. */
export async function sourceOf(name: string): Promise<{ path: string; code: string }> {
  const path = join(PACKAGE_FOLDER, `src/examples/${name}.ts`);
  if (existsSync(path)) return { path: `console/src/examples/${name}.ts`, code: await readFile(path, "utf8") };
  throw new Problem(404, "NO_SOURCE", "this example's source is not here");
}
