/**
 * A file sent through a channel with a budget smaller than it, and read meanwhile: megabytes of the file a second, from the first
 * block sent until the last reader is done. Sender and readers are in this process, each with a connection of its own; with four
 * readers each reads all of it. By line, every line is looked at and counted, and committed with how far the file is read.
 */
import { gzipSync } from "node:zlib";
import { open, type Store } from "cinnabar";
import { Files, type IncomingFile } from "cinnabar/files";
import { median, startServer } from "./servers.ts";

export interface DistributionRow {
  readonly what: string;
  readonly redis: number;
  readonly embedded: number;
}

type Read = (file: IncomingFile) => Promise<void>;

const READS: Record<"block" | "line" | "batch", Read> = {
  block: async (file) => {
    let bytes = 0;
    for await (const block of file.blocks()) bytes += block.length;
    if (bytes === 0) throw new Error("nothing was read");
  },
  line: async (file) => {
    for await (const { text } of file.lines()) file.count("status", text.slice(-7, -4));
  },
  batch: async (file) => {
    for await (const lines of file.lineBatches()) {
      for (const { text } of lines) file.count("status", text.slice(-7, -4));
    }
  },
};

function accessLog(bytes: number): Buffer {
  const lines: string[] = [];
  for (let at = 0, size = 0; size < bytes; at++) {
    const line = `10.${at % 256}.${(at * 7) % 256}.${(at * 13) % 251} - - [15/Nov/2026:10:${at % 60}:00 +0000] "GET /items/${(at * 7_919) % 10_007} HTTP/1.1" 200 ${100 + (at % 900)}\n`;
    lines.push(line);
    size += line.length;
  }
  return Buffer.from(lines.join(""));
}

let channels = 0;

async function distributed(stores: readonly Store[], data: Buffer, packed: Buffer | null, read: Read): Promise<number> {
  const name = `bench ${channels++}`;
  const options = { budgetBytes: 16 * 2 ** 20 };
  const [sender, ...readers] = stores.map((store) => new Files(store, name, options));
  const joined = await Promise.all(readers.map((files, nth) => files.join(`reader ${nth}`)));
  const started = performance.now();
  const reading = joined.map(async (reader) => {
    for await (const file of reader.files({ follow: true })) {
      await read(file);
      return;
    }
  });
  await Promise.all([sender!.send(packed === null ? "log" : "log.gz", packed ?? data), ...reading]);
  const seconds = (performance.now() - started) / 1_000;
  for (const reader of joined) await reader.leave();
  return data.length / 1e6 / seconds;
}

export async function compareDistribution(quick: boolean): Promise<DistributionRow[]> {
  const server = await startServer("redis");
  const own = await open();
  const remote = await Promise.all(Array.from({ length: 5 }, () => open(`redis://127.0.0.1:${server.port}`)));
  const data = accessLog((quick ? 8 : 64) * 2 ** 20);
  const packed = gzipSync(data);
  const cases: [string, number, boolean, Read][] = [
    ["by block, 1 reader", 1, false, READS.block],
    ["by block, 4 readers", 4, false, READS.block],
    ["by line, 1 reader", 1, false, READS.line],
    ["by line, in batches, 1 reader", 1, false, READS.batch],
    ["by line, in batches, 4 readers", 4, false, READS.batch],
    ["gzip, by block, 1 reader", 1, true, READS.block],
    ["gzip, by line, in batches, 1 reader", 1, true, READS.batch],
  ];
  const rows: DistributionRow[] = [];
  for (const [what, readers, isPacked, read] of cases) {
    const figures = { redis: [] as number[], embedded: [] as number[] };
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      const bytes = isPacked ? packed : null;
      figures.redis.push(await distributed(remote.slice(0, readers + 1), data, bytes, read));
      const stores = Array.from({ length: readers + 1 }, () => own);
      figures.embedded.push(await distributed(stores, data, bytes, read));
    }
    process.stderr.write(".");
    rows.push({ what, redis: median(figures.redis), embedded: median(figures.embedded) });
  }
  await Promise.all([own, ...remote].map((store) => store.close()));
  await server.stop();
  return rows;
}

export function distributionTable(rows: readonly DistributionRow[]): string {
  return [
    "**Files through a channel of 16 MiB**, one sender, everything in one process: MB of the (unpacked) file a second, to each reader",
    "",
    "| read | on redis | embedded |",
    "| --- | ---: | ---: |",
    ...rows.map(({ what, redis, embedded }) => `| ${what} | ${redis.toFixed(0)} | ${embedded.toFixed(0)} |`),
  ].join("\n");
}
