/**
 * Transcripts of a Cluster, replayed on six real servers and on one `EngineCluster`: every answer must be the same text.
 *
 * A line is a node and a command: `A GET b`. `<B>` is a node's id, `<B:port>` its port. `---` begins a scene with new
 * connections and no data. `...` waits until all nodes agree, `R = master` until a node has that role, `A ~ <R> ...` until a
 * node's CLUSTER NODES has a line with that text. `A ?` waits for what the node sends by itself.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { splitWords } from "../../src/resp/split-words.ts";
import { redisMissing } from "../conformance/redis-server.ts";
import { type ClusterTarget, engineCluster, type NodeName, realCluster } from "./targets.ts";

const FOLDER = join(import.meta.dirname, "transcripts");

interface Scene {
  readonly name: string;
  readonly lines: readonly string[];
}

function scenesOf(file: string): Scene[] {
  return readFileSync(join(FOLDER, file), "utf8")
    .split(/^---/m)
    .map((text) => {
      const [title, ...lines] = text.split("\n");
      const name = title!.replace(/^[\s#-]*/, "");
      return { name, lines: lines.filter((line) => line.trim() !== "" && !line.startsWith("#")) };
    })
    .filter(({ lines }) => lines.length > 0);
}

async function play(target: ClusterTarget, { lines }: Scene): Promise<string[]> {
  await target.reset();
  const shown: string[] = [];
  for (const line of lines) {
    if (line === "...") {
      await target.settled();
      continue;
    }
    const node = line[0] as NodeName;
    const words = splitWords(line.slice(2))!;
    if (words[0] === "=") {
      await target.becomes(node, words[1]!);
      continue;
    }
    if (words[0] === "~") {
      await target.shows(node, line.slice(4));
      continue;
    }
    const answer =
      words[0] === "?" ? (await (await target.wire(node)).receive(1))[0]! : await target.call(node, ...words);
    shown.push(`${line}\n${target.show(words, answer)}`);
  }
  return shown;
}

const missing = redisMissing();
if (missing !== undefined) console.log(`Skipped: Clusters are not compared, since ${missing}.`);

describe.skipIf(missing !== undefined)("an EngineCluster answers as six redis-servers do", () => {
  let real: ClusterTarget;
  let ours: ClusterTarget;

  beforeAll(async () => {
    [real, ours] = await Promise.all([realCluster(), engineCluster()]);
  });

  afterAll(async () => {
    await ours?.close();
    await real?.close();
  });

  for (const file of readdirSync(FOLDER).toSorted()) {
    describe(file, () => {
      test.each(scenesOf(file))("$name", async (scene) => {
        const [theirs, own] = [await play(real, scene), await play(ours, scene)];
        expect(own.join("\n")).toBe(theirs.join("\n"));
      });
    });
  }
});
