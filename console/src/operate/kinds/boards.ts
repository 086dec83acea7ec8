/** Boards of articles that users vote on. Lists of groups are not asked for: to order a group, a board keeps a set of its own. */
import { Board } from "cinnabar/board";
import { sound } from "../../values.ts";
import { deletingRow } from "./actions.ts";
import {
  type Action,
  type Doing,
  type Field,
  type Figure,
  gone,
  idIn,
  type Kind,
  keyOf,
  known,
  type List,
  type Looking,
  NOT_THERE,
  type Opening,
  paged,
  shortText,
  tally,
} from "./kind.ts";

/** Groups of one page of articles that the view shows. */
const MOST_GROUPS = 50;
const MOST_TITLE = 120;

type Article = NonNullable<Awaited<ReturnType<Board["get"]>>>;

const board = ({ store, thing }: Opening): Board =>
  new Board(store, thing.name, {
    prefix: thing.prefix,
    ...known(thing, "voteScore"),
    ...known(thing, "votingMs"),
    ...known(thing, "maxArticles"),
  });

/** What people would call an article: its title, or else its first field. */
const titleOf = ({ id, fields }: Article): string =>
  shortText(fields.title || Object.values(fields)[0] || id, MOST_TITLE);

const votingOf = ({ closesAt }: Article): string => (closesAt.getTime() > Date.now() ? "open" : "closed");

async function groupsOf({ store, thing }: Looking, articles: readonly Article[]): Promise<List> {
  const most = tally(articles.flatMap(({ groups }) => groups)).slice(0, MOST_GROUPS);
  const counts = await store.pipeline(most.map(([group]) => ["SCARD", keyOf(thing, `:group:${group}`)]));
  return {
    title: "Groups of these articles",
    empty: "None of these articles is in a group.",
    columns: [
      { title: "Group", unit: "text" },
      { title: "Articles", unit: "number" },
      { title: "On this page", unit: "number" },
    ],
    rows: most.map(([group, count], at) => ({ id: group, cells: [group, Number(sound(counts[at]!)), count] })),
    actions: [],
    cursor: null,
    isWhole: true,
  };
}

const GROUP_FIELD: Field = { name: "group", label: "Group", kind: "text" };

const regrouping = (
  name: string,
  title: string,
  short: string,
  said: string,
  change: (group: string) => Parameters<Board["regroup"]>[1],
): Action => ({
  ...{ name, title, short, on: "row", fields: [GROUP_FIELD] },
  run: async (doing: Doing) => {
    const { group = "" } = doing.values;
    if (!(await board(doing).regroup(doing.row, change(group)))) throw gone(`the article ${doing.row}`);
    return `The article ${doing.row} ${said} ${group}.`;
  },
});

export const BOARDS: Kind = {
  kind: "board",
  title: "Voting boards",
  about: "Articles that users post and vote on, by score or by time, in groups.",
  async figures(looking) {
    const { store, thing } = looking;
    const { votingMs } = known(thing, "votingMs");
    const { maxArticles } = known(thing, "maxArticles");
    const byTime = keyOf(thing, ":time");
    const [count, open, { items }] = await Promise.all([
      board(looking).count(),
      votingMs === undefined ? null : store.call("ZCOUNT", byTime, `(${Date.now() - votingMs}`, "+inf"),
      board(looking).list({ by: "time", limit: 1 }),
    ]);
    const [newest] = items;
    return [
      {
        title: "Articles",
        value: count,
        unit: "number",
        ...(maxArticles !== undefined && { of: maxArticles }),
        note: "the oldest give way to new ones",
      },
      ...(open === null ? [] : [{ title: "Open for votes", value: Number(open), unit: "number" } as const]),
      { title: "Newest article", value: newest?.postedAt.toISOString() ?? null, unit: "date" },
      { title: "Voting on it ends", value: newest?.closesAt.toISOString() ?? null, unit: "date" },
    ];
  },
  async lists(looking) {
    const { items, cursor } = await board(looking).list(paged(looking));
    const articles: List = {
      title: "Articles, the highest score first",
      empty: "The board has no articles.",
      columns: [
        { title: "Article", unit: "text" },
        { title: "Poster", unit: "text" },
        { title: "Up", unit: "number" },
        { title: "Down", unit: "number" },
        { title: "Score", unit: "amount" },
        { title: "Posted", unit: "date" },
        { title: "Voting", unit: "state" },
        { title: "Groups", unit: "text" },
      ],
      rows: items.map((article) => ({
        id: article.id,
        cells: [
          titleOf(article),
          article.poster,
          article.up,
          article.down,
          Math.round(article.score),
          article.postedAt.toISOString(),
          votingOf(article),
          article.groups.length === 0 ? null : article.groups.join(", "),
        ],
      })),
      actions: ["addGroup", "deleteGroup", "delete"],
      asks: true,
      cursor,
    };
    return [articles, await groupsOf(looking, items)];
  },
  question: { label: "Id of an article", button: "Look up article" },
  async answer(looking, item) {
    const id = idIn(item);
    const article = id === null ? null : await board(looking).get(id);
    if (article === null) return [NOT_THERE];
    const { poster, postedAt, closesAt, up, down, score, groups, fields } = article;
    return [
      { title: "Voting", value: votingOf(article), unit: "state" },
      { title: "Up", value: up, unit: "number" },
      { title: "Down", value: down, unit: "number" },
      { title: "Score", value: Math.round(score), unit: "amount", note: "seconds of posting and votes" },
      { title: "Poster", value: poster, unit: "text" },
      { title: "Posted", value: postedAt.toISOString(), unit: "date" },
      { title: "Voting ends", value: closesAt.toISOString(), unit: "date" },
      { title: "Groups", value: groups.length === 0 ? null : groups.join(", "), unit: "text" },
      ...Object.entries(fields).map(
        ([field, value]): Figure => ({ title: `Field ${field}`, value: shortText(value), unit: "text" }),
      ),
    ];
  },
  actions: [
    regrouping("addGroup", "Add article to group", "Group", "is in the group", (group) => ({ add: [group] })),
    regrouping("deleteGroup", "Delete article from group", "Ungroup", "is not in the group", (group) => ({
      delete: [group],
    })),
    deletingRow("article", (doing) => board(doing).delete(doing.row)),
  ],
};
