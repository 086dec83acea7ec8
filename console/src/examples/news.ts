/** News: links that people post and vote on, by score or time, as a whole or in groups (`cinnabar/board`). */
import { Board } from "cinnabar/board";
import { announce, eventsRoute } from "../events.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, integer, object, oneOf, string } from "../schema.ts";
import { forEachOf, perStore } from "../work.ts";
import { type Example, type Progress, prefixOf } from "./example.ts";
import { NEWS_GROUPS, SAMPLE_NEWS, sampleVotes } from "./news-sample.ts";
import { needVisitor, visitorOf } from "./visitor.ts";

const group = "Examples";
const MOST_GROUPS = 3;
const ID = object({ id: string({ minLength: 1, maxLength: 100 }) });
const GROUP = oneOf(NEWS_GROUPS);

const board = perStore(
  (store) =>
    new Board(store, "news", {
      prefix: prefixOf("news", "voting"),
      maxArticles: 2_000,
      // The order of a group is cached; here only for so long that nobody wonders.
      groupCacheTtlMs: 1_000,
    }),
);

interface Wanted {
  readonly by: "score" | "time";
  readonly limit: number;
  readonly group?: (typeof NEWS_GROUPS)[number];
  readonly second?: (typeof NEWS_GROUPS)[number];
  readonly match?: "any" | "all";
  readonly after?: string;
}

async function list(context: Context, viewer: string | null, { group: of, second, match, after, ...rest }: Wanted) {
  const groups = [of, second].filter((each) => each !== undefined);
  const [page, size] = await Promise.all([
    board(context).list({
      ...rest,
      ...(groups.length > 0 && { groups, ...(match !== undefined && { match }) }),
      ...(after !== undefined && { cursor: after }),
      ...(viewer !== null && { viewer }),
    }),
    board(context).count(),
  ]);
  return { ...page, size, groups: NEWS_GROUPS };
}

/** Only what a browser may follow without harm: `javascript:` is an address too. */
function checkedUrl(url: string): string {
  if (url === "") return "";
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new Problem(400, "URL", "the address must begin with http:// or https://");
  }
  return parsed.href;
}

interface Posting {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly groups: readonly string[];
}

async function post(context: Context, poster: string, { id, title, url, groups }: Posting) {
  const text = title.trim().replace(/\s+/g, " ");
  if (text === "") throw new Problem(400, "TITLE", "a title is needed");
  if (groups.length > MOST_GROUPS) throw new Problem(400, "GROUPS", `an article is in at most ${MOST_GROUPS} groups`);
  const article = await board(context).post(poster, { title: text, url: checkedUrl(url) }, { id, groups });
  if (article.poster !== poster) throw new Problem(409, "TAKEN", "there is another article with that id");
  await announce(context.store, "news", { type: "posted", id, by: poster });
  return { ...article, myVote: 1 };
}

async function vote(context: Context, id: string, user: string, direction: "up" | "down" | "none") {
  const answer = await board(context).vote(id, user, direction);
  if (answer.status === "not-found") throw new Problem(404, "NO_ARTICLE", "that article is gone");
  if (answer.status === "closed") throw new Problem(409, "CLOSED", "voting on that article is over: it is a week old");
  const { up, down, score } = answer;
  if (answer.status === "changed") await announce(context.store, "news", { type: "voted", id, up, down, score });
  return answer;
}

async function remove(context: Context, id: string, user: string) {
  const article = await board(context).get(id);
  if (article === null) throw new Problem(404, "NO_ARTICLE", "that article is gone");
  if (article.poster !== user) throw new Problem(403, "NOT_YOURS", "only who posted an article can take it back");
  await board(context).delete(id);
  await announce(context.store, "news", { type: "removed", id });
}

const ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/examples/news/articles",
    group,
    summary: "A page of articles, the best or the newest first, of all, of a group or of two, with your own votes.",
    query: object(
      {
        by: oneOf(["score", "time"]),
        group: GROUP,
        second: GROUP,
        match: oneOf(["any", "all"], "With two groups: articles in any of them, or in both."),
        after: string({ maxLength: 300, description: "`cursor` of the page before." }),
        limit: integer({ default: 15, minimum: 1, maximum: 100 }),
      },
      ["group", "second", "match", "after"],
    ),
    answers: "Articles, `cursor` for the next page or null, how many there are, and the groups.",
    run: (context, { query, request }) => list(context, visitorOf(request), query),
  }),
  route({
    method: "POST",
    url: "/api/examples/news/articles",
    group,
    summary: "Posts an article. With the same id twice, once.",
    body: object({
      id: string({ minLength: 8, maxLength: 64, pattern: "^[\\w-]+$" }),
      title: string({ maxLength: 200 }),
      url: string({ maxLength: 2_000, default: "" }),
      groups: array(GROUP, { maxItems: NEWS_GROUPS.length }),
    }),
    answers: "The article.",
    run: (context, { body, request }) => post(context, needVisitor(request), body),
  }),
  route({
    method: "POST",
    url: "/api/examples/news/articles/:id/vote",
    group,
    summary: "Votes an article up or down, or takes the vote back.",
    params: ID,
    body: object({ direction: oneOf(["up", "down", "none"]) }),
    answers: "Its votes and score now.",
    run: (context, { params, body, request }) => vote(context, params.id, needVisitor(request), body.direction),
  }),
  route({
    method: "DELETE",
    url: "/api/examples/news/articles/:id",
    group,
    summary: "Takes back an article of your own.",
    params: ID,
    answers: "Nothing.",
    run: (context, { params, request }) => remove(context, params.id, needVisitor(request)),
  }),
  eventsRoute("news", "What is posted, voted on and removed, as server-sent events."),
];

async function make(context: Context, progress: Progress): Promise<void> {
  const votes = sampleVotes();
  const total = SAMPLE_NEWS.length + votes.length;
  // One after the other: the order of posting is that of the list.
  await forEachOf(
    SAMPLE_NEWS,
    ({ id, poster, title, groups }) =>
      board(context).post(poster, { title, url: `https://example.org/${id}` }, { id, groups }),
    (done) => progress(done, total),
    1,
  );
  await forEachOf(
    votes,
    ({ id, user, direction }) => board(context).vote(id, user, direction),
    (done) => progress(SAMPLE_NEWS.length + done, total),
  );
}

export const news: Example = {
  name: "news",
  title: "News",
  about: "Links that people post and vote up and down, ordered by score or time, in groups. Each action is one script.",
  components: ["board"],
  routes: ROUTES,
  make,
};
