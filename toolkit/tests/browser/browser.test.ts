/**
 * The toolkit in Chromium. Examples are bundled as a program's bundler would do it, run on a page and in Node, and must say the same;
 * a worker keeps its store in the browser's private file system; what needs sockets, threads or files says so.
 */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Browser, hasBrowser, launch, type Page } from "../../../console/tests/chromium.ts";
import { browserWays, importMap } from "../../../scripts/browser-toolkit.js";
import { full } from "../../../scripts/full.ts";

const ROOT = join(import.meta.dirname, "../../..");
const EXAMPLES = join(ROOT, "toolkit/tests/examples");
const BUILT = join(ROOT, "toolkit/dist/browser");
const ENGINE = join(ROOT, "engine/dist/browser");

/** Examples that use Node themselves: its modules and globals, servers, folders, files, streams, sandboxes. */
const NODES =
  /from "node:|cinnabar\/(\w+\/http|log-files|replication|express)|sandbox|redis:\/\/|@cinnabar\/engine"|\bBuffer\b|setImmediate|"\.\/data|URL_|\.stream\(|Fleet/;
const FEW = ["locks", "queues", "sessions", "rate-limits", "cache", "search", "chats", "topics", "counters", "social"];

const examples = readdirSync(EXAMPLES)
  .filter((name) => name.endsWith(".ts") && !/\.test\.ts$|sandbox/.test(name))
  .filter((name) => !NODES.test(readFileSync(join(EXAMPLES, name), "utf8")))
  .map((name) => name.slice(0, -".ts".length))
  .filter((name) => full || FEW.includes(name));

/** Each line as JSON, so that it does not matter how a console shows things. */
const SAY = "console.log = (...said) => say(JSON.stringify(said));";

/** A program as a bundler makes it for browsers: the packages' own `exports` decide what is taken. */
async function bundled(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: EXAMPLES, loader: "ts" },
    bundle: true,
    platform: "browser",
    format: "esm",
    target: "es2023",
    write: false,
    logLevel: "error",
    define: { "process.env": "{}" },
  });
  return outputFiles[0]!.text;
}

