import { open } from "cinnabar";
import { SearchIndex } from "cinnabar/search";

const db = await open(process.env.STORE ?? "memory:");
const books = new SearchIndex(db, "books", {
  fields: {
    title: { type: "text", weight: 3, store: true },
    about: { type: "text", store: true },
    subjects: { type: "tags" },
    year: { type: "number" },
    votes: { type: "number" },
    author: { type: "string" },
  },
});

// Putting a document again is changing it; the same content again changes nothing. Many go in fast.
await books.set("dunes", { title: "The walking dunes", about: "How sand travels", subjects: ["deserts"], year: 1998 });
await books.setMany([
  [
    "tides",
    { title: "Tides", about: "Why the sea is walking up the shore", subjects: ["sea"], year: 2011, author: "Ann" },
  ],
  [
    "salt",
    { title: "A book of salt", about: "Seas that dried up, and deserts", subjects: ["sea", "deserts"], year: 2020 },
  ],
]);

// Words are joined by AND; OR, -not, "phrases", begin*, misspelt~1, field:word, ranges, tags and brackets.
for (const query of [
  "walks",
  "walks -sea",
  '"dried up"',
  "trav*",
  "desrt~",
  "sea year:[2000 TO 2015]",
  "(tides OR salt) subjects:{sea}",
]) {
  console.log(
    query,
    "→",
    (await books.search(query)).hits.map(({ id }) => id),
  );
}

// Sorted, counted by tag, with the words marked.
const { count, hits, facets } = await books.search("sea", {
  sort: "-year",
  facets: { subjects: true },
  highlight: true,
});
console.log(count, hits[0]?.snippets?.about, facets.subjects);

// Votes and age count beside the words; changing them does not touch the words.
await books.update("dunes", { votes: 100 });
const ranked = await books.search("walk", { rank: { relevance: 1, votes: 0.1 } });
console.log(ranked.hits.map(({ id, score }) => `${id} ${score.toFixed(1)}`));

// A kept answer is paged as it was, whatever happens to the index.
const kept = await books.search("*", { sort: "year", limit: 2, cacheTtlMs: 60_000 });
await books.delete("salt");
console.log((await books.page(kept.id!, { offset: 2 }))?.hits.map(({ id }) => id));

// What people type is never an error.
console.log((await books.search("the")).explanation.notes);
await db.close();
