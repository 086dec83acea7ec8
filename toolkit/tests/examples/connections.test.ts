/** The examples of connections and configuration: they run, say what is written here, and the documents show them. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { TestCertificates } from "../../../engine/tests/kit/certificates.ts";

const root = join(import.meta.dirname, "../../..");
const EXAMPLES = [
  { file: "tls.ts", document: "docs/tls.md", said: ["hello"] },
  {
    file: "connections.ts",
    document: "docs/connections.md",
    said: ["[ '10', 3, [] ]", "6 null", "1", "hello", "[ '{shop}:jobs', 'pack' ]"],
  },
  {
    file: "commands.ts",
    document: "docs/connections.md",
    said: ["hello 60", "{ name: 'Ann', visits: '3' }", "[ 'ann', '30', 'ben', '10' ]", "4 1"],
  },
  {
    file: "registry.ts",
    document: "docs/upgrading.md",
    said: [
      "inside",
      "[",
      "  { component: 'locks', version: 1 },",
      "  { component: 'queues', version: 1 }",
      "]",
      "[ { prefix: 'queue', name: 'mails', details: { shards: 2 } } ]",
      "true carts: the store has version 7 of its keys, and this program reads version 1; use the version of cinnabar that wrote them, or a newer one",
    ],
  },
  {
    file: "config.ts",
    document: "toolkit/src/components/config/README.md",
    said: [
      "page size 20",
      "version 1 page size 50",
      "version 2 page size 60",
      "conflict",
      "changed 2 bob ",
      "changed 1 ann larger screens",
      "closed for moving house",
      "cache PONG",
    ],
  },
] as const;

const certificates = new TestCertificates();
afterAll(() => certificates.remove());

test.each(EXAMPLES)("$file runs and says what it should", ({ file, said }) => {
  const cwd = mkdtempSync(join(tmpdir(), "cinnabar-example-"));
  cpSync(certificates.folder.path, cwd, { recursive: true });
  const args = ["--import", join(root, "node_modules/tsx/dist/esm/index.mjs")];
  const { stdout, stderr } = spawnSync(process.execPath, [...args, join(import.meta.dirname, file)], {
    encoding: "utf8",
    timeout: 25_000,
    cwd,
  });
  rmSync(cwd, { recursive: true });
  expect(stderr).toBe("");
  expect(stdout.trimEnd().split("\n")).toEqual(said);
});

test.each(EXAMPLES)("$file is what $document shows", ({ file, document }) => {
  const example = readFileSync(join(import.meta.dirname, file), "utf8");
  expect(readFileSync(join(root, document), "utf8")).toContain(
    `\`\`\`ts\n// toolkit/tests/examples/${file}\n${example}\`\`\`\n`,
  );
});
