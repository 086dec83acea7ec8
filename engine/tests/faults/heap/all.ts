/**
 * Fills servers to the limit of their heap, in every way: `npm run faults:heap -- [megabytes ...] [--only name]`. Prints a
 * table. Heaps of 4096 MB take a while and several gigabytes of disk. With `--container 512,1024` the process may take that much
 * memory, and has the heap that the launcher would give it; what is outside the heap is filled only so.
 */
import { Container } from "./container.ts";
import { type FillOptions, fillToTheLimit } from "./fill.ts";
import { kinds } from "./kinds.ts";

const words = process.argv.slice(2);
const at = words.indexOf("--only");
const only = at < 0 ? undefined : words.splice(at, 2)[1];
const inside = words.indexOf("--container");
const containers = inside < 0 ? [] : words.splice(inside, 2)[1]!.split(",").map(Number);
const heaps = words.length > 0 || containers.length > 0 ? words.map(Number) : [300, 1024, 4096];
const strings = kinds.find(({ name }) => name === "SET 1 kB");
const hashes = kinds.find(({ name }) => name === "small hashes");

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
const bounds = [...heaps.map((heapMb) => ({ heapMb })), ...containers.map((containerMb) => ({ containerMb }))];
for (const bound of bounds) {
  for (const { name, ...options } of runs) {
    if (only !== undefined && !name.includes(only)) continue;
    // Two processes would share the container.
    if ("containerMb" in bound ? options.replica : options.kind.outside) continue;
    const container = "containerMb" in bound ? new Container(bound.containerMb) : undefined;
    const heapMb = "containerMb" in bound ? bound.containerMb * 0.75 : bound.heapMb;
    let row: (string | number)[];
    try {
      const figures = await fillToTheLimit({ ...options, heapMb, ...(container && { container }) });
      if (container !== undefined && container.kills > 0) throw new Error("the kernel ended the process");
      const replica =
        figures.replicaKept === undefined ? "" : figures.replicaKept ? "replica kept up" : "replica gave up";
      row = [figures.acknowledged, figures.refused, `${figures.usedHeapMb} MB`, figures.missing];
      row.push(`${figures.seconds.toFixed(0)} s`, `${figures.restartSeconds.toFixed(1)} s`, replica);
      if (figures.missing > 0) process.exitCode = 1;
    } catch (error) {
      row = ["FAILED", "", "", "", "", "", (error as Error).message];
      process.exitCode = 1;
    }
    container?.remove();
    console.log(
      `| ${[`${heapMb} MB${container === undefined ? "" : ` in ${container.megabytes}`}`, name, ...row].join(" | ")} |`,
    );
  }
}
