import { open } from "cinnabar";
import { Cache } from "cinnabar/cache";

interface Product {
  readonly name: string;
}

const db = await open(process.env.STORE ?? "memory:");
const products = new Cache<Product>(db, "products", { freshMs: 60_000, staleMs: 600_000 });

let loads = 0;
const load = async (id: string): Promise<Product> => {
  loads++;
  return { name: `product ${id}` };
};

// Of all who ask at once, in all processes, one loads and the others wait for it.
const asked = Array.from({ length: 100 }, () => products.get("17", () => load("17"), { tags: ["catalogue"] }));
console.log(new Set((await Promise.all(asked)).map(({ name }) => name)), "loads", loads);

// All values with a tag, in one step; also what is being loaded right now.
await products.invalidate("catalogue");
console.log(await products.get("17"));

// A loader may say how long its value is good, what it depends on, or that it is for this caller only.
await products.get("18", async (loading) => {
  loading.freshFor(5_000);
  loading.tag(["catalogue", "sale"]);
  return load("18");
});
console.log((await products.getEntry("18", () => load("18"))).state, products.stats().hits > 0);
await products.delete("18");
await db.close();
