/**
 * Tries the packages as a user gets them: `npm run pack:check`. publint and are-the-types-wrong read the tarballs; then a project
 * for each module system and tool installs them and runs one program on each runtime. Writes docs/compatibility.md.
 *
 *   npm run pack:check                       everything
 *   node scripts/pack-check.js --only jest   some rows, printed and not written
 *   node scripts/pack-check.js --only types  the declarations of every export path
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { files } from "./files.js";
import { bunProgram, denoProgram, NODES, nodeOf } from "./runtimes.js";

const { values: flags } = parseArgs({ options: { only: { type: "string" } } });
const PACKAGES = resolve(".packages");
const tarballs = readdirSync(PACKAGES).filter((name) => name.endsWith(".tgz"));

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
const EXPECTED = "held true, sent to ann";
const SAY = '"held " + held + ", " + outcome.result';
const ESM = `${IMPORTS}${BODY}console.log(${SAY});`;
const CJS = `
  const { open } = require("cinnabar");
  const { Locks } = require("cinnabar/locks");
  const { Queue, Worker } = require("cinnabar/queues");
  (async () => { ${BODY} console.log(${SAY}); })();
`;
const TYPED = ESM.replace("new Queue(db", "new Queue<{ to: string }, string>(db").replace(
  SAY,
  `outcome.status === "done" ? ${SAY} : outcome.status`,
);
const ROUTE = `${IMPORTS}
  export const dynamic = "force-dynamic";
  export async function GET() { ${BODY} return new Response(${SAY}); }
`;

/** Every way into the packages, as their manifests have it. */
const manifests = ["engine", "toolkit"].map((member) => JSON.parse(readFileSync(`${member}/package.json`, "utf8")));
const PATHS = manifests.flatMap(({ name, exports }) =>
  Object.keys(exports)
    .filter((path) => path !== "./package.json")
    .map((path) => name + path.slice(1)),
);
const PEERS = Object.keys(manifests[1].peerDependencies);
const IMPORT_ALL = `
  const empty = [];
  for (const path of ${JSON.stringify(PATHS)}) {
    const found = await import(path);
    if (Object.keys(found).length === 0) empty.push(path);
  }
  console.log(empty.length === 0 ? "${EXPECTED}" : "nothing in " + empty);
  process.exit(0);
`;
const TYPE_ALL = PATHS.map((path, at) => `import * as a${at} from "${path}"; export const b${at} = a${at};`).join("\n");

/** A folder with these files and packages, beside our tarballs. */
function project(name, files, packages = []) {
  const folder = join(room, name);
  const manifest = { name, private: true, type: files["main.cjs"] === undefined ? "module" : "commonjs" };
  for (const [file, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const ours = tarballs.filter((file) => !file.includes("console")).map((file) => join(PACKAGES, file));
  const { status, output } = call(
    "npm",
    ["install", "--no-audit", "--no-fund", "--prefer-offline", ...ours, ...packages],
    folder,
  );
  if (status !== 0) throw new Error(`${name}: ${output}`);
  // Tools may want a newer Node; ours must not.
  if (packages.length === 0 && output.includes("EBADENGINE"))
    throw new Error(`${name}: npm warns of the engine: ${output}`);
  return folder;
}

function call(program, args, cwd, env = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "", ...env },
    timeout: 300_000,
  });
  return { status, stdout: stdout ?? "", output: `${stdout ?? ""}${stderr ?? ""}${error ?? ""}` };
}

const bin = (folder, file) => join(folder, "node_modules", file);
const path = (program) => ({ PATH: `${dirname(program)}:${process.env.PATH}` });

/** What a run must print, and nothing that looks like a warning. */
const prints = (program, args, folder, env) => {
  const { status, stdout, output } = call(program, args, folder, env);
  return status === 0 && stdout.includes(EXPECTED) ? null : output.trim().slice(-600) || `ended with ${status}`;
};
const passes = (program, args, folder, env) => {
  const { status, output } = call(program, args, folder, env);
  return status === 0 ? null : output.trim().slice(-600) || `ended with ${status}`;
};

const TEST = (imports) => `${imports}${IMPORTS}
  test("the packages work", async () => { ${BODY} expect(${SAY}).toBe("${EXPECTED}"); });
`;
const WEBPACK = `export default { mode: "development", devtool: false, target: "node20", entry: "./entry.mjs",
  output: { filename: "webpack.cjs" }, externalsPresets: { node: true } };`;
