/**
 * Fills servers to the limit of their heap, in every way: `npm run faults:heap -- [megabytes ...] [--only name]`. Prints a
 * table. Heaps of 4096 MB take a while and several gigabytes of disk.
 */
import { type FillOptions, fillToTheLimit } from "./fill.ts";
import { kinds } from "./kinds.ts";

const words = process.argv.slice(2);
const at = words.indexOf("--only");
const only = at < 0 ? undefined : words.splice(at, 2)[1];
const heaps = words.length > 0 ? words.map(Number) : [300, 1024, 4096];
const [strings, hashes] = kinds;

const runs: readonly (Omit<FillOptions, "heapMb"> & { readonly name: string })[] = [
  ...kinds.map((kind) => ({ kind, name: kind.name })),
  { kind: strings!, name: "SET 1 kB, 50 connections, pipelines of 1000", connections: 50, pipeline: 1000 },
  { kind: strings!, name: "SET 1 kB, replica", replica: true },
  { kind: hashes!, name: "small hashes, replica", replica: true },
  { kind: strings!, name: "SET 1 kB, AOF rewrites", meanwhile: "BGREWRITEAOF" },
  { kind: strings!, name: "SET 1 kB, snapshots, replica", meanwhile: "BGSAVE", replica: true },
  { kind: strings!, name: "SET 1 kB, appendfsync always", flags: ["--appendfsync", "always"] },
];

console.log("| heap | filled with | acknowledged | refused | heap in use | missing | filled in | restarted in | |");
console.log("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
for (const heapMb of heaps) {
  for (const { name, ...options } of runs) {
    if (only !== undefined && !name.includes(only)) continue;
    let row: (string | number)[];
    try {
      const figures = await fillToTheLimit({ ...options, heapMb });
      const replica =
        figures.replicaKept === undefined ? "" : figures.replicaKept ? "replica kept up" : "replica gave up";
      row = [figures.acknowledged, figures.refused, `${figures.usedHeapMb} MB`, figures.missing];
      row.push(`${figures.seconds.toFixed(0)} s`, `${figures.restartSeconds.toFixed(1)} s`, replica);
      if (figures.missing > 0) process.exitCode = 1;
    } catch (error) {
      row = ["FAILED", "", "", "", "", "", (error as Error).message];
      process.exitCode = 1;
    }
    console.log(`| ${[`${heapMb} MB`, name, ...row].join(" | ")} |`);
  }
}
