#!/usr/bin/env node
import { existsSync } from "node:fs";

const built = new URL("../dist/bin/cinnabar-check-aof.js", import.meta.url);
if (existsSync(built)) await import(built.href);
else {
  console.error("cinnabar-check-aof is not built yet: run `npm run build` first.");
  process.exit(1);
}
