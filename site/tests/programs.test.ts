/**
 * The live programs of the guides, in the worker that runs them, in Chromium: each ends without an error and prints what it prints in
 * Node, or what the guide says. A handful here; all of them where tests may take long.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Browser, hasBrowser, launch, type Page } from "../../console/tests/chromium.ts";
import { full } from "../../scripts/full.ts";
import type { FromWorker } from "../lab/messages.ts";
import { programOf } from "../pages/live.ts";
import { documents, ROOT } from "../pages/routes.ts";
import { bundleRuntime } from "../runtime.ts";

interface Example {
  readonly at: string;
  readonly code: string;
  readonly file: string | undefined;
}

const examples: readonly Example[] = documents().flatMap((document) => {
  const text = readFileSync(join(ROOT, document), "utf8");
  return [...text.matchAll(/^```(?:ts|typescript)\n([\s\S]*?)^```$/gm)].flatMap((match): Example[] => {
    const program = programOf(match[1]!);
    if (program === undefined || program.needs !== undefined) return [];
    const at = `${document}:${text.slice(0, match.index).split("\n").length}`;
    return [{ at, code: program.code, file: program.file }];
  });
});

const FEW = /\/(?:locks|queues|rate-limits|search)\.ts$/;
const few = examples.filter(({ at, file }) => (file === undefined ? at.startsWith("docs/start.md") : FEW.test(file)));
/** Translations have the same programs. */
const chosen = [...new Map((full ? examples : few).map((example) => [example.code, example])).values()];

/** Consoles break lines in different places. */
const flat = (text: string): string => text.replace(/\s+/g, " ").trim();

/** In Node, or what stands behind each console.log. */
async function expected({ code, file }: Example): Promise<string> {
  if (file === undefined) {
    return flat([...code.matchAll(/^ *console\.log\(.*\);? *\/\/ (.*)$/gm)].map(([, line]) => line).join("\n"));
  }
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", join(ROOT, file)], { cwd: ROOT });
  return flat(stdout);
}

type Told = Extract<FromWorker, { kind: "said" | "over" | "sent" | "keys" }>;

/** Runs a program as the page does; ends when the program has, and nothing more is on its way. */
const RUN = `(code) => new Promise((resolve) => {
  const worker = new Worker("/run/worker.js", { type: "module" });
  const told = [];
  worker.onerror = ({ message }) => resolve([{ kind: "over", error: String(message), ms: 0 }]);
  worker.onmessage = ({ data }) => {
    told.push(data);
    if (data.kind === "over") { worker.terminate(); resolve(told); }
  };
  worker.postMessage({ kind: "run", code });
})`;

describe.skipIf(!hasBrowser)("a live program", () => {
  const folder = mkdtempSync(join(tmpdir(), "cinnabar-lab-"));
  let server: Server;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    await bundleRuntime(join(folder, "run"));
    server = createServer(({ url = "" }, response) => {
      if (!url.startsWith("/run/"))
        response.setHeader("content-type", "text/html").end("<!doctype html><title>lab</title>");
      else response.setHeader("content-type", "text/javascript").end(readFileSync(join(folder, url)));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    browser = await launch();
    page = await (await browser.newContext()).newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (code: string): Promise<Told[]> => page.evaluate(`(${RUN})(${JSON.stringify(code)})`);
  const of = <Kind extends Told["kind"]>(told: readonly Told[], kind: Kind) =>
    told.filter((each): each is Extract<Told, { kind: Kind }> => each.kind === kind);
  const printed = (told: readonly Told[]): string =>
    of(told, "said")
      .map(({ text }) => text)
      .join("\n");

  test("is found in most guides", () => {
    expect(examples.length).toBeGreaterThan(50);
    expect(few.length).toBeGreaterThan(4);
  });

  test.each(chosen)("$at prints what it prints elsewhere", async (example) => {
    const [told, text] = await Promise.all([run(example.code), expected(example)]);
    expect(of(told, "over").map(({ error }) => error)).toEqual([null]);
    expect(flat(printed(told))).toBe(text);
  });

  test("shows its commands, a script's own among them, and the keys that are there", async () => {
    const told = await run(`
      import { open } from "cinnabar";
      import { Locks } from "cinnabar/locks";
      const db = await open();
      await db.hset("user:1", { name: "Ann" });
      await new Locks(db).acquire("order:17", { leaseMs: 60_000 });
      await new Promise((resolve) => setTimeout(resolve));
    `);
    const sent = of(told, "sent").flatMap(({ sent: some }) => some);
    expect(sent[0]).toMatchObject({ name: "HSET", from: "program" });
    expect(sent[0]?.words.map(({ text }) => text)).toEqual(["user:1", "name", "Ann"]);
    const script = sent.find(({ from }) => from === "script");
    expect(script?.words.some(({ name, text }) => name !== undefined && text.includes("order:17"))).toBe(true);
    expect(sent.some(({ from, name }) => from === "inside" && name === "ZADD")).toBe(true);
    const keys = of(told, "keys").at(-1)!.keys;
    expect(keys.map(({ name }) => name)).toEqual(["lock:{order:17}", "lock:{order:17}:held", "user:1"]);
    expect(keys.at(-1)).toMatchObject({ type: "hash", ttlMs: null, value: "name Ann" });
  });

  test("that fails says why, and one that names another package is told so", async () => {
    const failed = await run("const a: number = 1;\nthrow new TypeError('no ' + a);");
    expect(of(failed, "over")).toMatchObject([{ error: "TypeError: no 1" }]);
    const foreign = await run('import Redis from "ioredis";\nnew Redis();');
    expect(of(foreign, "over")).toMatchObject([{ error: 'This page has no package "ioredis".' }]);
  });
});