const ROLLUP = `import resolve from "@rollup/plugin-node-resolve"; import commonjs from "@rollup/plugin-commonjs";
  export default { input: "entry.mjs", plugins: [resolve({ preferBuiltins: true }), commonjs()],
  output: { dir: "rolled", format: "es" } };`;

/** Each row: its project, and how it is run on a runtime. Null is a pass, a text says what went wrong, undefined: not tried. */
const ROWS = {
  "ES modules": {
    make: () => project("esm", { "main.mjs": ESM }),
    node: (node, folder) => prints(node, ["main.mjs"], folder),
    bun: (bun, folder) => prints(bun, ["main.mjs"], folder),
    deno: (deno, folder) => prints(deno, ["run", "-A", "main.mjs"], folder),
  },
  "CommonJS, require()": {
    make: () => project("cjs", { "main.cjs": CJS }),
    node: (node, folder) => prints(node, ["main.cjs"], folder),
    bun: (bun, folder) => prints(bun, ["main.cjs"], folder),
    deno: (deno, folder) => prints(deno, ["run", "-A", "main.cjs"], folder),
  },
  "TypeScript by tsx": {
    make: () => project("tsx", { "main.ts": TYPED }, ["tsx"]),
    node: (node, folder) => prints(node, [bin(folder, "tsx/dist/cli.mjs"), "main.ts"], folder),
  },
  "TypeScript by the runtime": {
    make: () => project("types", { "main.ts": TYPED }),
    // Node strips types from 22.18 and 23.6 on.
    node: (node, folder, release) => (release === "20" ? undefined : prints(node, ["main.ts"], folder)),
    bun: (bun, folder) => prints(bun, ["main.ts"], folder),
    deno: (deno, folder) => prints(deno, ["run", "-A", "main.ts"], folder),
  },
  vitest: {
    make: () => project("vitest", { "a.test.ts": TEST('import { expect, test } from "vitest";') }, ["vitest@4"]),
    node: (node, folder) => passes(node, [bin(folder, "vitest/vitest.mjs"), "run"], folder),
  },
  "Jest, with --experimental-vm-modules": {
    make: () =>
      project(
        "jest",
        { "a.test.mjs": TEST(""), "jest.config.mjs": 'export default { testMatch: ["**/*.test.mjs"] };' },
        ["jest@30"],
      ),
    node: (node, folder) => passes(node, ["--experimental-vm-modules", bin(folder, "jest/bin/jest.js")], folder),
  },
  "esbuild, one file": {
    make: () => {
      const folder = project("esbuild", { "entry.mjs": ESM }, ["esbuild"]);
      const banner =
        "--banner:js=import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
      const args = [
        "entry.mjs",
        "--bundle",
        "--platform=node",
        "--format=esm",
        "--outfile=out.mjs",
        "--log-level=error",
        banner,
      ];
      return built(folder, bin(folder, "esbuild/bin/esbuild"), args);
    },
    node: (node, folder) => prints(node, ["out.mjs"], folder),
    bun: (bun, folder) => prints(bun, ["out.mjs"], folder),
  },
  rollup: {
    make: () => {
      const packages = ["rollup", "@rollup/plugin-node-resolve", "@rollup/plugin-commonjs"];
      const folder = project("rollup", { "entry.mjs": ESM, "rollup.config.mjs": ROLLUP }, packages);
      return built(folder, process.execPath, [bin(folder, "rollup/dist/bin/rollup"), "-c", "--silent"]);
    },
    node: (node, folder) => prints(node, ["rolled/entry.js"], folder),
  },
  webpack: {
    make: () => {
      const program = `async function main() {${BODY}console.log(${SAY});}\nmain();`;
      const folder = project("webpack", { "entry.mjs": `${IMPORTS}${program}`, "webpack.config.mjs": WEBPACK }, [
        "webpack",
        "webpack-cli",
      ]);
      return built(folder, process.execPath, [bin(folder, "webpack-cli/bin/cli.js")]);
    },
    node: (node, folder) => prints(node, ["dist/webpack.cjs"], folder),
  },
  "every export path, with all frameworks": {
    make: () => project("exports", { "main.mjs": IMPORT_ALL }, PEERS),
    node: (node, folder) => prints(node, ["main.mjs"], folder),
    bun: (bun, folder) => prints(bun, ["main.mjs"], folder),
    deno: (deno, folder) => prints(deno, ["run", "-A", "main.mjs"], folder),
  },
  "Next.js 16, route handler": {
    make: () => {
      const layout = "export default function Layout({ children }) { return <html><body>{children}</body></html>; }";
      const page = "export default function Page() { return <p>page</p>; }";
      return project("next", { "app/api/route.js": ROUTE, "app/layout.jsx": layout, "app/page.jsx": page }, [
        "next@16",
        "react@19",
        "react-dom@19",
      ]);
    },
    // Next needs Node 20.9 and later, and a build for itself on each.
    node: (node, folder) => {
      const next = bin(folder, "next/dist/bin/next");
      const env = { ...path(node), NEXT_TELEMETRY_DISABLED: "1" };
      const failed = passes(node, [next, "build"], folder, env);
      return failed ?? prints(node, ["serve.mjs"], folder, env);
    },
  },
};

