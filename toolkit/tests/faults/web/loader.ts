/** A process that begins to make a value for the cache, says so, and never ends it. */
import { Cache } from "../../../src/components/cache/index.ts";
import { open } from "../../../src/connection/open.ts";
import { out } from "../../kit/out.ts";

export interface LoaderOrder {
  readonly url: string;
  readonly loadMs: number;
}

const { url, loadMs } = JSON.parse(process.argv[2]!) as LoaderOrder;
const cache = new Cache<string>(await open(url), "things", { leaseMs: loadMs });
await cache.get("cold", () => {
  out("ready\n");
  return new Promise(() => {});
});
