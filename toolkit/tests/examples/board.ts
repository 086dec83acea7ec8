import { open } from "cinnabar";
import { Board } from "cinnabar/board";

const db = await open(process.env.STORE ?? "memory:");
const news = new Board(db, "news");

// Posting is also the poster's own vote. With an id of your own, posting twice is posting once.
const post = await news.post("ann", { title: "A link", url: "https://example.org" }, { groups: ["programming"] });
await news.post("ben", { title: "Another" });

// One vote a user. Voting again changes it; "none" takes it back.
console.log(await news.vote(post.id, "ben", "down").then(({ status }) => status));
const vote = await news.vote(post.id, "ben", "up");
console.log(vote.status, vote.status === "changed" && vote.up, "up");

// Pages, best or newest first, of everything, of a group, or of several: in any of them, or in all.
const best = await news.list({ by: "score", limit: 10 });
console.log(best.items.map(({ fields }) => fields.title));
const group = await news.list({ by: "time", group: "programming" });
console.log(group.items.length, "in the group; next page:", group.cursor);
await news.regroup(post.id, { add: ["games"] });
const both = await news.list({ groups: ["programming", "games"], match: "all" });
console.log(both.items.length, "in both groups");
console.log("ben's vote", (await news.get(post.id, { viewer: "ben" }))?.myVote);
await db.close();
