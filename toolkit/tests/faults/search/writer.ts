/** A process that writes random documents to an index, one by one and in batches, changes and removes them, until it is killed. */
import { Chance, randomDocument } from "../../../src/components/search/testing/random.ts";
import { open } from "../../../src/connection/open.ts";
import { out } from "../../kit/out.ts";
import { busyIndex } from "./busy-index.ts";

export interface WriterOrder {
  readonly url: string;
  readonly seed: number;
}

const { url, seed } = JSON.parse(process.argv[2]!) as WriterOrder;
const index = busyIndex(await open(url));
const chance = new Chance(seed);
for (let step = 0; ; step++) {
  const id = `doc ${chance.below(60)}`;
  const kind = chance.below(6);
  if (kind === 0) await index.delete(id);
  else if (kind === 1) await index.update(id, { price: chance.below(10) });
  else if (kind === 2) {
    const batch = Array.from({ length: 20 }, (_, nth) => [`${seed} ${step} ${nth}`, randomDocument(chance)] as const);
    await index.setMany(batch);
    await index.deleteMany(batch.map(([each]) => each).filter(() => chance.below(3) > 0));
  } else await index.set(id, randomDocument(chance));
  if (step === 10) out("ready\n");
}
