import { open } from "cinnabar";
import { Ads } from "cinnabar/ads";

const db = await open(process.env.STORE ?? "memory:");
// "off": always the one that is best by what is known; by default new ones are tried as well.
const ads = new Ads<{ text: string }>(db, "site", { explore: "off", minClickDelayMs: 0 });

// Money is in millionths: 250 000 are a quarter.
await ads.set("shoes", {
  model: "cpc",
  bidMicros: 250_000,
  locations: ["US", "CA"],
  words: ["running", "marathon"],
  budget: { dailyMicros: 500_000, pacing: "asap" },
  data: { text: "Run faster." },
});
await ads.set("soap", { model: "cpm", bidMicros: 100_000, cap: { views: 2, everyMs: 86_400_000 } });

// Chosen and paid for in one step; `viewed` counts the view as well.
const page = "A marathon is run by people who like running.";
const shown = await ads.target({ locations: ["US"], content: page, user: "ann", viewed: true });
console.log(shown?.ad, shown?.words, shown?.data?.text);

// Every event counts once, however often it is reported.
console.log(await ads.click(shown!.id, { id: "click 1" }));
console.log(await ads.click(shown!.id, { id: "click 1" }));
console.log(await ads.click(shown!.id));

// Elsewhere there is only soap, and nobody sees it more than twice a day.
for (let nth = 0; nth < 3; nth++) console.log((await ads.target({ locations: ["DE"], user: "ben" }))?.ad);

const { spentMicros, learned } = (await ads.get("shoes"))!;
console.log(spentMicros, learned.clicks.toFixed(0), "click in", learned.views.toFixed(0), "view");
await db.close();
