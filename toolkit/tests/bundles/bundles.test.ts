/**
 * One program, made into one file by three bundlers: it holds a lease of 900 ms through a busy loop of three times that, which
 * only the thread can do; and it runs jobs in sandboxes, threads and processes, whose handlers are in a file of their own and in the
 * program itself. The files stand in a folder of their own, with no package of ours in reach.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as esbuild } from "esbuild";
import { type Plugin, rollup } from "rollup";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import webpack from "webpack";
import { installed, type ServerProcess, startRedis } from "../kit/servers.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const dist = join(root, "toolkit/dist");

const PROGRAM = `
  import { open } from "cinnabar";
  import { Locks } from "cinnabar/locks";
  import { Queue, sandboxed, Worker } from "cinnabar/queues";
  async function sandboxes(db) {
    const tasks = new Queue(db, "bundled");
    const inline = "data:text/javascript,export default ({ data }) => data + 1";
    const worker = new Worker(tasks, {
      thread: sandboxed(process.argv[3]),
      process: sandboxed(process.argv[3], { kind: "process" }),
      inline: sandboxed(inline),
      crash: sandboxed("data:text/javascript,export default () => process.exit(5)", { kind: "process" }),
    }).start();
    for (const name of ["thread", "process", "inline", "crash"]) {
      const outcome = await tasks.addAndWait(7, { name });
      console.log(name, outcome.result ?? outcome.error.message);
    }
    await worker.stop();
  }
  async function main() {
    const db = await open(process.argv[2]);
    const lease = await new Locks(db).acquire("busy", { leaseMs: 900 });
    // The thread takes a while to start; until then the loop of this program renews.
    while (!String(await db.call("CLIENT", "LIST")).includes("name=cinnabar-leases")) await new Promise(setImmediate);
    const end = performance.now() + 2700;
    while (performance.now() < end);
    console.log(lease.lost ? "lost" : "held", await lease.release());
    await sandboxes(db);
    await db.close();
  }
  main();
`;

const HANDLER = "export default ({ data, name }) => data * 6;\n";

const SAID = ["held true", "thread 42", "process 42", "inline 8", "crash the sandbox ended with code 5"].join("\n");

/** What rollup needs plugins for, in a few lines: where our modules are. Everything else stays an import. */
const ours: Plugin = {
  name: "ours",
  resolveId: (id) => {
    if (id === "cinnabar") return join(dist, "index.js");
    return id.startsWith("cinnabar/") ? join(dist, "components", id.slice("cinnabar/".length), "index.js") : null;
  },
};

describe.skipIf(!installed("redis-server"))(
  "a program in one file keeps its leases while it is busy, and has sandboxes",
  { timeout: 120_000 },
  () => {
    let server: ServerProcess;
    let dir: string;
    let entry: string;
    let handler: string;

    beforeAll(async () => {
      const run = (command: string, args: readonly string[]) =>
        expect(spawnSync(command, args, { cwd: root, encoding: "utf8" }).stderr.replace(/^npm warn.*\n/gm, "")).toBe(
          "",
        );
      run(process.execPath, ["scripts/bundle.js"]);
      server = await startRedis();
      dir = mkdtempSync(join(tmpdir(), "cinnabar-bundles-"));
      // Where the packages are found; what is made of it goes elsewhere.
      entry = join(dist, `bundled-${process.pid}.mjs`);
      writeFileSync(entry, PROGRAM);
      handler = join(dir, "handler.mjs");
      writeFileSync(handler, HANDLER);
    }, 300_000);

    afterAll(async () => {
      await server?.stop();
      if (dir !== undefined) rmSync(dir, { recursive: true });
      if (entry !== undefined) rmSync(entry, { force: true });
    });

    /** What the program prints; with a warning of ours if its thread had failed. */
    async function output(file: string): Promise<string> {
      const child = spawn(process.execPath, [file, server.url, handler], { stdio: ["ignore", "pipe", "pipe"] });
      let text = "";
      const gather = (data: Buffer): void => {
        text += data;
      };
      child.stdout.on("data", gather);
      child.stderr.on("data", gather);
      await new Promise((resolve) => child.once("exit", resolve));
      return text.trim();
    }

    test("what is shipped has each class once, whichever ways in a program uses", async () => {
      const { exports } = JSON.parse(readFileSync(join(root, "toolkit/package.json"), "utf8")) as {
        exports: Record<string, { readonly default: string }>;
      };
      const ways = Object.values(exports).map((way) => join(root, "toolkit", way.default));
      const program = join(dist, `ways-${process.pid}.mjs`);
      writeFileSync(
        program,
        `const all = await Promise.all(${JSON.stringify(ways)}.map((way) => import(way)));
         const { open, InputError } = all[0];
         const names = new Map();
         for (const each of all) {
           for (const [name, value] of Object.entries(each)) {
             const isClass = typeof value === "function" && String(value).startsWith("class");
             if (isClass) names.set(name, (names.get(name) ?? new Set()).add(value));
           }
         }
         const twice = [...names].filter(([, values]) => values.size > 1).map(([name]) => name);
         const { Locks } = all.find((each) => "Locks" in each);
         const db = await open();
         const refused = await new Locks(db).acquire("a", { leaseMs: -1 }).catch((error) => error);
         await db.close();
         console.log(all.length, names.size > 50, twice.join(), refused instanceof InputError);`,
      );
      try {
        expect(await output(program)).toBe(`${ways.length} true  true`);
      } finally {
        rmSync(program);
      }
    });

    test.each([
      ["cjs", "esbuild.cjs"],
      ["esm", "esbuild.mjs"],
    ] as const)("esbuild, %s", async (format, name) => {
      const outfile = join(dir, name);
      // Packages in CommonJS ask for Node's modules by require, which a module has to be given.
      const js = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;
      const banner = format === "esm" ? { js } : {};
      const options = { bundle: true, platform: "node", logLevel: "error", write: true } as const;
      await esbuild({ entryPoints: [entry], outfile, format, banner, ...options });
      expect(await output(outfile)).toBe(SAID);
    });

    test("webpack", async () => {
      await new Promise<void>((resolve, reject) => {
        const output = { path: dir, filename: "webpack.cjs" };
        webpack({ entry, output, mode: "development", devtool: false, target: "node20" }, (error, stats) => {
          if (error || stats?.hasErrors()) reject(error ?? new Error(stats!.toString("errors-only")));
          else resolve();
        });
      });
      expect(await output(join(dir, "webpack.cjs"))).toBe(SAID);
    });

    test("rollup", async () => {
      const bundle = await rollup({
        input: entry,
        plugins: [ours],
        external: /^(node:|@cinnabar)/,
        onwarn: () => {},
      });
      // Beside the packages that stay imports, where there is nothing of the toolkit's own.
      const file = join(root, "node_modules", `.cinnabar-bundled-${process.pid}.mjs`);
      await bundle.write({ file, format: "es", inlineDynamicImports: true });
      try {
        expect(readFileSync(file, "utf8")).not.toMatch(/from ['"]cinnabar/);
        expect(await output(file)).toBe(SAID);
      } finally {
        rmSync(file);
      }
    });
  },
);
