import { open } from "cinnabar";
import { JobSearch } from "cinnabar/job-search";

const db = await open(process.env.STORE ?? "memory:");
const board = new JobSearch<{ title: string }>(db, "board");

await board.set("backend", {
  requires: [
    { skill: "TypeScript", level: 2 },
    { skill: "Redis", years: 3 },
  ],
  optional: [{ skill: "Lua", weight: 2 }],
  places: ["Berlin", "remote"],
  at: { latitude: 52.52, longitude: 13.405 },
  data: { title: "Backend engineer" },
});
await board.set("pages", { requires: [{ skill: "TypeScript", level: 1 }], places: ["Hamburg"] });

// All that is required, at the level and years required; and what lacks one at most, with what that is.
const ann = [{ skill: "typescript", level: 3 }, { skill: "redis", years: 1 }, { skill: "lua" }];
const { items: matches, qualified, nearMisses } = await board.search(ann, { missing: 1 });
console.log(qualified, nearMisses);
for (const { job, missing, score } of matches) console.log(job.id, score, missing);

// Where: by name, or near a point.
const near = { latitude: 52.39, longitude: 13.06, radiusKm: 50 };
const found = await board.search([...ann, { skill: "redis", years: 4 }], { near, places: ["remote"] });
console.log(found.items[0]?.job.data?.title, Math.round(found.items[0]?.distanceKm ?? 0), "km");

// The other way round.
await board.setCandidate("ann", { skills: ann });
console.log((await board.candidatesFor("pages"))?.items.map(({ candidate }) => candidate.id));
await db.close();