async function inNode(name: string): Promise<string[]> {
  const preload = `data:text/javascript,${encodeURIComponent(SAY.replace("say", "process.stdout.write").replace("(said)", '(said) + "\\n"'))}`;
  const args = ["--import", "tsx", "--import", preload, join(EXAMPLES, `${name}.ts`)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  return stdout.trimEnd().split("\n");
}

describe.skipIf(!hasBrowser)("the toolkit in a browser", () => {
  let browser: Browser;
  let server: Server;
  let url: string;
  const programs = new Map<string, string>();

  beforeAll(async () => {
    server = createServer(({ url: path = "" }, response) => {
      const program = programs.get(path);
      const file = path.startsWith("/toolkit/") ? join(BUILT, path.slice("/toolkit/".length)) : null;
      const part = path.startsWith("/engine/") ? join(ENGINE, path.slice("/engine/".length)) : file;
      const script = program ?? (part === null ? null : readFileSync(part, "utf8"));
      const map = JSON.stringify(importMap("/toolkit", "/engine/index.js"));
      const page = `<!doctype html><meta charset="utf-8"><title>Cinnabar</title><script type="importmap">${map}</script>`;
      response.setHeader("content-type", script === null ? "text/html" : "text/javascript").end(script ?? page);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  async function tab(): Promise<Page> {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    return page;
  }

  /** Runs a program on a page or in a worker of it; answers what it says. */
  async function run(page: Page, name: string, contents: string, where: "page" | "worker" = "page"): Promise<string[]> {
    const end = where === "page" ? "globalThis.say" : "(line) => postMessage(line)";
    programs.set(`/${name}.js`, `{ const say = ${end};${SAY} }\n${await bundled(contents)}`);
    const said: string[] = [];
    await page.exposeFunction(`say_${name.replaceAll("-", "_")}`, (line: string) => said.push(line));
    const start =
      where === "page"
        ? `globalThis.say = say_${name.replaceAll("-", "_")}; import("/${name}.js").then(() => null)`
        : `new Promise((resolve, reject) => {
            const worker = new Worker("/${name}.js", { type: "module" });
            worker.onerror = ({ message }) => reject(new Error(message));
            worker.onmessage = ({ data }) => (data === "over" ? resolve(null) : say_${name.replaceAll("-", "_")}(data));
          })`;
    await page.evaluate(start);
    return said;
  }

  test.each(examples)("%s says the same as in Node", async (name) => {
    const page = await tab();
    const [there, here] = await Promise.all([
      run(page, name, readFileSync(join(EXAMPLES, `${name}.ts`), "utf8")),
      inNode(name),
    ]);
    expect(there).toEqual(here);
    expect(there.length).toBeGreaterThan(0);
    await page.context().close();
  });

  test("a worker keeps its store; a second one joins it, or is told that it is taken", async () => {
    const page = await tab();
    const first = `
      import { open } from "cinnabar";
      import { Counters } from "cinnabar/counters";
      const db = await open("./data", { config: { appendfsync: "always" } });
      await db.set("greeting", "hello");
      console.log(await open("./data", { shared: false }).then(() => "open", ({ name, code }) => [name, code]));
      const guest = await open("./data");
      console.log(await guest.get("greeting"), guest.topology);
      await guest.close();
      await db.close();
      const again = await open("./data");
      console.log(await again.get("greeting"), again.topology);
      await again.close();
      postMessage("over");
    `;
    expect(await run(page, "kept", first, "worker")).toEqual([
      '[["OpenError","LOCKED"]]',
      '["hello","single"]',
      '["hello","embedded"]',
    ]);
    await page.context().close();
  });

  test("what needs sockets, threads or files says so", async () => {
    const page = await tab();
    const program = `
      import { open } from "cinnabar";
      import { sandboxed } from "cinnabar/queues";
      import { LogFiles } from "cinnabar/log-files";
      const tell = async (run) => {
        try {
          await run();
        } catch ({ name, code, message }) {
          console.log(name, code, message);
        }
      };
      await tell(() => open("redis://localhost"));
      await tell(() => open("./data"));
      await tell(() => sandboxed("./job.js"));
      await tell(() => new LogFiles());
    `;
    const said = (await run(page, "refused", program)).map((line) => JSON.parse(line) as string[]);
    expect(said.map(([name, code]) => [name, code])).toEqual([
      ["UnsupportedError", "UNSUPPORTED"],
      ["OpenError", "OPEN_FAILED"],
      ["UnsupportedError", "UNSUPPORTED"],
      ["UnsupportedError", "UNSUPPORTED"],
    ]);
    expect(said[0]?.[2]).toContain("a browser cannot connect to a redis:// server");
    expect(said[1]?.[2]).toContain("must be opened in a worker");
    await page.context().close();
  });

  test("every way in loads on a page by an import map, with one engine, and imports nothing of Node's", async () => {
    const page = await tab();
    const names = browserWays().map(({ name }) => name);
    const loaded = await page.evaluate(`Promise.all(${JSON.stringify(names)}.map((name) => import(name)))
      .then((ways) => ways.every((way) => Object.keys(way).length > 0))`);
    expect(loaded).toBe(true);
    const isOne = await page.evaluate(`Promise.all([import("cinnabar"), import("@cinnabar/engine/browser")])
      .then(async ([{ open }, { Engine }]) => {
        const engine = await Engine.open();
        const db = await open(engine);
        await db.set("k", "v");
        return [await engine.connect().call("GET", "k"), db.topology];
      })`);
    expect(isOne).toEqual(["v", "embedded"]);
    const scripts = readdirSync(BUILT, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js"));
    const nodes = scripts.filter((name) => /(?:from|import)\s*\(?"node:/.test(readFileSync(join(BUILT, name), "utf8")));
    expect(nodes).toEqual([]);
    await page.context().close();
  });
});
