/** A process that the crash test kills: sends all logs, or counts visits by country and day. A byte on stdout for each step. */
import { Files } from "../../../src/components/files/index.ts";
import { Places } from "../../../src/components/places/index.ts";
import { open } from "../../../src/connection/open.ts";
import { out } from "../../kit/out.ts";
import { bytesOf, CHANNEL, FILES, type Order, visitIn } from "./log.ts";

const { role, url } = JSON.parse(process.argv[2]!) as Order;
const step = (): void => out(".");
const store = await open(url, {
  hooks: {
    roundTrip: () => {
      step();
      return step;
    },
  },
});
const logs = new Files(store, "access", CHANNEL);
if (role === "send") {
  await Promise.all(FILES.map((name) => logs.send(name, bytesOf(name))));
} else {
  const places = new Places<{ country: string }>(store);
  const reader = await logs.join("visits", { leaseMs: 600_000 });
  while ((await logs.totals("done")).size < FILES.length) {
    const file = (await reader.files({ follow: true }).next()).value!;
    for await (const lines of file.lineBatches()) {
      const visits = lines.map(({ text }) => visitIn(text));
      const found = await places.getMany(visits.map(({ address }) => address));
      visits.forEach(({ day }, nth) => {
        file.count("visits", `${day} ${found[nth]?.place.country ?? "unknown"}`);
      });
      file.count("lines", file.name, lines.length);
      // With the last commit of the file, as its last line is.
      if (lines.at(-1)!.number === 4_000) file.count("done", file.name);
    }
  }
  reader.close();
}
await store.close();
