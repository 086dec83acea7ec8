/**
 * The rows of docs/compatibility.md: each is a project, and how it is run on a runtime. A run answers null for a pass, a text that says
 * what went wrong, or `skipped(…)`.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { built, inModules, passes, prints, project } from "./projects.js";

const BODY = `
  const db = await open();
  const lease = await new Locks(db).acquire("order:17", { leaseMs: 10_000 });
  const held = lease !== null && (await lease.release());
  const mails = new Queue(db, "mails");
  const worker = new Worker(mails, async ({ data }) => "sent to " + data.to);
  worker.start();
  const { id } = await mails.add({ to: "ann" });
  const outcome = await mails.waitFor(id);
  await worker.stop();
  await db.close();
`;
const IMPORTS = `
  import { open } from "cinnabar";
  import { Locks } from "cinnabar/locks";
  import { Queue, Worker } from "cinnabar/queues";
`;
/** The runtime as it calls itself: a tool may start another one than the row says. */
const RUNTIME =
  '(process.versions.bun ? "Bun" : process.versions.deno ? "Deno" : "Node " + process.version.slice(1, 3))';
const SAY = `"held " + held + ", " + outcome.result + " on " + ${RUNTIME}`;
const expectedOn = ({ says }) => `held true, sent to ann on ${says}`;

const ESM = `${IMPORTS}${BODY}console.log(${SAY});`;
const CJS = `
  const { open } = require("cinnabar");
  const { Locks } = require("cinnabar/locks");
  const { Queue, Worker } = require("cinnabar/queues");
  (async () => { ${BODY} console.log(${SAY}); })();
`;
export const TYPED = ESM.replace("new Queue(db", "new Queue<{ to: string }, string>(db").replace(
  SAY,
  `outcome.status === "done" ? ${SAY} : outcome.status`,
);
const ROUTE = `${IMPORTS}
  export const dynamic = "force-dynamic";
  export async function GET() { ${BODY} return new Response(${SAY}); }
`;
const TEST = (imports) => `${imports}${IMPORTS}
  import { TestStore } from "cinnabar/testing";
  test("the packages work", async () => { ${BODY} expect(${SAY}).toBe(process.env.EXPECTED); });
  test("the test kit", async () => {
    const seeded = await TestStore.open({ fill: (db) => db.set("code", "1234", "PX", 60_000) });
    const store = await seeded.fork();
    expect(await store.db.get("code")).toBe("1234");
    await store.clock.advance(60_001);
    expect([await store.db.get("code"), await seeded.db.get("code")]).toEqual([null, "1234"]);
    await store.close();
    await seeded.close();
  });
`;

const MOUNT = `
  const db = await open();
  const inspector = await consoleFor(db, { authorize: () => true });
  const page = await inspector.fetch(new Request("http://localhost/"));
  const text = await page.text();
  const script = await inspector.fetch(new Request(new URL(/src="([^"]+)"/.exec(text)[1], "http://localhost/")));
  const size = (await script.text()).length;
  await inspector.close();
  await db.close();
  console.log(page.status + " " + script.status + " " + (size > 1_000) + " on " + ${RUNTIME});
`;
const mountedOn = ({ says }) => `200 200 true on ${says}`;

/** Every way into the packages, as their manifests have it. */
const manifests = ["engine", "toolkit", "console"].map((member) =>
  JSON.parse(readFileSync(`${member}/package.json`, "utf8")),
);
export const PATHS = manifests.flatMap(({ name, exports }) =>
  Object.keys(exports)
    .filter((path) => path !== "./package.json")
    .map((path) => name + path.slice(1)),
);
export const PEERS = manifests.flatMap(({ peerDependencies = {} }) =>
  Object.entries(peerDependencies).map(([name, range]) => `${name}@${range}`),
);
const IMPORT_ALL = `
  const empty = [];
  for (const path of ${JSON.stringify(PATHS)}) {
    const found = await import(path);
    if (Object.keys(found).length === 0) empty.push(path);
  }
  console.log(empty.length === 0 ? "all on " + ${RUNTIME} : "nothing in " + empty);
  process.exit(0);
`;

const WEBPACK = `export default { mode: "development", devtool: false, target: "node20", entry: "./entry.mjs",
  output: { filename: "webpack.cjs" }, externalsPresets: { node: true } };`;
const ROLLUP = `import resolve from "@rollup/plugin-node-resolve"; import commonjs from "@rollup/plugin-commonjs";
  export default { input: "entry.mjs", plugins: [resolve({ preferBuiltins: true }), commonjs()],
  output: { dir: "rolled", format: "es" } };`;
const ESBUILD = [
  ...["entry.mjs", "--bundle", "--platform=node", "--format=esm", "--outfile=out.mjs", "--log-level=error"],
  "--banner:js=import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
];
const NEXT = {
  "app/api/route.js": ROUTE,
  "app/layout.jsx": "export default function Layout({ children }) { return <html><body>{children}</body></html>; }",
  "app/page.jsx": "export default function Page() { return <p>page</p>; }",
};

/** Not run on a runtime: "not supported" or "not tried", and why. */
export const skipped = (what, why) => ({ what, why });

const runs = (on, folder, ...words) => prints(expectedOn(on), on.program, on.words(...words), folder, on.env);
const tests = (on, folder, ...words) =>
  passes(on.program, on.words(...words), folder, { ...on.env, EXPECTED: expectedOn(on) });

