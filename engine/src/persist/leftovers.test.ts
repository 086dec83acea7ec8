import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EmbeddedEngine } from "../embed/embedded.ts";

test("what a crash has left half written is removed at the start, and nothing else", async () => {
  const dir = mkdtempSync(join(tmpdir(), "cinnabar-leftovers-"));
  try {
    // No process has a number as high as this.
    const gone = [
      "temp-99999999.rdb",
      "temp-99999999-bg.rdb",
      "temp-rewriteaof-bg-99999999.aof",
      "temp-rewriteaof-99999999.aof",
    ];
    const kept = ["temp-1.rdb", "temp-file.rdb", "temp-99999999.txt", "template-99999999.rdb", "temp-99999999.rdb.bak"];
    mkdirSync(join(dir, "appendonlydir"));
    for (const name of [...gone, ...kept]) writeFileSync(join(dir, name), "x");
    writeFileSync(join(dir, "appendonlydir", "temp-99999999.rdb"), "x");
    const engine = await EmbeddedEngine.open({ dir });
    await engine.close();
    expect(readdirSync(dir).sort()).toEqual([...kept, "appendonlydir"].sort());
    expect(readdirSync(join(dir, "appendonlydir")).some((name) => name.startsWith("temp"))).toBe(false);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
