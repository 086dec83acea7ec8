#!/usr/bin/env node
import { existsSync } from "node:fs";
import module from "node:module";

// Where Node has it (22.1 and later), what was compiled once is read from a file the next time.
module.enableCompileCache?.();

const built = new URL("../dist/bin/cinnabar-server.js", import.meta.url);
if (existsSync(built)) await import(built.href);
else {
  console.error("cinnabar-server is not built yet: run `npm run build` first.");
  process.exit(1);
}
