/**
 * What the builds for browsers weigh (gzip), at first and by part, and how long a page takes from the start of its script to its
 * first answer, loads included: the median of 20 loads in Chromium from a local server, each with a cache of its own. Beside it, how
 * busy the machine was, which says how much the times mean. Run it after a build.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { launch } from "../../../console/tests/chromium.ts";
import { importMap } from "../../../scripts/browser-toolkit.js";

const ROOT = join(import.meta.dirname, "../../..");
const FOLDERS = { "/engine/": join(ROOT, "engine/dist/browser"), "/toolkit/": join(ROOT, "toolkit/dist/browser") };
const LOADS = 20;

const sizeOf = (file: string): number => gzipSync(readFileSync(file), { level: 9 }).length;
const shown = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

/** A file and everything that it imports at once, in the same folder. */
function withImports(folder: string, name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const text = readFileSync(join(folder, name), "utf8");
  for (const [, path = ""] of text.matchAll(/(?:from|import)"(\.[^"]+)"/g))
    withImports(folder, join(name, "..", path), seen);
  return seen;
}

function weight(folder: string, name: string): number {
  let sum = 0;
  for (const each of withImports(folder, name)) sum += sizeOf(join(folder, each));
  return sum;
}

const map = JSON.stringify(importMap("/toolkit", "/engine/index.js"));
const program = (body: string): string =>
  `<!doctype html><meta charset="utf-8"><script type="importmap">${map}</script><script type="module">
    const { ${body}
    globalThis.took = performance.now();
  </script>`;
const PAGES: Record<string, string> = {
  "the engine": program(
    'Engine } = await import("@cinnabar/engine/browser"); await (await Engine.open()).connect().call("SET", "k", "v");',
  ),
  "the toolkit": program('open } = await import("cinnabar"); await (await open()).set("k", "v");'),
};

async function medianOf(name: string): Promise<{ readonly median: number; readonly worst: number }> {
  const server = createServer(({ url = "" }, response) => {
    const found = Object.entries(FOLDERS).find(([start]) => url.startsWith(start));
    const body = found === undefined ? PAGES[name] : readFileSync(join(found[1], url.slice(found[0].length)));
    response.setHeader("content-type", found === undefined ? "text/html" : "text/javascript").end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await launch();
  const times: number[] = [];
  for (let load = 0; load < LOADS; load++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction("globalThis.took !== undefined");
    times.push(Number(await page.evaluate("globalThis.took")));
    await context.close();
  }
  await browser.close();
  server.close();
  times.sort((a, b) => a - b);
  return { median: times[LOADS / 2]!, worst: times[LOADS - 1]! };
}

const engine = FOLDERS["/engine/"];
const toolkit = FOLDERS["/toolkit/"];
const first = withImports(engine, "index.js");
console.log(`@cinnabar/engine/browser   ${shown(weight(engine, "index.js"))} in ${first.size} files`);
/** Files that are loaded when they are first used, by what they are called. */
const later = readdirSync(join(engine, "chunks")).filter((name) => /^(?:\w+\.browser|connection)-\w+\.js$/.test(name));
const whole = new Set(first);
for (const name of later) {
  let more = 0;
  for (const each of withImports(engine, join("chunks", name))) {
    whole.add(each);
    if (!first.has(each)) more += sizeOf(join(engine, each));
  }
  console.log(`  ${name.replace(/(?:\.browser)?-\w+\.js$/, "").padEnd(24)} + ${shown(more)}`);
}
let all = 0;
for (const each of whole) all += sizeOf(join(engine, each));
console.log(`  all of it                  ${shown(all)}`);
console.log(`cinnabar, open             ${shown(weight(toolkit, "index.js"))}`);
const ways = readdirSync(toolkit).filter((name) => name.endsWith(".js") && name !== "index.js");
const core = withImports(toolkit, "index.js");
for (const name of ways) {
  let more = 0;
  for (const each of withImports(toolkit, name)) if (!core.has(each)) more += sizeOf(join(toolkit, each));
  console.log(`  ${name.slice(0, -3).padEnd(24)} + ${shown(more)}`);
}
for (const name of Object.keys(PAGES)) {
  const { median, worst } = await medianOf(name);
  console.log(`first command, ${name}: median ${median.toFixed(0)} ms, worst ${worst.toFixed(0)} ms of ${LOADS} loads`);
}
console.log(`load of the machine: ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`);
