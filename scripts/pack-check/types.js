/** The declarations, as strict programs of users read them: ours are checked too (`skipLibCheck: false`). */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, inModules, passes, project } from "./projects.js";
import { PATHS, PEERS, TYPED } from "./rows.js";

export const COMPILERS = ["5.4", "5.9", "6.0", "7.0"];
export const RESOLUTIONS = { nodenext: "nodenext", node16: "node16", bundler: "esnext" };

const TYPE_ALL = PATHS.map((path, at) => `import * as a${at} from "${path}"; export const b${at} = a${at};`).join("\n");

function configure(folder, moduleResolution, types) {
  const compilerOptions = {
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    target: "es2022",
    module: RESOLUTIONS[moduleResolution],
    moduleResolution,
    types,
    experimentalDecorators: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
}

/** By compiler and resolution: null, or what is wrong. */
export function checkTypes() {
  const cells = new Map();
  for (const version of COMPILERS) {
    const folder = project(`typescript-${version}`, { "main.ts": TYPED }, [`typescript@${version}`, "@types/node@20"]);
    for (const resolution of Object.keys(RESOLUTIONS)) {
      configure(folder, resolution, ["node"]);
      const outcome = passes(process.execPath, [inModules(folder, "typescript/bin/tsc")], folder);
      cells.set(`${version} ${resolution}`, outcome);
    }
  }
  return cells;
}

/** Every way in, beside the declarations of all frameworks: what is wrong in ours counts, what is wrong in theirs does not. */
export function checkAllTypes() {
  const types = ["node@20", "express@5", "express-session@1", "koa@3"].map((each) => `@types/${each}`);
  const compilers = COMPILERS.map((version) => `typescript-${version}@npm:typescript@${version}`);
  const folder = project("all-types", { "main.ts": TYPE_ALL }, [...PEERS, ...types, ...compilers]);
  const cells = new Map();
  for (const resolution of Object.keys(RESOLUTIONS)) {
    configure(folder, resolution, ["node", "express-session"]);
    for (const version of COMPILERS) {
      const { output } = call(process.execPath, [inModules(folder, `typescript-${version}/bin/tsc`)], folder);
      const ours = output.split("\n").filter((line) => /^(main\.ts|node_modules\/(@cinnabar|cinnabar)\/)/.test(line));
      const isBroken = !/^\S*error|: error TS/m.test(output) && output.trim() !== "";
      const outcome = ours.length > 0 || isBroken ? (ours.join("\n") || output).slice(0, 600) : null;
      cells.set(`${version} ${resolution}`, outcome);
    }
  }
  return cells;
}
