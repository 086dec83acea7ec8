/**
 * Tries the packages as a user gets them: `npm run pack:check`. publint and are-the-types-wrong read the tarballs; then a project
 * for each module system and tool installs them and runs one program on each runtime. Writes docs/compatibility.md.
 *
 *   npm run pack:check                       everything
 *   node scripts/pack-check.js --only jest   some rows, printed and not written
 *   node scripts/pack-check.js --only types  the declarations of every export path
 *   node scripts/pack-check.js --only files  what can be seen without running: lint, documents, source maps
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { call, removeProjects, withNode } from "./pack-check/projects.js";
import { ROWS } from "./pack-check/rows.js";
import { checkDocuments, checkMaps, lint } from "./pack-check/tarballs.js";
import { COMPILERS, checkAllTypes, checkTypes, RESOLUTIONS } from "./pack-check/types.js";
import { bunProgram, denoProgram, NODES, nodeOf } from "./runtimes.js";

const { values: flags } = parseArgs({ options: { only: { type: "string" } } });

/** `says`: what the programs call it. */
const plain = (...words) => words;
const runtimes = [
  ...NODES.map((release) => {
    const program = nodeOf(release);
    const name = `Node ${release}`;
    return { name, kind: "node", says: name, program, words: plain, env: withNode(program) };
  }),
  { name: "Bun 1", kind: "bun", says: "Bun", program: bunProgram(), words: plain, env: {} },
  {
    name: "Deno 2",
    kind: "deno",
    says: "Deno",
    program: denoProgram(),
    words: (...words) => ["run", "-A", ...words],
    env: {},
  },
];
const failures = [];
const reasons = [];

function cell(what, outcome) {
  if (outcome === null) return "yes";
  if (typeof outcome === "string") {
    failures.push(`${what}:\n${outcome}`);
    return "**no**";
  }
  reasons.push(`- ${what}: ${outcome.what}. ${outcome.why}.`);
  return outcome.what;
}

const line = (cells) => `| ${cells.join(" | ")} |`;
const table = (head, lines) => [line(head), `|${" --- |".repeat(head.length)}`, ...lines].join("\n");

function tryRows(only) {
  const lines = [];
  for (const [name, row] of Object.entries(ROWS)) {
    if (!name.toLowerCase().includes(only)) continue;
    process.stderr.write(`${name}\n`);
    const folder = row.make();
    lines.push(line([name, ...runtimes.map((on) => cell(`${name}, on ${on.name}`, row.run(on, folder)))]));
  }
  return table(["", ...runtimes.map(({ name }) => name)], lines);
}

function tryTypes() {
  process.stderr.write("TypeScript\n");
  const [one, all] = [checkTypes(), checkAllTypes()];
  const resolutions = Object.keys(RESOLUTIONS);
  const lines = COMPILERS.map((version) =>
    line([
      version,
      ...resolutions.map((each) => cell(`TypeScript ${version}, ${each}`, one.get(`${version} ${each}`))),
      ...resolutions.map((each) =>
        cell(`TypeScript ${version}, ${each}, every export path`, all.get(`${version} ${each}`)),
      ),
    ]),
  );
  const head = ["TypeScript", ...resolutions, ...resolutions.map((each) => `every export path, ${each}`)];
  return table(head, lines);
}

const tryFiles = () => failures.push(...lint(), ...checkDocuments(), ...checkMaps());

function everything() {
  tryFiles();
  const ran = tryRows("");
  const compiled = tryTypes();
  const versions = runtimes
    .map(({ program, name }) => `${name}: ${call(program, ["--version"]).stdout.split("\n")[0]}`)
    .join("; ");
  writeFileSync(
    "docs/compatibility.md",
    `# Where it runs

Written by \`npm run pack:check\`: each cell is a project that installs the packed tarballs and runs one program, which takes a lock and works off a queue on the embedded store, and says on which runtime it runs. The projects of vitest and Jest use the [test kit](testing.md) too. esbuild, rollup and webpack bundle on Node, and what they have made runs in each cell; tsx, vitest, Jest and Next.js run on the runtime themselves.

${versions}.

${ran}
${reasons.length === 0 ? "" : `\n${reasons.join("\n")}\n`}
The packages are ES modules. \`require()\` of them needs Node 20.19, 22.12 or later, Bun, or Deno. On Node, Jest needs \`NODE_OPTIONS=--experimental-vm-modules\`, as for all ES modules. On Bun and Deno, \`cinnabar\` is started by its file (\`bun node_modules/@cinnabar/console/bin/cinnabar.js\`), because its script starts Node.

## TypeScript

\`strict\`, with \`skipLibCheck: false\`, by \`moduleResolution\`: first for the program above, then for one that imports every way in of the three packages beside all frameworks.

${compiled}
`,
  );
}

try {
  if (flags.only === undefined) everything();
  else if (flags.only === "types") console.log(tryTypes());
  else if (flags.only === "files") tryFiles();
  else console.log([tryRows(flags.only.toLowerCase()), ...reasons].join("\n"));
} finally {
  removeProjects();
}
for (const failure of failures) console.error(`\nFAILED: ${failure}`);
console.log(failures.length === 0 ? "All passed." : `${failures.length} failed.`);
process.exitCode = failures.length === 0 ? 0 : 1;