const SERVE = `
  import { spawn } from "node:child_process";
  const child = spawn(process.execPath, ["node_modules/next/dist/bin/next", "start", "-p", "0", "-H", "127.0.0.1"]);
  let said = "";
  child.stderr.pipe(process.stderr);
  for await (const chunk of child.stdout) {
    said += chunk;
    const [, port] = /http:\\/\\/(?:localhost|127\\.0\\.0\\.1):(\\d+)/.exec(said) ?? [];
    if (port === undefined || port === "0") continue;
    const answer = await fetch("http://127.0.0.1:" + port + "/api");
    console.log(await answer.text());
    child.kill();
    break;
  }
`;

function built(folder, program, args) {
  const failed = passes(program, args, folder);
  if (failed !== null) throw new Error(failed);
  return folder;
}

/** TypeScript reads the declarations, ours and nobody else's unchecked. */
const COMPILERS = ["5.4", "5.9", "6.0", "7.0"];
const RESOLUTIONS = { nodenext: "nodenext", node16: "node16", bundler: "esnext" };

function checkTypes() {
  const rows = new Map();
  for (const version of COMPILERS) {
    const folder = project(`typescript-${version}`, { "main.ts": TYPED }, [`typescript@${version}`, "@types/node@20"]);
    for (const [moduleResolution, module] of Object.entries(RESOLUTIONS)) {
      const compilerOptions = {
        strict: true,
        skipLibCheck: false,
        noEmit: true,
        target: "es2022",
        module,
        moduleResolution,
        types: ["node"],
      };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
      rows.set(`${version} ${moduleResolution}`, passes(process.execPath, [bin(folder, "typescript/bin/tsc")], folder));
    }
  }
  return rows;
}