const DRIVE = fileURLToPath(new URL("./drive.js", import.meta.url));
/** Starts a server, and fetches a page of it. */
const serves = (expected, on, folder, path, ...command) =>
  prints(expected, process.execPath, [DRIVE, path, ...command], folder, on.env);

export const ROWS = {
  "ES modules": {
    make: () => project("esm", { "main.mjs": ESM }),
    run: (on, folder) => runs(on, folder, "main.mjs"),
  },
  "CommonJS, require()": {
    make: () => project("cjs", { "main.cjs": CJS }),
    run: (on, folder) => runs(on, folder, "main.cjs"),
  },
  "TypeScript by tsx": {
    make: () => project("tsx", { "main.ts": TYPED }, ["tsx"]),
    run: (on, folder) => runs(on, folder, inModules(folder, "tsx/dist/cli.mjs"), "main.ts"),
  },
  "TypeScript by the runtime": {
    make: () => project("types", { "main.ts": TYPED }),
    run: (on, folder) =>
      on.says === "Node 20" ? skipped("not supported", "Node strips types from 22.18 on") : runs(on, folder, "main.ts"),
  },
  vitest: {
    make: () => project("vitest", { "a.test.ts": TEST('import { expect, test } from "vitest";') }, ["vitest@4"]),
    run: (on, folder) => tests(on, folder, inModules(folder, "vitest/vitest.mjs"), "run"),
  },
  Jest: {
    make: () =>
      project(
        "jest",
        { "a.test.mjs": TEST(""), "jest.config.mjs": 'export default { testMatch: ["**/*.test.mjs"] };' },
        ["jest@30"],
      ),
    run: (on, folder) => {
      const jest = inModules(folder, "jest/bin/jest.js");
      return on.kind === "node" ? tests(on, folder, "--experimental-vm-modules", jest) : tests(on, folder, jest);
    },
  },
  "esbuild, one file": {
    make: () => {
      const folder = project("esbuild", { "entry.mjs": ESM }, ["esbuild"]);
      return built(folder, inModules(folder, "esbuild/bin/esbuild"), ESBUILD);
    },
    run: (on, folder) => runs(on, folder, "out.mjs"),
  },
  rollup: {
    make: () => {
      const packages = ["rollup", "@rollup/plugin-node-resolve", "@rollup/plugin-commonjs"];
      const folder = project("rollup", { "entry.mjs": ESM, "rollup.config.mjs": ROLLUP }, packages);
      return built(folder, process.execPath, [inModules(folder, "rollup/dist/bin/rollup"), "-c", "--silent"]);
    },
    run: (on, folder) => runs(on, folder, "rolled/entry.js"),
  },
  webpack: {
    make: () => {
      const program = `async function main() {${BODY}console.log(${SAY});}\nmain();`;
      const files = { "entry.mjs": `${IMPORTS}${program}`, "webpack.config.mjs": WEBPACK };
      const folder = project("webpack", files, ["webpack", "webpack-cli"]);
      return built(folder, process.execPath, [inModules(folder, "webpack-cli/bin/cli.js")]);
    },
    run: (on, folder) => runs(on, folder, "dist/webpack.cjs"),
  },
  "every export path, with all frameworks": {
    make: () => project("exports", { "main.mjs": IMPORT_ALL }, PEERS),
    run: (on, folder) => prints(`all on ${on.says}`, on.program, on.words("main.mjs"), folder, on.env),
  },
  "Next.js 16, route handler": {
    make: () => project("next", NEXT, ["next@16", "react@19", "react-dom@19"]),
    // A build for itself on each runtime.
    run: (on, folder) => {
      const next = inModules(folder, "next/dist/bin/next");
      const env = { ...on.env, NEXT_TELEMETRY_DISABLED: "1" };
      const failed = passes(on.program, on.words(next, "build"), folder, env);
      const start = on.words(next, "start", "-p", "0", "-H", "127.0.0.1");
      return failed ?? serves(expectedOn(on), { ...on, env }, folder, "/api", on.program, ...start);
    },
  },
  "the console, `npx cinnabar`": {
    make: () => project("console", {}),
    run: (on, folder) => {
      // Its script starts node, so elsewhere the runtime gets the program.
      const command =
        on.kind === "node"
          ? ["npx", "--no-install", "cinnabar"]
          : [on.program, ...on.words(inModules(folder, "@cinnabar/console/bin/cinnabar.js"))];
      const [program, ...words] = command;
      return (
        prints("Usage: cinnabar", program, [...words, "--help"], folder, on.env) ??
        serves("<title>Cinnabar</title>", on, folder, "/", ...command, "--memory", "--port", "0", "--http-port", "0")
      );
    },
  },
  "the console in an application, import": {
    make: () =>
      project("mounted", {
        "main.mjs": `import { open } from "cinnabar"; import { consoleFor } from "@cinnabar/console";${MOUNT}`,
      }),
    run: (on, folder) => prints(mountedOn(on), on.program, on.words("main.mjs"), folder, on.env),
  },
  "the console in an application, require()": {
    make: () =>
      project("mounted-cjs", {
        "main.cjs": `const { open } = require("cinnabar"); const { consoleFor } = require("@cinnabar/console");
          (async () => {${MOUNT}})();`,
      }),
    run: (on, folder) => prints(mountedOn(on), on.program, on.words("main.cjs"), folder, on.env),
  },
};
