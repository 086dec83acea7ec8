/**
 * Coordination, messages, structures and jobs beside what people use for them: packages of npm on the same Redis or in this
 * process, and the commands that one writes by hand over ioredis where there is no package. Rounds in turn, medians.
 *
 * Calls a second depend on what else the machine does; the processor time of this process for a call hardly does, so it stands
 * beside them. Threads count, child processes do not.
 */
import { Redis } from "ioredis";
import { median, startServer } from "./servers.ts";
import { collectionCases } from "./structures-collections.ts";
import { coordinationCases } from "./structures-coordination.ts";
import { jobCases } from "./structures-jobs.ts";
import { Sides, type StructureCase } from "./structures-kit.ts";
import { sketchCases } from "./structures-sketches.ts";
import type { Op } from "./web.ts";

interface Figure {
  /** A second. */
  readonly calls: number;
  /** Of processor time, for a call. */
  readonly micros: number;
}

export interface StructureRow {
  readonly test: string;
  readonly against: string;
  /** On the embedded store where the other is in the process, too. */
  readonly ours: Figure;
  readonly theirs: Figure;
  readonly embedded: Figure;
}

async function measured(op: Op, inFlight: number, ms: number, each: number): Promise<Figure> {
  let calls = 0;
  const started = performance.now();
  const before = process.cpuUsage();
  const caller = async (): Promise<void> => {
    while (performance.now() - started < ms) await op(calls++);
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - started) / 1_000;
  return { calls: (calls * each) / seconds, micros: (user + system) / (calls * each) };
}

function middle(figures: readonly Figure[]): Figure {
  return { calls: median(figures.map(({ calls }) => calls)), micros: median(figures.map(({ micros }) => micros)) };
}

async function compare(each: StructureCase, quick: boolean): Promise<StructureRow[]> {
  const subjects: [string, Op][] = [
    ...(each.ours === undefined ? [] : [["ours", each.ours] as [string, Op]]),
    ["embedded", each.embedded],
    ...Object.entries(each.others),
    ...Object.entries(each.inProcess),
  ];
  const figures = new Map<string, Figure[]>(subjects.map(([name]) => [name, []]));
  // Past what is compiled on the way.
  for (const [, op] of subjects) await measured(op, each.inFlight, quick ? 30 : 300, each.each);
  for (let round = 0; round < (quick ? 1 : 5); round++) {
    for (const [name, op] of round % 2 === 0 ? subjects : [...subjects].reverse()) {
      figures.get(name)!.push(await measured(op, each.inFlight, quick ? 60 : 400, each.each));
    }
  }
  process.stderr.write(".");
  const figure = (name: string): Figure => middle(figures.get(name)!);
  const row = (against: string, ours: string): StructureRow => ({
    test: `${each.test}, ${each.inFlight} in flight`,
    against,
    ours: figure(ours),
    theirs: figure(against),
    embedded: figure("embedded"),
  });
  return [
    ...Object.keys(each.others).map((against) => row(against, "ours")),
    ...Object.keys(each.inProcess).map((against) => row(against, "embedded")),
  ];
}

export async function compareStructures(quick: boolean): Promise<StructureRow[]> {
  const server = await startServer("redis");
  const admin = new Redis({ port: server.port, host: "127.0.0.1" });
  const rows: StructureRow[] = [];
  for (const make of [...coordinationCases, ...sketchCases, ...collectionCases, ...jobCases]) {
    await admin.flushall();
    const sides = await Sides.open(server.port);
    for (const each of await make(sides)) rows.push(...(await compare(each, quick)));
    await sides.close();
  }
  process.stderr.write("\n");
  admin.disconnect();
  await server.stop();
  return rows;
}

export function structureTable(rows: readonly StructureRow[]): string {
  const whole = (value: number): string => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  const cell = ({ calls, micros }: Figure): string =>
    `${whole(calls)} (${micros.toFixed(micros < 1 ? 2 : micros < 100 ? 1 : 0)})`;
  return [
    "**Coordination, messages, structures and jobs**, beside others on the same Redis, or in the same process; calls a second (µs of the client's processor time for each). More calls are better, and less processor time",
    "",
    "| test | against | cinnabar | the other | ratio of calls | of processor time | cinnabar, embedded |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ...rows.map(
      ({ test, against, ours, theirs, embedded }) =>
        `| ${test} | ${against} | ${cell(ours)} | ${cell(theirs)} | ${(ours.calls / theirs.calls).toFixed(2)} | ${(ours.micros / theirs.micros).toFixed(2)} | ${cell(embedded)} |`,
    ),
  ].join("\n");
}