/** Declarations of every way in, beside those of all frameworks: what is wrong in ours counts, what is wrong in theirs does not. */
function checkAllTypes() {
  const types = ["node@20", "express@5", "express-session@1", "koa@3"].map((each) => `@types/${each}`);
  const compilers = COMPILERS.map((version) => `typescript-${version}@npm:typescript@${version}`);
  const folder = project("all-types", { "main.ts": TYPE_ALL }, [...PEERS, ...types, ...compilers]);
  const compilerOptions = {
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    target: "es2022",
    module: "nodenext",
    types: ["node", "express-session"],
    experimentalDecorators: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
  return COMPILERS.map((version) => {
    const { output } = call(process.execPath, [bin(folder, `typescript-${version}/bin/tsc`)], folder);
    const ours = output.split("\n").filter((line) => /^(main\.ts|node_modules\/(@cinnabar|cinnabar)\/)/.test(line));
    const isBroken = !/^\S*error|: error TS/m.test(output) && output.trim() !== "";
    return ours.length > 0 || isBroken ? `${version}: ${(ours.join("\n") || output).slice(0, 600)}` : null;
  });
}

function lint() {
  const found = [];
  for (const file of tarballs) {
    const tarball = join(PACKAGES, file);
    const publint = passes("npx", ["publint", "run", tarball, "--strict"], process.cwd());
    if (publint !== null) found.push(`publint, ${file}: ${publint}`);
    if (file.includes("console")) continue;
    const types = passes("npx", ["attw", tarball, "--profile", "esm-only"], process.cwd());
    if (types !== null) found.push(`are-the-types-wrong, ${file}: ${types}`);
  }
  return found;
}

/** Links of shipped documents lead to shipped files, and every package has its licence. */
function checkDocuments() {
  const found = [];
  for (const member of ["engine", "toolkit", "console"]) {
    const folder = join(PACKAGES, member);
    if (!existsSync(join(folder, "LICENSE"))) found.push(`${member} has no LICENSE`);
    for (const file of files(folder, (name) => name.endsWith(".md"))) {
      for (const [, link] of readFileSync(file, "utf8").matchAll(/\]\(([^)#\s]+)(?:#[^)\s]*)?\)/g)) {
        if (!/^[a-z]+:/.test(link) && !existsSync(resolve(dirname(file), link)))
          found.push(`${file}: ${link} is not shipped`);
      }
    }
  }
  return found;
}

const room = mkdtempSync(join(tmpdir(), "cinnabar-packages-"));
const failures = [];
try {
  const runtimes = [
    ...NODES.map((release) => ({ name: `Node ${release}`, kind: "node", release, program: nodeOf(release) })),
    { name: "Bun 1", kind: "bun", program: bunProgram() },
    { name: "Deno 2", kind: "deno", program: denoProgram() },
  ];
  const cell = (what, outcome) => {
    if (outcome === undefined) return "";
    if (outcome !== null) failures.push(`${what}:\n${outcome}`);
    return outcome === null ? "yes" : "**no**";
  };
  const lines = [];
  for (const [name, row] of Object.entries(ROWS)) {
    if (flags.only === "types" || (flags.only !== undefined && !name.toLowerCase().includes(flags.only.toLowerCase())))
      continue;
    process.stderr.write(`${name}\n`);
    const folder = row.make();
    if (name.startsWith("Next")) writeFileSync(join(folder, "serve.mjs"), SERVE);
    const cells = runtimes.map(({ name: runtime, kind, release, program }) =>
      cell(`${name} on ${runtime}`, row[kind]?.(program, folder, release)),
    );
    lines.push(`| ${name} | ${cells.join(" | ")} |`);
  }
  const table = [
    `| | ${runtimes.map(({ name }) => name).join(" | ")} |`,
    `| --- |${" --- |".repeat(runtimes.length)}`,
    ...lines,
  ].join("\n");
  if (flags.only === "types") {
    for (const [at, outcome] of checkAllTypes().entries())
      cell(`TypeScript ${COMPILERS[at]}, every export path`, outcome);
  } else if (flags.only !== undefined) console.log(table);
  else {
    failures.push(...lint(), ...checkDocuments());
    const types = checkTypes();
    const allTypes = checkAllTypes();
    const typeLines = COMPILERS.map(
      (version) =>
        `| ${version} | ${Object.keys(RESOLUTIONS)
          .map((each) => cell(`TypeScript ${version}, ${each}`, types.get(`${version} ${each}`)))
          .join(" | ")} | ${cell(`TypeScript ${version}, every export path`, allTypes[COMPILERS.indexOf(version)])} |`,
    );
    const versions = runtimes
      .map(({ program, name }) => `${name}: ${call(program, ["--version"]).stdout.split("\n")[0]}`)
      .join("; ");
    writeFileSync(
      "docs/compatibility.md",
      `# Where it runs

Written by \`npm run pack:check\`: each cell is a project that installs the packed tarballs and runs one program, which takes a lock and works off a queue on the embedded store. An empty cell was not tried.

${versions}.

${table}

The packages are ES modules. \`require()\` of them needs Node 20.19, 22.12 or later, or Bun. Jest needs \`NODE_OPTIONS=--experimental-vm-modules\`, as for all ES modules.

## TypeScript

\`strict\`, with \`skipLibCheck: false\`; the first columns are \`moduleResolution\`, the last one imports every way in beside all frameworks, with \`nodenext\`.

| TypeScript | ${Object.keys(RESOLUTIONS).join(" | ")} | every export path |
| --- |${" --- |".repeat(Object.keys(RESOLUTIONS).length + 1)}
${typeLines.join("\n")}
`,
    );
  }
} finally {
  rmSync(room, { recursive: true, force: true });
}
for (const failure of failures) console.error(`\nFAILED: ${failure}`);
console.log(failures.length === 0 ? "All passed." : `${failures.length} failed.`);
process.exitCode = failures.length === 0 ? 0 : 1;
